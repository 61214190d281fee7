// From a recipe's id to its class: ZooKeeper.
#include "core/base/text.h"
#include "core/recipes/catalogueentry.h"
#include "core/recipes/curator/mutex.h"
#include "core/recipes/curator/readwritelock.h"
#include "core/recipes/curator/semaphore.h"
#include "core/recipes/zookeeper/eagermutex.h"
#include "core/recipes/zookeeper/ephemeral.h"
#include "core/recipes/zookeeper/flatmutex.h"
#include "core/recipes/zookeeper/herdmutex.h"
#include "core/recipes/zookeeper/queuemutex.h"
#include "core/recipes/zookeeper/sharedherd.h"
#include "core/recipes/zookeeper/sharedlock.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, RecipeBackend::ZooKeeper, options))
        return *no;
    if (!lock.bytes().startsWith('/') || lock.isRoot())
        return Error{ErrorCode::BadInput, u"\"%1\" is no path of a lock"_s.arg(label(lock.bytes()))};
    if (const auto no = id == "zk-flat-mutex" ? FlatMutex::objectionTo(lock.name()) : std::nullopt)
        return *no;
    const auto access = options.readMode ? Access::Shared : Access::Exclusive;
    std::unique_ptr<Lock> made;
    if (id == "zk-ephemeral")
        made = std::make_unique<EphemeralLock>(session, lock, std::move(random));
    else if (id == "zk-herd-mutex")
        made = std::make_unique<HerdMutex>(session, lock, std::move(random));
    else if (id == "curator-mutex")
        made = std::make_unique<CuratorMutex>(session, lock, std::move(random));
    else if (id == "curator-semaphore-mutex" || id == "curator-semaphore")
        made = std::make_unique<CuratorSemaphore>(session, lock, options.limit, std::move(random));
    else if (id == "curator-rwlock" && options.readMode)
        made = std::make_unique<CuratorReadLock>(session, lock, std::move(random));
    else if (id == "curator-rwlock")
        made = std::make_unique<CuratorWriteLock>(session, lock, std::move(random));
    else if (id == "zk-eager-mutex")
        made = std::make_unique<EagerMutex>(session, lock, std::move(random));
    else if (id == "zk-flat-mutex")
        made = std::make_unique<FlatMutex>(session, lock, std::move(random));
    else if (id == "zk-shared-herd")
        made = std::make_unique<SharedHerd>(session, lock, std::move(random), access);
    else if (id == "zk-shared")
        made = std::make_unique<SharedLock>(session, lock, std::move(random), access);
    else
        made = std::make_unique<QueueMutex>(session, lock, std::move(random));
    return made;
}

} // namespace lockscope::recipes
