// SPDX-License-Identifier: Apache-2.0
// Ways to a server that end on this machine: a program of the system that forwards (ssh or kubectl), which is started
// again when it ends, and a port on 127.0.0.1. Transports' thread only, but for openPort().
#pragma once

#include "core/transport/transport.h"

#include <QPointer>
#include <QProcess>
#include <QSslSocket>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTimer>

namespace lockscope::transport {

// Where to dial to reach a server behind a tunnel: a local socket, or a port on 127.0.0.1. Neither: there is none
// now.
struct NearEnd {
    QString socket{};
    quint16 port = 0;
};

class Tunnel : public QObject {
public:
    ~Tunnel() override { endProcess(); }

    // Once: where that server, which may be a new one, is reached. Not after `context` has died.
    void whenUp(const HostPort &server, QObject *context, std::function<void(const NearEnd &)> ready);

protected:
    enum class State { Starting, Up, Down };
    Tunnel(std::vector<HostPort> servers, std::shared_ptr<Problem> problem);

    virtual void start() = 0;
    // What the program said when it ended, in words.
    [[nodiscard]] virtual QString problemOf(const QByteArray &said) const = 0;
    [[nodiscard]] virtual NearEnd nearEndOf(std::size_t server) const = 0;
    // Why a server that was not named at first cannot be one of its; empty: it can.
    [[nodiscard]] virtual QString refusalOf(const HostPort &server) const = 0;
    [[nodiscard]] virtual bool isForwarded(std::size_t server) const = 0;
    virtual void forwardMore() {}
    virtual void wasEnded() {}
    // It ended because it was started in one of two ways, and is now to be started in the other one.
    [[nodiscard]] virtual bool startsOver() { return false; }
    virtual void hasSaid(const QByteArray &line) = 0;

    // What it may still use has to outlive it: a class with such members calls this when it is destroyed.
    void endProcess();
    // It is asked nothing, and knows no password of ours.
    [[nodiscard]] static std::unique_ptr<QProcess> makeProcess();
    void run(const QString &program, const QStringList &arguments, std::unique_ptr<QProcess> process);
    void isUp();
    void ended(const QString &why);
    void notifyWaiting();

    std::vector<HostPort> m_servers;
    const std::shared_ptr<Problem> m_problem;
    std::unique_ptr<QProcess> m_process;
    State m_state = State::Starting;

private:
    struct Waiting {
        QPointer<QObject> context;
        std::function<void(const NearEnd &)> ready;
        std::size_t number; // of the server
    };
    void readErrors();

    QByteArray m_said; // by the program on its standard error, the last of it
    QTimer m_again;
    std::chrono::milliseconds m_pause;
    std::vector<Waiting> m_waiting;
};

// One run of the system's ssh that forwards to some servers. It forwards as well to those that are asked for later
// (nodes that a cluster names by itself): it takes such wishes at a socket (ssh -O).
//
// Its near ends are sockets in a folder that only this user can enter (a port on 127.0.0.1 would be every user's).
// ssh asks no questions: keys come from the agent or its configuration, host keys are checked as that says; jumps
// are its, too.
class SshTunnel : public Tunnel {
public:
    SshTunnel(SshOptions ssh, std::vector<HostPort> servers, std::shared_ptr<Problem> problem);
    ~SshTunnel() override;

private:
    void start() override;
    [[nodiscard]] QString problemOf(const QByteArray &said) const override;
    [[nodiscard]] NearEnd nearEndOf(std::size_t server) const override { return {.socket = socketOf(server)}; }
    [[nodiscard]] QString refusalOf(const HostPort &server) const override;
    [[nodiscard]] bool isForwarded(std::size_t server) const override { return server < m_forwarded; }
    void forwardMore() override;
    void wasEnded() override;
    void hasSaid(const QByteArray &line) override;
    void look();
    void wereForwarded(std::size_t upTo, bool isAgreed);
    [[nodiscard]] QString socketOf(std::size_t number) const { return m_folder.filePath(QString::number(number)); }
    [[nodiscard]] QStringList arguments() const;
    [[nodiscard]] QStringList forwards(std::size_t from) const;
    // Where it takes wishes, in the folder that is ours alone.
    [[nodiscard]] QString wishSocket() const { return m_folder.filePath(QStringLiteral("ssh")); }

    const SshOptions m_ssh;
    std::size_t m_forwarded = 0; // to so many of them, by this run
    QTemporaryDir m_folder;
    std::unique_ptr<QProcess> m_wish; // to it, for more
    QTimer m_looking;                 // whether it is up
};

// One run of the system's kubectl port-forward, to one pod, or to one pod of a service. kubectl listens on 127.0.0.1
// only, on a port of its choice. Any user of this machine can use that port while it is open.
class KubeTunnel : public Tunnel {
public:
    KubeTunnel(KubeOptions kube, std::vector<HostPort> servers, std::shared_ptr<Problem> problem);

private:
    void start() override;
    [[nodiscard]] QString problemOf(const QByteArray &said) const override;
    [[nodiscard]] NearEnd nearEndOf(std::size_t) const override { return {.socket = {}, .port = m_port}; }
    [[nodiscard]] QString refusalOf(const HostPort &server) const override;
    [[nodiscard]] bool isForwarded(std::size_t server) const override { return server == 0 && m_port != 0; }
    void wasEnded() override { m_port = 0; }
    [[nodiscard]] bool startsOver() override { return std::exchange(m_isToStartOver, false); }
    void hasSaid(const QByteArray &line) override;
    void readPort();

    const KubeOptions m_kube;
    bool m_isService = true; // where the URI does not say what it is
    bool m_isToStartOver = false;
    quint16 m_port = 0; // on 127.0.0.1
};

[[nodiscard]] std::unique_ptr<Tunnel> makeTunnel(const TransportOptions &transport, std::vector<HostPort> servers,
                                                 std::shared_ptr<Problem> problem);

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
