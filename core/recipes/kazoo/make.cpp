// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/kazoo/make.h"

#include "core/recipes/kazoo/queuelock.h"
#include "core/recipes/kazoo/semaphore.h"

namespace lockscope::recipes::kazoo {

std::unique_ptr<Lock> make(const QByteArray &id, zk::Session &session, const ZPath &lock,
                           const AcquireOptions &options, Random random)
{
    if (id == "kazoo-lock")
        return std::make_unique<QueueLock>(session, lock, std::move(random), Kind::Lock);
    if (id == "kazoo-rwlock") {
        const Kind kind = options.readMode ? Kind::ReadLock : Kind::WriteLock;
        return std::make_unique<QueueLock>(session, lock, std::move(random), kind);
    }
    if (id == "kazoo-semaphore")
        return std::make_unique<Semaphore>(session, lock, std::move(random), options.limit);
    return {};
}

} // namespace lockscope::recipes::kazoo
