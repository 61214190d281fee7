// SPDX-License-Identifier: Apache-2.0
// One run of the system's ssh that forwards to some servers, and is started again when it ends.
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

    // Once: the socket that leads to that server, or empty when there is none now. Not after `context` has died.
    void whenUp(const HostPort &server, QObject *context, std::function<void(const QString &socket)> ready);

private:
    struct Waiting {
        QPointer<QObject> context;
        std::function<void(const QString &)> ready;
        QString socket;
    };
    enum class State { Starting, Up, Down };

    void start();
    void look();
    void ended(const QString &why);
    void readErrors();
    void tellWaiting(bool isUp);
    [[nodiscard]] QString socketOf(std::size_t number) const;
    [[nodiscard]] QStringList arguments() const;

    const SshOptions m_ssh;
    const std::vector<HostPort> m_servers;
    const std::shared_ptr<Problem> m_problem;
    QTemporaryDir m_folder;
    std::unique_ptr<QProcess> m_process;
    QByteArray m_said; // by ssh, the last of it
    QTimer m_looking;  // whether it is up
    QTimer m_again;
    std::chrono::milliseconds m_pause;
    State m_state = State::Starting;
    std::vector<Waiting> m_waiting;
};

// What ssh said when it ended, in words. Pure.
[[nodiscard]] QString sshProblem(const SshOptions &ssh, const QByteArray &said);
// A line that it says while it goes on, about one connection; empty if it is none of these.
[[nodiscard]] QString sshChannelProblem(const SshOptions &ssh, const QByteArray &line);

} // namespace lockscope::passage
