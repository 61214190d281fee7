// SPDX-License-Identifier: Apache-2.0
// What the makers of snapshots share: one look, with the ways through it, and the order of who waits.
#pragma once

#include "core/inspect/mariadb/poll.h"

#include <set>

namespace lockscope::inspect {

// From then on it is worth a warning that somebody keeps others waiting and does nothing.
constexpr std::chrono::seconds idleIsOdd(30);

// rowlocks.cpp
inline const QByteArray numberless = QByteArrayLiteral("0");
// "0/7" for one of them, by its connection.
[[nodiscard]] QByteArray numberlessKey(const SqlTransaction &transaction);
// The pairs of a look; of those without a number by these keys where the server tells enough, else by "0".
[[nodiscard]] std::vector<SqlLockWait> waitsByTransaction(const SqlPoll &look);

// One look, with the ways through it.
class SqlPollIndex {
public:
    explicit SqlPollIndex(const SqlPoll &look) : m_look(look)
    {
        for (const auto &transaction : look.transactions)
            addTransaction(transaction);
        for (const auto &process : look.processes)
            m_processes[process.connection] = &process;
    }

    // Several, where the number does not say which; none, where it ended meanwhile.
    [[nodiscard]] std::vector<const SqlTransaction *> transactions(const QByteArray &id, bool isRequesting) const
    {
        const auto at = m_transactions.find(id);
        auto all = at == m_transactions.end() ? std::vector<const SqlTransaction *>() : at->second;
        if (all.size() > 1 && isRequesting)
            std::erase_if(all, [](const auto *one) { return !one->waitStarted; });
        return all;
    }
    [[nodiscard]] const SqlProcess *process(quint64 connection) const
    {
        const auto at = m_processes.find(connection);
        return at == m_processes.end() ? nullptr : at->second;
    }
    // Of one that may only read, too.
    [[nodiscard]] static const SqlTransaction *transactionOf(const SqlPoll &look, quint64 connection)
    {
        for (const auto *all : {&look.transactions, &look.readers}) {
            const auto at = std::ranges::find(*all, connection, &SqlTransaction::connection);
            if (at != all->end())
                return &*at;
        }
        return nullptr;
    }
    // What is known of whoever is behind a connection.
    [[nodiscard]] Contender contender(quint64 connection, const QByteArray &id) const
    {
        Contender one;
        one.id = id;
        one.session = QString::number(connection);
        constexpr qsizetype longestName = 256;
        if (const auto *who = process(connection)) {
            if (!who->host.isEmpty())
                one.endpoint = QString::fromUtf8(who->host);
            one.identity = who->user;
            if (!who->program.isEmpty()) {
                one.program = who->program.left(longestName);
                one.pid = who->pid;
            }
        }
        return one;
    }
    // Of one that has or wants a lock by being connected.
    [[nodiscard]] Contender contender(quint64 connection) const
    {
        auto one = contender(connection, namedContenderId(connection, m_look.serverStarted.value_or(ServerTime())));
        const auto *who = process(connection);
        one.guard = SqlIdentity{"connection " + QByteArray::number(connection)
                                + (who ? " of " + who->user + " from " + who->host : QByteArray())};
        return one;
    }
    // What ends its wait for a row or a table.
    [[nodiscard]] std::vector<WaitLimit> limits(quint64 connection, bool isForRow) const
    {
        const QByteArray setting = isForRow ? "innodb_lock_wait_timeout" : "lock_wait_timeout";
        const auto of = [isForRow](const SqlWaitLimits &one) { return isForRow ? one.row : one.table; };
        const auto own = m_look.ownLimits.find(connection);
        if (own != m_look.ownLimits.end() && of(own->second))
            return {{setting, *of(own->second), true}};
        if (const auto usual = of(m_look.usualLimits))
            return {{setting, *usual, false}};
        return {};
    }
    [[nodiscard]] const SqlPoll &look() const { return m_look; }

private:
    // Who has no number ("0") is in nobody's way without a lock.
    void addTransaction(const SqlTransaction &transaction)
    {
        if (transaction.id != numberless || transaction.rowsLocked > 0)
            m_transactions[transaction.id].push_back(&transaction);
        if (transaction.id == numberless)
            m_transactions[numberlessKey(transaction)].push_back(&transaction);
    }

