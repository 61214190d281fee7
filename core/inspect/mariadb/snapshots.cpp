// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/mariadb/looked.h"

#include <tuple>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

Mode modeOf(const QByteArray &innoDb)
{
    return innoDb.startsWith('S') || innoDb.startsWith("IS") ? Mode::Read : Mode::Exclusive;
}

} // namespace

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

namespace {

void addIdle(LockSnapshot &lock, Contender &holder, const SqlTransaction &transaction, const SqlProcess *process,
             ServerTime looked)
{
    holder.runsNothing = process && process->isIdle;
    if (!holder.runsNothing || process->inState < idleIsOdd)
        return;
    Wording message = u"%1 has been idle inside its transaction for "_s.arg(connectionInWords(*process));
    message.since(looked - process->inState)
        << u"; no statement runs that KILL QUERY could end; rows locked: %1, modified: %2"_s
               .arg(transaction.rowsLocked)
               .arg(transaction.rowsModified);
    addFinding(lock, FindingCode::IdleInTransaction, message, {holder.id});
}

} // namespace

void finish(LockSnapshot &lock, const Behind &behind)
{
    auto places = behind.places();
    const auto keyOf = [&places](const Contender &one) {
        const auto connection = one.session.value_or(QString()).toULongLong();
        return std::tuple(one.role, places[one.id], one.waitingSince.value_or(ServerTime::max()), connection);
    };
    std::ranges::stable_sort(lock.contenders, {}, keyOf);
    QByteArray before;
    int position = 0;
    for (auto &one : lock.contenders) {
        one.position = position++;
        const auto evidence = behind.isSaid(one.id, before) ? Evidence::Server : Evidence::Inferred;
        if (one.role == Role::Waiter && !before.isEmpty())
            one.watches = {{before, false, evidence}};
        before = one.id;
    }
    const bool isHeld = lock.holderCount() > 0;
    lock.state = lock.waiterCount() > 0 ? LockState::Contended : isHeld ? LockState::Held : LockState::Free;
}

LockSnapshot emptySqlLock(const SqlLook &look, const ConnectionName &connection, const QByteArray &name)
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

// Several that have no number share the record, and nothing says which of those who could are meant.
Contender unnumbered(Role role, const QByteArray &mode)
{
    Contender one;
    one.id = "without-a-number";
    one.role = role;
    one.mode = modeOf(mode);
    one.identity = "a transaction that has no number yet; the server does not say which";
    return one;
}

// All pairs about one record.
LockSnapshot rowLock(const Looked &looked, LockSnapshot lock, const std::vector<const SqlLockWait *> &waits)
{
    lock.recipe = "sql-for-update";
    attributeRow(lock, *waits.front(), looked.look().columns);
    lock.why = u"InnoDB says who waits for this record of index %1, and who is in the way"_s.arg(
        label(waits.front()->index, 64));
    std::set<QByteArray> waiting;
    std::set<std::pair<QByteArray, bool>> seen;
    std::map<QByteArray, QByteArray> contenderOf; // by transaction
    for (const auto *wait : waits)
        waiting.insert(wait->requesting);
    const auto &look = looked.look();
    if (!look.rowsAreFresh) {
        lock.mayBeOld = true;
        lock.observed = look.rowsAsOf.value_or(lock.observed);
    }
    const auto add = [&](const QByteArray &id, const QByteArray &mode, bool isRequesting) {
        const auto found = looked.transactions(id, isRequesting);
        const bool isWaiting = isRequesting || (waiting.contains(id) && found.size() == 1);
        if (found.empty() || !seen.insert({id, isWaiting}).second)
            return;
        if (found.size() > 1) {
            lock.contenders.push_back(unnumbered(isWaiting ? Role::Waiter : Role::Holder, mode));
            return;
        }
        const auto &transaction = *found.front();
        auto one =
            looked.contender(transaction.connection,
                             rowContenderId(transaction.connection, id, transaction.started.value_or(ServerTime())));
        contenderOf[id] = one.id;
        one.mode = modeOf(mode);
        one.guard.value = guardOf(transaction);
        if (isWaiting) {
            one.waitingSince = transaction.waitStarted;
            one.limits = looked.limits(transaction.connection, true);
        } else {
            one.role = Role::Holder;
            one.heldSince = transaction.started; // the transaction's: the row was locked then or later
            one.heldAtMost = true;
            addIdle(lock, one, transaction, looked.process(transaction.connection), look.now);
        }
        lock.contenders.push_back(std::move(one));
    };
    for (const auto *wait : waits) {
        // Earlier waiters are in the way, too; who is in the way and does not wait itself holds it.
        add(wait->blocking, wait->blockingMode, false);
        add(wait->requesting, wait->requestedMode, true);
    }
    Behind behind;
    for (const auto *wait : waits) {
        if (contenderOf.contains(wait->requesting) && contenderOf.contains(wait->blocking))
            behind.add(contenderOf[wait->requesting], contenderOf[wait->blocking]);
    }
    finish(lock, behind);
    return lock;
}

