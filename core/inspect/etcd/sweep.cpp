// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/etcd/recognise.h"

#include <algorithm>
#include <span>

namespace lockscope::inspect {

namespace {

constexpr qint64 keysOfPage = 1000;
constexpr std::size_t operationsAtOnce = 100; // etcd takes 128 operations in a transaction
// An answer that is lost is not waited for as long as all pages may take.
constexpr std::chrono::seconds pageWithin(10);
constexpr qint64 keptAtMost = 64'000'000; // bytes of keys of locks, each with what stands beside it
constexpr qint64 keptBeside = 250;

// A page that does not begin where it was asked for, or says that more follows nothing, would be asked for for ever.
bool isPage(const etcd::RangeAnswer &answer, const etcd::RangeRequest &asked)
{
    const auto &entries = answer.entries;
    const auto isWrong = [](const etcd::KeyValue &entry, const etcd::KeyValue &next) {
        return entry.key >= next.key;
    };
    const bool isInOrder = std::ranges::adjacent_find(entries, isWrong) == entries.end()
                           && (entries.empty() || entries.front().key >= asked.key);
    return answer.revision > 0 && isInOrder && !(answer.more && entries.empty());
}

etcd::Transaction readingOf(std::span<const etcd::RangeRequest> requests)
{
    etcd::Transaction reading;
    for (const auto &request : requests)
        reading.then.emplace_back().range = request;
    return reading;
}

// The values of all claims, then what else is below each lock; last the keys that may be locks by themselves.
std::vector<etcd::RangeRequest> readingsOf(const EtcdSwept &swept, const QByteArrayList &mayBeFixed)
{
    std::vector<etcd::RangeRequest> readings;
    for (const auto &[name, queue] : swept.locks) {
        for (const auto &[created, claim] : queue)
            readings.emplace_back().key = claim.entry.key;
        readings.push_back(keysAround(name, queue));
    }
    for (const auto &key : mayBeFixed)
        readings.emplace_back().key = key;
    for (auto &one : readings)
        one.at = swept.revision;
    return readings;
}

void takeFixed(EtcdSwept &swept, const etcd::KeyValue &entry)
{
    const auto member = swept.leased.find(patroniMemberOf(entry));
    const bool hasMember = member != swept.leased.end() && member->second == entry.lease;
    auto fixed = fixedKeyOf(entry, swept.locks.contains(entry.key), hasMember);
    if (!fixed)
        return;
    auto &claim = swept.locks[lockOfFixed(entry.key)][entry.created];
    claim.entry = entry;
    claim.fixed = std::move(fixed);
    swept.leased.erase(entry.key);
}

// In the same order. What is gone by then is told by the watch.
void take(EtcdSwept &swept, const std::vector<etcd::RangeAnswer> &answers)
{
    auto at = answers.begin();
    for (auto &[name, queue] : swept.locks) {
        for (auto &[created, claim] : queue) {
            if (at != answers.end() && !at->entries.empty())
                claim.entry.value = at->entries.front().value;
            at += at != answers.end() ? 1 : 0;
        }
        if (at != answers.end())
            swept.foreign[name] = etcdKeysOf(name, at->entries, at->more).foreign;
        at += at != answers.end() ? 1 : 0;
    }
    for (; at != answers.end(); ++at) {
        if (!at->entries.empty())
            takeFixed(swept, at->entries.front());
    }
}

// A key of a read/write lock has no value: one that has is data.
void dropData(EtcdSwept &swept)
{
    for (auto &[name, queue] : swept.locks) {
        std::erase_if(queue, [&swept, &foreign = swept.foreign[name]](const auto &one) {
            const auto &entry = one.second.entry;
            const bool isData = etcdModeOf(entry) != Mode::Exclusive && !entry.value.isEmpty();
            if (isData) {
                swept.leased.emplace(entry.key, entry.lease);
                noteForeign(foreign, entry);
            }
            return isData;
        });
    }
    std::erase_if(swept.locks, [](const auto &one) { return one.second.empty(); });
}

// What is no claim by itself. Of a folder full of such names, which is data, no more is kept than tells so.
void keepOther(const etcd::KeyValue &entry, EtcdQueues &strays, std::map<QByteArray, etcd::LeaseId> &leased)
{
    if (entry.lease != 0 && leased.size() < mostLeasedKeys && !isKnownEntry(entry.key))
        leased.emplace(entry.key, entry.lease);
    const auto lock = strayLockOf(entry);
    if (lock && strays[*lock].size() < mostForeignKeys)
        strays[*lock][entry.created].entry = entry;
}

void forgetClaims(EtcdSwept &swept)
{
    for (const auto &[name, queue] : swept.locks) {
        for (const auto &[created, claim] : queue)
            swept.leased.erase(claim.entry.key);
    }
}

// Of those that are kept.
QByteArrayList mayBeFixedOf(const EtcdSwept &swept)
{
    QByteArrayList keys;
    etcd::KeyValue entry;
    for (const auto &[key, lease] : swept.leased) {
        entry.key = key;
        entry.lease = lease;
        if (mayBeFixedKey(entry) || swept.locks.contains(key))
            keys << key;
    }
    return keys;
}

} // namespace

etcd::RangeRequest oldestOf(const QByteArray &lock, qint64 limit)
{
    return {.key = lock + '/',
            .end = etcd::endOfPrefix(lock + '/'),
            .limit = limit,
            .order = etcd::Order::OldestFirst,
            .keysOnly = true};
}

etcd::RangeRequest keysAround(const QByteArray &lock, const EtcdQueue &queue)
{
    return oldestOf(lock, static_cast<qint64>(queue.size() + mostForeignKeys + 1));
}

Task<Result<EtcdSwept>> sweepEtcd(etcd::Client *client, QByteArray prefix, std::function<void(qint64)> looked,
                                  Deadline deadline)
{
    EtcdSwept swept;
    EtcdQueues strays;
    etcd::RangeRequest page{.key = prefix, .end = etcd::endOfPrefix(prefix), .limit = keysOfPage, .keysOnly = true};
    qint64 kept = 0;
    for (bool more = true; more;) {
        const auto latest = std::min<Instant>(deadline.when(), client->loop().now() + pageWithin);
        CO_TRY(const auto &answer, co_await client->range(page, Deadline::at(latest)));
        if (!isPage(answer, page))
            co_return Error{ErrorCode::Server, u"the answer is not the page of keys that was asked for"_s};
        for (const auto &entry : answer.entries) {
            if (const auto lock = etcdLockOf(entry)) {
                swept.locks[*lock][entry.created].entry = entry;
                kept += entry.key.size() + keptBeside;
            } else {
                keepOther(entry, strays, swept.leased);
            }
        }
        if (kept > keptAtMost)
            co_return Error{ErrorCode::TooLarge, u"too many keys of locks; name a prefix in the URI to read fewer"_s};
        // All pages are of the moment of the first.
        swept.revision = page.at = page.at == 0 ? answer.revision : page.at;
        swept.keys += static_cast<qint64>(answer.entries.size());
        more = answer.more;
        if (more)
            page.key = answer.entries.back().key + '\0';
        looked(swept.keys);
    }
    addStrays(swept.locks, strays);
    forgetClaims(swept);
    const auto readings = readingsOf(swept, mayBeFixedOf(swept));
    const std::span all(readings);
    std::vector<etcd::RangeAnswer> answers;
    for (std::size_t i = 0; i < readings.size(); i += operationsAtOnce) {
        const auto part = all.subspan(i, std::min(operationsAtOnce, readings.size() - i));
        CO_TRY(const auto &answer, co_await client->commit(readingOf(part), deadline));
        if (answer.ranges.size() != part.size())
            co_return Error{ErrorCode::Server,
                            QStringLiteral("etcd's answer has another number of parts than asked for")};
        answers.insert(answers.end(), answer.ranges.begin(), answer.ranges.end());
    }
    take(swept, answers);
    dropData(swept);
    co_return std::move(swept);
}

Task<void> addWaitersAbove(LockSnapshot *snapshot, etcd::Client *client, Deadline deadline)
{
    constexpr qint64 mostNames = 500;
    const auto &lock = snapshot->lock.name;
    if (snapshot->contenders.empty())
        co_return;
    const auto key = snapshot->contenders.front().guard.etcd().key;
    for (const auto &above : prefixesOf(key)) {
        if (above == lock)
            continue;
        const etcd::RangeRequest names{
            .key = above + "/0", .end = above + "/g", .limit = mostNames, .keysOnly = true};
        const auto named = co_await client->range(names, deadline);
        const auto queue = named ? etcdKeysOf(above, named->entries, false).queue : EtcdQueue();
        if (queue.empty())
            continue;
        const auto around = co_await client->range(keysAround(above, queue), deadline);
        if (!around)
            continue;
        const auto keys = etcdKeysOf(above, around->entries, around->more);
        addWaiterAbove(*snapshot, above, keys.queue, keys.foreign);
    }
}

} // namespace lockscope::inspect