    const SqlPoll &m_look;
    std::map<QByteArray, std::vector<const SqlTransaction *>> m_transactions;
    std::map<quint64, const SqlProcess *> m_processes;
};

// Who waits behind whom, as the server says it: by contender. Of those who ask for a record each is behind all that
// asked earlier, which tells their order where its times, in whole seconds, do not.
class Behind {
public:
    void add(const QByteArray &waiter, const QByteArray &inTheWay)
    {
        if (waiter == inTheWay)
            return;
        m_behind[inTheWay].insert(waiter);
        m_inTheWay[waiter].insert(inTheWay);
    }
    // Whom this waiter waits for, without those whom one of the named waits for in turn: the same is said by that.
    [[nodiscard]] std::vector<QByteArray> nearest(const QByteArray &waiter) const
    {
        const auto at = m_inTheWay.find(waiter);
        if (at == m_inTheWay.end())
            return {};
        // Whoever has most before it covers most of the others.
        std::vector<QByteArray> all(at->second.begin(), at->second.end()), kept;
        std::ranges::stable_sort(all, std::greater(), [this](const QByteArray &one) { return countBefore(one); });
        for (const auto &one : all) {
            const bool isCovered = std::ranges::any_of(kept, [&](const QByteArray &other) {
                const auto before = m_inTheWay.find(other);
                return before != m_inTheWay.end() && before->second.contains(one);
            });
            if (!isCovered)
                kept.push_back(one);
        }
        return kept;
    }
    // How many stand before it, one behind the other.
    [[nodiscard]] std::map<QByteArray, int> places() const
    {
        std::map<QByteArray, int> places, open;
        for (const auto &[id, waiters] : m_behind) {
            for (const auto &waiter : waiters)
                ++open[waiter];
        }
        std::vector<QByteArray> ready;
        for (const auto &[id, waiters] : m_behind) {
            if (!open.contains(id))
                ready.push_back(id);
        }
        while (!ready.empty()) {
            const auto id = ready.back();
            ready.pop_back();
            const auto at = m_behind.find(id);
            for (const auto &waiter : at == m_behind.end() ? std::set<QByteArray>() : at->second) {
                places[waiter] = std::max(places[waiter], places[id] + 1);
                if (--open[waiter] == 0)
                    ready.push_back(waiter);
            }
        }
        return places;
    }

private:
    [[nodiscard]] std::size_t countBefore(const QByteArray &waiter) const
    {
        const auto at = m_inTheWay.find(waiter);
        return at == m_inTheWay.end() ? 0 : at->second.size();
    }

    std::map<QByteArray, std::set<QByteArray>> m_behind, m_inTheWay;
};

// Sorts, numbers the places, and says who waits for whom: only what `behind` has, by that evidence.
void finish(LockSnapshot &lock, const Behind &behind, Evidence evidence);
// Waits for those who have it, which a server does not say in as many words.
void finishBehindHolders(LockSnapshot &lock);
// To each client of a contended lock what it does.
void addWork(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked);
// What is the same of all locks of a look.
[[nodiscard]] LockSnapshot emptySqlLock(const SqlPoll &look, const ConnectionName &connection,
                                        const QByteArray &name);
// The transaction's number and start: should either change, it is not what was looked at.
[[nodiscard]] QByteArray guardOf(const SqlTransaction &transaction);
// rowlocks.cpp
void addInnoDbLocks(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked,
                    const ConnectionName &connection);
// tablelocks.cpp
void addTableLocks(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked,
                   const ConnectionName &connection);
// snapshots.cpp
void attributeNamedLock(LockSnapshot &lock, const QByteArray &name);
void attributeRow(LockSnapshot &lock, const SqlLockWait &wait, const IndexColumns &columns);
// rowlocks.cpp
void addLockRows(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked, const ConnectionName &connection);

} // namespace lockscope::inspect
