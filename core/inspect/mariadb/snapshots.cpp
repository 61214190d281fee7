// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/findings.h"
#include "core/inspect/knownclients.h"
#include "core/inspect/mariadb/pollindex.h"

namespace lockscope::inspect {

QByteArray guardOf(const SqlTransaction &transaction)
{
    const auto started = transaction.started ? transaction.started->time_since_epoch().count() : 0;
    return "trx " + transaction.id + " started " + QByteArray::number(qint64(started));
}

QString connectionInWords(const SqlProcess &process)
{
    constexpr int longest = 60;
    QStringList own;
    if (!process.calledByClient.isEmpty())
        own << label(process.calledByClient, longest);
    if (process.pid)
        own << u"process %1"_s.arg(*process.pid);
    QStringList account;
    if (!process.user.isEmpty())
        account << label(process.user, longest);
    if (!process.host.isEmpty())
        account << u"from "_s + label(process.host, longest);
    QStringList parts{own.join(u", "_s), account.join(u' ')};
    parts.removeAll(QString());
    const auto number = u"connection %1"_s.arg(process.connection);
    return parts.isEmpty() ? number : number + u" ("_s + parts.join(u"; "_s) + u')';
}

void finish(LockSnapshot &lock, const Behind &behind, Evidence evidence)
{
    auto places = behind.places();
    const auto keyOf = [&places](const Contender &one) {
        const auto connection = one.session.value_or(QString()).toULongLong();
        return std::tuple(one.role, places[one.id], one.waitingSince.value_or(ServerTime::max()), connection);
    };
    std::ranges::stable_sort(lock.contenders, {}, keyOf);
    int position = 0;
    for (auto &contender : lock.contenders) {
        contender.position = position++;
        for (const auto &target :
             contender.role == Role::Waiter ? behind.nearest(contender.id) : std::vector<QByteArray>())
            contender.watches.push_back({target, false, evidence});
    }
    const bool isHeld = lock.holderCount() > 0;
    lock.state = lock.waiterCount() > 0 ? LockState::Contended : isHeld ? LockState::Held : LockState::Free;
}

void finishBehindHolders(LockSnapshot &lock)
{
    Behind behind;
    for (const auto &waiter : lock.contenders) {
        for (const auto &holder : lock.contenders) {
            if (waiter.role == Role::Waiter && holder.role == Role::Holder)
                behind.add(waiter.id, holder.id);
        }
    }
    finish(lock, behind, Evidence::Inferred);
}

void addWork(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked)
{
    std::map<quint64, const SqlTransaction *> transactions;
    for (const auto *all : {&looked.look().readers, &looked.look().transactions}) {
        for (const auto &one : *all)
            transactions[one.connection] = &one;
    }
    std::map<quint64, SqlWorkOf> known;
    const auto workOf = [&](const SqlProcess &process) -> const SqlWorkOf & {
        auto &work = known[process.connection];
        if (work)
            return work;
        const auto found = transactions.find(process.connection);
        const auto *transaction = found == transactions.end() ? nullptr : found->second;
        work.set({.statement = withoutTexts(process.statement.left(longestStatement), BackendKind::MariaDb),
                  .isRunning = !process.isIdle,
                  .since = looked.look().now - process.inState,
                  .transactionSince = transaction ? transaction->started : std::nullopt,
                  .application = process.calledByClient,
                  .rowsModified = transaction ? transaction->rowsModified : 0});
        return work;
    };
    for (auto &lock : snapshots) {
        for (auto &contender : lock.contenders) {
            const auto *process = looked.process(contender.session.value_or(QString()).toULongLong());
            if (process && lock.state == LockState::Contended)
                contender.work = workOf(*process);
        }
        noteOneClient(lock);
    }
}

LockSnapshot emptySqlLock(const SqlPoll &look, const ConnectionName &connection, const QByteArray &name)
{
    LockSnapshot lock;
    lock.lock = {connection, name};
    lock.backend = BackendKind::MariaDb;
    lock.confidence = Confidence::High;
    lock.observed = look.now;
    lock.serverAhead = look.ahead;
    return lock;
}

namespace {

LockSnapshot namedLock(const SqlPollIndex &looked, LockSnapshot lock, const std::vector<const SqlNamedLock *> &parts)
{
    lock.recipe = "sql-get-lock";
    attributeNamedLock(lock, parts.front()->name);
    lock.why = u"a user-level lock of this name is granted or asked for"_s;
    lock.waitersKnown = looked.look().seesAllProcesses;
    for (const auto *part : parts) {
        auto one = looked.contender(part->connection);
        const auto *process = looked.process(part->connection);
        if (part->isGranted) {
            one.role = Role::Holder;
            one.hold = part->hold;
        } else if (process) {
            one.waitingSince = looked.look().now - process->inState;
        }
        lock.contenders.push_back(std::move(one));
    }
    finishBehindHolders(lock);
    return lock;
}

// What has only just begun to wait may have the lock by the next question of the same look.
constexpr auto waitsInEarnest = 100ms;

// "Waiting for backup lock", "Waiting for table level lock", "Waiting for table flush", "User lock".
bool isStateOfWait(const QByteArray &state)
{
    const bool isLock = state.startsWith("Waiting for ") && (state.endsWith("lock") || state.endsWith("flush"));
    return isLock || state == "User lock" || state == "Waiting for tables";
}

// "Flyway-" and Java's hash code of the table's name: an int.
bool isFlyways(const QByteArray &name)
{
    if (!name.startsWith("Flyway-"))
        return false;
    bool isNumber = false;
    const auto number = name.mid(7);
    const auto value = number.toInt(&isNumber);
    return isNumber && QByteArray::number(value) == number;
}

// Rails' salt times the CRC-32 of the database's name, in decimal. By chance one number in two thousand million is.
bool isRails(const QByteArray &name)
{
    constexpr quint64 salt = 2'053'462'845;
    bool isNumber = false;
    const auto value = name.toULongLong(&isNumber);
    return isNumber && value > 0 && QByteArray::number(value) == name && value % salt == 0
           && value / salt <= 0xffff'ffffULL;
}

} // namespace

void addAttributes(std::vector<SqlProcess> &processes, const std::map<quint64, SqlAttributes> &attributes)
{
    const auto processOf = [](const SqlProcess &one, const SqlAttributes &says) {
        const auto host = one.host.left(std::max<qsizetype>(0, one.host.lastIndexOf(':')));
        return says.pid ? host + ' ' + QByteArray::number(*says.pid) : "#" + QByteArray::number(one.connection);
    };
    std::map<QByteArray, std::set<QByteArray>> named;
    for (const auto &process : processes) {
        const auto says = attributes.find(process.connection);
        if (says != attributes.end())
            named[says->second.program].insert(processOf(process, says->second));
    }
    for (auto &one : processes) {
        const auto says = attributes.find(one.connection);
        if (says == attributes.end())
            continue;
        one.pid = says->second.pid;
        one.calledByClient = says->second.program;
        if (named[says->second.program].size() == 1)
            one.program = says->second.program;
    }
}

QByteArray rowContenderId(quint64 connection, const QByteArray &transaction, ServerTime started)
{
    const auto second = std::chrono::floor<std::chrono::seconds>(started.time_since_epoch()).count();
    return QByteArray::number(connection) + '@'
           + QByteArray::number(qint64(second) * 1000 + qint64(transaction.toULongLong() % 1000));
}

QByteArray namedContenderId(quint64 connection, ServerTime serverStarted)
{
    return QByteArray::number(connection) + '@'
           + QByteArray::number(qint64(serverStarted.time_since_epoch().count()));
}

std::vector<LockSnapshot> snapshotsOf(const SqlPoll &look, const ConnectionName &connection)
{
    const SqlPollIndex looked(look);
    std::map<QByteArray, std::vector<const SqlNamedLock *>> named;
    for (const auto &part : look.namedLocks)
        named["GET_LOCK#" + part.name].push_back(&part);
    std::vector<LockSnapshot> snapshots;
    addInnoDbLocks(snapshots, looked, connection);
    for (const auto &[name, parts] : named)
        snapshots.push_back(namedLock(looked, emptySqlLock(look, connection, name), parts));
    addTableLocks(snapshots, looked, connection);
    addLockRows(snapshots, looked, connection);
    addWork(snapshots, looked);
    std::erase_if(snapshots, [](const LockSnapshot &one) { return one.contenders.empty(); });
    return snapshots;
}

std::vector<SessionSnapshot> sqlSessions(const std::vector<quint64> &open, const std::vector<LockSnapshot> &snapshots,
                                         const ConnectionName &connection,
                                         const std::function<void(quint64, SessionSnapshot &)> &describe)
{
    std::map<quint64, SessionSnapshot> sessions;
    for (const auto id : open)
        sessions[id];
    for (const auto &lock : snapshots) {
        for (const auto &contender : lock.contenders) {
            if (!contender.session)
                continue;
            auto &session = sessions[contender.session->toULongLong()];
            auto &names = contender.role == Role::Holder ? session.holds : session.waits;
            if (std::ranges::find(names, lock.lock.name) == names.end())
                names.push_back(lock.lock.name);
        }
    }
    std::vector<SessionSnapshot> all;
    for (auto &[id, session] : sessions) {
        session.connection = connection;
        session.session = QString::number(id);
        describe(id, session);
        all.push_back(std::move(session));
    }
    return all;
}

std::vector<SessionSnapshot> sessionsOf(const SqlPoll &look, const std::vector<LockSnapshot> &snapshots,
                                        const ConnectionName &connection)
{
    const SqlPollIndex looked(look);
    std::vector<quint64> open;
    for (const auto &transaction : look.transactions) {
        if (transaction.connection != 0)
            open.push_back(transaction.connection);
    }
    return sqlSessions(open, snapshots, connection, [&looked](quint64 id, SessionSnapshot &session) {
        if (const auto *process = looked.process(id)) {
            session.endpoint = QString::fromUtf8(process->host);
            session.client = QString::fromUtf8(process->user);
        }
    });
}

std::vector<Unexplained> unexplainedWaits(const SqlPoll &look, const std::vector<LockSnapshot> &snapshots)
{
    std::set<quint64> shown;
    for (const auto &lock : snapshots) {
        for (const auto &contender : lock.contenders) {
            if (contender.role == Role::Waiter && contender.session
                && (lock.holderCount() > 0 || !contender.watches.empty()))
                shown.insert(contender.session->toULongLong());
        }
    }
    std::map<QByteArray, std::vector<quint64>> unexplained; // connections by state
    for (const auto &process : look.processes) {
        if (isStateOfWait(process.state) && process.inState >= waitsInEarnest && !shown.contains(process.connection))
            unexplained[process.state].push_back(process.connection);
    }
    std::vector<Unexplained> all;
    const auto add = [&all](const std::vector<quint64> &who, const QString &what) {
        all.push_back({qint64(who.size()), what, "connection " + QByteArray::number(who.front()), true});
    };
    for (const auto &[state, connections] : unexplained) {
        const auto who =
            connections.size() == 1 ? u"1 connection waits"_s : u"%1 connections wait"_s.arg(connections.size());
        add(connections,
            u"%1 in the state \"%2\", and it is not known who holds that lock"_s.arg(who, label(state, 80)));
    }
    std::vector<quint64> rows;
    for (const auto &one : look.transactions) {
        if (look.rowsAreFresh && one.waitStarted && !shown.contains(one.connection))
            rows.push_back(one.connection);
    }
    if (!rows.empty())
        add(rows, u"%1 for an InnoDB lock, and it is not known who holds that lock"_s.arg(
                      rows.size() == 1 ? u"1 transaction waits"_s : u"%1 transactions wait"_s.arg(rows.size())));
    return all;
}

void attributeNamedLock(LockSnapshot &lock, const QByteArray &name)
{
    if (isFlyways(name))
        attribute(lock, knownClient("flyway"));
    else if (isRails(name))
        attribute(lock, knownClient("rails-migrations"));
}

void attributeRow(LockSnapshot &lock, const SqlLockWait &wait, const IndexColumns &columns)
{
    static const QByteArrayList quartzKey{"SCHED_NAME", "LOCK_NAME"};
    const auto at = columns.find({wait.table, wait.index});
    if (at == columns.end() || !wait.table.toUpper().endsWith("LOCKS`"))
        return;
    const auto key = mapped<QByteArrayList>(at->second, [&](const auto &column) { return column.toUpper(); });
    if (key == quartzKey)
        attribute(lock, knownClient("quartz"));
}

} // namespace lockscope::inspect
