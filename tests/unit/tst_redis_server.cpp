// SPDX-License-Identifier: Apache-2.0
// What a Redis says that it is, by INFO.
#include "core/inspect/redis/rights.h"

#include "tests/support/testmain.h"

#include <QTest>

using namespace lockscope;
using namespace Qt::StringLiterals;

class TestRedisServer : public QObject {
    Q_OBJECT

private slots:
    void saysVersionAndRole_data()
    {
        QTest::addColumn<QByteArray>("info");
        QTest::addColumn<QString>("said");
        const QByteArray node = "redis_version:7.0.15\r\nredis_mode:cluster\r\n";
        QTest::newRow("by itself") << "# Server\r\nredis_version:7.0.15\r\nrole:master\r\nconnected_slaves:0\r\n"_ba
                                   << u"Redis 7.0.15, primary without a replica"_s;
        QTest::newRow("with replicas") << "redis_version:7.0.15\nrole:master\nconnected_slaves:2\n"_ba
                                       << u"Redis 7.0.15, primary with 2 replicas"_s;
        QTest::newRow("a replica") << "redis_version:7.0.15\nrole:slave\nmaster_host:10.0.0.1\nmaster_port:6379\n"_ba
                                   << u"Redis 7.0.15, replica of 10.0.0.1:6379"_s;
        QTest::newRow("a cluster") << node + "role:master\n" + node + "role:slave\n" + node + "role:master\n"
                                   << u"Redis 7.0.15 on 3 nodes, 2 of them primaries"_s;
        QTest::newRow("a cluster that is being upgraded")
            << "redis_version:7.0.15\nredis_version:7.2.4\nrole:master\nrole:slave\n"_ba
            << u"Redis 7.0.15 and 7.2.4 on 2 nodes, 1 of them primaries"_s;
        QTest::newRow("Valkey, which says what it is compatible with as well")
            << "redis_version:7.2.4\nserver_name:valkey\nvalkey_version:8.0.1\nrole:master\nconnected_slaves:1\n"_ba
            << u"Valkey 8.0.1, primary with 1 replica"_s;
        QTest::newRow("no role") << "redis_version:7.0.15\n"_ba << u"Redis 7.0.15"_s;
        QTest::newRow("hostile") << "redis_version:\x1b[31m7\n"_ba << u"Redis \\x1B[31m7"_s;
        QTest::newRow("nothing") << QByteArray() << QString();
    }
    void saysVersionAndRole()
    {
        QFETCH(QByteArray, info);
        QFETCH(QString, said);
        QCOMPARE(inspect::redisServerOf(info), said);
    }
};

LOCKSCOPE_TEST(TestRedisServer)
#include "tst_redis_server.moc"
