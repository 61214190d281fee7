// SPDX-License-Identifier: Apache-2.0
// From rows that are locks by what stands in them to snapshots.
#include "core/inspect/mariadb/pollindex.h"
#include "core/inspect/findings.h"
#include "core/rules/catalogue.h"
#include "core/rules/turn.h"

#include <QHostAddress>
#include <QRegularExpression>

namespace lockscope::inspect {

namespace {

qint64 millisOf(const std::optional<ServerTime> &moment)
{
    return moment ? qint64(moment->time_since_epoch().count()) : 0;
}

// The first that a holder writes of itself, as plainHost() has it: of "web-1 (10.0.3.7)", "web-1 (0:0:0:0:0:0:0:1)".
QString addressIn(const QByteArray &identity)
{
    static const QRegularExpression ipv6(
        u"(?<![0-9A-Za-z:.%])([0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:(?:\\.[0-9]{1,3}){3})?)(?![0-9A-Za-z:.])"_s);
    static const QRegularExpression ipv4(u"(?<![0-9.])([0-9]{1,3}(?:\\.[0-9]{1,3}){3})(?![0-9.])"_s);
    const auto text = QString::fromUtf8(identity);
    if (const auto named = ipv6.match(text); named.hasMatch() && !QHostAddress(named.captured(1)).isNull())
        return plainHost(named.captured(1)); // also of an IPv4 address that is written as one
    const auto named = ipv4.match(text);
    return named.hasMatch() ? named.captured(1) : QString();
}

// "2 connections from 10.0.3.7 are open, the oldest since 2026-11-22T10:00:00Z, 1 in a transaction". Times and not
// ages: it is to change only when they do.
QString connectionsText(const QString &host, const SqlHostConnections &from)
{
    QStringList parts{from.count == 1 ? u"1 connection from %1 is open"_s.arg(host)
                                      : u"%1 connections from %2 are open"_s.arg(QString::number(from.count), host)};
    if (from.oldest) {
        const auto since = isoSeconds(std::chrono::floor<std::chrono::seconds>(from.oldest->time_since_epoch()));
        parts << (from.count == 1 ? u"since %1"_s : u"the oldest since %1"_s).arg(since);
    }
    if (from.inTransaction)
        parts << (*from.inTransaction == 0 ? u"none in a transaction"_s
                                           : u"%1 in a transaction"_s.arg(*from.inTransaction));
    return parts.join(u", "_s);
}

// A server does not tell since when they are open.
SqlConnections connectionsIn(const SqlPoll &look)
{
    std::set<quint64> inTransaction;
    for (const auto *all : {&look.transactions, &look.readers}) {
        for (const auto &one : *all)
            inTransaction.insert(one.connection);
    }
    SqlConnections connections;
    for (const auto &process : look.processes) {
        if (process.connection == look.ownConnection)
            continue;
        auto &from = connections[hostOfEndpoint(QString::fromUtf8(process.host))];
        ++from.count;
        if (look.rowsAreFresh)
            from.inTransaction =
                from.inTransaction.value_or(0) + (inTransaction.contains(process.connection) ? 1 : 0);
    }
    return connections;
}

Mode modeOf(const QByteArray &innoDb)
{
    return innoDb.startsWith('S') || innoDb.startsWith("IS") ? Mode::Read : Mode::Exclusive;
}

void addIdle(LockSnapshot &lock, Contender &holder, const SqlTransaction &transaction, const SqlProcess *process,
             ServerTime looked)
{
    holder.runsNothing = process && process->isIdle;
    if (!holder.runsNothing || process->inState < idleIsOdd)
        return;
    Wording message = u"%1 has been idle inside its transaction for "_s.arg(connectionInWords(*process));
    message.since(looked - process->inState) << clause(
        u"no statement runs that KILL QUERY could end; rows locked: %1, modified: %2"_s.arg(transaction.rowsLocked)
            .arg(transaction.rowsModified));
    addFinding(lock, FindingCode::IdleInTransaction, message, {holder.id});
}

// "prepared XA transaction order-7"; of several the server does not say which has what.
QByteArray xaInWords(const SqlTransaction &transaction, const SqlPoll &look)
{
    if (transaction.state.startsWith("ROLLING"))
        return "a transaction without a session, which the server rolls back";
    const auto unknown =
        std::ranges::count_if(look.transactions, [](const SqlTransaction &one) { return one.connection == 0; });
    const auto names = look.preparedXa.value_or(QByteArrayList());
    if (names.size() == 1 && unknown == 1)
        return "prepared XA transaction " + names.front();
    if (!names.isEmpty())
        return "one of several prepared XA transactions; the server does not report which of " + names.join(", ");
    return look.preparedXa ? "a transaction without a session; the server lists no prepared XA transaction"
                           : "a prepared XA transaction whose session has ended; XA RECOVER names it";
}

// All pairs about one lock.
class InnoDbLock {
public:
    // `around`: the pairs about the same record, those of its other lock included.
    InnoDbLock(const SqlPollIndex &looked, std::vector<const SqlLockWait *> waits,
               std::vector<const SqlLockWait *> around)
        : m_looked(looked), m_waits(std::move(waits)), m_around(std::move(around)), m_first(*m_waits.front()),
          m_isGap(isForGap(m_first))
    {
        for (const auto *wait : m_waits)
            m_requesting.insert(wait->requesting);
        for (const auto *wait : m_around)
            m_waitingHere.insert(wait->requesting);
    }

