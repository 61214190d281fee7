// SPDX-License-Identifier: Apache-2.0
// What is gentler than a force-release, on real servers: it does what it says and no more, and hits nobody who was
// not looked at.
#include "core/recipes/curator/locks.h"
#include "alternativesfixture.h"
#include "tests/support/revocation.h"
#include "tests/support/testmain.h"

namespace {

// Lets go when it is asked to.
Task<void> revocable(HeldLock *lock, zk::Session *session, ZPath node)
{
    auto waiting = untilRevocationRequested(session, node, Deadline::never());
    const auto asked = co_await waiting;
    if (asked && *asked) {
        const auto soon = Deadline::after(session->loop(), 20s);
        auto releasing = lock->release(soon);
        (void)co_await releasing;
    }
}

} // namespace

class TestAlternatives : public AlternativesFixture {
    Q_OBJECT
private slots:
    void initTestCase() { SKIP_FOR(startServers()); }
    void cleanupTestCase() { stopServers(); }

    void revocableHolderReleasesWhenAsked()
    {
        const auto wanted = request("curator-mutex", "zk");
        HeldLock holder(*m_workspace, wanted);
        const auto had = perform(holder.acquire(10s));
        QVERIFY(had);
        Scope scope(loop());
        scope.launch(revocable(&holder, m_servers.session.get(), had->node));
        const auto asking = plan(wanted.lock, had->id, ReleaseAction::Revoke);
        QVERIFY2(asking, asking ? "" : qPrintable(asking.error().message));
        QVERIFY(asking->exact);
        const auto before = records().size();
        const auto outcome = act(*asking);
        QVERIFY2(outcome, outcome ? "" : qPrintable(outcome.error().message));
        QVERIFY2(outcome->done && outcome->released, qPrintable(outcome->message));
        QCOMPARE(records().size(), before + 2);
        QCOMPARE(records().back().action, u"revoke"_s);
        QCOMPARE(records().back().outcome, u"asked"_s);
    }

    void otherHolderKeepsItsLockWhenAsked()
    {
        const auto wanted = request("curator-mutex", "zk");
        HeldLock holder(*m_workspace, wanted);
        const auto had = perform(holder.acquire(10s));
        QVERIFY(had);
        const auto outcome = act(*plan(wanted.lock, had->id, ReleaseAction::Revoke));
        QVERIFY(outcome && outcome->done && !outcome->released);
        QVERIFY2(outcome->message.contains(u"still holds the lock"_s), qPrintable(outcome->message));
        const auto data = testing::await(m_servers.session->get(had->node, std::nullopt, soon()));
        QCOMPARE(data->data, QByteArray(recipes::revocationMark));
        QVERIFY(perform(holder.release(soon())));
    }

    void aNodeThatWasWrittenSinceIsNotOverwritten()
    {
        const auto wanted = request("curator-mutex", "zk");
        HeldLock holder(*m_workspace, wanted);
        const auto had = perform(holder.acquire(10s));
        QVERIFY(had);
        const auto asking = plan(wanted.lock, had->id, ReleaseAction::Revoke);
        QVERIFY(asking);
        QVERIFY(testing::await(m_servers.session->set(had->node, "mine", zk::anyVersion, soon())));
        QCOMPARE(act(*asking).error().code, ErrorCode::Refused);
        // At the last look, too.
        QCOMPARE(perform(m_workspace->find(wanted.lock.connection)->sendRelease(*asking, soon())).error().code,
                 ErrorCode::Refused);
        const auto data = testing::await(m_servers.session->get(had->node, std::nullopt, soon()));
        QCOMPARE(data->data, QByteArray("mine"));
        QVERIFY(perform(holder.release(soon())));
    }

