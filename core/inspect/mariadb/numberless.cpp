// SPDX-License-Identifier: Apache-2.0
// MariaDB gives a number only to a transaction that locks for writing. All others are "0" in its pairs, so one that
// waits and one that is waited for look like one transaction, and their pairs like a deadlock. They are told apart by
// the lock that each asks for, and by how often the server lists a pair: once for each lock in the way.
#include "core/inspect/mariadb/pollindex.h"

#include <algorithm>
#include <tuple>

namespace lockscope::inspect {

namespace {

auto pairOf(const SqlLockWait &wait)
{
    return std::tie(wait.requesting, wait.blocking, wait.id, wait.table, wait.index, wait.data);
}

bool isOfSamePlace(const SqlLockWait &one, const SqlLockWait &other)
{
    return std::tie(one.table, one.index, one.data) == std::tie(other.table, other.index, other.data)
           && one.id.mid(one.id.indexOf(':')) == other.id.mid(other.id.indexOf(':'));
}

class Numberless {
public:
    explicit Numberless(const SqlPoll &look) : m_look(look) {}

    [[nodiscard]] std::vector<SqlLockWait> waits() const
    {
        std::vector<SqlLockWait> all;
        for (const auto &wait : m_look.waits) {
            for (const auto &requesting : requestersOf(wait)) {
                for (const auto &blocking : blockersOf(wait)) {
                    all.push_back(wait);
                    all.back().requesting = requesting;
                    all.back().blocking = blocking;
                }
            }
        }
        return all;
    }

private:
    [[nodiscard]] bool asksFor(const SqlTransaction &one, const SqlLockWait &wait) const
    {
        const auto &asked = one.requestedLock;
        return one.id == numberless && one.waitStarted
               && (asked.isEmpty() || asked.mid(asked.indexOf(':')) == wait.id.mid(wait.id.indexOf(':')));
    }
    // In the order in which they asked.
    [[nodiscard]] std::vector<const SqlTransaction *> askers(const SqlLockWait &wait) const
    {
        std::vector<const SqlTransaction *> all;
        for (const auto &one : m_look.transactions) {
            if (asksFor(one, wait))
                all.push_back(&one);
        }
        std::ranges::stable_sort(all, {}, [](const auto *one) { return one->waitStarted; });
        return all;
    }
    // How many of them are behind `blocking`: the server lists each pair once for each of them.
    [[nodiscard]] std::size_t countBehind(const QByteArray &blocking, const SqlLockWait &place,
                                          std::size_t count) const
    {
        const auto isBehind = [&](const SqlLockWait &one) {
            return one.requesting == numberless && one.blocking == blocking && isOfSamePlace(one, place);
        };
        const auto times = static_cast<std::size_t>(std::ranges::count_if(m_look.waits, isBehind));
        return std::min(times / std::max<std::size_t>(1, count), count);
    }
    // Those that asked before `blocking`, or after it; none where the server does not tell when they began to wait.
    [[nodiscard]] std::optional<QByteArrayList> askersBeside(const QByteArray &blocking, const SqlLockWait &wait,
                                                             bool isBefore) const
    {
        const auto all = askers(wait);
        const auto first = all.size() - countBehind(blocking, wait, all.size()); // that is behind
        if (first > 0 && first < all.size() && all[first - 1]->waitStarted == all[first]->waitStarted)
            return std::nullopt;
        QByteArrayList keys;
        for (std::size_t i = isBefore ? 0 : first; i < (isBefore ? first : all.size()); ++i)
            keys << numberlessKey(*all[i]);
        return keys;
    }
    // Those that have locked rows, and do not ask for this one.
    [[nodiscard]] QByteArrayList others(const SqlLockWait &wait) const
    {
        QByteArrayList all;
        for (const auto &one : m_look.transactions) {
            if (one.id == numberless && one.rowsLocked > 0 && !asksFor(one, wait))
                all << numberlessKey(one);
        }
        return all;
    }
    [[nodiscard]] QByteArrayList requestersOf(const SqlLockWait &wait) const
    {
        return wait.requesting == numberless ? askersBeside(wait.blocking, wait, false).value_or(QByteArrayList())
                                             : QByteArrayList{wait.requesting};
    }
    // One that asks to read and one that asks to write keep each other waiting: one of them is behind the other.
    [[nodiscard]] QByteArrayList blockersOf(const SqlLockWait &wait) const
    {
        if (wait.blocking != numberless)
            return {wait.blocking};
        const auto ahead = askersBeside(wait.requesting, wait, true);
        if (!ahead)
            return {};
        const auto holding =
            std::ranges::count_if(m_look.waits, [&](const auto &one) { return pairOf(one) == pairOf(wait); })
            - ahead->size();
        if (holding <= 0)
            return *ahead;
        const auto having = others(wait);
        return *ahead + (holding == having.size() ? having : QByteArrayList{numberless});
    }

    const SqlPoll &m_look;
};

} // namespace

QByteArray numberlessKey(const SqlTransaction &transaction)
{
    return transaction.id + '/' + QByteArray::number(transaction.connection);
}

std::vector<SqlLockWait> waitsByTransaction(const SqlPoll &look)
{
    return Numberless(look).waits();
}

} // namespace lockscope::inspect
