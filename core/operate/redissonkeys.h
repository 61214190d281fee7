// The keys and channels that stand beside a Redisson lock, by Redisson's own naming rule: the lock's
// name in braces, so that all of them share a cluster slot; a name that has a brace already is left as
// it is.
#pragma once

#include "core/base/bytes.h"

namespace lockscope::operate {

class RedissonKeys {
public:
    explicit RedissonKeys(const QByteArray &lock) : m_slot(lock.contains('{') ? lock : '{' + lock + '}') {}

    [[nodiscard]] QByteArray channel() const { return "redisson_lock__channel:" + m_slot; }
    [[nodiscard]] QByteArray readWriteChannel() const { return "redisson_rwlock:" + m_slot; }
    [[nodiscard]] QByteArray fairQueue() const { return "redisson_lock_queue:" + m_slot; }
    [[nodiscard]] QByteArray fairDeadlines() const { return "redisson_lock_timeout:" + m_slot; }
    // A reader's timeout keys: this, its hash field, ":rwlock_timeout:" and a number.
    [[nodiscard]] QByteArray readerTimeoutPrefix() const { return m_slot + ':'; }

private:
    QByteArray m_slot;
};

} // namespace lockscope::operate
