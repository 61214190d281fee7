// SPDX-License-Identifier: Apache-2.0
// The single script calls that a Redisson lock is made of, without a lock object: they go on, if need be, in
// the background of the connection. Loop thread only; the connection outlives them.
#pragma once

#include "core/async/task.h"
#include "core/recipes/redisson/scriptset.h"
#include "core/recipes/waitgroup.h"

namespace lockscope::recipes {

// What came of one try to enter.
struct Entered {
    enum class Kind { Ours, Taken, OtherLimit, Unsent } kind = Kind::Taken; // Unsent: it did not reach the server
    qint64 count = 0;                  // Ours: how many times; OtherLimit: its limit
    std::optional<qint64> token;       // Ours
    std::chrono::milliseconds wait{0}; // Taken: how long at most; negative when nobody knows
};

// Sends one of the two scripts. The reply lost: looks whether we hold it more often than `before`, over
// broken connections until the deadline.
[[nodiscard]] Task<Result<Entered>> enterOnce(redis::Connection *connection, ScriptSet scripts, ScriptCall call,
                                              qint64 before, Deadline deadline);

// Gives one hold back; the reply lost: sends it again until the deadline. 1, 0 or -1 as scripts.leave says.
[[nodiscard]] Task<Result<qint64>> leaveOnce(redis::Connection *connection, ScriptSet scripts, QByteArray request,
                                             Deadline deadline);

// Takes away what may be left of us: the place in the queue, and with `mayHold` all holds. Over broken
// connections, for as long as it takes; false when the server refuses.
[[nodiscard]] Task<bool> clearUp(redis::Connection *connection, ScriptSet scripts, bool mayHold);

// Something of ours may be on the server: unless somebody says that it is not, or keeps it, it is taken
// away in the background when this goes out of scope.
class CleanupGuard {
public:
    CleanupGuard(redis::Connection &connection, WaitGroup waitGroup, ScriptSet scripts)
        : m_connection(&connection), m_waitGroup(std::move(waitGroup)), m_scripts(std::move(scripts))
    {
    }
    CleanupGuard(const CleanupGuard &) = delete;
    CleanupGuard &operator=(const CleanupGuard &) = delete;
    ~CleanupGuard()
    {
        if (m_mayHold || (m_mayQueue && m_scripts.leaveQueue))
            m_waitGroup.add(m_connection->background(), clearUp(m_connection, m_scripts, m_mayHold));
    }
    void mayBe(bool holding, bool queued)
    {
        m_mayHold = holding;
        m_mayQueue = queued;
    }
    void forget() { mayBe(false, false); }

private:
    redis::Connection *m_connection;
    WaitGroup m_waitGroup;
    ScriptSet m_scripts;
    bool m_mayHold = false;
    bool m_mayQueue = false;
};

} // namespace lockscope::recipes
