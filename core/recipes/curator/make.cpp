// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/curator/make.h"

#include "core/recipes/curator/mutex.h"
#include "core/recipes/curator/readwritelock.h"
#include "core/recipes/curator/semaphore.h"

namespace lockscope::recipes::curator {

std::unique_ptr<Lock> make(const QByteArray &id, zk::Session &session, const ZPath &lock,
                           const AcquireOptions &options, Random random)
{
    if (id == "curator-mutex")
        return std::make_unique<CuratorMutex>(session, lock, std::move(random));
    // A semaphore mutex is a semaphore with one permit.
    if (id == "curator-semaphore-mutex" || id == "curator-semaphore")
        return std::make_unique<CuratorSemaphore>(session, lock, options.limit, std::move(random));
    if (id == "curator-rwlock" && options.readMode)
        return std::make_unique<CuratorReadLock>(session, lock, std::move(random));
    if (id == "curator-rwlock")
        return std::make_unique<CuratorWriteLock>(session, lock, std::move(random));
    return nullptr;
}

} // namespace lockscope::recipes::curator
