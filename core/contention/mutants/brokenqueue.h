// SPDX-License-Identifier: Apache-2.0
// The queue lock with one step left out.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::contention {

// The steps of zk-mutex. Where a wait ends, each of those below has a mistake of its own, and nothing else.
class MistakenQueue : public recipes::SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<recipes::QueueEntry>> enter(Deadline deadline) override;
    // Whether the end of the wait is all it asks for: its predecessor went, or its time is over; and whether that
    // predecessor was the head when it last listed.
    [[nodiscard]] virtual bool takesItForTheLock(bool isTimeOver, bool isBehindTheHead) const = 0;
};

// As many a tutorial ends: "when the event comes, the lock is ours", without looking again who else is before it.
class ForgetsToLook : public MistakenQueue {
public:
    using MistakenQueue::MistakenQueue;

protected:
    [[nodiscard]] bool takesItForTheLock(bool isTimeOver, bool) const override { return !isTimeOver; }
};

// latch.await(timeout) returns, and nobody asks whether it was the watch or the time: who is before it is still
// there.
class TimeoutAsGrant : public MistakenQueue {
public:
    using MistakenQueue::MistakenQueue;

protected:
    [[nodiscard]] bool takesItForTheLock(bool isTimeOver, bool) const override { return isTimeOver; }
};

// zk-eager-mutex without the watch on its own node, which may be gone.
class BlindShortcut : public MistakenQueue {
public:
    using MistakenQueue::MistakenQueue;

protected:
    [[nodiscard]] bool takesItForTheLock(bool isTimeOver, bool isBehindTheHead) const override
    {
        return !isTimeOver && isBehindTheHead;
    }
};

} // namespace lockscope::contention