    void aLeaseEndsSooner_data()
    {
        const Rows<QByteArray> row("recipe");
        for (const char *recipe : {"redis-set-nx", "redisson-lock", "redisson-rwlock", "redisson-fenced-lock"})
            row(recipe, QByteArray(recipe));
    }
    void aLeaseEndsSooner()
    {
        QFETCH(const QByteArray, recipe);
        const auto wanted = request(recipe.constData(), "redis");
        HeldLock holder(*m_workspace, wanted);
        const auto had = perform(holder.acquire(10s));
        QVERIFY(had);
        const auto shortening = plan(wanted.lock, had->id, ReleaseAction::ShortenTtl);
        QVERIFY2(shortening, shortening ? "" : qPrintable(shortening.error().message));
        QVERIFY(command({"PTTL", wanted.lock.name}) > 30'000);
        const auto outcome = act(*shortening);
        QVERIFY2(outcome && outcome->done && !outcome->released,
                 outcome ? qPrintable(outcome->message) : qPrintable(outcome.error().message));
        const auto left = command({"PTTL", wanted.lock.name});
        QVERIFY2(left > 0 && left <= 10'000, QByteArray::number(left));
        // Never longer: what ends as soon is left alone.
        QVERIFY(!plan(wanted.lock, had->id, ReleaseAction::ShortenTtl));
        QCOMPARE(perform(m_workspace->find(wanted.lock.connection)->sendRelease(*shortening, soon())).error().code,
                 ErrorCode::Refused);
        QCOMPARE(records().back().action, u"shorten-ttl"_s);
        QVERIFY(perform(holder.release(soon())));
    }

    // The value changes between the preview and the act, or between the last reading and the script.
    void theLeaseOfTheNextOneStays_data() { aLeaseEndsSooner_data(); }
    void theLeaseOfTheNextOneStays()
    {
        QFETCH(const QByteArray, recipe);
        const auto wanted = request(recipe.constData(), "redis");
        HeldLock holder(*m_workspace, wanted);
        const auto had = perform(holder.acquire(10s));
        QVERIFY(had);
        const auto shortening = plan(wanted.lock, had->id, ReleaseAction::ShortenTtl);
        QVERIFY(shortening);
        QVERIFY(perform(holder.release(soon())));
        HeldLock next(*m_workspace, wanted);
        QVERIFY(perform(next.acquire(10s)));
        QCOMPARE(act(*shortening).error().code, ErrorCode::Refused);
        QCOMPARE(perform(m_workspace->find(wanted.lock.connection)->sendRelease(*shortening, soon())).error().code,
                 ErrorCode::Refused);
        QVERIFY(command({"PTTL", wanted.lock.name}) > 30'000);
        QVERIFY(perform(next.release(soon())));
    }

    // Its TTL is theirs, too.
    void aLeaseThatReadersShareStays()
    {
        auto wanted = request("redisson-rwlock", "redis");
        wanted.readMode = true;
        HeldLock one(*m_workspace, wanted), other(*m_workspace, wanted);
        const auto had = perform(one.acquire(10s));
        QVERIFY(had);
        const auto alone = plan(wanted.lock, had->id, ReleaseAction::ShortenTtl);
        QVERIFY(alone);
        QVERIFY(perform(other.acquire(10s)));
        QVERIFY(!plan(wanted.lock, had->id, ReleaseAction::ShortenTtl));
        QVERIFY(!perform(m_workspace->find(wanted.lock.connection)->sendRelease(*alone, soon())));
        QVERIFY(command({"PTTL", wanted.lock.name}) > 30'000);
        QVERIFY(perform(one.release(soon())));
        QVERIFY(perform(other.release(soon())));
    }

    // Each has a moment of its own.
    void aPermitRunsOutSooner()
    {
        auto wanted = request("redisson-semaphore", "redis");
        wanted.limit = 2;
        HeldLock one(*m_workspace, wanted), other(*m_workspace, wanted);
        const auto had = perform(one.acquire(10s));
        QVERIFY(had);
        QVERIFY(perform(other.acquire(10s)));
        const auto soonEnding = [&] {
            const auto now = testing::await(m_redis->command({"TIME"}, soon()))->items[0].text.toLongLong();
            return command({"ZCOUNT", '{' + wanted.lock.name + "}:timeout", QByteArray::number(now * 1000),
                            QByteArray::number(now * 1000 + 11'000)});
        };
        QCOMPARE(soonEnding(), 0);
        const auto shortening = plan(wanted.lock, had->id, ReleaseAction::ShortenTtl);
        QVERIFY2(shortening, shortening ? "" : qPrintable(shortening.error().message));
        const auto outcome = act(*shortening);
        QVERIFY2(outcome && outcome->done, outcome ? "" : qPrintable(outcome.error().message));
        QCOMPARE(soonEnding(), 1);
        QVERIFY(!plan(wanted.lock, had->id, ReleaseAction::ShortenTtl)); // it ends as soon by itself
        QVERIFY(perform(one.release(soon())));
        QCOMPARE(perform(m_workspace->find(wanted.lock.connection)->sendRelease(*shortening, soon())).error().code,
                 ErrorCode::Refused); // given back meanwhile
        QVERIFY(perform(other.release(soon())));
    }

    // As Symfony leaves it: holders by the moment at which they end, and the key ends with the last of them.
    void aMembersEndIsMoved_data()
    {
        const Rows<QByteArray, int, bool> row("beside", "membersMoved", "isKeyMoved");
        row("alone, exclusive", "__write__", 2, true);
        row("beside another reader", "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJB=", 1, false);
    }
    void aMembersEndIsMoved()
    {
        QFETCH(const QByteArray, beside);
        const QByteArray token("q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=");
        const auto lock = request("redis-set-nx", "redis").lock;
        const auto now = testing::await(m_redis->command({"TIME"}, soon()))->items[0].text.toLongLong() * 1000;
        const auto ends = QByteArray::number(now + 60'000);
        QCOMPARE(command({"ZADD", lock.name, ends, token, ends, beside}), 2);
        QCOMPARE(command({"PEXPIREAT", lock.name, ends}), 1);
        const auto shortening = plan(lock, token, ReleaseAction::ShortenTtl);
        QVERIFY2(shortening, shortening ? "" : qPrintable(shortening.error().message));
        const auto outcome = act(*shortening);
        QVERIFY2(outcome && outcome->done && !outcome->released,
                 outcome ? qPrintable(outcome->message) : qPrintable(outcome.error().message));
        const auto moved = command({"ZCOUNT", lock.name, "-inf", QByteArray::number(now + 50'000)});
        QTEST(int(moved), "membersMoved");
        QTEST(command({"PTTL", lock.name}) <= 10'000, "isKeyMoved");
        // Another's, which came in between.
        QCOMPARE(command({"ZREM", lock.name, token}), 1);
        QCOMPARE(perform(m_workspace->find(lock.connection)->sendRelease(*shortening, soon())).error().code,
                 ErrorCode::Refused);
        QCOMPARE(command({"DEL", lock.name}), 1);
    }

    // And taken out of its set: an exclusive lock's mark goes with the last token, another's stays.
    void aMemberIsTakenOut_data()
    {
        addColumns<QByteArray, QByteArray, QByteArray>("lock", "holder", "beside");
        QTest::addColumn<bool>("isEnd"); // what the score says
        QTest::addColumn<int>("left");
        const QByteArray token("q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=");
        QTest::newRow("Symfony's, exclusive")
            << QByteArray("gentle-written") << token << QByteArray("__write__") << true << 0;
        QTest::newRow("Symfony's, beside another reader")
            << QByteArray("gentle-read") << token << QByteArray("q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJB=")
            << true << 1;
        QTest::newRow("npm's") << QByteArray("semaphore:gentle") << QByteArray("0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29")
                               << QByteArray("11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29") << false << 1;
    }
    void aMemberIsTakenOut()
    {
        QFETCH(const QByteArray, lock);
        QFETCH(const QByteArray, holder);
        QFETCH(const QByteArray, beside);
        QFETCH(const bool, isEnd);
        const auto now = testing::await(m_redis->command({"TIME"}, soon()))->items[0].text.toLongLong() * 1000;
        const auto score = QByteArray::number(isEnd ? now + 60'000 : now);
        QCOMPARE(command({"ZADD", lock, score, holder, score, beside}), 2);
        QCOMPARE(command({"PEXPIREAT", lock, QByteArray::number(now + 60'000)}), 1);
        const inspect::LockName name{ConnectionName("redis"), lock};
        const auto taking = plan(name, holder, ReleaseAction::Release);
        QVERIFY2(taking, taking ? "" : qPrintable(taking.error().message));
        QVERIFY(taking->exact);
        const auto outcome = act(*taking);
        QVERIFY2(outcome && outcome->released,
                 outcome ? qPrintable(outcome->message) : qPrintable(outcome.error().message));
        QTEST(int(command({"ZCARD", lock})), "left");
        QCOMPARE(perform(m_workspace->find(name.connection)->sendRelease(*taking, soon())).error().code,
                 ErrorCode::Refused); // gone already
        command({"DEL", lock});
    }

    // As redis-semaphore of PyPI leaves it: the permit goes back to those that are free, unless another has it.
    void aPermitGoesBackToItsList()
    {
        const auto now = testing::await(m_redis->command({"TIME"}, soon()))->items[0].text;
        QCOMPARE(command({"HSET", "gentle:GRABBED", "0", now + ".25", "1", now + ".5"}), 2);
        (void)testing::await(m_redis->command({"SET", "gentle:EXISTS", "ok"}, soon()));
        QCOMPARE(command({"RPUSH", "gentle:AVAILABLE", "2"}), 1);
        const inspect::LockName name{ConnectionName("redis"), "gentle:GRABBED"};
        const auto taking = plan(name, "0@" + now + "250", ReleaseAction::Release);
        QVERIFY2(taking, taking ? "" : qPrintable(taking.error().message));
        QVERIFY(!taking->exact && taking->risk.contains(u"by its number alone"_s));
        auto *backend = m_workspace->find(name.connection);
        QVERIFY(perform(backend->sendRelease(*taking, soon())));
        QCOMPARE(command({"HLEN", "gentle:GRABBED"}), 1);
        QCOMPARE(testing::await(m_redis->command({"LINDEX", "gentle:AVAILABLE", "0"}, soon()))->text,
                 QByteArray("0"));
        QCOMPARE(command({"HSET", "gentle:GRABBED", "0", now + ".75"}), 1);
        QCOMPARE(perform(backend->sendRelease(*taking, soon())).error().code, ErrorCode::Refused);
        QCOMPARE(command({"HLEN", "gentle:GRABBED"}), 2);
        QCOMPARE(command({"DEL", "gentle:GRABBED", "gentle:EXISTS", "gentle:AVAILABLE"}), 3);
    }

    void theTerminalListsTheWaysAndTakesOne()
    {
        const auto wanted = request("redis-set-nx", "redis");
        HeldLock holder(*m_workspace, wanted);
        const auto had = perform(holder.acquire(10s));
        QVERIFY(had);
        const QStringList force{u"force-release"_s, QString::fromUtf8(wanted.lock.text()), u"--holder"_s,
                                QString::fromUtf8(had->id), u"--json"_s};
        const auto dry = m_servers.run(force + QStringList{u"--dry-run"_s});
        QVERIFY2(dry.status == 0, dry.what());
        QCOMPARE(dry.json().value("methods"_L1).toArray(), (QJsonArray{u"shorten-ttl"_s, u"release"_s}));
        QCOMPARE(dry.json().value("method"_L1).toString(), u"release"_s);
        const auto shortened = m_servers.run(force + QStringList{u"--method"_s, u"shorten-ttl"_s, u"--yes"_s});
        QVERIFY2(shortened.status == 0, shortened.what());
        QCOMPARE(shortened.json().value("released"_L1), QJsonValue(false));
        QCOMPARE(shortened.json().value("done"_L1), QJsonValue(true));
        QVERIFY(command({"PTTL", wanted.lock.name}) <= 10'000);
        const auto readOnly =
            m_servers.run(force + QStringList{u"--method"_s, u"shorten-ttl"_s, u"--yes"_s, u"--read-only"_s});
        QVERIFY2(readOnly.status == 4 || readOnly.status == 1, readOnly.what());
        QCOMPARE(m_servers.run(force + QStringList{u"--method"_s, u"ask-nicely"_s}).status, 2);
        QVERIFY(perform(holder.release(soon())));
    }
};

LOCKSCOPE_TEST(TestAlternatives)
#include "tst_alternatives.moc"
