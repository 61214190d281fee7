// Takes away nodes that nobody wants any more, in the background: retries over broken connections
// until each is gone or the session is over (then the server takes it away). A create whose reply is
// still out is followed up: whatever it made is found and removed.
//
// A handle: copies share one list of work. The work itself belongs to the session and goes on when
// every Janitor is gone. Loop thread only; the session outlives it.
#pragma once

#include "core/recipes/zookeeper/claim.h"

namespace lockscope::recipes {

class Janitor {
public:
    explicit Janitor(zk::Session &session);

    [[nodiscard]] zk::Session *session() const { return m_work->session; }
    // Removes that node, and no other that may have got its name meanwhile. `mayBeGone`: a removal
    // was sent before and its outcome is unknown.
    void remove(zk::Created node, bool mayBeGone = false) const;
    void followUp(Reply<zk::Created> creating, Claim claim) const;
    // Completes when there is nothing left to do: true if everything is gone, false if something could
    // not be removed or the deadline passed first.
    [[nodiscard]] OneShot<bool> tidy(Deadline deadline) const;

private:
    struct Work {
        zk::Session *session;
        int running = 0;
        bool failed = false;
        std::vector<OneShot<bool>> waiting;
    };
    static Task<bool> takeAway(zk::Session *session, zk::Created node, bool mayBeGone);
    static Task<void> removing(std::shared_ptr<Work> work, zk::Created node, bool mayBeGone);
    static Task<void> following(std::shared_ptr<Work> work, Reply<zk::Created> creating, Claim claim);
    static void finish(Work &work, bool gone);

    std::shared_ptr<Work> m_work;
};

} // namespace lockscope::recipes
