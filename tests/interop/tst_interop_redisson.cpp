// SPDX-License-Identifier: Apache-2.0
// Our Redisson locks beside Redisson itself, both ways: who holds keeps the other out, who lets go wakes the other,
// and a force-release wakes whoever waits. All leases are longer than the tests wait.
#include "tests/interop/redissonpairs.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

class TestInteropRedisson : public RedissonCross {
    Q_OBJECT

    // The lock of the row, with this holder and one who waits.
    void checkSeen(const QByteArray &holder)
    {
        const auto lock = seen(m_lock, 1);
        QCOMPARE(lock["recipe"_L1].toString(), QString::fromLatin1(m_pair.recipe));
        QCOMPARE(lock["client"_L1].toString(), u"Redisson"_s);
        QCOMPARE(lock["state"_L1].toString(), u"contended"_s);
        const auto contenders = lock["contenders"_L1].toArray();
        QCOMPARE(contenders.size(), 2);
        QCOMPARE(contenders[0]["id"_L1].toString(), QString::fromLatin1(holder));
        QCOMPARE(contenders[0]["role"_L1].toString(), u"holder"_s);
        QCOMPARE(contenders[1]["role"_L1].toString(), u"waiter"_s);
    }

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
    void cleanupTestCase() { stopServers(); }

    void ourHolderKeepsThemOut_data() { pairsAsRows(any); }
    void ourHolderKeepsThemOut()
    {
        begin();
        auto &holder = ours();
        QVERIFY(holder.takes());
        const auto name = theirs();
        QVERIFY(listen(1));
        QVERIFY(theyWaitStill(name));
        QVERIFY(weRelease(holder));
        QVERIFY(theyAreIn(name));
        QVERIFY(theyRelease(name));
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }

    void theirHolderKeepsUsOut_data() { pairsAsRows(any); }
    void theirHolderKeepsUsOut()
    {
        begin();
        const auto name = theirs();
        QVERIFY(theyHold(name));
        auto &waiter = ours();
        QVERIFY(waitsOutside(waiter));
        QVERIFY(listen(1));
        QVERIFY(theyRelease(name));
        QVERIFY(isHeldBy(waiter));
        QVERIFY(weRelease(waiter));
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }

    void forceReleaseOfOursWakesTheirs_data() { pairsAsRows(any); }
    void forceReleaseOfOursWakesTheirs()
    {
        begin();
        auto &victim = ours();
        QVERIFY(victim.takes());
        const auto name = theirs();
        QVERIFY(listen(1));
        QCOMPARE(forceRelease(m_lock, victim.id(), 1), QByteArray());
        QVERIFY(theyAreIn(name));
        QVERIFY(victim.saysItIsNotMine());
        // Our late release leaves the next holder alone.
        victim.release();
        QTRY_VERIFY_WITH_TIMEOUT(victim.released, patienceMs);
        QCOMPARE(victim.released->error().code, ErrorCode::NotHeld);
        auto &another = ours();
        another.acquire();
        QVERIFY(listen(1));
        QVERIFY(!another.granted);
        QVERIFY(theyRelease(name));
        QVERIFY(isHeldBy(another));
        QVERIFY(weRelease(another));
    }

    void forceReleaseOfTheirsWakesOurs_data() { pairsAsRows(any); }
    void forceReleaseOfTheirsWakesOurs()
    {
        begin();
        const auto name = theirs();
        QVERIFY(theyHold(name));
        auto &waiter = ours();
        waiter.acquire();
        QVERIFY(listen(1));
        QVERIFY(!waiter.granted);
        QCOMPARE(forceRelease(m_lock, theirId(name), 1), QByteArray());
        QVERIFY(isHeldBy(waiter));
        QVERIFY(weRelease(waiter));
    }

    // Their thread and our lock may each take it once more, and give it back as often.
    void holdsAreCountedByBoth_data()
    {
        pairsAsRows([](const RedissonPair &pair) { return pair.kind != "semaphore"; });
    }
    void holdsAreCountedByBoth()
    {
        begin();
        const auto name = theirs();
        QVERIFY(theyHold(name));
        m_program->tell("acquire " + name + ' ' + m_pair.kind + ' ' + m_lock);
        QTRY_COMPARE_WITH_TIMEOUT(ask({"HGET", m_lock, theirId(name)}).text, QByteArray("2"), patienceMs);
        auto &waiter = ours();
        waiter.acquire();
        QVERIFY(listen(1));
        QVERIFY(theyRelease(name));
        QTRY_COMPARE_WITH_TIMEOUT(ask({"HGET", m_lock, theirId(name)}).text, QByteArray("1"), patienceMs);
        QVERIFY(staysOut(waiter));
        m_program->tell("release " + name);
        QVERIFY(isHeldBy(waiter));

        const auto id = waiter.id();
        waiter.acquire();
        QTRY_COMPARE_WITH_TIMEOUT(ask({"HGET", m_lock, id}).text, QByteArray("2"), patienceMs);
        const auto next = theirs();
        QVERIFY(listen(1));
        QVERIFY(weRelease(waiter));
        QVERIFY(theyWaitStill(next));
        waiter.released.reset();
        QVERIFY(weRelease(waiter));
        QVERIFY(theyHold(next));
        QVERIFY(theyRelease(next));
    }

