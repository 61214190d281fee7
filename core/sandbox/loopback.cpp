// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/loopback.h"

#include "core/base/random.h"

#include <algorithm>
#include <cerrno>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace lockscope::sandbox {

namespace {

sockaddr_in loopbackAddress(quint16 port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

const sockaddr *generic(const sockaddr_in &address)
{
    return reinterpret_cast<const sockaddr *>(&address);
}

bool isFree(quint16 port)
{
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    const auto address = loopbackAddress(port);
    const bool bound = ::bind(fd, generic(address), sizeof address) == 0;
    ::close(fd);
    return bound;
}

} // namespace

quint16 freeLoopbackPort()
{
    constexpr quint16 first = 10'240, last = 32'000;
    auto random = Random::fromSystem();
    for (int tries = 0; tries < 1000; ++tries) {
        const auto port = static_cast<quint16>(first + random.below(last - first));
        if (isFree(port))
            return port;
    }
    return 0;
}

LoopbackQuestion::LoopbackQuestion(quint16 port, QByteArray words) : m_unsent(std::move(words))
{
    m_socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto address = loopbackAddress(port);
    if (m_socket >= 0 && ::connect(m_socket, generic(address), sizeof address) < 0 && errno != EINPROGRESS)
        close();
}

LoopbackQuestion::LoopbackQuestion(const QByteArray &path, QByteArray words) : m_unsent(std::move(words))
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= qsizetype(sizeof address.sun_path))
        return;
    std::ranges::copy(path, address.sun_path);
    m_socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto *named = reinterpret_cast<const sockaddr *>(&address);
    if (m_socket >= 0 && ::connect(m_socket, named, sizeof address) < 0)
        close();
}

LoopbackQuestion::~LoopbackQuestion()
{
    close();
}

void LoopbackQuestion::step()
{
    if (isOver())
        return;
    if (!m_unsent.isEmpty()) {
        const auto sent = ::send(m_socket, m_unsent.constData(), static_cast<size_t>(m_unsent.size()), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            return close();
        if (sent > 0)
            m_unsent.remove(0, sent);
    }
    char part[4096];
    for (;;) {
        const auto got = ::recv(m_socket, part, sizeof part, 0);
        if (got > 0)
            m_answer.append(part, got);
        else if (got == 0 || errno != EAGAIN)
            return close();
        else
            return;
    }
}

void LoopbackQuestion::close()
{
    if (m_socket >= 0)
        ::close(m_socket);
    m_socket = -1;
}

} // namespace lockscope::sandbox
