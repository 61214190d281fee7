// SPDX-License-Identifier: Apache-2.0
// What clients that wait for a Redis key wait for, where its name says whose clients they may be: those that
// sleep until the holder's own release wakes them, and would sleep on after a bare DEL.
//   - python-redis-lock: a lock is "lock:<name>"; its waiters BLPOP the list "lock-signal:<name>". Its release
//     leaves one entry there for a second (redis_lock/__init__.py, UNLOCK_SCRIPT).
//   - Spring Integration's RedisLockRegistry in pub/sub mode: a lock is "<registry>:<path>"; its waiters
//     subscribe to "<registry>-channel", from 6.5.3 on to the pattern "<registry>-channel:*". Its release
//     publishes the key there, as "<registry>-channel:<key>" from then on (RedisLockRegistry, RedisPubSubLock).
// Whoever does not wait there is not disturbed.
#pragma once

#include "core/base/bytes.h"

#include <QByteArray>
#include <QByteArrayList>

#include <chrono>
#include <optional>

namespace lockscope::recipes {

struct KeySignals {
    QByteArray list;         // empty: none
    QByteArrayList channels; // a registry's name may have colons: each is tried, up to a few
    QByteArrayList topics;   // the same for those who listen by pattern, who cannot be counted

    [[nodiscard]] bool isEmpty() const { return list.isEmpty() && channels.isEmpty(); }
    [[nodiscard]] QByteArrayList published() const { return channels + topics; }
};

[[nodiscard]] KeySignals signalsOf(const QByteArray &key);

// For the script compare-and-delete-and-wake, behind the value. `expiry`: empty, or when the key must end.
[[nodiscard]] QByteArrayList signalArguments(const KeySignals &wakes, const QByteArray &expiry = {});

// How the clients of a key are woken: as a rule of the user's says (none, if it says nothing), else as the key's name
// says (keysignals.h).
[[nodiscard]] KeySignals wakeSignalsOf(const QByteArray &key);

} // namespace lockscope::recipes

namespace lockscope::redis {

// The keys of redis-semaphore of PyPI, and of Ruby's: who has which permit, which are free, and that there are any.
// Source: redis_semaphore/__init__.py 0.2.2; Ruby's semaphore.rb, which also writes its version.
class GrabbedKeys {
public:
    static constexpr QByteArrayView suffix{":GRABBED"};

    // `grabbed`: "<name>:GRABBED", or it is none of theirs.
    explicit GrabbedKeys(const QByteArray &grabbed) : m_name(grabbed.chopped(suffix.size())) {}
    [[nodiscard]] QByteArray exists() const { return m_name + ":EXISTS"; }
    [[nodiscard]] QByteArray available() const { return m_name + ":AVAILABLE"; }
    [[nodiscard]] QByteArray version() const { return m_name + ":VERSION"; }

    // The hash that such a key belongs to; empty if its name is another's.
    [[nodiscard]] static std::optional<QByteArray> grabbedOf(const QByteArray &key)
    {
        for (const QByteArrayView end : {":EXISTS", ":AVAILABLE", ":VERSION"}) {
            if (key.size() > end.size() && key.endsWith(end))
                return key.chopped(end.size()) + suffix.toByteArray();
        }
        return std::nullopt;
    }

private:
    QByteArray m_name;
};

} // namespace lockscope::redis

namespace lockscope::recipes {

// A time that a client wrote as the value of a Redis key. Whoever shows such a lock and whoever takes it read the
// value with this one function, so that neither takes for long past what the other takes for ahead. Any thread.
struct WrittenMoment {
    enum class Form { Milliseconds, Seconds, Fraction };
    std::chrono::sys_time<std::chrono::milliseconds> at{};
    Form form = Form::Milliseconds;
};

// Reads a number of milliseconds or seconds since 1970, perhaps with a fraction, that is a time of the last day or of
// the year ahead. The unit is the one by which it is such a time; every other number (a count, a process) is none.
[[nodiscard]] std::optional<WrittenMoment> readMoment(const QByteArray &value,
                                                      std::chrono::sys_time<std::chrono::milliseconds> now);

// What Curator's Revoker writes into a holder's node to ask it to let go.

inline constexpr char revocationMark[] = "__REVOKE__";

} // namespace lockscope::recipes

namespace lockscope::redis {

// The keys and channels that stand beside a Redisson lock, by Redisson's own naming rule: the lock's name in braces,
// so that all of them share a cluster slot; a name that has a brace already is left as it is.
class RedissonKeys {
public:
    explicit RedissonKeys(const QByteArray &lock) : m_slot(lock.contains('{') ? lock : '{' + lock + '}') {}

    [[nodiscard]] QByteArray channel() const { return "redisson_lock__channel:" + m_slot; }
    // Of one waiter of a fair lock.
    [[nodiscard]] QByteArray waiterChannel(const QByteArray &waiter) const { return channel() + ':' + waiter; }
    [[nodiscard]] QByteArray readWriteChannel() const { return "redisson_rwlock:" + m_slot; }
    [[nodiscard]] QByteArray semaphoreChannel() const { return "redisson_sc:" + m_slot; }
    [[nodiscard]] QByteArray fairQueue() const { return "redisson_lock_queue:" + m_slot; }
    [[nodiscard]] QByteArray fairDeadlines() const { return "redisson_lock_timeout:" + m_slot; }
    [[nodiscard]] QByteArray fencingToken() const { return "redisson_lock_token:" + m_slot; }
    // When each permit of a semaphore runs out.
    [[nodiscard]] QByteArray permitDeadlines() const { return m_slot + ":timeout"; }
    // A reader's timeout keys: this, its hash field, ":rwlock_timeout:" and a number.
    [[nodiscard]] QByteArray readerTimeoutPrefix() const { return m_slot + ':'; }
    [[nodiscard]] QByteArray readerTimeout(const QByteArray &field, qint64 n) const
    {
        return readerTimeoutPrefix() + field + ":rwlock_timeout:" + QByteArray::number(n);
    }
    // Its braces are unconditional.
    [[nodiscard]] static QByteArray countDownChannel(const QByteArray &latch)
    {
        return "redisson_countdownlatch__channel__{" + latch + '}';
    }
    // What one unlock came to, kept for as long as it may be asked again.
    [[nodiscard]] QByteArray unlockLatch(const QByteArray &request) const
    {
        return "redisson_unlock_latch:" + m_slot + ':' + request;
    }

private:
    QByteArray m_slot;
};

} // namespace lockscope::redis