    // What lockscopectl says of theirs while ours waits, and of ours while theirs waits.
    void bothAreRecognised_data() { pairsAsRows(any); }
    void bothAreRecognised()
    {
        begin();
        const auto name = theirs();
        QVERIFY(theyHold(name));
        auto &waiter = ours();
        waiter.acquire();
        QVERIFY(listen(1));
        checkSeen(theirId(name));
        QVERIFY(theyRelease(name));
        QVERIFY(isHeldBy(waiter));
        QVERIFY(weRelease(waiter));

        begin();
        auto &holder = ours();
        QVERIFY(holder.takes());
        const auto next = theirs();
        QVERIFY(listen(1));
        checkSeen(holder.id());
        QVERIFY(weRelease(holder));
        QVERIFY(theyHold(next));
        QVERIFY(theyRelease(next));
    }

    // A name with a cluster's hash tag in it makes other names of the companion keys and channels.
    void theyMeetOnATaggedName_data() { pairsAsRows(any); }
    void theyMeetOnATaggedName()
    {
        begin();
        m_lock = "{shop}:" + m_lock;
        auto &holder = ours();
        QVERIFY(holder.takes());
        const auto name = theirs();
        QVERIFY(listen(1));
        QVERIFY(theyWaitStill(name));
        checkSeen(holder.id());
        QVERIFY(weRelease(holder));
        QVERIFY(theyHold(name));
        auto &waiter = ours();
        waiter.acquire();
        QVERIFY(listen(1));
        QVERIFY(!waiter.granted);
        QVERIFY(theyRelease(name));
        QVERIFY(isHeldBy(waiter));
        QVERIFY(weRelease(waiter));
        QTRY_COMPARE_WITH_TIMEOUT(leftovers(), QByteArrayList(), patienceMs);
    }

    // What Redisson has and we only see.
    void itsOtherLocksAreRecognised_data()
    {
        const Rows<QByteArray, QString, QString, bool> row("kind", "recipe", "state", "holdersAreKnown");
        row("spin lock", "spin", u"redisson-lock"_s, u"held"_s, true);
        row("group of locks", "group", u"redisson-lock"_s, u"contended"_s, true);
        row("plain semaphore", "permits", u"redisson-semaphore"_s, u"contended"_s, false);
    }
    void itsOtherLocksAreRecognised()
    {
        QFETCH(QByteArray, kind);
        QFETCH(QString, recipe);
        QFETCH(QString, state);
        QFETCH(bool, holdersAreKnown);
        begin({"", "", false, kind, true});
        const auto holder = theirs();
        QVERIFY(theyHold(holder));
        const auto waiter = theirs();
        QTRY_COMPARE_WITH_TIMEOUT(seen(m_lock, 1)["state"_L1].toString(), state, patienceMs);
        const auto lock = seen(m_lock, 1);
        QCOMPARE(lock["recipe"_L1].toString(), recipe);
        QCOMPARE(lock["client"_L1].toString(), u"Redisson"_s);
        const auto first = lock["contenders"_L1].toArray().at(0).toObject();
        QCOMPARE(first["role"_L1].toString(), holdersAreKnown ? u"holder"_s : u"waiter"_s);
        if (holdersAreKnown) {
            const auto who = QString::fromLatin1(theirId(holder));
            QVERIFY(first["id"_L1].toString() == who || first["identity"_L1].toString() == who);
        }
        QVERIFY(!m_program->hasSaid("held " + waiter));
        QVERIFY(theyRelease(holder));
        QVERIFY(theyHold(waiter));
        QVERIFY(theyRelease(waiter));
    }

    // An RSemaphore for which nobody waits is a number: told to whoever asks for it by its name, and not listed.
    void aSemaphoreAtRestIsShownWhereItIsAskedFor()
    {
        begin({"", "", false, "permits", true});
        m_lock.replace("lock", "jobs");
        const auto holder = theirs();
        QVERIFY(theyHold(holder));
        QByteArray said;
        const auto name = u"redis:"_s + QString::fromLatin1(m_lock);
        const auto lock = lockscopectl({u"show"_s, name}, 1, &said)["lock"_L1].toObject();
        QVERIFY2(lock["recipe"_L1] == "redisson-semaphore"_L1, said.constData());
        QCOMPARE(lock["confidence"_L1].toString(), u"low"_s);
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        for (const auto listed : lockscopectl({u"locks"_s, u"--all"_s}, 1)["locks"_L1].toArray())
            QVERIFY(listed.toObject()["lock"_L1] != name);
        QVERIFY(theyRelease(holder));
        QCOMPARE(lockscopectl({u"show"_s, name}, 1)["lock"_L1].toObject()["state"_L1].toString(), u"free"_s);
    }

