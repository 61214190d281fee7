// SPDX-License-Identifier: Apache-2.0
// What of Redisson's locks is shared by several, by Redisson and by ours: the fair lock's queue, the read side of a
// read/write lock, a semaphore's permits, the fencing counter; and a number that only the lock protects.
#include "tests/interop/redissonpairs.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

class TestInteropRedissonShared : public RedissonCross {
    Q_OBJECT

    static constexpr int processes = 2;
    std::vector<std::unique_ptr<ForeignClient>> m_counters;

private slots:
    void initTestCase()
    {
        SKIP_FOR(whyNotFetched("REDISSON"));
        OK(startAll());
    }
    void cleanup()
    {
        m_ours.clear();
        notifyWhatTheySaid();
    }
    void cleanupTestCase()
    {
        m_counters.clear();
        stopServers();
    }

    void theFairLockHasOneQueue()
    {
        begin({"", "redisson-fair-lock", false, "fair", true});
        constexpr std::size_t places = 6;
        std::vector<Ours *> us(places, nullptr);
        std::vector<QByteArray> them(places);
        const auto holds = [&](std::size_t i) {
            return us[i] ? us[i]->holds() : m_program->hasSaid("held " + them[i]);
        };
        for (std::size_t i = 0; i < places; ++i) {
            if (i % 2 == 0) {
                us[i] = &ours();
                us[i]->acquire();
            } else {
                them[i] = theirs();
            }
            QVERIFY(listen(static_cast<int>(i))); // the first has it
            QTRY_VERIFY_WITH_TIMEOUT(i > 0 || holds(0), patienceMs);
        }
        for (std::size_t i = 0; i < places; ++i) {
            QTRY_VERIFY_WITH_TIMEOUT(holds(i), patienceMs);
            for (auto later = i + 1; later < places; ++later)
                QVERIFY2(!holds(later), QByteArray::number(qulonglong(later)).constData());
            QVERIFY(us[i] ? weRelease(*us[i]) : theyRelease(them[i]));
        }
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }

    // Who gives up in the middle of the queue leaves the others in theirs.
    void oursLeavesTheFairQueue()
    {
        begin({"", "redisson-fair-lock", false, "fair", true});
        const auto first = theirs();
        QVERIFY(theyHold(first));
        auto &quitter = ours();
        quitter.acquire();
        QVERIFY(listen(1));
        const auto second = theirs();
        QVERIFY(listen(2));
        auto &last = ours();
        last.acquire();
        QVERIFY(listen(3));
        std::erase_if(m_ours, [&](const auto &one) { return one.get() == &quitter; });
        QVERIFY(listen(2));
        QVERIFY(theyRelease(first));
        QVERIFY(theyHold(second));
        QVERIFY(!last.granted);
        QVERIFY(theyRelease(second));
        QVERIFY(isHeldBy(last));
        QVERIFY(weRelease(last));
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }

    // The same of theirs, whose patience ends: ours moves up, and is told of the release.
    void theirsLeavesTheFairQueue()
    {
        begin({"", "redisson-fair-lock", false, "fair", true});
        auto &first = ours();
        QVERIFY(first.takes());
        m_program->tell("try quitter fair " + m_lock + " 1000");
        QVERIFY(listen(1));
        auto &second = ours();
        second.acquire();
        QVERIFY(listen(2));
        QVERIFY(m_program->says("missed quitter"));
        QVERIFY(listen(1));
        QVERIFY(!second.granted);
        QVERIFY(weRelease(first));
        QVERIFY(isHeldBy(second));
        QVERIFY(weRelease(second));
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }

    void readersShare()
    {
        begin({"", "redisson-rwlock", true, "read", false});
        auto &reader = ours();
        QVERIFY(reader.takes());
        const auto name = theirs();
        QVERIFY(theyHold(name));
        m_pair.kind = "write";
        const auto writer = theirs();
        m_pair.read = false;
        auto &ourWriter = ours();
        ourWriter.acquire();
        QVERIFY(listen(2));
        QVERIFY(weRelease(reader));
        QVERIFY(theyWaitStill(writer));
        QVERIFY(!ourWriter.granted);
        QVERIFY(theyRelease(name));
        // The last reader's message goes to all who wait; one of the two gets in.
        const auto theyWrite = [&] { return m_program->hasSaid("held " + writer); };
        QTRY_VERIFY_WITH_TIMEOUT(theyWrite() || ourWriter.holds(), patienceMs);
        QVERIFY(!QTest::qWaitFor([&] { return theyWrite() && ourWriter.holds(); }, watchfulMs));
        const bool theyWereFirst = theyWrite();
        QVERIFY(theyWereFirst ? theyRelease(writer) : weRelease(ourWriter));
        QVERIFY(theyWereFirst ? isHeldBy(ourWriter) : theyHold(writer));
        QVERIFY(theyWereFirst ? weRelease(ourWriter) : theyRelease(writer));
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }

