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
    // The backend is told of each server that answers; it may go first.
    PrivateSandbox(Backend &backend, bool demo);
    ~PrivateSandbox() override;

    void begin() { m_sandbox.begin(); }

signals:
    // One line for the side bar: starting, running, what is missing.
    void stateChanged(const QString &line);
    // Everything that will answer does, and what the demo plays can be seen.
    void settled();

private:
    void serversReady();

    Backend &m_backend;
    bool m_wantsDemo;
    sandbox::Sandbox m_sandbox;
    QThread m_demoThread;
    Loop *m_demoLoop = nullptr;          // both live in m_demoThread
    sandbox::Demo *m_demo = nullptr;
};

} // namespace lockscope::app
