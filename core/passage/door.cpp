// SPDX-License-Identifier: Apache-2.0
#include "core/passage/door.h"

#include "core/base/logging.h"
#include "core/passage/ownpeer.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace lockscope::passage {

OpenPort openPort()
{
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    constexpr int mostWaiting = 128;
    if (fd >= 0 && ::bind(fd, generic, size) == 0 && ::listen(fd, mostWaiting) == 0
        && ::getsockname(fd, generic, &size) == 0)
        return {fd, ntohs(address.sin_port)};
    if (fd >= 0)
        ::close(fd);
    return {};
}

Door::Door(OpenPort open, Route route)
{
    if (!m_server.setSocketDescriptor(open.socket)) {
        ::close(open.socket);
        return;
    }
    connect(&m_server, &QTcpServer::newConnection, this, [this, port = open.port, route = std::move(route)] {
        while (auto *came = m_server.nextPendingConnection()) {
            std::unique_ptr<QTcpSocket> client(came);
            const auto isOwn = isOwnPeer(client->peerPort(), port);
            if (isOwn == true)
                Carried::begin(std::move(client), route);
            else if (isOwn == false)
                qCWarning(logPassage, "another process came to a port of ours, and was not let in");
        }
    });
}

} // namespace lockscope::passage