    [[nodiscard]] LockSnapshot snapshot(LockSnapshot lock)
    {
        describe(lock);
        for (const auto *wait : m_waits) {
            // Earlier waiters are in the way, too; who is in the way and does not wait itself holds it.
            add(lock, wait->blocking, wait->blockingMode, isWaiting(*wait), false);
            add(lock, wait->requesting, wait->requestedMode, true, true);
        }
        Behind behind;
        for (const auto *wait : m_around) {
            // Whoever has this lock and waits for the record's other one waits for nobody here.
            const bool waitsHere = m_seen.contains({wait->requesting, true});
            if (waitsHere && m_contenderOf.contains(wait->requesting) && m_contenderOf.contains(wait->blocking))
                behind.add(m_contenderOf[wait->requesting], m_contenderOf[wait->blocking]);
        }
        finish(lock, behind, Evidence::Server);
        return lock;
    }

private:
    void describe(LockSnapshot &lock) const
    {
        lock.recipe = m_isGap || m_first.index.isEmpty() ? "sql-innodb-lock" : "sql-for-update";
        attributeRow(lock, m_first, m_looked.look().columns);
        if (m_isGap)
            lock.why = u"InnoDB reports who waits to insert into the gap before this record of index %1, and who has "
                       u"locked that gap. The record itself is another lock"_s.arg(label(m_first.index, 64));
        else if (m_first.index.isEmpty())
            lock.why = u"InnoDB reports who waits for its lock of this table (%1), and who is in the way"_s.arg(
                label(m_first.requestedMode, 64));
        else
            lock.why = u"InnoDB says who waits for this record of index %1, and who is in the way"_s.arg(
                label(m_first.index, 64));
        const auto &look = m_looked.look();
        if (!look.rowsAreFresh) {
            lock.mayBeOld = true;
            lock.observed = look.rowsAsOf.value_or(lock.observed);
        }
    }
    // Of a transaction in the way. One that waits for the record itself keeps others out of the gap before it
    // already, and has neither: MySQL tells that from one that has the gap, MariaDB does not.
    [[nodiscard]] bool isWaiting(const SqlLockWait &wait) const
    {
        if (m_requesting.contains(wait.blocking))
            return true;
        return m_waitingHere.contains(wait.blocking) && wait.blockingStatus != "GRANTED";
    }
    // Transactions that have a gap do not keep each other out.
    [[nodiscard]] Mode modeIn(const QByteArray &innoDb, bool isWaiter) const
    {
        if (!m_isGap)
            return modeOf(innoDb);
        return isWaiter ? Mode::Write : Mode::Read;
    }
    void add(LockSnapshot &lock, const QByteArray &id, const QByteArray &mode, bool mayWait, bool isRequesting)
    {
        const auto found = m_looked.transactions(id, isRequesting);
        const bool isUnknown = id == numberless && !found.empty();
        const bool isWaiter = isRequesting || (mayWait && found.size() == 1);
        if (found.empty() || !m_seen.insert({id, isWaiter}).second)
            return;
        if (isUnknown) {
            lock.contenders.push_back(unnumbered(isWaiter, mode));
            return;
        }
        const auto &transaction = *found.front();
        auto one = contender(transaction);
        m_contenderOf[id] = one.id;
        one.mode = modeIn(mode, isWaiter);
        const auto &look = m_looked.look();
        if (isWaiter) {
            one.waitingSince = transaction.waitStarted;
            one.limits = m_looked.limits(transaction.connection, true);
            lock.contenders.push_back(std::move(one));
            return;
        }
        one.role = Role::Holder;
        one.heldSince = transaction.started; // the transaction's: the row was locked then or later
        one.heldAtMost = true;
        if (transaction.connection == 0)
            addWithoutSession(lock, one);
        else
            addIdle(lock, one, transaction, m_looked.process(transaction.connection), look.now);
        lock.contenders.push_back(std::move(one));
    }
    // Several that have no number share the record, and nothing says which of those who could are meant.
    [[nodiscard]] Contender unnumbered(bool isWaiter, const QByteArray &mode) const
    {
        Contender one;
        one.id = "without-a-number";
        one.role = isWaiter ? Role::Waiter : Role::Holder;
        one.mode = modeIn(mode, isWaiter);
        one.identity = "a transaction that has no number yet; the server does not say which";
        return one;
    }
    [[nodiscard]] Contender contender(const SqlTransaction &transaction) const
    {
        const auto id =
            rowContenderId(transaction.connection, transaction.id, transaction.started.value_or(ServerTime()));
        auto one = m_looked.contender(transaction.connection, id);
        one.guard = SqlIdentity{guardOf(transaction)};
        if (transaction.connection == 0) {
            one.id = "xa:" + transaction.id + id.mid(id.indexOf('@'));
            one.session.reset();
            one.identity = xaInWords(transaction, m_looked.look());
            one.guard = SqlIdentity{"xa=" + *one.identity};
        }
        return one;
    }
    // There is nobody who could end it, from its beginning on.
    void addWithoutSession(LockSnapshot &lock, Contender &holder) const
    {
        holder.runsNothing = true;
        const auto &now = m_looked.look().now;
        Wording message =
            u"%1 has no session: no KILL ends it. If it is prepared, only XA COMMIT or XA ROLLBACK does, "
            u"which its transaction manager decides. It is there for at most "_s.arg(label(*holder.identity, 200));
        message.since(holder.heldSince.value_or(now));
        const bool isOdd = holder.heldSince && now - *holder.heldSince >= idleIsOdd;
        addFinding(lock, FindingCode::IdleInTransaction, isOdd ? Severity::Warning : Severity::Info, message,
                   {holder.id});
    }