    // One release, and all of them read.
    void aWritersReleaseWakesAllReaders_data() { addRows<bool>("ourWriter", {{"ours", true}, {"theirs", false}}); }
    void aWritersReleaseWakesAllReaders()
    {
        QFETCH(bool, ourWriter);
        begin({"", "redisson-rwlock", false, "write", true});
        auto &writer = ours();
        QByteArray theirWriter;
        if (ourWriter)
            writer.acquire();
        else
            theirWriter = theirs();
        QVERIFY(ourWriter ? isHeldBy(writer) : theyHold(theirWriter));
        m_pair.read = true;
        m_pair.kind = "read";
        const std::vector<QByteArray> them{theirs(), theirs(), theirs()};
        const std::vector<Ours *> us{&ours(), &ours(), &ours()};
        for (auto *reader : us)
            QVERIFY(waitsOutside(*reader));
        QVERIFY(listen(2));
        for (const auto &reader : them)
            QVERIFY(theyWaitStill(reader));
        QVERIFY(ourWriter ? weRelease(writer) : theyRelease(theirWriter));
        for (auto *reader : us)
            QVERIFY(isHeldBy(*reader));
        for (const auto &reader : them)
            QVERIFY(theyHold(reader));
        for (auto *reader : us)
            QVERIFY(weRelease(*reader));
        for (const auto &reader : them)
            QVERIFY(theyRelease(reader));
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }

    // Their writer reads on. Ours waits until it has ended that, too; our reader may join it.
    void theirDowngradeKeepsOurWriterOut()
    {
        begin({"", "redisson-rwlock", false, "write", true});
        const auto name = theirs();
        QVERIFY(theyHold(name));
        auto &writer = ours();
        writer.acquire();
        QVERIFY(listen(1));
        m_program->tell("acquire " + name + " read " + m_lock);
        QVERIFY(m_program->says("held " + name + " read"));
        m_program->tell("release " + name);
        QVERIFY(m_program->says("released " + name + " write"));
        m_pair.read = true;
        auto &reader = ours();
        QVERIFY(reader.takes());
        QVERIFY(!writer.granted);
        QVERIFY(weRelease(reader));
        QVERIFY(staysOut(writer));
        m_program->tell("release " + name);
        QVERIFY(m_program->says("released " + name + " read"));
        QVERIFY(isHeldBy(writer));
        QVERIFY(weRelease(writer));
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }

    void permitsAreOfOnePool()
    {
        begin({"", "redisson-semaphore", false, "semaphore", false});
        const auto name = theirs(2); // makes the pool
        QVERIFY(theyHold(name));
        auto &second = ours(2);
        QVERIFY(second.takes());
        auto &third = ours(2);
        QVERIFY(waitsOutside(third));
        QVERIFY(listen(1));
        QVERIFY(theyRelease(name));
        QVERIFY(isHeldBy(third));
        const auto fourth = theirs(2);
        QVERIFY(listen(1));
        QVERIFY(theyWaitStill(fourth));
        QVERIFY(weRelease(second));
        QVERIFY(theyHold(fourth));
        QVERIFY(theyRelease(fourth));
        QVERIFY(weRelease(third));
        // A pool we made is theirs, too.
        begin(m_pair);
        auto &first = ours(1);
        QVERIFY(first.takes());
        const auto waiter = theirs(7);
        QVERIFY(listen(1));
        QVERIFY(theyWaitStill(waiter));
        QVERIFY(weRelease(first));
        QVERIFY(theyHold(waiter));
        QVERIFY(theyRelease(waiter));
    }

    void fencingTokensAreOfOneCounter()
    {
        begin({"", "redisson-fenced-lock", false, "fenced", true});
        for (qint64 token = 1; token <= 4; token += 2) {
            auto &one = ours();
            QVERIFY(one.takes());
            QCOMPARE((*one.granted)->fencingToken, std::optional<qint64>(token));
            QVERIFY(weRelease(one));
            const auto name = theirs();
            QVERIFY(theyHold(name));
            QCOMPARE(theirToken(name).toLongLong(), token + 1);
            QVERIFY(theyRelease(name));
        }
    }

    void nothingIsLost_data() { pairsAsRows(alone); }
    void nothingIsLost()
    {
        while (m_counters.size() < processes)
            m_counters.push_back(redissonContenders(theirServer()));
        for (const auto &program : m_counters)
            QVERIFY2(program->says("ready"), program->everythingSaid().constData());
        begin();
        const std::vector<Ours *> us{&ours(), &ours(), &ours()};
        QCOMPARE(countTogether(m_counters, m_pair.kind + ' ' + m_lock, us), QByteArray());
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }
};

LOCKSCOPE_TEST(TestInteropRedissonShared)
#include "tst_interop_redisson_shared.moc"
