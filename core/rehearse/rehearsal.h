// SPDX-License-Identifier: Apache-2.0
// A force-release rehearsed: this moment, forked into the simulated world, and the release played there.
//
// The fork is made by arrival. Recipes begin at their beginning and not in the middle of a wait, so the contenders of
// the snapshot come anew to fresh simulated servers, in the order in which they hold and wait, each with our own
// recipe of that name; who shares a session there shares one here. That brings the servers to the state that the
// snapshot shows, with the keys, queues, watches and subscriptions which the recipe makes, under names of their own,
// which are led back to the real ones. Then the same release is sent as the real one would be (core/operate), and
// virtual time runs until somebody has the lock.
//
// What comes out is only said where it is sure: the fork must hold as the snapshot does, the server must keep an
// order among those who wait, and who is first must hear of the release. All else is said in `assumed`. Any thread;
// nothing is sent to any real server.
#pragma once

#include "core/operate/forcereleaseplan.h"

namespace lockscope::rehearse {

enum class Next {
    Certain,  // the one in nextHolder
    Chance,   // one of those who wait: nothing puts them in an order
    NoOne,    // others go on holding it, or no client waits
    NotKnown, // it could not be played, or who would be next does not hear of it
};
[[nodiscard]] QByteArray word(Next next); // "certain"

struct Rehearsal {
    inspect::LockName lock;
    QByteArray holder;
    Next next = Next::NotKnown;
    std::optional<QByteArray> nextHolder; // contender id
    std::vector<QByteArray> granted;      // all who get it by this, as they stand in the queue; only where certain
    std::optional<int> woken;             // clients that hear of the release; empty when it could not be played
    int wokenInVain = 0;                  // of them: who does not get the lock
    bool isWokenSeen = true;              // false: who is woken follows from what was not seen (watches, waiters)
    std::vector<inspect::LockName> alsoLost;
    bool isAlsoLostKnown = true; // false: there may be more of them
    QStringList assumed;         // one line each
};

// `plan` is that of the real release (operate::planForceRelease). Unsupported for locks of a recipe that we have no
// recipe like.
[[nodiscard]] Result<Rehearsal> rehearse(const operate::ForceReleasePlan &plan);

// What came of it, for a person: "<id> at <endpoint> gets it next; 1 client is woken".
[[nodiscard]] QString sentenceOf(const Rehearsal &rehearsal, const inspect::LockSnapshot &lock);

} // namespace lockscope::rehearse
