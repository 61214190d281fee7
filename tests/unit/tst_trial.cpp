// SPDX-License-Identifier: Apache-2.0
// The checklist of a trial: a failure is reported where it is, with the field that fixes it.
#include "core/workspace/livebackend.h"
#include "tests/support/testmain.h"

#include <QTcpServer>
#include <QTcpSocket>

class TestTrial : public QObject {
    Q_OBJECT

    static std::vector<TrialCheck> tried(const QString &uri)
    {
        LiveBackend backend({});
        std::optional<std::vector<TrialCheck>> checks;
        QObject context;
        backend.ask(TryConnection{*parseConnection(uri)}, &context,
                    [&checks](const auto &answer) { checks = answer ? *answer : std::vector<TrialCheck>(); });
        return QTest::qWaitFor([&checks] { return checks.has_value(); }, 60'000) ? *checks
                                                                                 : std::vector<TrialCheck>();
    }

private slots:
    void aClosedPortIsReported()
    {
        QTcpServer server;
        QVERIFY(server.listen(QHostAddress::LocalHost));
        const auto port = server.serverPort();
        server.close();
        const auto checks = tried(u"redis://127.0.0.1:%1"_s.arg(port));
        QCOMPARE(checks.size(), 1u);
        QCOMPARE(checks.front().text, u"Port %1 of 127.0.0.1 is closed."_s.arg(port));
        QCOMPARE(checks.front().state, TrialCheck::State::Failed);
        QCOMPARE(checks.front().fix, TrialCheck::Fix::Hosts);
        QVERIFY(!isPassed(checks));
    }

    // It answers nothing of TLS, so nothing advises to turn that on.
    void aPortOfAnotherServerIsReached()
    {
        QTcpServer server;
        QVERIFY(server.listen(QHostAddress::LocalHost));
        connect(&server, &QTcpServer::newConnection, this, [&server] {
            auto *socket = server.nextPendingConnection();
            connect(socket, &QTcpSocket::readyRead, socket, [socket] { socket->abort(); });
        });
        const auto checks = tried(u"redis://127.0.0.1:%1"_s.arg(server.serverPort()));
        QCOMPARE(checks.size(), 2u);
        QCOMPARE(checks.front().state, TrialCheck::State::Passed);
        QCOMPARE(checks.back().state, TrialCheck::State::Failed);
        QCOMPARE(checks.back().fix, TrialCheck::Fix::Hosts);
    }
};

LOCKSCOPE_TEST(TestTrial)
#include "tst_trial.moc"
