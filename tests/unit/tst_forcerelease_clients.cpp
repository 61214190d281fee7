// SPDX-License-Identifier: Apache-2.0
// What the preview of a force-release says of other people's Redis clients: whom it wakes, who notices, who deletes
// without comparing.
#include "core/inspect/knownclients.h"
#include "core/operate/forcereleaseplan.h"
#include "tests/support/testmain.h"
#include "tests/unit/redislocks.h"

#include <QTest>

#include <algorithm>

using namespace lockscope;
using namespace lockscope::operate;
using namespace lockscope::inspect;
using namespace Qt::StringLiterals;
using lockscope::testing::onSet, lockscope::testing::redisLock;

class TestForceReleaseClients : public QObject {
    Q_OBJECT

private slots:
    // What sleeps until the lock's own release is woken in the same script, and the preview says how.
    void theLocksOwnWakeUpIsSentWithTheDelete()
    {
        auto snapshot = redisLock("redis-set-nx", "token");
        snapshot.lock.name = "lock:orders";
        attribute(snapshot, knownClient("python-redis-lock"));
        const auto plan = planForceRelease(snapshot, "token");
        QVERIFY(plan);
        QVERIFY2(plan->wakes.contains(u"push to lock-signal:orders"_s), qPrintable(plan->wakes));
        QVERIFY(plan->commands.contains(
            u"and then: DEL lock-signal:orders, LPUSH lock-signal:orders 1, PEXPIRE lock-signal:orders 1000"_s));
        QVERIFY(std::ranges::any_of(plan->warnings, [](const QString &one) {
            return one.startsWith(u"python-redis-lock's holder notices"_s);
        }));

        snapshot.lock.name = "app:orders";
        attribute(snapshot, knownClient("spring-integration"));
        const auto spring = planForceRelease(snapshot, "token");
        QVERIFY(spring && spring->commands.contains(u"and then: PUBLISH app-channel app:orders"_s));
        QVERIFY(spring->commands.contains(u"and then: PUBLISH app-channel:app:orders app:orders"_s));
        QVERIFY2(spring->wakes.contains(u"by the publish"_s), qPrintable(spring->wakes));
    }

    // A client that is known sleeps only where that client does; one that is not may be Spring's by its token.
    void channelsAreOnlyForClientsThatListen_data()
    {
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<QByteArray>("value");
        QTest::addColumn<QString>("client");
        QTest::addColumn<bool>("isPublished");
        const QByteArray uuid = "6fd7eb8c-2a92-4520-a1fe-105f6b49e9f5";
        QTest::newRow("a UUID of any client") << QByteArray("app:orders") << uuid << QString() << true;
        QTest::newRow("another's token") << QByteArray("app:orders") << QByteArray("token") << QString() << false;
        QTest::newRow("a known client") << QByteArray("app:orders") << uuid << u"Laravel"_s << false;
        QTest::newRow("RedLock.net by its key") << QByteArray("redlock:orders") << uuid << QString() << false;
        QTest::newRow("Laravel by its key") << QByteArray("app_laravel_cache:orders") << uuid << QString() << false;
    }
    void channelsAreOnlyForClientsThatListen()
    {
        QFETCH(QByteArray, key);
        QFETCH(QByteArray, value);
        QFETCH(QString, client);
        QFETCH(bool, isPublished);
        auto snapshot = redisLock("redis-set-nx", value);
        snapshot.lock.name = key;
        if (!client.isEmpty())
            snapshot.client = client;
        const auto plan = planForceRelease(snapshot, value);
        QVERIFY(plan);
        QCOMPARE(plan->commands.join(u' ').contains(u"PUBLISH"_s), isPublished);
        QCOMPARE(plan->wakes.contains(u"by the publish"_s), isPublished);
        QVERIFY2(plan->commands.join(u' ').contains(u"DEL "_s), "it is released all the same");
    }

    void clientDeletingUncheckedIsNamedAsARisk()
    {
        auto snapshot = redisLock("redis-set-nx", "ADDED:2025-11-22T10:00:00.000Z@host-a");
        attribute(snapshot, knownClient("shed-lock"));
        snapshot.contenders[0].identity = "host-a";
        snapshot.contenders[0].expiresAt = snapshot.observed + std::chrono::seconds(90);
        const auto plan = planForceRelease(snapshot, snapshot.contenders[0].id);
        QVERIFY(plan && !plan->exact);
        QVERIFY2(plan->risk.contains(u"without checking its owner"_s), qPrintable(plan->risk));
        QVERIFY2(plan->alternatives[0].startsWith(u"stop the client"_s), qPrintable(plan->alternatives[0]));
        QVERIFY2(plan->alternatives[1].startsWith(u"wait: "_s), qPrintable(plan->alternatives[1]));
    }

    // Redisson publishes when the last reader lets go, not before.
    void aReaderAmongOthersWakesNobody()
    {
        auto snapshot = redisLock("redisson-rwlock", "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29:1");
        auto other = snapshot.contenders[0];
        other.id = other.guard.edit<inspect::RedisIdentity>().value = "11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29:1";
        snapshot.contenders.push_back(other);
        const auto plan = planForceRelease(snapshot, other.id);
        QVERIFY(plan && plan->wakes.startsWith(u"no client"_s));
    }

    // What is promised is what is sent: this value's fields, not the group.
    void oneValueOfAGroupIsPlannedAsSuch()
    {
        const QByteArray owner = "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29:1";
        auto snapshot = redisLock("redisson-lock", owner);
        snapshot.contenders[0].id = "YWJj:" + owner;
        snapshot.contenders[0].guard.edit<inspect::RedisIdentity>().counterpart = "YWJj";
        const auto plan = planForceRelease(snapshot, snapshot.contenders[0].id);
        QVERIFY(plan);
        QVERIFY2(plan->commands[0].startsWith(u"EVALSHA redisson-group-release 2 orders-lock"_s),
                 qPrintable(plan->commands[0]));
        QVERIFY(!plan->commands.join(u'\n').contains(u"DEL orders-lock,"_s));
    }

    // Text from servers is put into sentences once: a "%2" of theirs stays what it is.
    void namesWithPercentSignsAreNotGarbled()
    {
        auto snapshot = onSet(Role::Waiter);
        snapshot.contenders[0].id = snapshot.contenders[0].guard.edit<inspect::RedisIdentity>().value = "a%2b%3c";
        for (auto &node : snapshot.nodes) {
            if (node.value)
                node.value = "a%2b%3c";
        }
        const auto plan = planForceRelease(snapshot, "a%2b%3c");
        QVERIFY(plan);
        QVERIFY2(plan->warnings.join(u'\n').contains(
                     u"a%2b%3c does not hold the lock: its value is on only 1 of 3 nodes"_s),
                 qPrintable(plan->warnings.join(u'\n')));
    }
};

LOCKSCOPE_TEST(TestForceReleaseClients)
#include "tst_forcerelease_clients.moc"