LockSnapshot namedLock(const Looked &looked, LockSnapshot lock, const std::vector<const SqlNamedLock *> &parts)
{
    lock.recipe = "sql-get-lock";
    attributeNamedLock(lock, parts.front()->name);
    lock.why = u"a user-level lock of this name is granted or asked for"_s;
    const auto started = looked.look().serverStarted.value_or(ServerTime());
    lock.waitersKnown = looked.look().seesAllProcesses;
    for (const auto *part : parts) {
        auto one = looked.contender(part->connection, namedContenderId(part->connection, started));
        const auto *process = looked.process(part->connection);
        one.guard.value = "connection " + QByteArray::number(part->connection)
                          + (process ? " of " + process->user + " from " + process->host : QByteArray());
        if (part->isGranted) {
            one.role = Role::Holder;
            one.hold = part->hold;
        } else if (process) {
            one.waitingSince = looked.look().now - process->inState;
        }
        lock.contenders.push_back(std::move(one));
    }
    finish(lock);
    return lock;
}

} // namespace

void addAttributes(std::vector<SqlProcess> &processes, const std::map<quint64, SqlAttributes> &attributes)
{
    const auto processOf = [](const SqlProcess &one, const SqlAttributes &says) {
        const auto host = one.host.left(std::max<qsizetype>(0, one.host.lastIndexOf(':')));
        return says.pid ? host + ' ' + QByteArray::number(*says.pid) : "#" + QByteArray::number(one.connection);
    };
    std::map<QByteArray, std::set<QByteArray>> named;
    for (const auto &one : processes) {
        const auto says = attributes.find(one.connection);
        if (says != attributes.end())
            named[says->second.program].insert(processOf(one, says->second));
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

std::vector<LockSnapshot> snapshotsOf(const SqlLook &look, const ConnectionName &connection)
{
    const Looked looked(look);
    std::map<QByteArray, std::vector<const SqlLockWait *>> rows;
    for (const auto &wait : look.waits)
        rows[rowLockName(wait, look.columns)].push_back(&wait);
    std::map<QByteArray, std::vector<const SqlNamedLock *>> named;
    for (const auto &part : look.namedLocks)
        named["GET_LOCK#" + part.name].push_back(&part);
    std::vector<LockSnapshot> snapshots;
    for (const auto &[name, waits] : rows)
        snapshots.push_back(rowLock(looked, emptySqlLock(look, connection, name), waits));
    for (const auto &[name, parts] : named)
        snapshots.push_back(namedLock(looked, emptySqlLock(look, connection, name), parts));
    addTableLocks(snapshots, looked, connection);
    addLockRows(snapshots, looked, connection);
    std::erase_if(snapshots, [](const LockSnapshot &one) { return one.contenders.empty(); });
    return snapshots;
}

std::vector<SessionSnapshot> sessionsOf(const SqlLook &look, const std::vector<LockSnapshot> &snapshots,
                                        const ConnectionName &connection)
{
    std::map<quint64, SessionSnapshot> sessions;
    const auto of = [&](quint64 id) -> SessionSnapshot & {
        auto &session = sessions[id];
        session.connection = connection;
        session.session = QString::number(id);
        return session;
    };
    for (const auto &transaction : look.transactions) {
        if (transaction.connection != 0)
            of(transaction.connection);
    }
    for (const auto &lock : snapshots) {
        for (const auto &one : lock.contenders) {
            if (!one.session)
                continue;
            auto &session = of(one.session->toULongLong());
            (one.role == Role::Holder ? session.holds : session.waits).push_back(lock.lock.name);
        }
    }
    for (const auto &process : look.processes) {
        const auto at = sessions.find(process.connection);
        if (at == sessions.end())
            continue;
        at->second.endpoint = QString::fromUtf8(process.host);
        at->second.client = QString::fromUtf8(process.user);
    }
    std::vector<SessionSnapshot> all;
    for (auto &[id, session] : sessions)
        all.push_back(std::move(session));
    return all;
}

} // namespace lockscope::inspect