    // The members of a MultiLock are locks of their own, linked by the thread that holds them.
    void theMembersOfAMultiLockAreLinked()
    {
        begin({"", "", false, "lock", true});
        const auto another = theirs(); // of which nothing is said: its thread holds nothing else
        QVERIFY(theyHold(another));
        begin({"", "", false, "multi", true});
        const auto holder = theirs();
        QVERIFY(theyHold(holder));
        QMap<QString, QStringList> heldWith;
        for (const auto one : lockscopectl({u"locks"_s}, 1)["locks"_L1].toArray()) {
            for (const auto other : one["heldWith"_L1].toArray())
                heldWith[one["lock"_L1].toString().right(2)] << other.toString().right(2);
        }
        const QMap<QString, QStringList> linked{
            {u":a"_s, {u":b"_s, u":c"_s}}, {u":b"_s, {u":a"_s, u":c"_s}}, {u":c"_s, {u":a"_s, u":b"_s}}};
        QCOMPARE(heldWith, linked);
        // And of one of them alone.
        const auto one = lockscopectl({u"locks"_s, u"--match"_s, u"*:b"_s}, 1)["locks"_L1][0]["lock"_L1].toString();
        const auto shown = lockscopectl({u"show"_s, one}, 1)["lock"_L1].toObject();
        QVERIFY2(shown["heldWith"_L1].toArray().size() == 2, qPrintable(one));
        const auto together = lockscopectl({u"graph"_s}, 1)["together"_L1].toArray();
        QCOMPARE(together.size(), 1);
        QCOMPARE(together[0]["thread"_L1].toString(), QString::fromLatin1(theirId(holder)));
        QCOMPARE(together[0]["locks"_L1].toArray().size(), 3);
        QVERIFY(theyRelease(another));
        QVERIFY(theyRelease(holder));
        QVERIFY(lockscopectl({u"graph"_s}, 1)["together"_L1].toArray().isEmpty());
    }

    // Theirs among themselves: a group's waiter is in once each of the values is free.
    void forceReleaseOfItsOthersLetsTheNextIn_data()
    {
        const Rows<QByteArray, int> row("kind", "pollsEvery");
        for (const QByteArray kind : {"lock", "fair", "fenced", "write", "semaphore", "group"})
            QTest::addRow("%s, which is woken", kind.constData()) << kind << 0;
        row("spin, which polls every 128 ms at most", "spin", 128);
    }
    void forceReleaseOfItsOthersLetsTheNextIn()
    {
        QFETCH(QByteArray, kind);
        QFETCH(int, pollsEvery);
        begin({"", "", false, kind, true});
        const auto holder = theirs();
        QVERIFY(theyHold(holder));
        const auto next = theirs();
        QVERIFY(theyWaitStill(next));
        QStringList holders;
        for (const auto contender : seen(m_lock, 1)["contenders"_L1].toArray()) {
            if (contender.toObject()["role"_L1] == u"holder"_s)
                holders << contender.toObject()["id"_L1].toString();
        }
        QCOMPARE(holders.size(), kind == "group" ? 2 : 1);
        for (const auto &id : holders)
            QCOMPARE(forceRelease(m_lock, id.toUtf8(), 1), QByteArray());
        QVERIFY(theyAreIn(next, wokenWithinMs + pollsEvery));
        QVERIFY(theyRelease(next));
    }

    // Redisson's own way of taking a lock from whoever has it.
    void theirForceUnlockWakesOurs_data()
    {
        pairsAsRows([](const RedissonPair &pair) { return pair.kind != "semaphore"; });
    }
    void theirForceUnlockWakesOurs()
    {
        begin();
        m_pair.kind = m_pair.read ? "read" : m_pair.kind == "read" ? "write" : m_pair.kind; // the side that we hold
        auto &victim = ours();
        QVERIFY(victim.takes());
        m_pair.read = false; // for a reader would join a reader
        auto &waiter = ours();
        waiter.acquire();
        QVERIFY(listen(1));
        QVERIFY(!waiter.granted);
        m_program->tell("force f" + m_lock + ' ' + m_pair.kind + ' ' + m_lock);
        QVERIFY(m_program->says("forced f" + m_lock + " true"));
        QVERIFY(isHeldBy(waiter));
        QVERIFY(victim.saysItIsNotMine());
        QVERIFY(weRelease(waiter));
    }

    // A lease that ends by itself is not announced to anybody.
    void oursEntersWhenTheirLeaseEnds_data() { pairsAsRows(any); }
    void oursEntersWhenTheirLeaseEnds()
    {
        begin();
        const QByteArray name = "l" + m_lock;
        m_program->tell("lease " + name + ' ' + m_pair.kind + ' ' + m_lock + " 1500");
        QVERIFY(theyHold(name));
        auto &waiter = ours();
        QVERIFY(waiter.takes());
        QVERIFY(weRelease(waiter));
    }
};

LOCKSCOPE_TEST(TestInteropRedisson)
#include "tst_interop_redisson.moc"
