// SPDX-License-Identifier: Apache-2.0
// The demo on real servers: every scene is there, moves on, and its sessions go with it.
#include "core/async/qtloop.h"
#include "core/mariadb/dialect.h"
#include "core/redis/client.h"
#include "core/sandbox/demo.h"
#include "core/sandbox/sandbox.h"
#include "core/zookeeper/client.h"
#include "tests/support/testmain.h"

#include <QTcpSocket>

#include <algorithm>

class TestDemo : public QObject {
    Q_OBJECT
private:
    template <class T>
    Result<T> wait(Reply<T> reply)
    {
        if (!QTest::qWaitFor([&] { return reply.isComplete(); }, 20'000))
            return Error{ErrorCode::TimedOut, u"no answer"_s, false};
        return reply.value();
    }
    QByteArrayList children(const QByteArray &path)
    {
        QByteArrayList names;
        auto listed = wait(m_session->children(ZPath(path), std::nullopt, Deadline::never()));
        if (listed) {
            for (const auto &name : listed->names)
                names << name.bytes();
        }
        // By the number at the end.
        std::ranges::sort(names, {}, [](const QByteArray &name) { return name.right(10); });
        return names;
    }
    redis::Value ask(const redis::Command &command)
    {
        auto answer = wait(m_redis->command(command, Deadline::never()));
        return answer ? *answer : redis::Value();
    }
    QByteArray fourLetters(const QByteArray &word)
    {
        QTcpSocket socket;
        socket.connectToHost(m_zooKeeper.host, m_zooKeeper.port);
        socket.write(word);
        QByteArray answer;
        while (socket.waitForReadyRead(5000))
            answer += socket.readAll();
        return answer;
    }
    // Every node but the last is watched, and the last is not.
    bool isWatchChain(const QByteArrayList &queue, qsizetype length)
    {
        if (queue.size() != length)
            return false;
        const auto watches = fourLetters("wchp");
        const auto isWatched = [&watches](const QByteArray &name) { return watches.contains('/' + name + '\n'); };
        return std::ranges::all_of(queue.first(length - 1), isWatched) && !isWatched(queue.last());
    }

    // The first number of the answer; -1 when there is none.
    qint64 number(const QByteArray &query)
    {
        QTest::qWait(300); // the server's snapshot of its locks rests while somebody keeps reading
        const auto rows = wait(m_sql->execute({query, {}, {}, false}, Deadline::after(*m_loop, 10s)));
        return rows && !rows->rows.empty() ? rows->rows[0][0].value_or("-1").toLongLong() : -1;
    }

    sandbox::Sandbox m_sandbox{sandbox::SandboxOptions::everything()};
    std::unique_ptr<QtLoop> m_loop;
    HostPort m_zooKeeper;
    std::unique_ptr<zk::Session> m_session;
    std::unique_ptr<redis::Connection> m_redis;
    std::unique_ptr<mariadb::Session> m_sql;
    std::unique_ptr<sandbox::Demo> m_demo;

private slots:
    void initTestCase()
    {
        QVERIFY(m_sandbox.start());
        const auto connections = m_sandbox.connections();
        QVERIFY(connections.size() >= 3); // etcd, too, where it is installed
        m_loop = std::make_unique<QtLoop>();
        m_zooKeeper = connections[0].hosts.front();
        m_session = zk::openSession(*m_loop, {.hosts = {m_zooKeeper}});
        m_redis = redis::openConnection(*m_loop, {.host = connections[1].hosts.front()});
        m_sql = mariadb::openSession(*m_loop, {.host = connections[2].hosts.front(), .user = connections[2].user});

        m_demo = std::make_unique<sandbox::Demo>(*m_loop, connections, Random(1));
        const auto filled = m_demo->filled();
        QTRY_VERIFY_WITH_TIMEOUT(filled.isComplete(), 40'000);
        QVERIFY(filled.value());
        // What becomes of it takes longest, and is looked at last.
        QTRY_VERIFY_WITH_TIMEOUT(number("SELECT IS_USED_LOCK('nightly-report')") > 0, 15'000);
        const auto holder = number("SELECT IS_USED_LOCK('nightly-report')");
        QVERIFY(wait(m_sql->execute({"KILL " + QByteArray::number(holder), {}, {}, false}, Deadline::never())));
    }

    void aQueueOfFourWhereEachWatchesTheOneBefore()
    {
        // The scene moves while we look, and a released contender is back within a few seconds.
        QTRY_VERIFY_WITH_TIMEOUT(isWatchChain(children("/locks/orders"), 4), 15'000);
    }

    void aHerdWatchesNobodyInParticular()
    {
        QTRY_COMPARE_WITH_TIMEOUT(children("/locks/reindex").size(), 5, 15'000);
        QVERIFY(!fourLetters("wchp").contains("/locks/reindex/"));
    }

    void readersAndWritersQueueUnderCuratorsNames()
    {
        const auto kinds = [this] {
            QStringList found;
            for (const auto &name : children("/locks/catalog"))
                found << QString::fromLatin1(name.mid(40, 8));
            found.sort();
            return found;
        };
        const QStringList expected{u"__READ__"_s, u"__READ__"_s, u"__READ__"_s, u"__WRIT__"_s, u"__WRIT__"_s};
        QTRY_COMPARE_WITH_TIMEOUT(kinds(), expected, 15'000);
    }

    void aCrashedHolderHasNoConnection()
    {
        const auto queue = children("/locks/nightly-report");
        QCOMPARE(queue.size(), 2);
        auto holder =
            wait(m_session->get(ZPath("/locks/nightly-report/" + queue.first()), std::nullopt, Deadline::never()));
        QVERIFY(holder);
        const auto session = holder->stat.ephemeralOwner.text().toLatin1();
        QVERIFY(fourLetters("dump").contains(session));
        QVERIFY(!fourLetters("cons").contains(session));
        auto waiter =
            wait(m_session->get(ZPath("/locks/nightly-report/" + queue.last()), std::nullopt, Deadline::never()));
        QVERIFY(waiter);
        QVERIFY(fourLetters("cons").contains(waiter->stat.ephemeralOwner.text().toLatin1()));
    }

    void twoClientsHoldEachOthersLock()
    {
        const auto alice = children("/locks/accounts/alice"), bob = children("/locks/accounts/bob");
        QCOMPARE(alice.size(), 2);
        QCOMPARE(bob.size(), 2);
        const auto clientOf = [this](const QByteArray &node) {
            const auto read = wait(m_session->get(ZPath("/locks/accounts/" + node), std::nullopt, Deadline::never()));
            return read ? read->data + ' ' + read->stat.ephemeralOwner.text().toLatin1() : QByteArray();
        };
        QCOMPARE(clientOf("alice/" + alice.first()), clientOf("bob/" + bob.last()));
        QCOMPARE(clientOf("bob/" + bob.first()), clientOf("alice/" + alice.last()));
        QVERIFY(clientOf("alice/" + alice.first()).startsWith("transfer-a "));
        QVERIFY(isWatchChain(alice, 2) && isWatchChain(bob, 2));
    }

    void deadlockThatWasEndedComesAboutAgain()
    {
        const auto before = children("/locks/accounts/alice");
        // The waiter: its client gives up the lock that it holds.
        QVERIFY(wait(
            m_session->remove(ZPath("/locks/accounts/alice/" + before.last()), zk::anyVersion, Deadline::never())));
        const auto isAgain = [&] {
            const auto alice = children("/locks/accounts/alice"), bob = children("/locks/accounts/bob");
            return alice.size() == 2 && bob.size() == 2 && alice != before && isWatchChain(alice, 2)
                   && isWatchChain(bob, 2);
        };
        QVERIFY(QTest::qWaitFor(isAgain, 40'000));
    }

    void redisLocksOfEveryKind()
    {
        QCOMPARE(ask({"PTTL", "lock:invoice-export"}).integer, -1);
        const auto token = ask({"GET", "lock:invoice-export"}).text;
        QCOMPARE(token.size(), 32);
        QCOMPARE(token.at(12), '1');
        QTRY_VERIFY(ask({"PTTL", "lock:session-cleanup"}).integer > 0);

        QCOMPARE(ask({"TYPE", "orders:checkout"}).text, "hash");
        QVERIFY(ask({"PTTL", "orders:checkout"}).integer > 0);
        QTRY_COMPARE(ask({"PUBSUB", "NUMSUB", "redisson_lock__channel:{orders:checkout}"}).items.at(1).integer, 2);

        const auto fairHolder = ask({"HKEYS", "payments:payout"}).items.at(0).text;
        QTRY_COMPARE_WITH_TIMEOUT(ask({"LLEN", "redisson_lock_queue:{payments:payout}"}).integer, 3, 15'000);
        const auto next = ask({"LINDEX", "redisson_lock_queue:{payments:payout}", "0"}).text;
        QVERIFY(next != fairHolder);
        const QByteArray channel = "redisson_lock__channel:{payments:payout}:" + next;
        QTRY_COMPARE(ask({"PUBSUB", "NUMSUB", channel}).items.at(1).integer, 1);
    }

    void theFairLockGoesToTheFirstOfItsQueue()
    {
        const auto next = ask({"LINDEX", "redisson_lock_queue:{payments:payout}", "0"}).text;
        QTRY_COMPARE_WITH_TIMEOUT(ask({"HGET", "payments:payout", next}).text, "1", 30'000);
    }

    void theQueueMovesOnAndStaysFull()
    {
        const auto before = children("/locks/orders");
        QTRY_VERIFY_WITH_TIMEOUT(!children("/locks/orders").contains(before.first()), 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(isWatchChain(children("/locks/orders"), 4), 15'000);
    }

    void deletedDemoLockIsCreatedAgain()
    {
        QCOMPARE(ask({"DEL", "lock:invoice-export"}).integer, 1);
        QTRY_COMPARE_WITH_TIMEOUT(ask({"EXISTS", "lock:invoice-export"}).integer, 1, 30'000);
    }

    void aRowHasItsQueueAndAVersionItsConflicts()
    {
        const QByteArray waiting("SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'");
        QTRY_COMPARE_WITH_TIMEOUT(number(waiting), 2, 15'000);
        // Its last statement is the work that it holds the row for, and no keep-alive.
        const QByteArray holding("SELECT COUNT(*) FROM performance_schema.threads t "
                                 "JOIN performance_schema.events_statements_current s USING (THREAD_ID) "
                                 "JOIN information_schema.INNODB_TRX x ON x.trx_mysql_thread_id = t.PROCESSLIST_ID "
                                 "WHERE x.trx_state = 'RUNNING' AND t.PROCESSLIST_COMMAND = 'Sleep' "
                                 "AND t.PROCESSLIST_TIME >= 3 AND s.SQL_TEXT LIKE 'UPDATE shop.stock%'");
        // So for a part of each hold only: looked at once each time, as QTRY would look a second time.
        QVERIFY(QTest::qWaitFor([&] { return number(holding) == 1; }, 90'000));
        QVERIFY(number("SELECT COUNT(*) FROM shop.version_conflicts") > 0);
        QVERIFY(number("SELECT version FROM shop.stock WHERE id = 2") > 1);
        QTRY_VERIFY_WITH_TIMEOUT(number("SELECT IS_USED_LOCK('nightly-report')") > 0, 15'000);
        // Who was killed at the beginning holds on to what it lost, gives it back in vain, rests, and comes back.
        // Looked at once each time: a waiter asks anew now and then, and QTRY would look a second time.
        const QByteArray queued("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'");
        QVERIFY(QTest::qWaitFor([&] { return number(queued) == 1; }, 90'000));
    }

    void itsSessionsEndWithIt()
    {
        m_demo.reset();
        QTRY_COMPARE_WITH_TIMEOUT(children("/locks/orders").size(), 0, 10'000);
        QTRY_COMPARE_WITH_TIMEOUT(children("/locks/catalog").size(), 0, 10'000);
        QTRY_COMPARE_WITH_TIMEOUT(number("SELECT COUNT(*) FROM information_schema.INNODB_TRX"), 0, 10'000);
    }

    void cleanupTestCase()
    {
        m_demo.reset();
        m_session.reset();
        m_redis.reset();
        m_sql.reset();
        mariadb::waitForClosingSessions(5s);
        zk::waitForClosingSessions(5s);
    }
};

LOCKSCOPE_TEST(TestDemo)
#include "tst_demo.moc"
