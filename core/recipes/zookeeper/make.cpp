// From a recipe's id to its class: ZooKeeper.
#include "core/base/text.h"
#include "core/recipes/catalogueentry.h"
#include "core/recipes/kazoo/make.h"
#include "core/recipes/zookeeper/ephemeral.h"
#include "core/recipes/zookeeper/herdmutex.h"
#include "core/recipes/zookeeper/queuemutex.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, RecipeBackend::ZooKeeper, options))
        return *no;
    if (!lock.bytes().startsWith('/') || lock.isRoot())
        return Error{ErrorCode::BadInput, u"\"%1\" is no path of a lock"_s.arg(label(lock.bytes()))};
    std::unique_ptr<Lock> made;
    if (id == "zk-ephemeral")
        made = std::make_unique<EphemeralLock>(session, lock, std::move(random));
    else if (id == "zk-herd-mutex")
        made = std::make_unique<HerdMutex>(session, lock, std::move(random));
    else if (id.startsWith("kazoo-"))
        made = kazoo::make(id, session, lock, options, std::move(random));
    else
        made = std::make_unique<QueueMutex>(session, lock, std::move(random));
    return made;
}

} // namespace lockscope::recipes
