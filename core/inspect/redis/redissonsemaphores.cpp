// SPDX-License-Identifier: Apache-2.0
// Redisson's semaphores: an integer that alone says nothing; a companion key or a live channel does.
#include "core/base/duration.h"
#include "core/inspect/findings.h"
#include "core/inspect/redis/naming.h"
#include "core/inspect/redis/pieces.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype permitIdBytes = 16;
// What Redisson writes for a permit that never expires.
constexpr double neverMs = 922337203685477.0;

std::optional<qint64> permitsLeft(const Case &about)
{
    return about.main.value ? readInteger(*about.main.value) : std::nullopt;
}

} // namespace

std::optional<LockSnapshot> redissonPermitSemaphore(const Case &about)
{
    const auto left = permitsLeft(about);
    const KeyView *timeouts = about.companion(about.redissonKeys().permitDeadlines());
    if (!left || !timeouts || timeouts->type != KeyType::SortedSet || timeouts->scored.empty())
        return std::nullopt;
    const bool ids =
        std::ranges::all_of(timeouts->scored, [](const auto &entry) { return entry.first.size() == permitIdBytes; });
    if (!ids)
        return std::nullopt;
    LockSnapshot lock = snapshotOf(about, "redisson-semaphore", &clients::redisson, Confidence::High,
                                   u"an integer beside {name}:timeout with permit ids; %1 permits left"_s.arg(*left));
    lock.companions = {timeouts->key.bytes()};
    int expired = 0;
    for (const auto &[id, expiryMs] : timeouts->scored) {
        std::optional<ServerTime> ends;
        if (expiryMs < neverMs)
            ends = ServerTime(millisecondsOf(expiryMs));
        if (ends && *ends <= about.context.observed) {
            ++expired;
            continue;
        }
        Contender holder;
        holder.id = id.toHex(); // as the application sees it
        holder.guard.value = id;
        holder.role = Role::Holder;
        holder.mode = Mode::Permit;
        holder.expiresAt = ends;
        lock.contenders.push_back(std::move(holder));
    }
    if (expired > 0) {
        const QString message = u"%1 permits have expired and come back only when somebody asks"_s.arg(expired);
        addFinding(lock, FindingCode::Litter, message);
    }
    addSubscribers(lock, about, about.redissonKeys().semaphoreChannel(), Mode::Permit);
    judgeState(lock);
    return lock;
}

std::optional<LockSnapshot> redissonSemaphore(const Case &about)
{
    const auto left = permitsLeft(about);
    const QByteArray channel = about.redissonKeys().semaphoreChannel();
    if (!left || about.subscribers(channel).value_or(0) == 0)
        return std::nullopt;
    LockSnapshot lock =
        snapshotOf(about, "redisson-semaphore", &clients::redisson, Confidence::High,
                   u"an integer whose channel redisson_sc has subscribers; %1 permits left, and nobody "
                   "writes down who has the others"_s.arg(*left));
    addSubscribers(lock, about, channel, Mode::Permit);
    lock.state = *left > 0 ? LockState::Free : LockState::Contended;
    return lock;
}

bool isCountDownLatch(const Case &about)
{
    return permitsLeft(about)
           && about.subscribers(redis::RedissonKeys::countDownChannel(about.name())).value_or(0) > 0;
}

} // namespace lockscope::inspect
