// SPDX-License-Identifier: Apache-2.0
// What lockscopectl show --json says of other people's clients: kazoo, Curator and redis-py.
#include "core/sandbox/server.h"
#include "tests/interop/fetched.h"
#include "tests/support/testmain.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTcpSocket>

using namespace lockscope;
using namespace lockscope::interop;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

constexpr int ctlPatienceMs = 30'000;

qlonglong sequenceOf(const QString &node)
{
    return node.right(10).toLongLong();
}

} // namespace

class TestInteropCtl : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    std::unique_ptr<sandbox::Server> m_redis;

    QString ensemble() const { return u"%1:%2"_s.arg(m_zooKeeper->address().host).arg(m_zooKeeper->address().port); }
    QStringList connections() const
    {
        return {u"--connect"_s, u"zk://%1?admin=%2"_s.arg(ensemble()).arg(m_zooKeeper->adminPort()), u"--connect"_s,
                u"redis://%1:%2"_s.arg(m_redis->address().host).arg(m_redis->address().port)};
    }
    // The LOCK of the answer; empty when there is no such lock.
    QJsonObject show(const QString &lock) const
    {
        QProcess ctl;
        ctl.start(QStringLiteral(LOCKSCOPECTL), QStringList{u"show"_s, lock, u"--json"_s} + connections());
        if (!ctl.waitForFinished(ctlPatienceMs) || ctl.exitCode() != 0)
            return {};
        return QJsonDocument::fromJson(ctl.readAllStandardOutput()).object()["lock"_L1].toObject();
    }

    // Four contenders of one client, each seen before the next comes.
    void checkFour(ForeignClient &client, const QByteArray &kind, const QString &path, const QString &recipe)
    {
        QVERIFY2(client.says("ready"), client.everythingSaid().constData());
        const auto lock = u"zk:"_s + path;
        for (int i = 0; i < 4; ++i) {
            client.tell("acquire c" + QByteArray::number(i) + ' ' + kind + ' ' + path.toUtf8() + " 1");
            QTRY_COMPARE_WITH_TIMEOUT(show(lock)["contenders"_L1].toArray().size(), i + 1, ctlPatienceMs);
        }
        QVERIFY2(client.says("held c0"), client.everythingSaid().constData());
        // The last waiter sets its watch a moment after its node appears.
        QTRY_COMPARE_WITH_TIMEOUT(show(lock)["contenders"_L1].toArray()[3].toObject()["watches"_L1].toArray().size(),
                                  1, ctlPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(evidenceOfLast(lock), u"server"_s, ctlPatienceMs);

        const auto seen = show(lock);
        QCOMPARE(seen["recipe"_L1].toString(), recipe);
        QCOMPARE(seen["state"_L1].toString(), u"contended"_s);
        const auto contenders = seen["contenders"_L1].toArray();
        for (int i = 0; i < 4; ++i) {
            const auto one = contenders[i].toObject();
            QCOMPARE(one["position"_L1].toInt(-1), i);
            QCOMPARE(one["role"_L1].toString(), i == 0 ? u"holder"_s : u"waiter"_s);
            QVERIFY(one["endpoint"_L1].toString().startsWith(u"127.0.0.1:"_s));
            QVERIFY(one["session"_L1].toString().startsWith(u"0x"_s));
            if (i == 0)
                continue;
            const auto before = contenders[i - 1].toObject()["id"_L1].toString();
            QVERIFY(sequenceOf(before) < sequenceOf(one["id"_L1].toString()));
            const QJsonArray expected{QJsonObject{{u"target"_s, before}, {u"evidence"_s, u"server"_s}}};
            QCOMPARE(one["watches"_L1].toArray(), expected);
        }
    }
    QString evidenceOfLast(const QString &lock) const
    {
        const auto last = show(lock)["contenders"_L1].toArray().last().toObject();
        return last["watches"_L1].toArray().first().toObject()["evidence"_L1].toString();
    }

private slots:
    void initTestCase()
    {
        for (const auto &why : {whyNoPythonClients(), whyNoCurator()}) {
            if (!why.isEmpty())
                QSKIP(why.constData());
        }
        auto zooKeeper = sandbox::makeZooKeeper();
        QVERIFY2(zooKeeper, zooKeeper ? "" : qPrintable(zooKeeper.error().message));
        m_zooKeeper = std::move(*zooKeeper);
        QVERIFY(m_zooKeeper->start(60s));
        auto redis = sandbox::makeRedis();
        QVERIFY2(redis, redis ? "" : qPrintable(redis.error().message));
        m_redis = std::move(*redis);
        QVERIFY(m_redis->start(30s));
    }

    void theServerIsTheFetchedOne()
    {
        if (fetched("ZOOKEEPER").isEmpty())
            QSKIP(whyNotFetched("ZOOKEEPER").constData());
        QTcpSocket socket;
        socket.connectToHost(m_zooKeeper->address().host, m_zooKeeper->address().port);
        QVERIFY(socket.waitForConnected(ctlPatienceMs));
        socket.write("srvr");
        QByteArray said;
        while (socket.waitForReadyRead(ctlPatienceMs))
            said += socket.readAll();
        QVERIFY2(said.contains("version: " + fetched("ZOOKEEPER").toLatin1() + '-'), said.constData());
    }

    void fourKazooClients()
    {
        const auto client = pythonClient(u"kazoo_client.py"_s, {ensemble()});
        checkFour(*client, "lock", u"/locks/kazoo"_s, u"kazoo-lock"_s);
    }

    void fourCuratorClients()
    {
        const auto client = javaClient(u"CuratorClient.java"_s, {ensemble()});
        checkFour(*client, "mutex", u"/locks/curator"_s, u"curator-mutex"_s);
    }

    void aRedisPyLock()
    {
        const auto &address = m_redis->address();
        const auto client = pythonClient(u"redis_client.py"_s, {address.host, QString::number(address.port)});
        QVERIFY2(client->says("ready"), client->everythingSaid().constData());
        client->tell("acquire a orders-lock 60");
        QVERIFY2(client->says("held a"), client->everythingSaid().constData());
        const auto lock = show(u"redis:orders-lock"_s);
        QCOMPARE(lock["recipe"_L1].toString(), u"redis-set-nx"_s);
        QCOMPARE(lock["client"_L1].toString(), u"redis-py"_s);
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        const auto holder = lock["contenders"_L1].toArray().first().toObject();
        QVERIFY(client->hasSaid("held a " + holder["id"_L1].toString().toUtf8()));
        QVERIFY(holder["ttlMs"_L1].toInteger() > 0);
    }
};

LOCKSCOPE_TEST(TestInteropCtl)
#include "tst_interop_ctl.moc"
