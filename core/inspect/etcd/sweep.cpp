// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/etcd/sweep.h"

#include <algorithm>
#include <span>

namespace lockscope::inspect {

namespace {

constexpr qint64 keysOfPage = 1000;
constexpr std::size_t operationsAtOnce = 100; // etcd takes 128 operations in a transaction

etcd::Transaction readingOf(std::span<const etcd::RangeRequest> requests)
{
    etcd::Transaction reading;
    for (const auto &request : requests)
        reading.then.emplace_back().range = request;
    return reading;
}

// The values of all claims, then what is oldest below each lock.
std::vector<etcd::RangeRequest> readingsOf(const EtcdSwept &swept)
{
    std::vector<etcd::RangeRequest> readings;
    for (const auto &[name, queue] : swept.locks) {
        for (const auto &[created, claim] : queue)
            readings.emplace_back().key = claim.entry.key;
        readings.push_back(oldestOf(name));
    }
    for (auto &one : readings)
        one.at = swept.revision;
    return readings;
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
        if (at != answers.end() && !at->entries.empty() && at->entries.front().created < queue.begin()->first)
            swept.obstacles[name] = at->entries.front();
        at += at != answers.end() ? 1 : 0;
    }
}

} // namespace

etcd::RangeRequest oldestOf(const QByteArray &lock)
{
    etcd::RangeRequest oldest;
    oldest.key = lock + '/';
    oldest.end = etcd::endOfPrefix(oldest.key);
    oldest.limit = 1;
    oldest.order = etcd::Order::OldestFirst;
    oldest.keysOnly = true;
    return oldest;
}

Task<Result<EtcdSwept>> sweepEtcd(etcd::Client *client, QByteArray prefix, std::function<void(qint64)> looked,
                                  Deadline deadline)
{
    EtcdSwept swept;
    etcd::RangeRequest page;
    page.key = prefix;
    page.end = etcd::endOfPrefix(prefix);
    page.limit = keysOfPage;
    page.keysOnly = true;
    for (bool more = true; more;) {
        auto asking = client->range(page, deadline);
        const auto answer = co_await asking;
        if (!answer)
            co_return answer.error();
        for (const auto &entry : answer->entries) {
            if (const auto lock = etcdLockOf(entry))
                swept.locks[*lock][entry.created].entry = entry;
        }
        // All pages are of the moment of the first.
        swept.revision = page.at = page.at == 0 ? answer->revision : page.at;
        swept.keys += static_cast<qint64>(answer->entries.size());
        more = answer->more && !answer->entries.empty();
        if (more)
            page.key = answer->entries.back().key + '\0';
        looked(swept.keys);
    }
    const auto readings = readingsOf(swept);
    const std::span all(readings);
    std::vector<etcd::RangeAnswer> answers;
    for (std::size_t i = 0; i < readings.size(); i += operationsAtOnce) {
        const auto part = all.subspan(i, std::min(operationsAtOnce, readings.size() - i));
        auto asking = client->commit(readingOf(part), deadline);
        const auto answer = co_await asking;
        if (!answer)
            co_return answer.error();
        if (answer->ranges.size() != part.size())
            co_return Error{ErrorCode::Server,
                            QStringLiteral("etcd's answer has another number of parts than asked for")};
        answers.insert(answers.end(), answer->ranges.begin(), answer->ranges.end());
    }
    take(swept, answers);
    co_return std::move(swept);
}

} // namespace lockscope::inspect
