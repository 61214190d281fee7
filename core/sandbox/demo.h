// SPDX-License-Identifier: Apache-2.0
// Live contention for a sandbox: the situations one wants to see, made with real sessions and real
// keys, and kept moving. What plays here (all invented):
//
//   /locks/orders          zk-mutex: a queue of four, each watching the one before it
//   /locks/reindex         zk-herd-mutex: one holder, four that all wake at each release
//   /locks/catalog         readers and writers under Curator's names
//   /locks/nightly-report  a holder that crashed, and one who waits until its session expires
//   /locks/accounts/alice and bob  kazoo's: two clients in a deadlock, which nothing ends by itself
//   lock:invoice-export    a token as redis-py writes it, without a TTL
//   lock:session-cleanup   the same with a TTL that is renewed
//   orders:checkout        Redisson's lock; who waits has subscribed to its channel
//   payments:payout        Redisson's fair lock with its queue
//   shop.stock#id=1        a row with a holder, idle inside its transaction, and two who wait for it
//   GET_LOCK#nightly-report  a named lock and one who waits
//   public.stock#id=1, ADVISORY#42  the same on a PostgreSQL: a row's queue, an advisory lock's
//   shop.stock#id=2        two who write by its version column: one conflict every few seconds, which leaves no
//                          trace on the server but the rows of shop.version_conflicts
//
// What is taken away by force comes back after a while.
#pragma once

#include "core/base/connectionuri.h"
#include "core/sandbox/demostage.h"

#include <memory>

namespace lockscope::sandbox {

class Demo {
public:
    // Uses the first of each backend among the connections; any of them may be missing.
    // Loop thread only, and the loop must be a thread's Qt event loop.
    Demo(Loop &loop, const std::vector<ConnectionSpec> &connections, Random random);

    // Completes when everything above can be seen: true; false when something did not come up in time.
    [[nodiscard]] Completion<bool> filled() const { return m_stage.filled(); }

private:
    DemoStage m_stage;
    std::vector<std::shared_ptr<void>> m_scenes; // each closes its sessions in the background
};

} // namespace lockscope::sandbox
