// SPDX-License-Identifier: Apache-2.0
#include "tests/support/delayproxy.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace lockscope::testing {

namespace {

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

DelayProxy::DelayProxy(const HostPort &server, std::chrono::microseconds delay)
    : m_serverPort(server.port), m_delay(delay / 2), m_buffer(64 * 1024)
{
    m_listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(m_listener, reinterpret_cast<sockaddr *>(&address), size) != 0 || ::listen(m_listener, 64) != 0
        || ::getsockname(m_listener, reinterpret_cast<sockaddr *>(&address), &size) != 0)
        qFatal("no delay proxy: %s", strerror(errno));
    m_port = ntohs(address.sin_port);
    m_ending = ::eventfd(0, EFD_CLOEXEC);
    m_timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC); // the clock of steady_clock
    m_poll = ::epoll_create1(EPOLL_CLOEXEC);
    if (m_ending < 0 || m_timer < 0 || m_poll < 0)
        qFatal("no delay proxy: %s", strerror(errno));
    for (const int own : {m_listener, m_ending, m_timer})
        watch(own, &m_ends.emplace_back(End{own, -1, false, nullptr}));
    m_thread = std::thread([this] { run(); });
}

DelayProxy::~DelayProxy()
{
    const quint64 one = 1;
    if (::write(m_ending, &one, sizeof one) != sizeof one)
        qFatal("the delay proxy cannot be ended: %s", strerror(errno));
    m_thread.join();
    for (const auto &end : m_ends)
        ::close(end.from);
    ::close(m_poll);
}

int DelayProxy::roundsUntil(std::chrono::system_clock::time_point moment) const
{
    const std::lock_guard lock(m_mutex);
    return static_cast<int>(std::ranges::upper_bound(m_begun, moment) - m_begun.begin());
}

void DelayProxy::noteRound(int round)
{
    const std::lock_guard lock(m_mutex);
    if (static_cast<int>(m_begun.size()) < round)
        m_begun.resize(static_cast<size_t>(round), std::chrono::system_clock::now());
}

void DelayProxy::watch(int descriptor, End *end)
{
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = end;
    if (::epoll_ctl(m_poll, EPOLL_CTL_ADD, descriptor, &event) != 0)
        qFatal("the delay proxy cannot listen: %s", strerror(errno));
}

void DelayProxy::run()
{
    std::array<epoll_event, 64> events{};
    for (;;) {
        const int count = ::epoll_wait(m_poll, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < count; ++i) {
            const auto &end = *static_cast<End *>(events[static_cast<size_t>(i)].data.ptr);
            if (end.from == m_ending)
                return;
            if (end.from == m_listener)
                accept();
            else if (end.from != m_timer)
                read(end);
        }
        deliverDue();
        armTimer();
    }
}

void DelayProxy::accept()
{
    const int near = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (near < 0)
        return;
    const int far = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto server = loopback(m_serverPort);
    if (::connect(far, reinterpret_cast<const sockaddr *>(&server), sizeof server) != 0) {
        ::close(near);
        ::close(far);
        return;
    }
    sendAtOnce(near);
    sendAtOnce(far);
    const auto line = std::make_shared<Line>(Line{m_answered + 1, m_answered + 1, Clock::now() + 2 * m_delay});
    watch(near, &m_ends.emplace_back(End{near, far, false, line}));
    watch(far, &m_ends.emplace_back(End{far, near, true, line}));
}

// Level-triggered: what does not fit is told of again.
void DelayProxy::read(const End &end)
{
    const auto count = ::recv(end.from, m_buffer.data(), m_buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    const auto size = static_cast<size_t>(std::max<ssize_t>(count, 0));
    if (size == 0)
        ::epoll_ctl(m_poll, EPOLL_CTL_DEL, end.from, nullptr);
    if (!end.isServers && size > 0) {
        end.line->round = std::max(m_answered, end.line->connected) + 1;
        noteRound(end.line->round);
    }
    const int answered = end.isServers ? end.line->round : 0;
    const auto due = std::max(Clock::now(), end.line->opened) + m_delay;
    m_held.insert(std::ranges::upper_bound(m_held, due, {}, &Held::due),
                  {due, end.to, answered, {m_buffer.data(), m_buffer.data() + size}});
}

void DelayProxy::deliverDue()
{
    while (!m_held.empty() && m_held.front().due <= Clock::now()) {
        const auto next = std::move(m_held.front());
        m_held.pop_front();
        m_answered = std::max(m_answered, next.answered);
        if (next.bytes.empty() || !writeAll(next.to, next.bytes.data(), next.bytes.size()))
            ::shutdown(next.to, SHUT_RDWR);
    }
}

// Setting it takes back that it has expired: it need not be read.
void DelayProxy::armTimer()
{
    itimerspec when{};
    if (!m_held.empty()) {
        const auto due = m_held.front().due.time_since_epoch();
        const auto seconds = std::chrono::floor<std::chrono::seconds>(due);
        when.it_value.tv_sec = seconds.count();
        when.it_value.tv_nsec = std::chrono::nanoseconds(due - seconds).count();
    }
    ::timerfd_settime(m_timer, TFD_TIMER_ABSTIME, &when, nullptr);
}

} // namespace lockscope::testing
