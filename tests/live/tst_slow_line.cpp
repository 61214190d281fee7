// SPDX-License-Identifier: Apache-2.0
// A line with a round trip of 50 ms to each kind of server: how many of them pass until the first locks are on the
// screen, and until a sweep of many Redis keys is over. Counted, not timed.
#include "tests/support/delayproxy.h"
#include "tests/support/finish.h"
#include "tests/support/redisfixture.h"
#include "tests/support/testmain.h"

#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QUrl>

using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds roundTrip(50);
constexpr int roundsToFirstLocks = 12;

QString throughProxy(const QString &uri, const DelayProxy &proxy)
{
    QUrl url(uri);
    url.setPort(proxy.address().port);
    url.setQuery(QString());
    return url.toString();
}

} // namespace

class TestSlowLine : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    QProcess m_sandbox; // with locks that others hold and wait for
    QMap<QString, QString> m_uris;

    static void run(QProcess &program, const QStringList &arguments)
    {
        program.setProgram(QStringLiteral(LOCKSCOPECTL));
        program.setArguments(arguments);
        program.start();
    }

private slots:
    void initTestCase()
    {
        run(m_sandbox, QStringLiteral("sandbox --demo --zk --redis 1 --mariadb --etcd --postgresql").split(u' '));
        QByteArray lines;
        const bool areThere = eventually([&] {
            lines += m_sandbox.readAllStandardOutput();
            return lines.count('\n') == 5 || m_sandbox.state() == QProcess::NotRunning;
        });
        if (areThere && m_sandbox.state() == QProcess::NotRunning)
            QSKIP(m_sandbox.readAllStandardError().constData());
        for (const auto &line : lines.split('\n'))
            m_uris[QString::fromUtf8(line.left(line.indexOf('=')))] =
                QString::fromUtf8(line.mid(line.indexOf('=') + 1));
    }
    void cleanupTestCase()
    {
        m_sandbox.terminate();
        m_sandbox.waitForFinished(patienceMs);
    }

    void firstLocksTakeFewRoundTrips_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto *name : {"zk", "redis", "mariadb", "etcd", "postgresql"})
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void firstLocksTakeFewRoundTrips()
    {
        QFETCH(QString, name);
        const auto uri = m_uris[name];
        const auto hasLocks = [&] {
            QProcess locks;
            run(locks, {u"--connect"_s, uri, u"locks"_s});
            locks.waitForFinished(patienceMs);
            return locks.readAllStandardOutput().contains("contended");
        };
        QVERIFY(eventually(hasLocks)); // the scenes of the demo begin one after the other
        const DelayProxy proxy({QStringLiteral("127.0.0.1"), quint16(QUrl(uri).port())}, roundTrip);
        QProcess watching;
        run(watching, {u"--connect"_s, throughProxy(uri, proxy), u"locks"_s, u"--watch"_s});
        QVERIFY(eventually([&] { return watching.canReadLine(); }));
        const auto line = QJsonDocument::fromJson(watching.readLine()).object();
        const auto printed = QDateTime::fromString(line[u"time"_s].toString(), Qt::ISODateWithMs);
        QVERIFY2(printed.isValid(), QJsonDocument(line).toJson().constData());
        const auto rounds = proxy.roundsUntil(
            std::chrono::system_clock::time_point(std::chrono::milliseconds(printed.toMSecsSinceEpoch() + 1)));
        watching.kill();
        watching.waitForFinished(patienceMs);
        qInfo("%s: %d round trips", qPrintable(name), rounds);
        QVERIFY2(rounds <= roundsToFirstLocks, QByteArray::number(rounds));
    }

    void sweepOfManyKeysTakesFewRoundTrips()
    {
        std::unique_ptr<sandbox::Server> server;
        START_OR_SKIP(server, sandbox::makeRedis({}));
        const auto connection = redis::openConnection(m_loop, optionsFor(server->address()));
        QVERIFY(becomes(*connection, redis::ConnectionState::Connected));
        constexpr int keys = 20'000, locks = 200;
        std::vector<redis::Command> fill;
        for (int i = 0; i < keys - locks; ++i)
            fill.push_back({"SET", "user:" + QByteArray::number(i) + ":profile", "0123456789"});
        for (int i = 0; i < locks; ++i)
            fill.push_back({"SET", "lock:order-" + QByteArray::number(i), QByteArray(24, 'a') + QByteArray::number(i),
                            "PX", "3600000"});
        QVERIFY(answerOf(connection->pipeline(std::move(fill), Deadline::never())));
        const DelayProxy proxy(server->address(), roundTrip);
        QProcess program;
        run(program, {u"--connect"_s, u"redis://127.0.0.1:%1"_s.arg(proxy.address().port), u"locks"_s});
        QVERIFY(eventually([&] { return program.state() == QProcess::NotRunning; }));
        QCOMPARE(program.readAllStandardOutput().count("lock:order-"), locks);
        // Page by page it were as many as there are pages. The stretches of the table are read side by side, fewer of
        // them where the machine is slow (a page then costs the server longer than it may).
        constexpr int page = 800, pages = keys / page, ofPages = pages * 3 / 4;
        qInfo("%d round trips", proxy.rounds());
        QVERIFY2(proxy.rounds() <= roundsToFirstLocks + ofPages, QByteArray::number(proxy.rounds()));
    }
};

LOCKSCOPE_TEST(TestSlowLine)
#include "tst_slow_line.moc"
