// SPDX-License-Identifier: Apache-2.0
// One run of the system's ssh that forwards to some servers, and is started again when it ends. Whoever is asked for
// later (nodes that a cluster names by itself) it forwards to as well: it takes such wishes at a socket (ssh -O).
//
// Its near ends are sockets in a folder that only this user can enter (a port on 127.0.0.1 would be everybody's).
// ssh asks nobody anything: keys come from the agent or its configuration, host keys are checked as that says; jumps
// are its, too. Passages' thread only.
#pragma once

#include "core/base/connectionuri.h"
#include "core/passage/problem.h"

#include <QPointer>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>

#include <functional>
#include <memory>

namespace lockscope::passage {

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
    void tellWaiting();
    [[nodiscard]] QString socketOf(std::size_t number) const;
    [[nodiscard]] QStringList arguments() const;
    [[nodiscard]] QStringList forwards(std::size_t from) const;
    [[nodiscard]] QString wishes() const;

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

} // namespace lockscope::passage
