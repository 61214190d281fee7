// SPDX-License-Identifier: Apache-2.0
// By which way the Redis observer hears of changes: where the server does not let it, where it is too loud, and when
// a connection breaks.
#include "tests/live/redisobserved.h"
#include "tests/support/testmain.h"

#include <QDeadlineTimer>
#include <QTimer>

class TestRedisObserverWays : public RedisObserved {
    Q_OBJECT

private slots:
    void trackingRefusedThenPolling()
    {
        QCOMPARE(act({"ACL", "SETUSER", "watcher", "on", ">pw", "allkeys", "allchannels", "+@all", "-client|tracking",
                      "-config", "-client|list"}),
                 "OK");
        observe({}, "watcher");
        QVERIFY(firstSnapshot());
        QCOMPARE(m_sink.how(), u"polling every 250 ms"_s);
        QVERIFY(m_sink.says(u"client tracking refused"_s));
        QVERIFY(m_sink.says(u"CONFIG refused"_s));
        QVERIFY(m_sink.says(u"CLIENT LIST refused"_s));
        QVERIFY(!m_sink.coverage.front().complete);
    }

    void pollingSeesChangesOfKnownLocks()
    {
        QCOMPARE(act({"SET", "orders-lock", token}), "OK");
        QCOMPARE(act({"ACL", "SETUSER", "watcher", "on", ">pw", "allkeys", "+@all", "-client|tracking"}), "OK");
        observe({}, "watcher");
        QVERIFY(firstSnapshot());
        const QByteArray other("ffffffffffffffffffffffffffffffff");
        QCOMPARE(act({"SET", "orders-lock", other}), "OK");
        QTRY_COMPARE(lockNamed("orders-lock")->contenders.front().guard.redis().value, other);
        QCOMPARE(act({"DEL", "orders-lock"}), "1");
        QVERIFY(goes("orders-lock"));
    }

