// SPDX-License-Identifier: Apache-2.0
// The single errands that a Redisson lock is made of, without a lock object: they go on, if need be, in
// the background of the connection. Loop thread only; the connection outlives them.
#pragma once

#include "core/async/task.h"
#include "core/recipes/chores.h"
#include "core/recipes/redisson/moves.h"

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
[[nodiscard]] Task<Result<Entered>> enterOnce(redis::Connection *connection, Moves moves, ScriptCall call,
                                              qint64 before, Deadline deadline);

// Gives one hold back; the reply lost: sends it again until the deadline. 1, 0 or -1 as moves.leave says.
[[nodiscard]] Task<Result<qint64>> leaveOnce(redis::Connection *connection, Moves moves, QByteArray request,
                                             Deadline deadline);

// Takes away what may be left of us: the place in the queue, and with `mayHold` all holds. Over broken
// connections, for as long as it takes; false when the server refuses.
[[nodiscard]] Task<bool> clearUp(redis::Connection *connection, Moves moves, bool mayHold);

// Something of ours may be on the server: unless somebody says that it is not, or keeps it, it is taken
// away in the background when this goes out of scope.
class Trace {
public:
    Trace(redis::Connection &connection, Chores chores, Moves moves)
        : m_connection(&connection), m_chores(std::move(chores)), m_moves(std::move(moves))
    {
    }
    Trace(const Trace &) = delete;
    Trace &operator=(const Trace &) = delete;
    ~Trace()
    {
        if (m_mayHold || (m_mayQueue && m_moves.leaveQueue))
            m_chores.add(m_connection->background(), clearUp(m_connection, m_moves, m_mayHold));
    }
    void mayBe(bool holding, bool queued)
    {
        m_mayHold = holding;
        m_mayQueue = queued;
    }
    void forget() { mayBe(false, false); }

private:
    redis::Connection *m_connection;
    Chores m_chores;
    Moves m_moves;
    bool m_mayHold = false;
    bool m_mayQueue = false;
};

} // namespace lockscope::recipes
