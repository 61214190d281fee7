// SPDX-License-Identifier: Apache-2.0
#include "app/lockscope/privatesandbox.h"

#include "core/async/closing.h"
#include "core/async/qtloop.h"

namespace lockscope::app {

PrivateSandbox::PrivateSandbox(Backend &backend, bool demo, std::function<bool(const ConnectionName &)> isTaken)
    : m_backend(backend), m_wantsDemo(demo), m_isTaken(std::move(isTaken)),
      m_sandbox(sandbox::SandboxOptions::everything())
{
    connect(&m_sandbox, &sandbox::Sandbox::answered, this, [this](const ConnectionSpec &spec) {
        m_names.emplace(spec.name, m_isTaken(spec.name) ? ConnectionName("sandbox-" + spec.name.bytes()) : spec.name);
        connectTo(spec);
        tell(u"Sandbox starting"_s, false);
    });
    connect(&m_sandbox, &sandbox::Sandbox::ended, this,
            [this](const QString &why) { tell(u"Sandbox: "_s + why, true); });
    connect(&m_sandbox, &sandbox::Sandbox::answeredAgain, this, [this](const ConnectionSpec &spec) {
        tell(u"Sandbox running; %1 was started again"_s.arg(QString::fromUtf8(spec.name.bytes())), true);
    });
    connect(&m_sandbox, &sandbox::Sandbox::failed, this, [this](const QString &problem) {
        if (m_sandbox.isSettled())
            tell(u"Sandbox: "_s + problem, true);
    });
    connect(&m_sandbox, &sandbox::Sandbox::finished, this, &PrivateSandbox::serversReady);
}

PrivateSandbox::~PrivateSandbox()
{
    if (!m_demoThread.isRunning())
        return;
    // What plays ends before its servers do.
    QMetaObject::invokeMethod(
        static_cast<QtLoop *>(m_demoLoop),
        [this] {
            delete m_demo;
            delete m_demoLoop;
        },
        Qt::BlockingQueuedConnection);
    m_demoThread.quit();
    m_demoThread.wait();
    waitForClosing(std::chrono::seconds(2));
}

void PrivateSandbox::connectTo(ConnectionSpec spec)
{
    spec.name = m_names.at(spec.name);
    m_backend.execute(Connect{spec});
    emit connecting(spec.name, spec.scheme);
}

void PrivateSandbox::connectAgain()
{
    for (const auto &spec : m_sandbox.connections()) {
        if (const auto used = m_names.find(spec.name); used != m_names.end() && !m_isTaken(used->second))
            connectTo(spec);
    }
}

void PrivateSandbox::tell(const QString &line, bool isComplete)
{
    m_state = line;
    m_isComplete = isComplete;
    emit stateChanged(line, isComplete);
}

void PrivateSandbox::serversReady()
{
    const auto &problems = m_sandbox.problems();
    tell(problems.isEmpty() ? u"Sandbox running"_s : u"Sandbox: "_s + problems.join(u"; "_s), true);
    play();
}

void PrivateSandbox::fill()
{
    m_wantsDemo = true;
    if (m_sandbox.isSettled())
        play();
}

void PrivateSandbox::play()
{
    if (m_demoThread.isRunning())
        return;
    if (!m_wantsDemo || m_sandbox.connections().empty()) {
        emit settled();
        return;
    }
    m_demoThread.setObjectName(u"lockscope-demo"_s);
    auto *starter = new QObject;
    starter->moveToThread(&m_demoThread);
    connect(&m_demoThread, &QThread::started, starter, [this, starter, connections = m_sandbox.connections()] {
        m_demoLoop = new QtLoop;
        m_demo = new sandbox::Demo(*m_demoLoop, connections, Random::fromSystem());
        m_demo->filled().then([this](bool) { QMetaObject::invokeMethod(this, &PrivateSandbox::settled); });
        starter->deleteLater();
    });
    m_demoThread.start();
}

} // namespace lockscope::app

#include "moc_privatesandbox.cpp"
