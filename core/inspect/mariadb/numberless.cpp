// SPDX-License-Identifier: Apache-2.0
// MariaDB gives a number only to a transaction that locks for writing. All others are "0" in its pairs, so one that
// waits and one that is waited for look like one transaction, and their pairs like a deadlock. They are told apart by
// the lock that each asks for, and by how often the server lists a pair: once for each lock in the way.
#include "core/inspect/mariadb/pollindex.h"

namespace lockscope::inspect {

namespace {

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
