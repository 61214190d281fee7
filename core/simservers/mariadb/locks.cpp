// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/mariadb/server.h"

namespace lockscope::sim {

// The first lock on a table is a lock object of its own, shared with everybody (IX).
void RowLocks::addTable(Transaction &transaction, const QByteArray &table)
{
    if (transaction.tables.insert(table).second)
        ++transaction.weight;
}

RowLocks::Outcome RowLocks::lock(TransactionId transaction, const RowId &row, bool mayWait)
{
    auto &mine = m_transactions[transaction];
    addTable(mine, row.table);
    if (mine.rows.contains(row))
        return Outcome::Granted;
    const auto at = m_queues.find(row);
    const bool isFree = at == m_queues.end();
    if (!isFree && !mayWait)
        return Outcome::Conflicts;
    // What is had at once shares one object with the other rows of its page, all that these tables have; a
    // wait is an object of its own, and stays one.
    auto &objects = mine.objects[row.table];
    if (!isFree || objects == 0) {
        ++objects;
        ++mine.weight;
    }
    m_queues[row].push_back(transaction);
    if (!isFree) {
        mine.waitsFor = row;
        return Outcome::Waits;
    }
    mine.rows.insert(row);
    return Outcome::Granted;
}

void RowLocks::lockGap(TransactionId transaction, const QByteArray &table)
{
    auto &mine = m_transactions[transaction];
    addTable(mine, table);
    if (mine.gaps.insert(table).second)
        ++mine.weight;
}

std::optional<TransactionId> RowLocks::victimOf(TransactionId transaction) const
{
    // Everybody waits for one row, and so for one transaction: there is one way to go.
    std::vector<TransactionId> circle;
    for (auto next = transaction;;) {
        const auto at = m_transactions.find(next);
        if (at == m_transactions.end() || !at->second.waitsFor)
            return std::nullopt;
        circle.push_back(next);
        next = m_queues.at(*at->second.waitsFor).front();
        if (next == transaction)
            break;
        // A circle that it only waits for: it was there before, and is being broken.
        if (std::find(circle.begin(), circle.end(), next) != circle.end())
            return std::nullopt;
    }
    auto victim = transaction;
    for (const auto candidate : circle) {
        if (m_transactions.at(candidate).weight < m_transactions.at(victim).weight)
            victim = candidate;
    }
    return victim;
}

void RowLocks::leave(TransactionId transaction, const RowId &row, std::vector<TransactionId> &granted)
{
    const auto at = m_queues.find(row);
    if (at == m_queues.end())
        return;
    auto &queue = at->second;
    const bool wasFirst = queue.front() == transaction;
    std::erase(queue, transaction);
    if (queue.empty()) {
        m_queues.erase(at);
        return;
    }
    if (!wasFirst)
        return;
    auto &next = m_transactions[queue.front()];
    next.waitsFor.reset();
    next.rows.insert(row);
    granted.push_back(queue.front());
}

std::vector<TransactionId> RowLocks::unlock(TransactionId transaction, const RowId &row)
{
    std::vector<TransactionId> granted;
    const auto at = m_transactions.find(transaction);
    if (at != m_transactions.end() && at->second.rows.erase(row) > 0)
        leave(transaction, row, granted);
    return granted;
}

std::vector<TransactionId> RowLocks::stopWaiting(TransactionId transaction)
{
    std::vector<TransactionId> granted;
    const auto at = m_transactions.find(transaction);
    if (at == m_transactions.end() || !at->second.waitsFor)
        return granted;
    const auto row = *std::exchange(at->second.waitsFor, std::nullopt);
    --at->second.objects[row.table];
    --at->second.weight;
    leave(transaction, row, granted);
    return granted;
}

std::vector<TransactionId> RowLocks::release(TransactionId transaction)
{
    auto granted = stopWaiting(transaction);
    const auto at = m_transactions.find(transaction);
    if (at == m_transactions.end())
        return granted;
    const auto rows = std::move(at->second.rows);
    m_transactions.erase(at);
    for (const auto &row : rows)
        leave(transaction, row, granted);
    return granted;
}

std::optional<TransactionId> RowLocks::holderOf(const RowId &row) const
{
    const auto at = m_queues.find(row);
    return at == m_queues.end() ? std::nullopt : std::optional(at->second.front());
}

std::optional<TransactionId> RowLocks::blockerOf(TransactionId transaction) const
{
    const auto at = m_transactions.find(transaction);
    return at == m_transactions.end() || !at->second.waitsFor ? std::nullopt : holderOf(*at->second.waitsFor);
}

std::optional<TransactionId> RowLocks::firstWaiterFor(const RowId &row) const
{
    const auto at = m_queues.find(row);
    return at == m_queues.end() || at->second.size() < 2 ? std::nullopt : std::optional(at->second[1]);
}

std::deque<TransactionId> RowLocks::queueOf(const RowId &row) const
{
    const auto at = m_queues.find(row);
    return at == m_queues.end() ? std::deque<TransactionId>() : at->second;
}

std::vector<RowId> RowLocks::lockedRows() const
{
    std::vector<RowId> rows;
    for (const auto &[row, queue] : m_queues)
        rows.push_back(row);
    return rows;
}

NamedLocks::Outcome NamedLocks::lock(ConnectionNumber connection, const QByteArray &name, bool mayWait)
{
    auto &lock = m_locks[name];
    if (lock.count == 0)
        lock.holder = connection;
    if (lock.holder == connection) {
        ++lock.count;
        return Outcome::Granted;
    }
    if (!mayWait)
        return Outcome::Conflicts;
    lock.waiting.push_back(connection);
    m_waiting[connection] = name;
    return Outcome::Waits;
}

std::optional<ConnectionNumber> NamedLocks::chooseVictim(ConnectionNumber connection)
{
    auto victim = connection;
    for (auto next = connection;;) {
        const auto at = m_waiting.find(next);
        if (at == m_waiting.end())
            return std::nullopt;
        next = m_locks.at(at->second).holder;
        if (next == connection)
            break;
        if (m_timesVictim[next] < m_timesVictim[victim])
            victim = next;
    }
    ++m_timesVictim[victim];
    return victim;
}

void NamedLocks::stopWaiting(ConnectionNumber connection)
{
    const auto at = m_waiting.find(connection);
    if (at == m_waiting.end())
        return;
    std::erase(m_locks.at(at->second).waiting, connection);
    m_waiting.erase(at);
}

NamedLocks::Locks::iterator NamedLocks::passOn(Locks::iterator lock, std::vector<ConnectionNumber> &granted)
{
    auto &held = lock->second;
    if (held.waiting.empty())
        return m_locks.erase(lock);
    held.holder = held.waiting.front();
    held.count = 1;
    held.waiting.pop_front();
    m_waiting.erase(held.holder);
    granted.push_back(held.holder);
    return std::next(lock);
}

std::optional<bool> NamedLocks::release(ConnectionNumber connection, const QByteArray &name,
                                        std::vector<ConnectionNumber> &granted)
{
    const auto at = m_locks.find(name);
    if (at == m_locks.end())
        return std::nullopt;
    if (at->second.holder != connection)
        return false;
    if (--at->second.count == 0)
        passOn(at, granted);
    return true;
}

std::vector<ConnectionNumber> NamedLocks::releaseAll(ConnectionNumber connection)
{
    stopWaiting(connection);
    m_timesVictim.erase(connection);
    std::vector<ConnectionNumber> granted;
    for (auto at = m_locks.begin(); at != m_locks.end();)
        at = at->second.holder == connection ? passOn(at, granted) : std::next(at);
    return granted;
}

std::optional<ConnectionNumber> NamedLocks::holderOf(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() ? std::nullopt : std::optional(at->second.holder);
}

std::optional<ConnectionNumber> NamedLocks::blockerOf(ConnectionNumber connection) const
{
    const auto at = m_waiting.find(connection);
    return at == m_waiting.end() ? std::nullopt : holderOf(at->second);
}

std::optional<ConnectionNumber> NamedLocks::firstWaiterFor(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() || at->second.waiting.empty() ? std::nullopt
                                                             : std::optional(at->second.waiting.front());
}

std::deque<ConnectionNumber> NamedLocks::queueOf(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    if (at == m_locks.end())
        return {};
    auto queue = at->second.waiting;
    queue.push_front(at->second.holder);
    return queue;
}

std::vector<QByteArray> NamedLocks::names() const
{
    std::vector<QByteArray> all;
    for (const auto &[name, held] : m_locks)
        all.push_back(name);
    return all;
}

} // namespace lockscope::sim
