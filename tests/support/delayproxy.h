// SPDX-License-Identifier: Apache-2.0
// A loopback forwarder that adds half of a delay to all that either side sends, and counts round trips: what a client
// sends after it had an answer, on whichever of its connections, is one more, and so is each connecting.
// One thread for all connections, asleep in the kernel until bytes or their time come: the delay is the kernel's and
// not that of an event loop's timers, and what the forwarder takes of the processors, which both sides of a
// comparison would wait for, and the side that sends more for longer, is little.
#pragma once

#include "core/base/connectionuri.h"

#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace lockscope::testing {

class DelayProxy {
public:
    // `server` on loopback. The delay is that of a round trip.
    DelayProxy(const HostPort &server, std::chrono::microseconds delay);
    ~DelayProxy();
    DelayProxy(const DelayProxy &) = delete;
    DelayProxy &operator=(const DelayProxy &) = delete;

    [[nodiscard]] HostPort address() const { return {QStringLiteral("127.0.0.1"), m_port}; }
    // So far, of those that had to wait for one another.
    [[nodiscard]] int rounds() const { return roundsUntil(std::chrono::system_clock::time_point::max()); }
    // Those that had begun by then: what a slow machine lets pass before a test hears of the moment does not count.
    [[nodiscard]] int roundsUntil(std::chrono::system_clock::time_point moment) const;

private:
    using Clock = std::chrono::steady_clock;
    // The rounds of a connection: that of connecting and the last one; and when it is open for its client, which is
    // connected at once but says nothing that arrives sooner than after a real connecting.
    struct Line {
        int connected;
        int round;
        Clock::time_point opened;
    };
    // One end of a connection, and where what it says goes.
    struct End {
        int from;
        int to;
        bool isServers;
        std::shared_ptr<Line> line;
    };
    // What a side said, and when it may go on. Without bytes: it has closed.
    struct Held {
        Clock::time_point due;
        int to;
        int answered; // the round that this ends; 0: none
        std::vector<char> bytes;
    };
    void run();
    void accept();
    void watch(int descriptor, End *end);
    void read(const End &end);
    void noteRound(int round);
    void deliverDue();
    void armTimer();

    quint16 m_serverPort;
    std::chrono::microseconds m_delay;
    int m_listener = -1;
    int m_ending = -1; // an eventfd
    int m_timer = -1;
    int m_poll = -1;
    quint16 m_port = 0;
    int m_answered = 0;                                         // rounds
    mutable std::mutex m_mutex;                                 // for what follows
    std::vector<std::chrono::system_clock::time_point> m_begun; // when each round began, in their order
    std::list<End> m_ends;
    std::deque<Held> m_held; // all connections', in the order of their times: the delay is the same for all
    std::vector<char> m_buffer;
    std::thread m_thread; // uses all of the above until it is joined
};

} // namespace lockscope::testing
