// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to its class: ZooKeeper.
#include "core/base/text.h"
#include "core/recipes/curator/locks.h"
#include "core/recipes/kazoo/locks.h"
#include "core/recipes/make.h"
#include "core/recipes/zookeeper/locks.h"

namespace lockscope::recipes {

namespace {

using MadeOnZooKeeper = std::unique_ptr<Lock> (*)(zk::Session &, const ZPath &, const AcquireOptions &, Random);

template <class Recipe>
std::unique_ptr<Lock> plain(zk::Session &session, const ZPath &lock, const AcquireOptions &, Random random)
{
    return std::make_unique<Recipe>(session, lock, std::move(random));
}

template <class Recipe>
std::unique_ptr<Lock> shared(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return std::make_unique<Recipe>(session, lock, std::move(random),
                                    options.readMode ? Access::Shared : Access::Exclusive);
}

template <class Reader, class Writer>
std::unique_ptr<Lock> either(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return (options.readMode ? plain<Reader> : plain<Writer>)(session, lock, options, std::move(random));
}

template <class Recipe>
std::unique_ptr<Lock> counted(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return std::make_unique<Recipe>(session, lock, options.limit, std::move(random));
}

std::unique_ptr<Lock> pool(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return std::make_unique<kazoo::Semaphore>(session, lock, options.limit, std::move(random), options.isLimitGiven);
}

template <kazoo::Kind exclusive>
std::unique_ptr<Lock> queued(zk::Session &session, const ZPath &lock, const AcquireOptions &options, Random random)
{
    return std::make_unique<kazoo::QueueLock>(session, lock, std::move(random),
                                              options.readMode ? kazoo::Kind::ReadLock : exclusive);
}

// Whoever has one of ShedLock's has written to the node itself, and sees nothing of what is below.
std::optional<Error> objectionTo(const ZPath &lock)
{
    if (!lock.bytes().startsWith('/') || lock.isRoot())
        return Error{ErrorCode::BadInput, u"\"%1\" is not the path of a lock"_s.arg(label(lock.bytes()))};
    if (lock.parent().name().bytes() == "shedlock")
        return Error{
            ErrorCode::Unsupported,
            u"%1 lies in a folder named shedlock, as the locks of ShedLock do, and no recipe here takes those. "
            u"If it is one, a lock taken below it would hold in parallel with a client that ShedLock let in"_s.arg(
                label(lock.bytes()))};
    return std::nullopt;
}

const std::map<QByteArray, MadeOnZooKeeper> &zooKeeperMakers()
{
    static const std::map<QByteArray, MadeOnZooKeeper> all{
        {"zk-ephemeral", plain<EphemeralLock>},
        {"zk-herd-mutex", plain<HerdMutex>},
        {"zk-mutex", plain<QueueMutex>},
        {"zk-eager-mutex", plain<EagerMutex>},
        {"zk-flat-mutex", plain<FlatMutex>},
        {"zk-shared-herd", shared<SharedHerd>},
        {"zk-shared", shared<SharedLock>},
        {"curator-mutex", plain<CuratorMutex>},
        {"curator-semaphore-mutex", counted<CuratorSemaphore>}, // with one permit
        {"curator-rwlock", either<CuratorReadLock, CuratorWriteLock>},
        {"curator-semaphore", counted<CuratorSemaphore>},
        {"kazoo-lock", queued<kazoo::Kind::Lock>},
        {"kazoo-rwlock", queued<kazoo::Kind::WriteLock>},
        {"kazoo-semaphore", pool},
    };
    return all;
}

} // namespace

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, BackendKind::ZooKeeper, options))
        return *no;
    if (const auto no = objectionTo(lock))
        return *no;
    if (const auto no = recipeOf(id).shape == Shape::FlatQueue ? FlatMutex::objectionTo(lock.name()) : std::nullopt)
        return *no;
    const auto maker = zooKeeperMakers().find(id);
    if (maker == zooKeeperMakers().end())
        return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(label(id))};
    return maker->second(session, lock, options, std::move(random));
}

} // namespace lockscope::recipes
