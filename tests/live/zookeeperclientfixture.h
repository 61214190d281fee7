// SPDX-License-Identifier: Apache-2.0
// What the tests of the session on libzookeeper share: a server, and for each test function a session and
// a node of its own.
#pragma once

#include "tests/support/zookeeperfixture.h"

namespace lockscope::testing {

using namespace zk;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

class ZooKeeperClientFixture : public QObject {
    Q_OBJECT

protected:
    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::unique_ptr<Session> m_session;
    QByteArray m_root; // of this test function

    // What went wrong; empty if all is ready. Without programs to start there is no m_server afterwards.
    QString startServer() { return startInto(m_server, sandbox::makeZooKeeper({.reapingInterval = 500ms})); }
    bool prepare()
    {
        m_session = open();
        m_root =
            QByteArray("/") + QTest::currentTestFunction() + (QTest::currentDataTag() ? QTest::currentDataTag() : "");
        return m_session && make(*m_session, m_root);
    }
    void stopServer()
    {
        waitForClosingSessions(10s);
        m_server.reset();
    }

    std::unique_ptr<Session> open(SessionOptions options = {})
    {
        if (options.hosts.empty())
            options.hosts = {m_server->address()};
        auto session = openSession(m_loop, std::move(options));
        return waitForState(*session, SessionState::Connected) ? std::move(session) : nullptr;
    }
    std::unique_ptr<Session> openThrough(const Cable &cable)
    {
        SessionOptions options{.hosts = {cable.address()}, .timeout = 1s};
        return open(options);
    }
    static bool make(Session &session, const QByteArray &path, const QByteArray &data = {},
                     CreateMode mode = CreateMode::Persistent)
    {
        const auto made = await(session.create(ZPath(path), data, mode, openAcl(), Deadline::never()));
        if (!made)
            qWarning("%s", qPrintable(made.error().message));
        return bool(made);
    }
    [[nodiscard]] QByteArray under(const QByteArray &name) const { return m_root + '/' + name; }

private slots:
    void initTestCase() { OK_OR_SKIP(m_server, startServer()); }
    void init() { QVERIFY(prepare()); }
    void cleanup() { m_session.reset(); }
    void cleanupTestCase() { stopServer(); }
};

} // namespace lockscope::testing