    const SqlPollIndex &m_looked;
    const std::vector<const SqlLockWait *> m_waits, m_around;
    const SqlLockWait &m_first;
    const bool m_isGap;
    std::set<QByteArray> m_requesting, m_waitingHere; // transactions
    std::set<std::pair<QByteArray, bool>> m_seen;
    std::map<QByteArray, QByteArray> m_contenderOf; // by transaction
};

// MariaDB gives a number only to a transaction that locks for writing. All others are "0" in its pairs, so one that
// waits and one that is waited for look like one transaction, and their pairs like a deadlock. They are told apart by
// the lock that each asks for, and by how often the server lists a pair: once for each lock in the way.

QByteArray placeOf(const QByteArray &lockId)
{
    return lockId.mid(lockId.indexOf(':'));
}

bool isOfSamePlace(const SqlLockWait &one, const SqlLockWait &other)
{
    return one.table == other.table && one.index == other.index && one.data == other.data
           && placeOf(one.id) == placeOf(other.id);
}

// How often the server lists this pair for the place of `wait`.
qsizetype countPairs(const SqlPoll &look, const SqlLockWait &wait, const QByteArray &requesting,
                     const QByteArray &blocking)
{
    return std::ranges::count_if(look.waits, [&](const SqlLockWait &one) {
        return one.requesting == requesting && one.blocking == blocking && isOfSamePlace(one, wait);
    });
}

// Transactions without a number, as one pair sees them.
struct Numberless {
    QByteArrayList ahead, behind; // that ask for the same record, before the pair's other transaction and after it
    QByteArrayList having;        // that have locked rows, and do not ask for this one
    bool isClear = true;          // whether those that are behind are known

