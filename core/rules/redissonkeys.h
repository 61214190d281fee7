// SPDX-License-Identifier: Apache-2.0
// The keys and channels that stand beside a Redisson lock, by Redisson's own naming rule: the lock's name in braces,
// so that all of them share a cluster slot; a name that has a brace already is left as it is.
#pragma once

#include "core/base/bytes.h"

namespace lockscope::redis {

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
