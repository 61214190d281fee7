// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to its class: ZooKeeper.
#include "core/base/text.h"
#include "core/recipes/make.h"
#include "core/recipes/curator/make.h"
#include "core/recipes/kazoo/make.h"
#include "core/recipes/zookeeper/eagermutex.h"
#include "core/recipes/zookeeper/ephemeral.h"
#include "core/recipes/zookeeper/flatmutex.h"
#include "core/recipes/zookeeper/herdmutex.h"
#include "core/recipes/zookeeper/queuemutex.h"
#include "core/recipes/zookeeper/sharedherd.h"
#include "core/recipes/zookeeper/sharedlock.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

std::unique_ptr<Lock> makeTextbook(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                   const AcquireOptions &options, Random random)
{
    const auto access = options.readMode ? Access::Shared : Access::Exclusive;
    if (id == "zk-ephemeral")
        return std::make_unique<EphemeralLock>(session, lock, std::move(random));
    if (id == "zk-herd-mutex")
        return std::make_unique<HerdMutex>(session, lock, std::move(random));
    if (id == "zk-mutex")
        return std::make_unique<QueueMutex>(session, lock, std::move(random));
    if (id == "zk-eager-mutex")
        return std::make_unique<EagerMutex>(session, lock, std::move(random));
    if (id == "zk-flat-mutex")
        return std::make_unique<FlatMutex>(session, lock, std::move(random));
    if (id == "zk-shared-herd")
        return std::make_unique<SharedHerd>(session, lock, std::move(random), access);
    if (id == "zk-shared")
        return std::make_unique<SharedLock>(session, lock, std::move(random), access);
    return nullptr;
}

} // namespace

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, RecipeBackend::ZooKeeper, options))
        return *no;
    if (!lock.bytes().startsWith('/') || lock.isRoot())
        return Error{ErrorCode::BadInput, u"\"%1\" is no path of a lock"_s.arg(label(lock.bytes()))};
    if (const auto no = id == "zk-flat-mutex" ? FlatMutex::objectionTo(lock.name()) : std::nullopt)
        return *no;
    for (const auto make : {makeTextbook, curator::make, kazoo::make}) {
        if (auto made = make(id, session, lock, options, random))
            return made;
    }
    return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(label(id))};
}

} // namespace lockscope::recipes
