// SPDX-License-Identifier: Apache-2.0
// What every lock recipe offers: timed acquire with one total deadline, release, "still mine?", and a notice when it
// is lost. A Lock is one contender, as a thread is one for the clients: one acquire at a time; a reentrant recipe's
// holder may acquire again and then releases as often. Loop thread only; the session or connection outlives the Lock.
//
// Destroying a Lock (or the acquire() task) while acquire() waits cancels it; destroying a Lock that is
// held releases it. In both cases nothing is left behind: what is not certain yet is followed up in the
// background for as long as the session or connection lives.
#pragma once

#include "core/async/completion.h"
#include "core/async/scope.h"
#include "core/async/task.h"
#include "core/base/bytes.h"

namespace lockscope::recipes {

struct Grant {
    QByteArray id;                      // what --holder takes and the inspector shows (turn.h)
    std::optional<qint64> fencingToken; // only grows from one holder to the next
    ZPath node;                         // ZooKeeper: the node that stands for the hold
    int conflicts = 0;                  // optimistic locks: releases in a row that came too late before this
};

enum class Loss {
    SessionOver, // the ZooKeeper session expired: our node is gone
    CutOff,      // no connection for so long that the session may be over: it may be somebody else's by now
    TakenAway,   // our node or key was removed or replaced
    LeaseOver,   // the lease ran out
};

// Who holds already, as an onlooker sees it.
struct SeenHold {
    QByteArray recipe; // as it is seen (docs/names-and-ids.md, "Recipe IDs")
    ZPath node;        // ZooKeeper: what stands for it
    QByteArray value;  // Redis: what the key says
};

class Lock {
public:
    virtual ~Lock() = default;

    // TimedOut when the deadline passes first; Deadline::at(now) tries once without waiting. Before an
    // error is reported, what was made is taken away again; where the server does not confirm that
    // in time, UnknownOutcome. Cancelled when the Lock was destroyed. When we hold it already: of a
    // reentrant recipe the same grant once more, else BadInput.
    virtual Task<Result<Grant>> acquire(Deadline deadline) = 0;
    // Gives back one acquire. NotHeld when it was not ours any more. UnknownOutcome is followed up in the background.
    virtual Task<Result<void>> release(Deadline deadline) = 0;
    // How many times we hold it and did not release it yet; 0 when we do not.
    [[nodiscard]] virtual int holdCount() const = 0;
    // Asks the server.
    virtual Task<Result<bool>> isStillMine(Deadline deadline) = 0;
    // Completes when a lock we hold is lost without release(): session over, cut off for too long, lease
    // over. That our own node or key was taken is noticed by whoever watches it (workspace/hold.h), so
    // that the recipe's request counts stay those of the algorithm.
    [[nodiscard]] virtual Completion<Loss> lost() const = 0;
    // Told by whoever watches the node of this grant: it is gone, or another's. Then we hold nothing any
    // more, nothing is removed, and lost() completes with TakenAway. Of a grant that is over: nothing. Recipes
    // that compare whatever they remove with what is theirs need not be told.
    virtual void noteTakenAway(const Grant & /*grant*/) {}
    // Tells whether this lock would be had beside a hold under its name that it does not wait for, for the layouts of
    // several recipes fit under one name. Empty: the server keeps all of them apart.
    [[nodiscard]] virtual std::function<bool(const SeenHold &)> overlooks() const { return {}; }
};

// The holder's notice: what a hold stands on is watched beside its recipe, so that its holder learns when it was
// released by force. One function per backend, each in its own folder. Loop thread only.

// The time a lock is held. All outlive what is launched in the scope.
struct Holding {
    Scope &scope;
    Lock &lock;
    const bool &isReleasing;
    std::function<void(Loss)> lost;

    // What the watches do when the server answers that the hold is another's, or no longer exists.
    void takenAway(const Grant &grant) const
    {
        if (isReleasing)
            return;
        lock.noteTakenAway(grant);
        lost(Loss::TakenAway);
    }
};

} // namespace lockscope::recipes
