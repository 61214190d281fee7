// SPDX-License-Identifier: Apache-2.0
// InnoDB's locks on rows, on gaps between rows and on tables, from the pairs of INNODB_LOCK_WAITS: a server shows
// such a lock only while a transaction waits for it.
//
// A record has two locks: one on itself and one on the gap before it, to which an INSERT comes. Transactions that
// have the same gap do not keep each other out, and none of them has the row. Both are told of the same place, and
// only the modes of the request say which is meant. Source: storage/innobase/lock/lock0lock.cc,
// lock_rec_has_to_wait().
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/mariadb/pollindex.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

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
        const bool isWaiter = isRequesting || (mayWait && found.size() == 1);
        if (found.empty() || !m_seen.insert({id, isWaiter}).second)
            return;
        if (found.size() > 1) {
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

} // namespace

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
    for (const auto &wait : look.waits) {
        locks[innoDbLockName(wait, look.columns)].push_back(&wait);
        records[rowLockName(wait, look.columns)].push_back(&wait);
    }
    for (const auto &[name, waits] : locks) {
        const auto &around = records[rowLockName(*waits.front(), look.columns)];
        snapshots.push_back(InnoDbLock(looked, waits, around).snapshot(emptySqlLock(look, connection, name)));
    }
}

} // namespace lockscope::inspect
