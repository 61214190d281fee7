// SPDX-License-Identifier: Apache-2.0
// Redisson's locks that are hashes: a field per holder, "<client uuid>:<thread id>" → times held.
#include "core/inspect/findings.h"
#include "core/inspect/redis/naming.h"
#include "core/inspect/redis/recognise.h"

#include "core/base/text.h"

namespace lockscope::inspect {

namespace {

bool isHold(const std::pair<QByteArray, QByteArray> &field)
{
    const auto holder = readHolder(field.first);
    return holder && !holder->writes && readInteger(field.second);
}

Contender holderOfField(const Case &about, const std::pair<QByteArray, QByteArray> &field)
{
    Contender holder = holderOf(about, field.first);
    holder.reentry = static_cast<int>(std::clamp<qint64>(readInteger(field.second).value_or(1), 1, INT_MAX));
    return holder;
}

// The first in the queue listens on a channel of its own, and gets the lock before all others. A client queues before
// it subscribes, so this is a warning only while the lock is free.
void addSilentHead(LockSnapshot &lock, const Case &about, const KeyView &queue)
{
    const auto &first = queue.items.front();
    const auto *waiter = lock.find(first);
    const bool isQueued = waiter && waiter->expiresAt && *waiter->expiresAt > about.context.observed;
    if (!isQueued || about.subscribers(about.redissonKeys().waiterChannel(first)) != 0)
        return;
    Wording message = u"the first in the queue has no subscriber on its channel. If its client has ended, no client "
                      u"gets the lock before its time in the queue ends "_s;
    message.until(*waiter->expiresAt);
    addFinding(lock, FindingCode::LostWakeup, lock.holderCount() == 0 ? Severity::Warning : Severity::Info,
               std::move(message), {first});
}

// The waiters of a fair lock, in order, as many as were read; each with the moment until which others wait for it.
void addFairQueue(LockSnapshot &lock, const Case &about, const KeyView &queue, const KeyView *deadlines)
{
    std::map<QByteArray, double> deadlineOf;
    if (deadlines)
        deadlineOf.insert(deadlines->scored.begin(), deadlines->scored.end());
    std::vector<QByteArray> gone;
    for (const auto &item : queue.items) {
        Contender waiter{.id = item, .guard = RedisIdentity{.value = item}};
        if (const auto deadline = deadlineOf.find(item); deadline != deadlineOf.end())
            waiter.expiresAt = ServerTime(millisecondsOf(deadline->second));
        const bool isDeadlineRead = !deadlines || deadlines->isWhole() || waiter.expiresAt;
        if (isDeadlineRead && (!waiter.expiresAt || *waiter.expiresAt <= about.context.observed))
            gone.push_back(item);
        lock.contenders.push_back(std::move(waiter));
    }
    for (size_t i = 0; i < lock.contenders.size(); ++i)
        lock.contenders[i].position = static_cast<int>(i);
    lock.waitersKnown = queue.isWhole();
    if (!gone.empty()) {
        const QString message =
            u"%1 of %2 in the queue have a past deadline or none: they no longer wait"_s.arg(gone.size())
                .arg(queue.memberCount());
        addFinding(lock, FindingCode::StaleQueue, message, std::move(gone));
    }
    addSilentHead(lock, about, queue);
}

// Each read hold has a key of its own; the last of them ends the reader's lease.
std::optional<ServerTime> lastReadHold(const Case &about, const QByteArray &field, int holds)
{
    std::optional<ServerTime> last;
    for (qint64 n = 1; n <= std::min(holds, 64); ++n) {
        const KeyView *hold = about.companion(about.redissonKeys().readerTimeout(field, n));
        const auto ends = hold ? about.expiry(*hold) : std::nullopt;
        if (ends && (!last || *ends > *last))
            last = ends;
    }
    return last;
}

// No read hold of it has a key any more: the client has died, or lost its lease.
bool hasReadLeaseEnded(const Case &about, const Contender &reader)
{
    constexpr int mostAskedFor = 64;
    bool hasEnded = reader.reentry <= mostAskedFor;
    for (int n = 1; hasEnded && n <= reader.reentry; ++n)
        hasEnded = !about.companion(about.redissonKeys().readerTimeout(reader.id, n));
    return hasEnded;
}

// Such a reader's field stays as long as the lease of another runs: then the lock goes with the last of those.
void removeEndedReaders(LockSnapshot &lock, const Case &about)
{
    const auto hasEnded = [&about](const Contender &reader) { return hasReadLeaseEnded(about, reader); };
    if (std::ranges::all_of(lock.contenders, hasEnded))
        return;
    for (const auto &reader : lock.contenders) {
        if (hasEnded(reader))
            addFinding(
                lock, FindingCode::LeftoverKeys,
                u"the lease of reader %1 has ended. Its field stays until the last other reader releases"_s.arg(
                    label(reader.id, 120)));
    }
    std::erase_if(lock.contenders, hasEnded);
}

void attach(LockSnapshot &lock, const Case &about)
{
    for (const auto &key : about.companions) {
        if (key.type != KeyType::None)
            lock.companions.push_back(key.key.bytes());
    }
}

const KeyView *fairQueue(const Case &about)
{
    const KeyView *queue = about.companion(about.redissonKeys().fairQueue());
    return queue && queue->type == KeyType::List && !queue->items.empty() ? queue : nullptr;
}

constexpr qsizetype permitIdBytes = 16;
// What Redisson writes for a permit that never expires.
constexpr double neverMs = 922337203685477.0;

std::optional<qint64> permitsLeft(const Case &about)
{
    return about.main.value ? readInteger(*about.main.value) : std::nullopt;
}

} // namespace

std::optional<LockSnapshot> redissonReadWriteLock(const Case &about)
{
    const auto &fields = about.main.fields;
    const auto mode = std::ranges::find(fields, "mode", &std::pair<QByteArray, QByteArray>::first);
    if (mode == fields.end() || (mode->second != "read" && mode->second != "write"))
        return std::nullopt;
    LockSnapshot lock = snapshotOf(about, "redisson-rwlock", &knownClient("redisson"), Confidence::High,
                                   u"a hash with the field mode and fields <uuid>:<thread>"_s);
    for (const auto &field : fields) {
        const auto read = readHolder(field.first);
        if (!read)
            continue;
        Contender holder = holderOfField(about, field);
        holder.mode = read->writes ? Mode::Write : Mode::Read;
        if (!read->writes) {
            if (const auto ends = lastReadHold(about, field.first, holder.reentry))
                holder.expiresAt = ends;
        }
        lock.contenders.push_back(std::move(holder));
    }
    if (lock.contenders.empty())
        return std::nullopt;
    if (mode->second == "read")
        removeEndedReaders(lock, about);
    // The one that writes first, then its own and the others' reads.
    std::ranges::stable_sort(lock.contenders, {}, [](const auto &one) { return one.mode != Mode::Write; });
    attach(lock, about);
    addNoTtl(lock, about);
    // While readers hold it only writers wait.
    const Mode waiting = mode->second == "read" ? Mode::Write : Mode::Exclusive;
    addSubscribers(lock, about, about.redissonKeys().readWriteChannel(), waiting);
    judgeState(lock);
    return lock;
}

std::optional<LockSnapshot> redissonLock(const Case &about)
{
    const auto &fields = about.main.fields;
    if (fields.empty() || !std::ranges::all_of(fields, isHold))
        return std::nullopt;
    const KeyView *token = about.companion(about.redissonKeys().fencingToken());
    const KeyView *queue = fairQueue(about);
    // Nobody shares an RLock: a hash of several such fields is another's, unless Redisson's own keys stand beside it.
    if (fields.size() > 1 && !token && !queue)
        return std::nullopt;
    LockSnapshot lock =
        snapshotOf(about, "redisson-lock", &knownClient("redisson"), Confidence::Medium,
                   u"a hash of <uuid>:<thread>; a spin lock and a fair lock without waiters look the same"_s);
    for (const auto &field : fields)
        lock.contenders.push_back(holderOfField(about, field));
    addNoTtl(lock, about);
    attach(lock, about);
    if (token) {
        lock.recipe = "redisson-fenced-lock";
        lock.confidence = Confidence::High;
        lock.why = u"a hash of <uuid>:<thread> beside redisson_lock_token"_s;
        if (token->value)
            lock.why += clause(u"its last token is %1"_s.arg(label(*token->value, 32)));
    }
    if (queue) {
        lock.recipe = "redisson-fair-lock";
        lock.confidence = Confidence::High;
        lock.why = u"a hash of <uuid>:<thread> beside redisson_lock_queue"_s;
        addFairQueue(lock, about, *queue, about.companion(about.redissonKeys().fairDeadlines()));
    } else {
        addSubscribers(lock, about, about.redissonKeys().channel(), Mode::Exclusive);
    }
    judgeState(lock);
    return lock;
}

std::optional<LockSnapshot> redissonMultiLock(const Case &about)
{
    // "<f>" → holder, "<f>:<holder>:expire_time" → ms, "<f>:<holder>:lock_count" → n
    const auto valueOf = [&about](const QByteArray &field) -> std::optional<QByteArray> {
        const auto found = std::ranges::find(about.main.fields, field, &std::pair<QByteArray, QByteArray>::first);
        return found == about.main.fields.end() ? std::nullopt : std::optional(found->second);
    };
    LockSnapshot lock = snapshotOf(about, "redisson-lock", &knownClient("redisson"), Confidence::High,
                                   u"a hash with fields ending in :expire_time and :lock_count (a group of locks)"_s);
    for (const auto &[field, owner] : about.main.fields) {
        const QByteArray stem = field + ':' + owner + ':';
        const auto expires = readInteger(valueOf(stem + "expire_time").value_or(QByteArray()));
        const auto count = readInteger(valueOf(stem + "lock_count").value_or(QByteArray()));
        if (!readHolder(owner) || !expires || !count)
            continue;
        // The value comes again with the next holder: the two together are this hold.
        Contender holder = holderOf(about, owner);
        holder.id = field + ':' + owner;
        holder.guard.edit<RedisIdentity>().counterpart = field;
        holder.identity = owner;
        holder.reentry = static_cast<int>(std::clamp<qint64>(*count, 1, INT_MAX));
        holder.expiresAt = ServerTime(millisecondsOf(double(*expires)));
        lock.contenders.push_back(std::move(holder));
    }
    if (lock.contenders.empty())
        return std::nullopt;
    addSubscribers(lock, about, about.redissonKeys().channel(), Mode::Exclusive);
    judgeState(lock);
    return lock;
}

std::optional<LockSnapshot> redissonLeftOver(const Case &about)
{
    if (const KeyView *queue = fairQueue(about)) {
        LockSnapshot lock = snapshotOf(about, "redisson-fair-lock", &knownClient("redisson"), Confidence::High,
                                       u"redisson_lock_queue without the lock's own key"_s);
        addFairQueue(lock, about, *queue, about.companion(about.redissonKeys().fairDeadlines()));
        attach(lock, about);
        const auto *stale = lock.find(FindingCode::StaleQueue);
        if (stale && stale->contenders.size() == lock.contenders.size())
            addFinding(lock, FindingCode::LeftoverKeys, u"disconnected clients left the queue's keys"_s);
        return lock;
    }
    // The counter of fencing tokens stays for ever, by design.
    if (about.companion(about.redissonKeys().fencingToken())) {
        LockSnapshot lock = snapshotOf(about, "redisson-fenced-lock", &knownClient("redisson"), Confidence::High,
                                       u"redisson_lock_token without the lock's own key"_s);
        attach(lock, about);
        return lock;
    }
    return std::nullopt;
}

// Redisson's semaphores: an integer that alone says nothing; a companion key or a live channel does.
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
    LockSnapshot lock = snapshotOf(about, "redisson-semaphore", &knownClient("redisson"), Confidence::High,
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
        lock.contenders.push_back({.id = id.toHex(), // as the application sees it
                                   .role = Role::Holder,
                                   .mode = Mode::Permit,
                                   .expiresAt = ends,
                                   .guard = RedisIdentity{.value = id}});
    }
    if (expired > 0) {
        const QString message = u"%1 permits have expired and return only when a client asks for one"_s.arg(expired);
        addFinding(lock, FindingCode::LeftoverKeys, message);
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
        snapshotOf(about, "redisson-semaphore", &knownClient("redisson"), Confidence::High,
                   u"an integer whose channel redisson_sc has subscribers; %1 permits left, and no key records who "
                   u"has the others"_s.arg(*left));
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
