// SPDX-License-Identifier: Apache-2.0
// The named locks of the simulated MariaDB (GET_LOCK): as many as a connection likes, each counted, a queue per
// name in the order of arrival, and a deadlock found by who closes the circle - of named locks only: the
// server keeps them apart from the row locks, and sees no circle that goes through both.
//
// Knows nothing of time, as rowlocks.h.
#pragma once

#include <QByteArray>

#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace lockscope::world {

using ConnectionNumber = quint64;

class NamedLocks {
public:
    enum class Outcome { Granted, Waits, Conflicts };
    [[nodiscard]] Outcome lock(ConnectionNumber connection, const QByteArray &name, bool mayWait);
    // After it began to wait: whose wait has to end, if it waits in a circle. The one that was chosen least often
    // since it connected; of equal ones the one that closed the circle. It counts as chosen from then on.
    [[nodiscard]] std::optional<ConnectionNumber> chooseVictim(ConnectionNumber connection);
    // Its wait ends without the lock.
    void stopWaiting(ConnectionNumber connection);
    // Empty: nobody has it. False: another has it. True: given back, once.
    [[nodiscard]] std::optional<bool> release(ConnectionNumber connection, const QByteArray &name,
                                              std::vector<ConnectionNumber> &granted);
    // Its connection is over: everything it has and waits for. Returns who got a lock by that.
    [[nodiscard]] std::vector<ConnectionNumber> releaseAll(ConnectionNumber connection);

    [[nodiscard]] std::optional<ConnectionNumber> holderOf(const QByteArray &name) const;
    // Who has what it waits for; empty: it waits for nothing.
    [[nodiscard]] std::optional<ConnectionNumber> blockerOf(ConnectionNumber connection) const;
    [[nodiscard]] std::optional<ConnectionNumber> firstWaiterFor(const QByteArray &name) const;
    [[nodiscard]] std::vector<QByteArray> names() const;
    // Who has it, and who waits for it, in their order.
    [[nodiscard]] std::deque<ConnectionNumber> queueOf(const QByteArray &name) const;

private:
    struct Held {
        ConnectionNumber holder = 0;
        int count = 0;
        std::deque<ConnectionNumber> waiting;
    };
    using Locks = std::map<QByteArray, Held>;
    // Goes to who waits first, or away.
    Locks::iterator passOn(Locks::iterator lock, std::vector<ConnectionNumber> &granted);

    Locks m_locks;
    std::map<ConnectionNumber, QByteArray> m_waiting;
    std::map<ConnectionNumber, int> m_timesVictim;
};

} // namespace lockscope::world
