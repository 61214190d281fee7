// SPDX-License-Identifier: Apache-2.0
// What is wrong with the sessions of a lock's contenders, from what the servers answered about them. Pure functions
// on snapshots; the one thing that needs memory (a watch missing twice in a row) is a small class.
#pragma once

#include "core/inspect/zookeeper/recognise.h"

namespace lockscope::inspect {

// holder-disconnected and stale-queue, from complete `cons` evidence only. A disconnected holder's
// expiresAt is filled in where the servers said when its session ends.
void addSessionFindings(LockSnapshot &lock, const RecogniseContext &context);

// Waiters that by complete `wchp` evidence watch nothing of their lock, in a recipe whose watches a
// server can show. Suspects only: the evidence may be older than the wait, or the waiter between
// two looks at its queue.
[[nodiscard]] std::vector<QByteArray> watchingNothing(const LockSnapshot &lock, const RecogniseContext &context);

// lost-wakeup: whoever was suspect in two different evidence answers in a row. Kept by the observer,
// asked once per snapshot. Not thread-safe.
class LostWakeupMemory {
public:
    // Adds the finding to the snapshot when it is due.
    void judge(LockSnapshot &lock, const RecogniseContext &context);
    void forget(const LockName &lock) { m_suspects.erase(lock); }

private:
    struct Suspicion {
        int times = 0;
        std::chrono::system_clock::time_point lastAsked;
    };
    std::map<LockName, std::map<QByteArray, Suspicion>> m_suspects;
};

} // namespace lockscope::inspect
