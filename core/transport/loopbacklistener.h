// SPDX-License-Identifier: Apache-2.0
// A port on 127.0.0.1 that leads to a server. Only this process is let in. Transports' thread only, but for
// openPort().
#pragma once

#include "core/transport/speech.h"
#include "core/transport/tunnel.h"

#include <QSslSocket>
#include <QTcpServer>

namespace lockscope::transport {

// Where a door leads.
struct Route {
    HostPort server;  // as it is called
    HostPort dialled; // where that is: itself, or another door
    Speech speech;
    TlsOptions tls;
    std::shared_ptr<Tunnel> tunnel; // null: dialled is
    std::shared_ptr<Problem> problem;
};

// One connection of ours, carried on from a door to its server, until either side closes. It outlives its door, so
// that a session can say farewell. Transports' thread only.
class ForwardedConnection : public QObject {
public:
    // Owns itself.
    static void begin(std::unique_ptr<QTcpSocket> client, Route route);
    ~ForwardedConnection() override;

private:
    ForwardedConnection(std::unique_ptr<QTcpSocket> client, Route route);
    void dial();
    void dialThroughTunnel(const NearEnd &end);
    void dialHost(const HostPort &to);
    void farIsOpen();
    void tlsIsOn();
    void farBroke(const QString &why, bool isOfTls = false);
    void take(const Prelude::Step &step);
    void readClient();
    void readServer();
    void clientEnded();
    void serverEnded();
    [[nodiscard]] bool isInPrelude() const { return m_prelude && !m_prelude->isOver(); }
    [[nodiscard]] qint64 unsentToServer() const;

    const Route m_route;
    const InUse m_inUse{InUse::By::ForwardedConnection};
    std::unique_ptr<QTcpSocket> m_client;
    std::unique_ptr<QIODevice> m_far;         // a QSslSocket, or a QLocalSocket
    QSslSocket *m_socket = nullptr;           // m_far, where it is one
    const std::unique_ptr<Prelude> m_prelude; // none: TLS from the first byte, or never
    bool m_isAsking = false;                  // the server, for TLS
    bool m_isOpen = false;                    // bytes may go to the server
    bool m_isTold = false;                    // the client was told why there is nothing
    bool m_isEnding = false;
};

// A socket that listens on 127.0.0.1, on a port of its own. Any thread.
struct OpenPort {
    int socket = -1;
    quint16 port = 0; // 0: there is none
};
[[nodiscard]] OpenPort openPort();

class LoopbackListener : public QObject {
public:
    LoopbackListener(OpenPort open, Route route);

private:
    QTcpServer m_server;
};

// Who knocks at a door on 127.0.0.1: any user of this machine can. Only this process is let in.

// The inode of the socket bound to 127.0.0.1:local and connected to 127.0.0.1:remote, in the form of /proc/net/tcp.
// Pure.
[[nodiscard]] std::optional<QByteArray> socketInode(const QByteArray &table, quint16 local, quint16 remote);
// Whether the other end of what came to `door` from `peer` is a socket of this process; nothing when it is gone
// already.
[[nodiscard]] std::optional<bool> isOwnPeer(quint16 peer, quint16 door);

} // namespace lockscope::transport
