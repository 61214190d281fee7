// SPDX-License-Identifier: Apache-2.0
// A loopback forwarder that adds a delay to everything the server sends, and so to every round trip.
// Threads of its own, so that the delay is the kernel's and not that of an event loop's timers.
#pragma once

#include "core/base/connectionuri.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace lockscope::bench {

class DelayProxy {
public:
    // `server` on loopback.
    DelayProxy(const HostPort &server, std::chrono::microseconds delay);
    ~DelayProxy();
    DelayProxy(const DelayProxy &) = delete;
    DelayProxy &operator=(const DelayProxy &) = delete;

    [[nodiscard]] HostPort address() const { return {QStringLiteral("127.0.0.1"), m_port}; }

private:
    struct Pipe;
    void accept();
    void forward(int from, int to);
    void hold(Pipe &pipe);
    void deliver(Pipe &pipe);

    quint16 m_serverPort;
    std::chrono::microseconds m_delay;
    int m_listener = -1;
    quint16 m_port = 0;
    std::atomic<bool> m_isEnding = false;
    std::mutex m_mutex;
    std::vector<int> m_sockets;
    std::list<Pipe> m_pipes;
    std::list<std::thread> m_threads;
};

} // namespace lockscope::bench
