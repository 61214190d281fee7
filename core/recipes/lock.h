// What every lock recipe offers: timed acquire with one total deadline, release, "still mine?", and
// a notice when it is lost. Loop thread only. Destroying a Lock while acquire() waits cancels it and
// leaves no node and no key behind.
#pragma once

#include "core/async/oneshot.h"
#include "core/async/task.h"
#include "core/base/bytes.h"

namespace lockscope::recipes {

struct Grant {
    QByteArray id;                       // znode name, or token: what --holder takes
    std::optional<qint64> fencingToken;  // only grows from one holder to the next
};

enum class Loss {
    SessionOver,  // the ZooKeeper session expired: our node is gone
    TakenAway,    // our node or key was removed or replaced
    LeaseOver,    // the lease ran out
};

class Lock {
public:
    virtual ~Lock() = default;

    // TimedOut when the deadline passes first; Deadline::at(now) tries once without waiting.
    virtual Task<Result<Grant>> acquire(Deadline deadline) = 0;
    // NotHeld when it was not ours any more. UnknownOutcome is followed up in the background.
    virtual Task<Result<bool>> release(Deadline deadline) = 0;
    // Asks the server.
    virtual Task<Result<bool>> isStillMine(Deadline deadline) = 0;
    // Completes when a lock we hold is lost without release(): session over, lease over. That our
    // own node or key was taken is noticed by whoever watches it (workspace/hold.h), so that the
    // recipe's request counts stay those of the algorithm.
    [[nodiscard]] virtual OneShot<Loss> lost() const = 0;
};

} // namespace lockscope::recipes
