// SPDX-License-Identifier: Apache-2.0
// Until when each of very many waits for something that nearly always comes long before. One timer for all of them;
// who waits has a place in a list, and takes no memory beside it. World's thread only.
#pragma once

#include "core/async/virtualloop.h"

namespace lockscope::sim {

class DueTimes {
public:
    class Waiter {
    public:
        Waiter() = default;
        Q_DISABLE_COPY(Waiter)

    protected:
        virtual ~Waiter() { stopWaiting(); }
        void stopWaiting();

    private:
        friend class DueTimes;
        // Its moment has come; it does not wait any more.
        virtual void isDue() {}

        Waiter *m_before = nullptr, *m_after = nullptr; // null: waits for nothing
        Instant m_due{};
    };

    explicit DueTimes(VirtualLoop &world) : m_world(world) { m_ends.m_before = m_ends.m_after = &m_ends; }

    // From now on until then, by the world's clock. Of one moment whoever was put first is told first. Quick where
    // few who wait already are due after it. The list outlives who waits.
    void put(Waiter &waiter, Instant due);

private:
    struct Ends : Waiter { // before the first and after the last
    };
    void look();

    VirtualLoop &m_world;
    Ends m_ends;
    Timer m_timer; // runs at the earliest, or before
    Instant m_next = Instant::max();
};

} // namespace lockscope::sim