    Numberless(const SqlPoll &look, const SqlLockWait &wait, const QByteArray &other)
    {
        std::vector<const SqlTransaction *> asking;
        for (const auto &one : look.transactions) {
            const auto &asked = one.requestedLock;
            const bool asks = one.waitStarted && (asked.isEmpty() || placeOf(asked) == placeOf(wait.id));
            if (one.id == numberless && asks)
                asking.push_back(&one);
            else if (one.id == numberless && one.rowsLocked > 0)
                having << numberlessKey(one);
        }
        std::ranges::stable_sort(asking, {}, [](const auto *one) { return one->waitStarted; });
        const auto count = std::ssize(asking);
        // The server lists each pair of theirs once for each of them.
        const auto times = countPairs(look, wait, numberless, other) / std::max<qsizetype>(1, count);
        const auto first = static_cast<std::size_t>(count - std::min<qsizetype>(times, count)); // that is behind
        for (std::size_t i = 0; i < asking.size(); ++i)
            (i < first ? ahead : behind) << numberlessKey(*asking[i]);
        isClear = ahead.isEmpty() || behind.isEmpty() || asking[first - 1]->waitStarted != asking[first]->waitStarted;
    }
};

// One that asks to read and one that asks to write keep each other waiting: one of them is behind the other.
QByteArrayList blockersOf(const SqlPoll &look, const SqlLockWait &wait)
{
    if (wait.blocking != numberless)
        return {wait.blocking};
    const Numberless those(look, wait, wait.requesting);
    const auto holding = countPairs(look, wait, wait.requesting, numberless) - those.ahead.size();
    if (!those.isClear || holding <= 0)
        return those.isClear ? those.ahead : QByteArrayList();
    return those.ahead + (holding == those.having.size() ? those.having : QByteArrayList{numberless});
}

QByteArrayList requestersOf(const SqlPoll &look, const SqlLockWait &wait)
{
    if (wait.requesting != numberless)
        return {wait.requesting};
    const Numberless those(look, wait, wait.blocking);
    return those.isClear ? those.behind : QByteArrayList();
}

} // namespace

LockSnapshot lockOfRow(const SqlLockRow &row, LockSnapshot lock)
{
    const auto &layout = *row.layout;
    // Of our recipes for MariaDB and MySQL there are none for PostgreSQL: there it is a row like others.
    const QByteArray family = lock.backend == BackendKind::PostgreSql ? "pg-" : "sql-";
    lock.recipe = recipes::findRecipe(family + layout.recipe) ? family + layout.recipe : family + "row-lock";
    // ShedLock writes its host's name; a token is somebody's who speaks its layout, as our own recipe does.
    const bool isOurs = layout.release == recipes::RowRelease::EndTime && isUuid36(row.lockedBy);
    const bool isToken = isOurs || (layout.isOwnerToken && !row.lockedBy.isEmpty());
    // Other rows than Liquibase's own are of programs that use its layout, such as Keycloak.
    if (!isOurs && !layout.client.isEmpty() && (layout.only.isEmpty() || row.names == QByteArrayList{layout.only})) {
        lock.client = layout.client;
        lock.clientTraits.notices = layout.notices.isEmpty() ? nullptr : QStringView(layout.notices).utf16();
    }
    lock.why = layout.why;
    lock.byUserRule = !layout.table.isEmpty();
    if (layout.isSinceRenewed && !row.stamp.isEmpty())
        lock.why += u" (%1 = %2)"_s.arg(label(layout.since.toUpper(), 60), label(row.stamp, 60));
    if (row.isZoneUnclear) {
        lock.why += clause(u"it may be over: nothing says whether that is UTC or another zone's time"_s);
        lock.confidence = Confidence::Medium;
    }
    lock.waitersKnown = false; // they ask again and again
    lock.state = LockState::Held;
    Contender holder;
    holder.role = Role::Holder;
    holder.position = 0;
    const bool isNamed = !row.lockedBy.isEmpty() && !layout.isOwnerNumber;
    holder.identity = isNamed ? row.lockedBy : QByteArray("holder unknown; the row does not name it");
    holder.id =
        isToken ? row.lockedBy
                : recipes::constantContenderId(isNamed ? row.lockedBy : QByteArray("unknown"), millisOf(row.since));
    if (row.since && !layout.isSinceRenewed && *row.since <= lock.observed + 1s)
        holder.heldSince = std::min(*row.since, lock.observed);
    holder.expiresAt = row.ends;
    holder.guard = RowIdentity{.lockedBy = row.lockedBy, .stamp = row.stamp};
    lock.contenders.push_back(std::move(holder));
    return lock;
}

void addHolderConnections(LockSnapshot &lock, const SqlConnections &connections)
{
    // A client that is alive may be between two connections, but not for so long.
    constexpr auto isOld = 10min;
    const auto &holder = lock.contenders.front();
    const auto host = addressIn(holder.identity.value_or(QByteArray()));
    // Each machine has the loopback address.
    if (host.isEmpty() || isLoopbackHost(host))
        return;
    if (const auto from = connections.find(host); from != connections.end()) {
        lock.why += clause(connectionsText(host, from->second));
        return;
    }
    // Names of hosts cannot be compared with an address.
    const auto isComparable = [](const auto &one) {
        return one.first.isEmpty() || one.first == "localhost"_L1 || addressIn(one.first.toUtf8()) == one.first;
    };
    if (!std::ranges::all_of(connections, isComparable))
        return;
    const auto none =
        u"no connection from %1 is open; behind NAT or a pool of connections this proves nothing"_s.arg(host);
    lock.why += clause(none);
    if (holder.heldSince && lock.observed - *holder.heldSince >= isOld)
        addFinding(lock, FindingCode::HolderDisconnected, none, {holder.id});
}

void addLockRows(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked, const ConnectionName &connection)
{
    const auto &look = looked.look();
    const auto connections = connectionsIn(look);
    std::set<QByteArray> names; // a server may say anything twice
    for (const auto &row : look.lockRows) {
        const auto name = lockRowName(row);
        if (!names.insert(name).second)
            continue;
        snapshots.push_back(lockOfRow(row, emptySqlLock(look, connection, name)));
        if (look.seesAllProcesses && !look.processes.empty())
            addHolderConnections(snapshots.back(), connections);
    }
}

// InnoDB's locks on rows, on gaps between rows and on tables, from the pairs of INNODB_LOCK_WAITS: a server shows
// such a lock only while a transaction waits for it.
// A record has two locks: one on itself and one on the gap before it, to which an INSERT comes. Transactions that
// have the same gap do not keep each other out, and none of them has the row. Both are told of the same place, and
// only the modes of the request say which is meant. Source: storage/innobase/lock/lock0lock.cc,
// lock_rec_has_to_wait().

bool isForGap(const SqlLockWait &wait)
{
    if (wait.index.isEmpty())
        return false;
    const auto modes = wait.requestedMode.split(',');
    // Behind the last record there is a gap only; its place has the number 1 on each page.
    const bool isBehindLast =
        wait.data.startsWith("supremum") || (wait.data.isEmpty() && wait.id.split(':').value(3) == "1");
    return isBehindLast || modes.contains("GAP") || modes.contains("INSERT_INTENTION");
}

void addInnoDbLocks(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked,
                    const ConnectionName &connection)
{
    const auto &look = looked.look();
    std::map<QByteArray, std::vector<const SqlLockWait *>> locks, records;
    const auto all = waitsByTransaction(look);
    for (const auto &wait : all) {
        locks[innoDbLockName(wait, look.columns)].push_back(&wait);
        records[rowLockName(wait, look.columns)].push_back(&wait);
    }
    for (const auto &[name, waits] : locks) {
        const auto &around = records[rowLockName(*waits.front(), look.columns)];
        snapshots.push_back(InnoDbLock(looked, waits, around).snapshot(emptySqlLock(look, connection, name)));
    }
}

QByteArray numberlessKey(const SqlTransaction &transaction)
{
    return transaction.id + '/' + QByteArray::number(transaction.connection);
}

std::vector<SqlLockWait> waitsByTransaction(const SqlPoll &look)
{
    std::vector<SqlLockWait> all;
    for (const auto &wait : look.waits) {
        for (const auto &requesting : requestersOf(look, wait)) {
            for (const auto &blocking : blockersOf(look, wait)) {
                all.push_back(wait);
                all.back().requesting = requesting;
                all.back().blocking = blocking;
            }
        }
    }
    return all;
}

} // namespace lockscope::inspect
