// SPDX-License-Identifier: Apache-2.0
// What all private servers have in common: a folder, a port, a child process, and asking it until it
// answers. What differs is in a ServerKind.
#pragma once

#include "core/sandbox/childprocess.h"
#include "core/sandbox/loopback.h"
#include "core/sandbox/server.h"
#include "core/sandbox/temporaryfolder.h"

namespace lockscope::sandbox {

class ServerKind {
public:
    virtual ~ServerKind() = default;
    [[nodiscard]] virtual QString name() const = 0; // "ZooKeeper"
    // The port it must have because others were told of it; 0: any that is free.
    [[nodiscard]] virtual quint16 fixedPort() const { return 0; }
    // Takes ports and writes the configuration. Called again after "address in use".
    [[nodiscard]] virtual Result<void> prepare(const TemporaryFolder &folder, quint16 port) = 0;
    [[nodiscard]] virtual QByteArrayList arguments(const TemporaryFolder &folder) const = 0;
    // A question that a server answers when it is ready, and whether this is such an answer.
    [[nodiscard]] virtual QByteArray question() const = 0;
    [[nodiscard]] virtual bool isReadyAnswer(const QByteArray &answer) const = 0;
};

class ServerProcess {
public:
    explicit ServerProcess(ServerKind &kind) : m_kind(kind) {}

    // As in Server.
    [[nodiscard]] Result<void> begin();
    [[nodiscard]] Result<bool> poll();
    [[nodiscard]] Result<void> start(std::chrono::milliseconds atMost);
    void stop() { m_child.kill(); }
    void pause() { m_child.suspend(); }
    void resume() { m_child.resume(); }
    [[nodiscard]] HostPort address() const;
    [[nodiscard]] QString log() const;

private:
    [[nodiscard]] Result<void> launch();
    [[nodiscard]] Result<void> prepareElsewhere();
    [[nodiscard]] Error gaveUp(const QString &how) const;

    ServerKind &m_kind;
    // The child goes before its folder.
    std::unique_ptr<TemporaryFolder> m_folder;
    ChildProcess m_child;
    std::unique_ptr<LoopbackQuestion> m_question;
    std::chrono::steady_clock::time_point m_askedAt;
    quint16 m_port = 0;
    bool m_hasAnswered = false; // from then on it keeps its port
    bool m_isReady = false;
    int m_portTries = 0;
};

// A server of this kind.
template <class Kind, class Interface = Server>
class PrivateServer : public Interface {
public:
    template <class... Arguments>
    explicit PrivateServer(Arguments &&...arguments)
        : m_kind(std::forward<Arguments>(arguments)...), m_process(m_kind)
    {
    }
    Result<void> begin() override { return m_process.begin(); }
    Result<bool> poll() override { return m_process.poll(); }
    Result<void> start(std::chrono::milliseconds atMost) override { return m_process.start(atMost); }
    void stop() override { m_process.stop(); }
    void pause() override { m_process.pause(); }
    void resume() override { m_process.resume(); }
    [[nodiscard]] HostPort address() const override { return m_process.address(); }
    [[nodiscard]] QString log() const override { return m_process.log(); }

protected:
    Kind m_kind;

private:
    ServerProcess m_process;
};

} // namespace lockscope::sandbox
