// SPDX-License-Identifier: Apache-2.0
// A port on 127.0.0.1 that leads to a server. Only this process is let in. Passages' thread only, but for openPort().
#pragma once

#include "core/base/connectionuri.h"
#include "core/transport/speech.h"
#include "core/transport/thread.h"

#include <QByteArray>
#include <QPointer>
#include <QProcess>
#include <QSslSocket>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTimer>

#include <functional>
#include <memory>
#include <optional>

namespace lockscope::transport {

// One run of the system's ssh that forwards to some servers, and is started again when it ends. Whoever is asked for
// later (nodes that a cluster names by itself) it forwards to as well: it takes such wishes at a socket (ssh -O).
//
// Its near ends are sockets in a folder that only this user can enter (a port on 127.0.0.1 would be everybody's).
// ssh asks nobody anything: keys come from the agent or its configuration, host keys are checked as that says; jumps
// are its, too. Passages' thread only.
class SshTunnel : public QObject {
public:
    SshTunnel(SshOptions ssh, std::vector<HostPort> servers, std::shared_ptr<Problem> problem);
    ~SshTunnel() override;

    // Once: the socket that leads to that server, which may be a new one, or empty when there is none now. Not after
    // `context` has died.
    void whenUp(const HostPort &server, QObject *context, std::function<void(const QString &socket)> ready);

private:
    struct Waiting {
        QPointer<QObject> context;
        std::function<void(const QString &)> ready;
        std::size_t number; // of the server
    };
    enum class State { Starting, Up, Down };

    void start();
    void look();
    void ended(const QString &why);
    void readErrors();
    void forwardMore();
    void wereForwarded(std::size_t upTo, bool isAgreed);
    void notifyWaiting();
    [[nodiscard]] QString socketOf(std::size_t number) const { return m_folder.filePath(QString::number(number)); }
    [[nodiscard]] QStringList arguments() const;
    [[nodiscard]] QStringList forwards(std::size_t from) const;
    // Where it takes wishes, in the folder that is ours alone.
    [[nodiscard]] QString wishSocket() const { return m_folder.filePath(QStringLiteral("ssh")); }

    const SshOptions m_ssh;
    std::vector<HostPort> m_servers;
    std::size_t m_forwarded = 0; // to so many of them, by this run
    const std::shared_ptr<Problem> m_problem;
    QTemporaryDir m_folder;
    std::unique_ptr<QProcess> m_process;
    std::unique_ptr<QProcess> m_wish; // to it, for more
    QByteArray m_said;                // by ssh, the last of it
    QTimer m_looking;                 // whether it is up
    QTimer m_again;
    std::chrono::milliseconds m_pause;
    State m_state = State::Starting;
    std::vector<Waiting> m_waiting;
};

// Whether a name, which may be a server's word, is one that ssh can be told to forward to. Pure.
[[nodiscard]] bool isForwardable(const QString &host);
// What ssh said when it ended, in words. Pure.
[[nodiscard]] QString sshProblem(const SshOptions &ssh, const QByteArray &said);
// A line that it says while it goes on, about one connection; empty if it is none of these.
[[nodiscard]] QString sshChannelProblem(const SshOptions &ssh, const QByteArray &line);

// Where a door leads.
struct Route {
    HostPort server;  // as it is called
    HostPort dialled; // where that is: itself, or another door
    Speech speech;
    TlsOptions tls;
    std::shared_ptr<SshTunnel> tunnel; // null: dialled is
    std::shared_ptr<Problem> problem;
};

// One connection of ours, carried on from a door to its server, until either side closes. It outlives its door, so
// that a session can say farewell. Passages' thread only.
class ForwardedConnection : public QObject {
public:
    // Owns itself.
    static void begin(std::unique_ptr<QTcpSocket> client, Route route);
    ~ForwardedConnection() override;

private:
    ForwardedConnection(std::unique_ptr<QTcpSocket> client, Route route);
    void dial();
    void dialThroughTunnel(const QString &socket);
    void dialHost();
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
