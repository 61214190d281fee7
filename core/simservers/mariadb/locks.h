// SPDX-License-Identifier: Apache-2.0
// The locks of the simulated MariaDB: rows, and names.
#pragma once

#include <QByteArray>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace lockscope::sim {

using TransactionId = quint64;

struct RowId {
    QByteArray table;
    QByteArray value;
    friend bool operator<(const RowId &one, const RowId &other)
    {
        return std::tie(one.table, one.value) < std::tie(other.table, other.value);
    }
};

// The row locks of the simulated MariaDB, as InnoDB keeps them: exclusive record locks, a queue per row in the
// order of arrival, and a deadlock found by who closes the circle.
//
// Knows nothing of time and connections: a transaction is a number. Whoever calls tells the transactions
// whose wait ended.
class RowLocks {
public:
    enum class Outcome {
        Granted, // or its already
        Waits,
        Conflicts, // only without waiting: nothing was asked for
    };
    [[nodiscard]] Outcome lock(TransactionId transaction, const RowId &row, bool mayWait);
    // A row that does not exist: only the gap is locked, which keeps nobody from locking it, too.
    void lockGap(TransactionId transaction, const QByteArray &table);
    // It changed one more row, which makes it more expensive to roll back.
    void wrote(TransactionId transaction) { ++m_transactions[transaction].weight; }

    // After it began to wait: whom to roll back, if it waits in a circle. The one that weighs least by what it
    // wrote and by its lock objects; of equal ones the one that closed the circle.
    [[nodiscard]] std::optional<TransactionId> victimOf(TransactionId transaction) const;

    // One that it looked at and does not want. Returns who has it now, if anybody waited.
    [[nodiscard]] std::vector<TransactionId> unlock(TransactionId transaction, const RowId &row);
    // Its statement ends without the lock; what it has it keeps. Returns who got a lock by that, in order.
    [[nodiscard]] std::vector<TransactionId> stopWaiting(TransactionId transaction);
    // Everything it has and waits for.
    [[nodiscard]] std::vector<TransactionId> release(TransactionId transaction);

    [[nodiscard]] std::optional<TransactionId> holderOf(const RowId &row) const;
    // Who has what it waits for; empty: it waits for nothing.
    [[nodiscard]] std::optional<TransactionId> blockerOf(TransactionId transaction) const;
    [[nodiscard]] std::optional<TransactionId> firstWaiterFor(const RowId &row) const;
    [[nodiscard]] std::vector<RowId> lockedRows() const;
    // Who has it, and who waits for it, in their order.
    [[nodiscard]] std::deque<TransactionId> queueOf(const RowId &row) const;

private:
    struct Transaction {
        std::set<RowId> rows; // locked, in no wait
        std::optional<RowId> waitsFor;
        std::map<QByteArray, int> objects; // on each table's records
        std::set<QByteArray> tables, gaps;
        qint64 weight = 0;
    };
    void addTable(Transaction &transaction, const QByteArray &table);
    void leave(TransactionId transaction, const RowId &row, std::vector<TransactionId> &granted);

    std::map<TransactionId, Transaction> m_transactions;
    std::map<RowId, std::deque<TransactionId>> m_queues; // the first has it
};

using ConnectionNumber = quint64;

// The named locks of the simulated MariaDB (GET_LOCK): as many as a connection likes, each counted, a queue per
// name in the order of arrival, and a deadlock found by who closes the circle - of named locks only: the
// server keeps them apart from the row locks, and sees no circle that goes through both.
//
// Knows nothing of time, as RowLocks.
class NamedLocks {
public:
    enum class Outcome { Granted, Waits, Conflicts };
    [[nodiscard]] Outcome lock(ConnectionNumber connection, const QByteArray &name, bool mayWait);
    // After it began to wait: whose wait has to end, if it waits in a circle. The one that was chosen least often
    // since it connected; of equal ones the one that closed the circle. It counts as chosen from then on.
    [[nodiscard]] std::optional<ConnectionNumber> chooseVictim(ConnectionNumber connection);
    // Its wait ends without the lock.
    void stopWaiting(ConnectionNumber connection);
    // Empty: nobody has it. False: another has it. True: given back, once.
    [[nodiscard]] std::optional<bool> release(ConnectionNumber connection, const QByteArray &name,
                                              std::vector<ConnectionNumber> &granted);
    // Its connection is over: everything it has and waits for. Returns who got a lock by that.
    [[nodiscard]] std::vector<ConnectionNumber> releaseAll(ConnectionNumber connection);

    [[nodiscard]] std::optional<ConnectionNumber> holderOf(const QByteArray &name) const;
    // Who has what it waits for; empty: it waits for nothing.
    [[nodiscard]] std::optional<ConnectionNumber> blockerOf(ConnectionNumber connection) const;
    [[nodiscard]] std::optional<ConnectionNumber> firstWaiterFor(const QByteArray &name) const;
    [[nodiscard]] std::vector<QByteArray> names() const;
    // Who has it, and who waits for it, in their order.
    [[nodiscard]] std::deque<ConnectionNumber> queueOf(const QByteArray &name) const;

private:
    struct Held {
        ConnectionNumber holder = 0;
        int count = 0;
        std::deque<ConnectionNumber> waiting;
    };
    using Locks = std::map<QByteArray, Held>;
    // Goes to who waits first, or away.
    Locks::iterator passOn(Locks::iterator lock, std::vector<ConnectionNumber> &granted);

    Locks m_locks;
    std::map<ConnectionNumber, QByteArray> m_waiting;
    std::map<ConnectionNumber, int> m_timesVictim;
};

} // namespace lockscope::sim
