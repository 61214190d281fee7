// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/observer.h"

#include "core/async/sleep.h"
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/pace.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto leastPause = 250ms;
constexpr auto lookTakesAtMost = 10s;
// Then coverage says that the server does not answer.
constexpr auto answersWithin = 2s;
// After a look that failed: there was no work to rest from.
constexpr auto restAfterFailedLook = 500ms;

// Ages of waits are measured anew at each look, a little off.
void steadyWaits(LockSnapshot &newer, const LockSnapshot &older)
{
    for (auto &one : newer.contenders) {
        const auto *before = older.find(one.id);
        const bool isSame = before && before->role == one.role && before->guard == one.guard;
        if (isSame && before->waitingSince && one.waitingSince
            && std::chrono::abs(*before->waitingSince - *one.waitingSince) < 1s)
            one.waitingSince = before->waitingSince;
    }
}

} // namespace

MariaDbObserver::MariaDbObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options,
                                 ObserverSink &sink)
    : m_session(session), m_loop(session.loop()), m_name(std::move(name)), m_options(options), m_sink(sink),
      m_reader(session), m_firstSnapshot(m_loop), m_reporter(m_name, sink), m_work(m_loop)
{
}

void MariaDbObserver::start()
{
    if (m_work.isIdle())
        m_work.launch(poll());
}

Task<void> MariaDbObserver::poll()
{
    for (;;) {
        const auto begun = m_loop.now();
        const auto limit = Deadline::after(m_loop, lookTakesAtMost);
        auto silence = m_loop.callAt(begun + answersWithin, [this] {
            m_notAnswering = u"the server has not answered for some seconds: what is shown is of before"_s;
            tellCoverage();
        });
        const auto look = co_await lookAndTell(limit);
        silence = Timer();
        if (look && !m_firstSnapshot.isComplete()) {
            m_firstSnapshot.complete(true);
            tellCoverage();
        }
        tellProgress();
        if (look && !m_options.follow)
            co_return;
        const auto work = look ? workOf(m_loop.now() - begun) * restPerWork : Duration(restAfterFailedLook);
        const auto usual = std::max<Duration>({work, m_options.pollEvery, leastPause});
        const auto rest = m_reader.restAfterLook(usual);
        tellCost(rest);
        auto pause = sleepFor(m_loop, rest);
        co_await pause;
    }
}

// A stall, the server's or ours, makes one look slow, and is no work that the server was put to.
Duration MariaDbObserver::workOf(Duration took)
{
    return std::min(took, std::exchange(m_tookBefore, took));
}

// The first snapshot, and an only one, is worth some patience with a copy that is old.
Task<Result<SqlLook>> MariaDbObserver::lookAndTell(Deadline deadline)
{
    const bool isFirst = !m_firstSnapshot.isComplete();
    auto looking = isFirst ? m_reader.freshLook(deadline) : m_reader.look(deadline);
    auto look = co_await looking;
    if (look) {
        settle(*look);
        m_sink.looked(m_name);
    }
    m_notAnswering =
        look ? QString() : u"the last look failed, what is shown is of before: "_s + look.error().message;
    tellCoverage();
    co_return look;
}

Task<Result<LockSnapshot>> MariaDbObserver::readNow(QByteArray name, Deadline deadline)
{
    const QByteArray namedPrefix("GET_LOCK#");
    const bool isNamed = name.startsWith(namedPrefix);
    const bool isTable = tableOfLock(name).has_value();
    const bool isLockRow = isLockRowName(name);
    if (isLockRow)
        m_reader.readLockRowsAnew();
    const auto also = isNamed ? name.mid(namedPrefix.size()) : QByteArray();
    // Named locks are told as they are; rows from a copy. That nobody waits for a row is worth more patience with it.
    bool mayBeOld = false;
    for (int i = 0; i < (isNamed ? 1 : 2); ++i) {
        auto looking = isNamed ? m_reader.look(deadline, also) : m_reader.freshLook(deadline);
        const auto look = co_await looking;
        if (!look)
            co_return look.error();
        auto snapshots = steadied(snapshotsOf(*look, m_name));
        const auto at = std::ranges::find(snapshots, name, [](const LockSnapshot &one) { return one.lock.name; });
        if (at != snapshots.end())
            co_return std::move(*at);
        mayBeOld = !isNamed && !isTable && !isLockRow && !look->rowsAreFresh;
        if (!mayBeOld)
            break;
    }
    for (const auto &gap : m_reader.gaps()) {
        if (isLockRow ? gap.contains("cannot be read"_L1) || gap.contains("not asked for"_L1)
                      : !isNamed && !isTable && gap.startsWith("row locks"_L1))
            co_return Error{ErrorCode::NoPermission, gap};
    }
    if (mayBeOld)
        co_return Error{ErrorCode::Refused,
                        u"whether anybody holds %1 is not known: "_s.arg(label(name, 80)) + oldRowsText(), true};
    const auto hint = isNamed     ? u"nobody holds or wants a lock of this name"_s
                      : isLockRow ? u"its row does not say that it is locked, or there is none"_s
                      : isTable   ? u"nobody waits for it, and nobody is seen to keep others out"_s
                                  : u"nobody waits for it, and a server shows a row lock only then"_s;
    co_return Error{ErrorCode::NoNode, u"no lock is seen at %1: %2"_s.arg(label(name, 80), hint)};
}

