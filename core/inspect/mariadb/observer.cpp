// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/observer.h"

#include "core/inspect/coverage.h"
#include "core/rules/catalogue.h"

#include <set>

namespace lockscope::inspect {

namespace {

// Ages of waits are measured anew at each look, a little off.
void steadyWaits(LockSnapshot &newer, const LockSnapshot &older)
{
    for (auto &contender : newer.contenders) {
        const auto *before = older.find(contender.id);
        const bool isSame = before && before->role == contender.role && before->guard == contender.guard;
        if (isSame && before->waitingSince && contender.waitingSince
            && std::chrono::abs(*before->waitingSince - *contender.waitingSince) < 1s)
            contender.waitingSince = before->waitingSince;
    }
}

QString permissionText(bool is, const QString &what, const QString &without)
{
    return is ? u"may "_s + what : u"may not %1: %2"_s.arg(what, without);
}

ServerTime seconds(const mariadb::Rows &rows)
{
    return ServerTime(millisecondsOf(rows.cell(0, "started").value_or(QByteArray()).toDouble() * 1000));
}

Task<std::optional<QByteArray>> ownRowId(mariadb::Session *session, Deadline deadline)
{
    auto &loop = session->loop();
    const auto connection = session->connectionId();
    auto random = Random::fromSystem();
    while (!deadline.hasPassed(loop)) {
        // The transaction that holds the lock is in each new copy, and makes the mark visible there.
        const auto mark = mariadb::freshMark();
        const mariadb::Statement question{"SELECT t.trx_id AS id, UNIX_TIMESTAMP(t.trx_started) AS started "
                                          "FROM information_schema.INNODB_TRX t WHERE "
                                              + mariadb::isMarked(mark),
                                          {},
                                          connection,
                                          false};
        const auto rows = co_await session->execute(question, deadline);
        if (!rows)
            co_return std::nullopt;
        if (!rows->rows.empty())
            co_return rowContenderId(connection, rows->cell(0, "id").value_or(QByteArray()), seconds(*rows));
        const std::chrono::milliseconds more(random.below(150));
        co_await sleepFor(loop, mariadb::copyRestsFor + more);
    }
    co_return std::nullopt;
}

} // namespace

// The first snapshot, and an only one, is worth some patience with a copy that is old.
Task<Result<SqlObserver::Seen>> MariaDbObserver::look(Deadline deadline)
{
    const bool isFirst = !firstSnapshot().isComplete();
    auto looking = isFirst ? m_reader.freshLook(deadline) : m_reader.look(deadline);
    CO_TRY(const auto &look, co_await looking);
    Seen seen;
    seen.snapshots = steadied(snapshotsOf(look, m_name));
    seen.sessions = sessionsOf(look, seen.snapshots, m_name);
    m_unexplained = unexplainedWaits(look, seen.snapshots);
    if (!seen.snapshots.empty())
        seen.now = seen.snapshots.front().observed;
    // Without its list of named locks a server shows only those that somebody waits for.
    if (m_reader.gaps().empty())
        seen.showedAllNamed = look.now;
    co_return seen;
}

Task<Result<LockSnapshot>> MariaDbObserver::readNow(QByteArray lock, Deadline deadline)
{
    const QByteArray namedPrefix("GET_LOCK#");
    const bool isNamed = lock.startsWith(namedPrefix);
    const bool isTable = objectOfLock(lock).has_value();
    const bool isLockRow = isLockRowName(lock);
    if (isLockRow)
        m_reader.readLockRowsAnew();
    const auto also = isNamed ? lock.mid(namedPrefix.size()) : QByteArray();
    // Named locks are told as they are; rows from a copy. That nobody waits for a row is worth more patience with it,
    // and so is a table that a statement has just got: a server shows its client at rest after that has the answer.
    bool mayBeOld = false;
    for (int i = 0; i < (isNamed ? 1 : 2); ++i) {
        auto looking = isNamed ? m_reader.look(deadline, also) : m_reader.freshLook(deadline);
        CO_TRY(const auto &look, co_await looking);
        auto snapshots = steadied(snapshotsOf(look, m_name));
        m_unexplained = unexplainedWaits(look, snapshots);
        const auto at = std::ranges::find(snapshots, lock, [](const LockSnapshot &one) { return one.lock.name; });
        if (at != snapshots.end())
            co_return std::move(*at);
        mayBeOld = !isNamed && !isTable && !isLockRow && !look.rowsAreFresh;
        const bool isHad = isTable && std::ranges::any_of(look.tableLocks, [&](const SqlTableLock &one) {
                               return objectLockName({one.type, one.schema, one.table}) == lock;
                           });
        if (!mayBeOld && !isHad)
            break;
    }
    if (isLockRow && !m_reader.lockRowsNotRead().isEmpty())
        co_return Error{ErrorCode::NoPermission, m_reader.lockRowsNotRead().front()};
    if (!isLockRow && !isNamed && !isTable && !m_reader.rowLocksGap().isEmpty())
        co_return Error{ErrorCode::NoPermission, m_reader.rowLocksGap()};
    if (mayBeOld)
        co_return Error{ErrorCode::Refused,
                        u"it is unknown whether a client holds %1: %2"_s.arg(label(lock, 80), oldRowsText()), true};
    const auto hint = isNamed     ? u"no client holds or waits for a lock of this name"_s
                      : isLockRow ? u"its row does not say that it is locked, or there is none"_s
                      : isTable
                          ? u"no client waits for it, and no client is seen to lock it"_s
                          : u"no client waits for it, and a server shows a row lock only while a client waits"_s;
    co_return Error{ErrorCode::NoNode, u"no lock is seen at %1: %2"_s.arg(label(lock, 80), hint)};
}

std::vector<LockSnapshot> MariaDbObserver::steadied(std::vector<LockSnapshot> snapshots) const
{
    for (auto &snapshot : snapshots) {
        if (const auto *before = m_snapshots.find(snapshot.lock.name))
            steadyWaits(snapshot, *before);
    }
    return judged(std::move(snapshots));
}

QString MariaDbObserver::coverageDescription() const
{
    return u"every named lock and every row lock with a waiter. Tables that a client waits for or that are locked "
           u"for writing (LOCK TABLES). Server-wide locks (FLUSH TABLES WITH READ LOCK, backups). The rows of known "
           u"clients' lock tables (Liquibase, ShedLock, Knex, Laravel and others). Row locks without a waiter are "
           u"not visible, and other lock tables are not searched"_s;
}

Task<QStringList> mariaDbRights(mariadb::Session *session, Deadline deadline)
{
    auto asking = session->execute({mariadb::sqlText("mariadb-privileges"), {}, std::nullopt, false}, deadline);
    const auto rows = co_await asking;
    if (!rows)
        co_return QStringList{u"could not read the user's rights: %1"_s.arg(rows.error().message)};
    if (rows->rows.empty())
        co_return QStringList{u"the server lists no privileges for this user"_s};
    std::set<QByteArray> has;
    for (std::size_t i = 0; i < rows->rows.size(); ++i)
        has.insert(rows->cell(i, "privilege").value_or(QByteArray()));
    const bool mayKill =
        has.contains("SUPER") || has.contains("CONNECTION ADMIN") || has.contains("CONNECTION_ADMIN");
    QStringList said{u"user "_s + label(rows->cell(0, "who").value_or(QByteArray()), 120)};
    said << permissionText(has.contains("PROCESS"), u"see the locks and connections of others"_s,
                           u"it has no PROCESS privilege"_s)
         << permissionText(mayKill, u"end the connections of others"_s,
                           u"it has neither CONNECTION ADMIN nor SUPER; its own it may"_s);
    const auto role = rows->cell(0, "role").value_or(QByteArray());
    if (!role.isEmpty() && role != "NONE")
        said << u"what its role %1 adds is not counted"_s.arg(label(role, 120));
    co_return said;
}

Task<std::optional<QByteArray>> ownContenderId(mariadb::Session *session, QByteArray recipe, Deadline deadline)
{
    const auto &info = recipes::recipeOf(recipe);
    if (info.optimistic || info.endsBy != recipes::EndsBy::Session) // a token says whose row it is
        co_return std::nullopt;
    if (info.shape == recipes::Shape::Row) {
        auto id = co_await ownRowId(session, deadline);
        co_return id;
    }
    const auto connection = session->connectionId();
    auto asking = session->execute({mariadb::serverQuestion(*session), {}, connection, false}, deadline);
    const auto server = co_await asking;
    if (!server || server->rows.empty())
        co_return std::nullopt;
    co_return namedContenderId(connection, seconds(*server));
}

void notifyBeginnings(LockSnapshot &snapshot, const LockSnapshot *before, std::optional<ServerTime> lookedBefore)
{
    if (recipes::recipeOf(snapshot.recipe).shape != recipes::Shape::NamedLock)
        return;
    for (auto &contender : snapshot.contenders) {
        if (contender.role != Role::Holder || contender.heldSince)
            continue;
        const auto *known = before ? before->find(contender.id) : nullptr;
        const bool isSame = known && known->role == Role::Holder && !isDifferentHold(known->hold, contender.hold);
        contender.heldSince = isSame ? known->heldSince : lookedBefore;
        contender.heldAtMost = contender.heldSince.has_value();
    }
}

constexpr std::chrono::milliseconds leastPause = 250ms;
constexpr auto lookTakesAtMost = 10s;
// Then coverage says that the server does not answer.
constexpr auto answersWithin = 2s;
// After a look that failed: there was no work to rest from.
constexpr auto restAfterFailedLook = 500ms;

Task<void> SqlObserver::poll()
{
    for (;;) {
        const auto begun = m_loop.now();
        const auto limit = Deadline::after(m_loop, lookTakesAtMost);
        auto silence = m_loop.callAt(begun + answersWithin, [this] {
            m_notAnswering = u"the server has not answered for some seconds: the data shown is older"_s;
            notifyCoverage();
        });
        const bool isDone = co_await lookAndTell(limit);
        silence = Timer();
        if (isDone && !m_firstSnapshot.isComplete()) {
            m_firstSnapshot.complete(true);
            notifyCoverage();
        }
        notifyProgress();
        if (isDone && !m_options.follow)
            co_return;
        const auto work = isDone ? m_meter.restAfter(m_loop.now() - begun) : Duration(restAfterFailedLook);
        const auto rest = restAfterLook(std::max<Duration>({work, m_options.pollEvery, leastPause}));
        notifyCost(rest);
        co_await sleepFor(m_loop, rest);
    }
}

Task<bool> SqlObserver::lookAndTell(Deadline deadline)
{
    auto seen = co_await look(deadline);
    if (seen) {
        settle(std::move(*seen));
        m_sink.confirm(m_name);
    }
    m_notAnswering = seen ? QString() : u"the last poll failed; older data is shown: %1"_s.arg(seen.error().message);
    notifyCoverage();
    co_return seen.operator bool();
}

void SqlObserver::settle(Seen seen)
{
    for (const auto &snapshot : seen.snapshots)
        m_usual.note(snapshot);
    auto changes = m_snapshots.replace({}, std::move(seen.snapshots));
    for (const auto &change : changes) {
        const auto observed = change.lock.observed;
        if (change.kind == ChangeKind::Removed)
            m_usual.noteGone(change.lock.lock.name, std::max(seen.now.value_or(observed), observed));
    }
    m_sink.takeAll(std::move(changes));
    m_reporter.tell(std::move(seen.sessions));
    m_showedAllNamed = seen.showedAllNamed;
}

std::vector<Coverage> SqlObserver::coverage() const
{
    std::vector<Coverage> all;
    const auto looked = looks();
    const bool isConnected = m_session.state() == mariadb::SessionState::Connected;
    if (!isConnected) {
        const auto why = m_session.lastError();
        all.push_back({m_name, false, why.isEmpty() ? u"not connected yet"_s : u"not connected: %1"_s.arg(why)});
    } else if (!looked.any) {
        all.push_back({m_name, false, u"the first poll is still running"_s});
    }
    if (isConnected && !m_notAnswering.isEmpty())
        all.push_back({m_name, false, m_notAnswering});
    for (const auto &gap : looked.gaps)
        all.push_back({m_name, false, gap});
    if (all.empty())
        all.push_back({m_name, true, coverageDescription()});
    addUnexplained(all, m_unexplained);
    addUnexplained(all, looked.unexplained);
    addEndedDeadlocks(all, looked.endedDeadlocks);
    return all;
}

void SqlObserver::notifyProgress()
{
    const auto every = std::max(m_options.pollEvery, leastPause);
    const auto how = m_options.follow ? u"polling every %1 ms"_s.arg(every.count()) : u"one look"_s;
    m_reporter.tell(
        Progress{.connection = m_name, .how = how, .firstSnapshotComplete = m_firstSnapshot.isComplete()});
}

} // namespace lockscope::inspect