    // Nobody tells of it: the next sweep comes soon, and what that means is said.
    void pollingFindsNewLocksSoon()
    {
        QCOMPARE(act({"ACL", "SETUSER", "watcher", "on", ">pw", "allkeys", "+@all", "-client|tracking"}), "OK");
        observe({}, "watcher");
        QVERIFY(firstSnapshot());
        QVERIFY(m_sink.says(u"SCAN finds a new lock"_s));
        QCOMPARE(act({"SET", "fresh-lock", token}), "OK");
        QTRY_VERIFY_WITH_TIMEOUT(lockNamed("fresh-lock"), 15'000);
    }

    void trackingRefusedThenKeyspaceEvents()
    {
        QCOMPARE(act({"CONFIG", "SET", "notify-keyspace-events", "AE"}), "OK");
        QCOMPARE(
            act({"ACL", "SETUSER", "watcher", "on", ">pw", "allkeys", "allchannels", "+@all", "-client|tracking"}),
            "OK");
        observe({}, "watcher");
        QVERIFY(firstSnapshot());
        QCOMPARE(m_sink.how(), u"keyspace events"_s);
        QCOMPARE(act({"SET", "orders-lock", token}), "OK");
        QVERIFY(appears("orders-lock"));
        QCOMPARE(act({"DEL", "orders-lock"}), "1");
        QVERIFY(goes("orders-lock"));
    }

    // Of most locks no companion is there, which one number says of a hundred; where that may not be asked, each is.
    void companionsThatAreNotThereAreAskedForTogether_data()
    {
        const Rows<QByteArray, bool> row("rights", "isEachAskedFor");
        row("together", "+exists", false);
        row("refused", "-exists", true);
    }
    void companionsThatAreNotThereAreAskedForTogether()
    {
        QFETCH(QByteArray, rights);
        QFETCH(bool, isEachAskedFor);
        constexpr int locks = 300; // "{lock:7}:timeout" and "lock-signal:7" of each
        for (int i = 0; i < locks; ++i)
            QCOMPARE(act({"SET", "lock:" + QByteArray::number(i), token, "EX", "600"}), "OK");
        QCOMPARE(act({"RPUSH", "lock-signal:7", "1"}), "1");
        QCOMPARE(act({"ACL", "SETUSER", "watcher", "on", ">pw", "allkeys", "allchannels", "+@all", rights}), "OK");
        QCOMPARE(act({"CONFIG", "RESETSTAT"}), "OK");
        observe({}, "watcher");
        QVERIFY(firstSnapshot());
        QCOMPARE(m_observer->snapshots().size(), std::size_t(locks));
        const QString why = lockNamed("lock:7")->why; // of a list that each question makes anew
        QCOMPARE(why, u"a key lock:… beside its lock-signal list"_s);
        QVERIFY(lockNamed("lock:8")->why != why);
        const QByteArray word("cmdstat_type:calls=");
        const auto counted = act({"INFO", "commandstats"});
        const auto types = counted.mid(counted.indexOf(word) + word.size()).split(',').front().toInt();
        QCOMPARE(types, isEachAskedFor ? 3 * locks : locks + 100); // of one hundred not all are missing
    }

    void aUserWhoMayHardlyAnything()
    {
        QCOMPARE(act({"MSET", "mine-lock", token, "other-lock", token}), "OK");
        QCOMPARE(act({"ACL", "SETUSER", "watcher", "on", ">pw", "~mine*", "+type", "+pttl", "+getrange", "+scan"}),
                 "OK");
        observe({}, "watcher");
        QVERIFY(firstSnapshot());
        QVERIFY(lockNamed("mine-lock"));
        QVERIFY(!lockNamed("other-lock"));
        QVERIFY(m_sink.says(u"keys, among them other-lock"_s));
        QVERIFY(m_sink.says(u"TIME refused"_s));

        QCOMPARE(act({"ACL", "SETUSER", "watcher", "-scan"}), "OK");
        observe({}, "watcher");
        QVERIFY(firstSnapshot());
        QVERIFY(m_sink.says(u"SCAN refused"_s));
        QVERIFY(m_observer->snapshots().empty());
    }

    // By the server's own count. Others send it 3,000 commands a second, as a small service does; then they rest.
    void amongOthersCommandsOursAreFew()
    {
        for (int i = 0; i < 20; ++i)
            act({"SET", "job-" + QByteArray::number(i) + "-lock", token, "PX", "600000"});
        QTimer others;
        others.setInterval(100ms);
        QObject::connect(&others, &QTimer::timeout, &others, [this] {
            m_other->pipeline(std::vector<redis::Command>(300, redis::Command{"PING"}), soon());
        });
        others.start();
        observe();
        QVERIFY(firstSnapshot());
        QVERIFY(!m_sink.cost.servedPerSecond); // a count by itself says nothing
        QTRY_VERIFY(m_sink.cost.servedPerSecond);
        const auto cost = m_sink.cost;
        qInfo("%.1f of %.0f requests a second", cost.requestsPerSecond, *cost.servedPerSecond);
        QVERIFY2(cost.requestsPerSecond > 1, qPrintable(QString::number(cost.requestsPerSecond)));
        QVERIFY2(cost.requestsPerSecond <= *cost.servedPerSecond / 100,
                 qPrintable(u"%1 of %2"_s.arg(cost.requestsPerSecond).arg(*cost.servedPerSecond)));
        others.stop();
        QTRY_VERIFY(m_sink.cost.requestsPerSecond >= *m_sink.cost.servedPerSecond / 2); // nobody else is there
        QVERIFY2(m_sink.cost.requestsPerSecond < 10, qPrintable(QString::number(m_sink.cost.requestsPerSecond)));
    }

    // Whoever may not ask what the server counts is told what is sent, and no share of anything.
    void howMuchItIsAskedIsNotToldToEverybody()
    {
        act({"ACL", "SETUSER", "watcher", "on", ">pw", "allkeys", "allchannels", "+@all", "-info"});
        observe({}, "watcher");
        QVERIFY(firstSnapshot());
        QTRY_VERIFY(m_sink.cost.requestsPerSecond > 1);
        m_sink.looks = 0;
        QTRY_VERIFY(m_sink.looks > 6 && m_sink.cost.requestsPerSecond > 1);
        QVERIFY(!m_sink.cost.servedPerSecond);
        QVERIFY(m_sink.cost.requestsPerSecond < 50);
    }

    void comesBackAfterARestart()
    {
        QCOMPARE(act({"SET", "orders-lock", token}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        m_server->stop();
        QTRY_VERIFY(m_sink.says(u"not connected"_s));
        QVERIFY(lockNamed("orders-lock")); // kept, as of then
        QVERIFY(m_server->start(10s));     // empty now
        QVERIFY(goes("orders-lock"));
        QVERIFY(becomes(*m_other, redis::ConnectionState::Connected));
        QTRY_COMPARE(m_sink.how(), u"client tracking"_s);
        QCOMPARE(act({"SET", "orders-lock", token}), "OK");
        QVERIFY(appears("orders-lock"));
    }

    // Stopped, not gone: its connections stand, and nothing comes any more.
    void aServerThatHangsIsSaidToBeSilent()
    {
        QCOMPARE(act({"SET", "orders-lock", token}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        QTRY_VERIFY(m_observer->coverage().front().complete);
        m_server->pause();
        QTRY_VERIFY_WITH_TIMEOUT(m_sink.says(u"has not answered for some seconds"_s), patienceMs);
        QCOMPARE(m_connection->state(), redis::ConnectionState::Connected);
        QVERIFY(lockNamed("orders-lock"));
        m_server->resume();
        QTRY_VERIFY_WITH_TIMEOUT(m_observer->coverage().front().complete, patienceMs);
    }

    void theSubscribersConnectionAloneBreaks()
    {
        observe();
        QVERIFY(firstSnapshot());
        QCOMPARE(act({"SET", "a-lock", token}), "OK");
        QVERIFY(appears("a-lock"));
        QCOMPARE(act({"CLIENT", "KILL", "TYPE", "pubsub"}), "1");
        // Told by tracking again, not by the next sweep.
        QTRY_VERIFY(act({"CLIENT", "LIST", "TYPE", "pubsub"}).contains("sub=1"));
        QTRY_VERIFY(!act({"CLIENT", "LIST"}).contains("flags=R"));
        QCOMPARE(act({"DEL", "a-lock"}), "1");
        QVERIFY(goes("a-lock"));
        QCOMPARE(act({"SET", "b-lock", token}), "OK");
        QVERIFY(appears("b-lock"));
    }

    void highChangeRateSwitchesToNarrowTracking()
    {
        QCOMPARE(act({"SET", "quiet-lock", token}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        std::vector<redis::Command> noise;
        for (int i = 0; i < 5'000; ++i)
            noise.push_back({"SET", "noise:" + QByteArray::number(i), "x"});
        const QDeadlineTimer end(patienceMs);
        while (!m_sink.how().contains(u"known locks"_s) && !end.hasExpired())
            QVERIFY(answerOf(m_other->pipeline(noise, soon())));
        QVERIFY(m_sink.how().contains(u"known locks"_s));
        // That others may be missed for a while is said; those of a quiet family, or called as clients do, are not.
        QTRY_VERIFY(m_sink.says(u"SCAN finds a new lock"_s));
        QCOMPARE(act({"SET", "quiet-lock2", token}), "OK");
        QVERIFY(appears("quiet-lock2"));
        QCOMPARE(act({"SET", "lock:new", token}), "OK");
        QVERIFY(appears("lock:new"));
        QCOMPARE(act({"DEL", "quiet-lock"}), "1");
        QVERIFY(goes("quiet-lock"));
    }
};

LOCKSCOPE_TEST(TestRedisObserverWays)
#include "tst_redis_observer_ways.moc"
