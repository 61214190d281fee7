// SPDX-License-Identifier: Apache-2.0
// The window's sandbox: private servers started without stopping the event loop, and the live locks of
// --demo on a thread of their own. Main thread.
#pragma once

#include "core/sandbox/demo.h"
#include "core/sandbox/sandbox.h"
#include "core/workspace/backend.h"

#include <QThread>

namespace lockscope::app {

class PrivateSandbox : public QObject {
    Q_OBJECT
public:
    // The backend is told of each server that answers; it may go first. `isTaken`: whose name another connection has.
    PrivateSandbox(Backend &backend, bool demo, std::function<bool(const ConnectionName &)> isTaken);
    ~PrivateSandbox() override;

    void begin() { m_sandbox.begin(); }
    // Plays the demo on it from now on, or as soon as its servers answer.
    void fill();
    // To those of its servers that the window was disconnected from.
    void connectAgain();
    [[nodiscard]] const QString &state() const { return m_state; }
    [[nodiscard]] bool isComplete() const { return m_isComplete; }

signals:
    // The backend connects to one of its servers.
    void connecting(const lockscope::ConnectionName &name, lockscope::Scheme scheme);
    // One line for the rail: starting, running, what is missing. Complete: nothing more will come.
    void stateChanged(const QString &line, bool isComplete);
    // Everything that will answer does, and what the demo plays can be seen.
    void settled();

private:
    void serversReady();
    void play();
    void connectTo(ConnectionSpec spec);
    void tell(const QString &line, bool isComplete);

    Backend &m_backend;
    bool m_wantsDemo;
    std::function<bool(const ConnectionName &)> m_isTaken;
    std::map<ConnectionName, ConnectionName> m_names; // under which they are connected to
    QString m_state = QStringLiteral("Sandbox starting");
    bool m_isComplete = false;
    sandbox::Sandbox m_sandbox;
    QThread m_demoThread;
    Loop *m_demoLoop = nullptr; // both live in m_demoThread
    sandbox::Demo *m_demo = nullptr;
};

} // namespace lockscope::app
