// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/delayproxy.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace lockscope::bench {

namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in loopback(quint16 port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void sendAtOnce(int socket)
{
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

bool writeAll(int to, const char *bytes, size_t count)
{
    while (count > 0) {
        const auto written = ::send(to, bytes, count, MSG_NOSIGNAL);
        if (written <= 0)
            return false;
        bytes += written;
        count -= static_cast<size_t>(written);
    }
    return true;
}

} // namespace

// What the server sent, and when it may go on.
struct DelayProxy::Pipe {
    Pipe(int f, int t) : from(f), to(t) {}
    int from;
    int to;
    std::mutex mutex;
    std::condition_variable arrived;
    std::deque<std::pair<Clock::time_point, std::vector<char>>> held;
    bool isOver = false;
};

DelayProxy::DelayProxy(const HostPort &server, std::chrono::microseconds delay)
    : m_serverPort(server.port), m_delay(delay)
{
    m_listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(m_listener, reinterpret_cast<sockaddr *>(&address), size) != 0 || ::listen(m_listener, 64) != 0
        || ::getsockname(m_listener, reinterpret_cast<sockaddr *>(&address), &size) != 0)
        qFatal("no delay proxy: %s", strerror(errno));
    m_port = ntohs(address.sin_port);
    m_threads.emplace_back([this] { accept(); });
}

DelayProxy::~DelayProxy()
{
    m_isEnding = true;
    ::shutdown(m_listener, SHUT_RDWR);
    {
        const std::lock_guard guard(m_mutex);
        for (const int socket : m_sockets)
            ::shutdown(socket, SHUT_RDWR);
    }
    m_threads.front().join(); // from here on no thread is added
    for (auto thread = std::next(m_threads.begin()); thread != m_threads.end(); ++thread)
        thread->join();
    for (const int socket : m_sockets)
        ::close(socket);
    ::close(m_listener);
}

void DelayProxy::accept()
{
    while (!m_isEnding) {
        const int near = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (near < 0)
            return;
        const int far = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const auto server = loopback(m_serverPort);
        const bool connected = ::connect(far, reinterpret_cast<const sockaddr *>(&server), sizeof server) == 0;
        sendAtOnce(near);
        sendAtOnce(far);
        const std::lock_guard guard(m_mutex);
        m_sockets.insert(m_sockets.end(), {near, far});
        if (!connected || m_isEnding) {
            ::shutdown(near, SHUT_RDWR);
            continue;
        }
        auto &pipe = m_pipes.emplace_back(far, near);
        m_threads.emplace_back([this, near, far] { forward(near, far); });
        m_threads.emplace_back([this, &pipe] { hold(pipe); });
        m_threads.emplace_back([this, &pipe] { deliver(pipe); });
    }
}

void DelayProxy::forward(int from, int to)
{
    std::vector<char> bytes(64 * 1024);
    for (;;) {
        const auto count = ::recv(from, bytes.data(), bytes.size(), 0);
        if (count <= 0 || !writeAll(to, bytes.data(), static_cast<size_t>(count)))
            break;
    }
    ::shutdown(to, SHUT_RDWR);
}

void DelayProxy::hold(Pipe &pipe)
{
    std::vector<char> bytes(64 * 1024);
    for (;;) {
        const auto count = ::recv(pipe.from, bytes.data(), bytes.size(), 0);
        const std::lock_guard guard(pipe.mutex);
        if (count <= 0)
            pipe.isOver = true;
        else
            pipe.held.emplace_back(Clock::now() + m_delay, std::vector<char>(bytes.begin(), bytes.begin() + count));
        pipe.arrived.notify_one();
        if (count <= 0)
            return;
    }
}

void DelayProxy::deliver(Pipe &pipe)
{
    for (;;) {
        std::unique_lock guard(pipe.mutex);
        pipe.arrived.wait(guard, [&] { return pipe.isOver || !pipe.held.empty(); });
        if (pipe.held.empty())
            break;
        const auto next = std::move(pipe.held.front());
        pipe.held.pop_front();
        guard.unlock();
        std::this_thread::sleep_until(next.first);
        if (!writeAll(pipe.to, next.second.data(), next.second.size()))
            break;
    }
    ::shutdown(pipe.to, SHUT_RDWR);
}

} // namespace lockscope::bench
