// SPDX-License-Identifier: Apache-2.0
// curator-mutex: Apache Curator's InterProcessMutex. The queue lock, with reentry.
#pragma once

#include "core/recipes/zookeeper/queuemutex.h"

namespace lockscope::recipes {

class CuratorMutex : public QueueMutex {
public:
    using QueueMutex::QueueMutex;

protected:
    [[nodiscard]] bool isReentrant() const override { return true; }
};

} // namespace lockscope::recipes
