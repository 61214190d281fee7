// SPDX-License-Identifier: Apache-2.0
// Takes away nodes that nobody wants any more, in the background: retries over broken connections
// until each is gone or the session is over (then the server takes it away). A create whose reply is
// still out is followed up: whatever it made is found and removed. Loop thread only; the session
// outlives it.
#pragma once

#include "core/recipes/waitgroup.h"
#include "core/recipes/zookeeper/claim.h"

namespace lockscope::recipes {

class BackgroundCleanup {
public:
    explicit BackgroundCleanup(zk::Session &session) : m_session(&session), m_waitGroup(session.loop()) {}

    [[nodiscard]] zk::Session *session() const { return m_session; }
    // Removes that node, and no other that may have got its name meanwhile. `looksFirst`: its name may be
    // another's by now, because it comes again, or because a removal was sent before and its outcome is unknown.
    void remove(OwnNode node, bool looksFirst) const;
    void followUp(Reply<zk::Created> creating, NodeClaim claim) const;
    // Completes when there is nothing left to do: true if everything is gone, false if something could
    // not be removed or the deadline passed first.
    [[nodiscard]] Completion<bool> tidy(Deadline deadline) const { return m_waitGroup.finished(deadline); }

private:
    zk::Session *m_session;
    WaitGroup m_waitGroup;
};

} // namespace lockscope::recipes