QString MariaDbObserver::oldRowsText() const
{
    return u"row locks %1 may be old: somebody else reads INNODB_TRX more often than every 100 ms, and only when "
           u"nobody does the server makes a new copy of what it says there"_s.arg(m_reader.ageOfRows());
}

std::vector<LockSnapshot> MariaDbObserver::steadied(std::vector<LockSnapshot> snapshots) const
{
    for (auto &snapshot : snapshots) {
        if (const auto *known = m_known.find(snapshot.lock.name))
            steadyWaits(snapshot, *known);
        addAgeFindings(snapshot, *m_options.thresholds, m_usual);
    }
    return snapshots;
}

void MariaDbObserver::settle(const SqlLook &look)
{
    auto snapshots = steadied(snapshotsOf(look, m_name));
    auto sessions = sessionsOf(look, snapshots, m_name);
    for (const auto &snapshot : snapshots)
        m_usual.note(snapshot);
    const auto now = snapshots.empty() ? ServerTime() : snapshots.front().observed;
    auto changes = m_known.replace({}, std::move(snapshots));
    for (const auto &change : changes) {
        if (change.kind == ChangeKind::Removed)
            m_usual.noteGone(change.lock.lock.name, std::max(now, change.lock.observed));
    }
    if (!changes.empty())
        m_sink.locksChanged(std::move(changes));
    m_reporter.tell(std::move(sessions));
}

std::vector<Coverage> MariaDbObserver::coverage() const
{
    std::vector<Coverage> all;
    if (m_session.state() != mariadb::SessionState::Connected) {
        const auto why = m_session.lastError();
        all.push_back({m_name, false, why.isEmpty() ? u"not connected yet"_s : u"not connected: "_s + why});
    } else if (!m_reader.hasLooked()) {
        all.push_back({m_name, false, u"the first look is still under way"_s});
    }
    if (m_session.state() == mariadb::SessionState::Connected && !m_notAnswering.isEmpty())
        all.push_back({m_name, false, m_notAnswering});
    for (const auto &gap : m_reader.gaps())
        all.push_back({m_name, false, gap});
    if (m_reader.hasLooked() && !m_reader.rowsAreFresh())
        all.push_back({m_name, false, oldRowsText()});
    if (all.empty())
        all.push_back(
            {m_name, true,
             u"every named lock, every table that somebody waits for or that is locked for writing (LOCK TABLES), "
             u"every row lock that somebody waits for, and the rows of Liquibase and ShedLock in tables of their usual "
             u"names; a row lock nobody waits for cannot be seen, and FLUSH TABLES WITH READ LOCK is not looked "
             u"for"_s});
    return all;
}

void MariaDbObserver::tellCoverage()
{
    m_reporter.tell(coverage());
}

void MariaDbObserver::tellProgress()
{
    const auto every = std::max<std::chrono::milliseconds>(m_options.pollEvery, leastPause);
    const auto how = m_options.follow ? u"polling every %1 ms"_s.arg(every.count()) : u"one look"_s;
    m_reporter.tell(Progress{m_name, how, 0, 0, false, m_firstSnapshot.isComplete()});
}

void MariaDbObserver::tellCost(Duration rest)
{
    const auto sent = m_reader.requests() - std::exchange(m_costRequests, m_reader.requests());
    Cost cost;
    cost.requestsPerSecond = static_cast<double>(sent) / std::chrono::duration<double>(rest).count();
    m_reporter.tell(cost);
}

} // namespace lockscope::inspect
