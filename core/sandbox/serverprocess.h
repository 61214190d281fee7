// SPDX-License-Identifier: Apache-2.0
// What all private servers have in common: a folder, a port, a child process, and asking it until it
// answers. What differs is in a ServerKind.
#pragma once

#include "core/sandbox/server.h"

#include <QByteArray>
#include <QByteArrayList>

#include <sys/types.h>

#include <optional>
#include <set>

namespace lockscope::sandbox {

class LoopbackQuestion;

// Ports and questions on 127.0.0.1, without an event loop.

// A port nobody listens on now. Below the range the kernel takes for outgoing connections: there a
// client that keeps calling a stopped server could end up connected to itself, and the server could
// not start again. 0 if there is none. Somebody may still take it before we do.
[[nodiscard]] quint16 freeLoopbackPort();
// One that is not in `taken`, to which it is added.
[[nodiscard]] quint16 freeLoopbackPort(std::set<quint16> &taken);

// A child process that cannot outlive us: the kernel kills it when the thread that started it ends
// (PR_SET_PDEATHSIG), however that comes about. Start it from the main thread, therefore.
//
// It gets a process group of its own, so that Ctrl+C in a terminal reaches us and not the child: we
// decide in which order things end. It inherits no open files.
class ChildProcess {
public:
    struct Command {
        QByteArrayList arguments; // the program first, with its path
        QByteArray folder;        // where it runs
        QByteArray output;        // the file that gets what it prints, appended
    };

    ChildProcess() = default;
    ~ChildProcess() { kill(); }
    Q_DISABLE_COPY(ChildProcess)

    // An error if it could not be started at all, the program's name being wrong included.
    [[nodiscard]] Result<void> start(const Command &command);
    [[nodiscard]] bool isRunning();
    [[nodiscard]] pid_t pid() const { return m_pid; } // 0 when there is none
    void kill();                                      // SIGKILL, and waits for its end
    void suspend();                                   // SIGSTOP, and waits until it stands still
    void resume();                                    // SIGCONT

private:
    pid_t m_pid = 0;
};

// The program's path; Unsupported where it is not installed, with the name of its package. Servers are no commands of
// ordinary users: their folder is often not in PATH.
[[nodiscard]] Result<QByteArray> findProgram(const QString &program, const QString &server, const QString &package);
[[nodiscard]] Error notInstalled(const QString &program, const QString &server, const QString &package);

class ServerKind {
public:
    virtual ~ServerKind() = default;
    [[nodiscard]] virtual QString name() const = 0;               // "ZooKeeper"
    [[nodiscard]] virtual quint16 adminPort() const { return 0; } // as in Server
    // The port it must have because others were told of it; 0: any that is free.
    [[nodiscard]] virtual quint16 fixedPort() const { return 0; }
    // Takes ports and writes the configuration. Called again after "address in use".
    [[nodiscard]] virtual Result<void> prepare(const TemporaryFolder &folder, quint16 port) = 0;
    [[nodiscard]] virtual QByteArrayList arguments(const TemporaryFolder &folder) const = 0;
    // A question that a server answers when it is ready, and whether this is such an answer.
    [[nodiscard]] virtual QByteArray question() const = 0;
    // Where it is asked: a socket in its folder; empty: its port.
    [[nodiscard]] virtual QString questionSocket() const { return {}; }
    [[nodiscard]] virtual bool isReadyAnswer(const QByteArray &answer) const = 0;
    // For a kind that has more processes to look after than the one: before that is killed.
    virtual void end(const TemporaryFolder & /*folder*/, ChildProcess & /*child*/) const {}
};

// The first words of a client that speaks TLS; and whether a server answered as one that does: with its own, or
// with a refusal.
[[nodiscard]] QByteArray tlsQuestion();
[[nodiscard]] bool isTlsAnswer(const QByteArray &answer);

class ServerProcess : public Server {
public:
    [[nodiscard]] static std::unique_ptr<Server> of(std::unique_ptr<ServerKind> kind)
    {
        return std::make_unique<ServerProcess>(std::move(kind));
    }
    explicit ServerProcess(std::unique_ptr<ServerKind> kind) : m_kind(std::move(kind)) {}
    ~ServerProcess() override { ServerProcess::stop(); }
    Q_DISABLE_COPY(ServerProcess)

    Result<void> start(std::chrono::milliseconds atMost) override;
    Result<void> begin() override;
    Result<bool> poll() override;
    [[nodiscard]] bool isRunning() override { return m_child.isRunning(); }
    void stop() override;
    void pause() override { m_child.suspend(); }
    void resume() override { m_child.resume(); }
    [[nodiscard]] HostPort address() const override { return {u"127.0.0.1"_s, m_port}; }
    [[nodiscard]] quint16 adminPort() const override { return m_kind->adminPort(); }
    [[nodiscard]] QString log() const override;

private:
    [[nodiscard]] Result<void> launch();
    [[nodiscard]] Result<void> prepareElsewhere();
    [[nodiscard]] std::unique_ptr<LoopbackQuestion> ask() const;
    [[nodiscard]] Error gaveUp(const QString &how) const;

    std::unique_ptr<ServerKind> m_kind;
    // The child goes before its folder.
    std::unique_ptr<TemporaryFolder> m_folder;
    ChildProcess m_child;
    std::shared_ptr<LoopbackQuestion> m_question; // shared: a unique one would have to be known here
    std::chrono::steady_clock::time_point m_askedAt;
    quint16 m_port = 0;
    bool m_hasAnswered = false; // from then on it keeps its port
    bool m_isReady = false;
    int m_portTries = 0;
};

} // namespace lockscope::sandbox
