// zk-mutex: the queue lock, each waiter watches its predecessor; interchangeable with Curator's
// InterProcessMutex.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes {

class QueueMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<Place>> enter(Deadline deadline) override;
};

} // namespace lockscope::recipes
