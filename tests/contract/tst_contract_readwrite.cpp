// SPDX-License-Identifier: Apache-2.0
// E: readers together, writers alone.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::contract;

class TestContractReadWrite : public Fixture {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        OK(whatIsMissing("E"));
        OK(startArenas());
    }
    void cleanupTestCase() { endScene(); }
    void elsewhere_data() { notHereRows("E"); }
    void elsewhere()
    {
        QFETCH(QString, reason);
        if (!reason.isEmpty())
            QSKIP(qPrintable(reason));
    }

    void E1_readersTogetherWritersAlone_data() { rows("E1", {Need::ReadWrite}); }
    void E1_readersTogetherWritersAlone()
    {
        TRIAL(trial);
        for (int i = 0; i < 3; ++i)
            OK(trial.takes(trial.join(Side::Read)));
        for (int i = 0; i < 3; ++i)
            OK(trial.isHeldBy(trial[size_t(i)]));
        auto &writer = trial.join();
        OK(trial.isRefused(writer));
        for (int i = 0; i < 3; ++i)
            OK(trial.givesBack(trial[size_t(i)]));
        OK(trial.takes(writer));
        OK(trial.isRefused(trial[0]));
        auto &another = trial.join();
        OK(trial.isRefused(another));
        OK(trial.givesBack(writer));
        OK(trial.isClean());
    }

    void E1_writersExcludeUnderLoad_data() { rows("E1", {Need::ReadWrite}); }
    void E1_writersExcludeUnderLoad()
    {
        TRIAL(trial);
        for (int i = 0; i < 3; ++i)
            trial.join();
        Trial readers(trial.arena, trial.recipe);
        Tally written, read;
        std::vector<Contender *> reading;
        for (int i = 0; i < 3; ++i)
            reading.push_back(&trial.joinWith(trial.client(size_t(i)), Side::Read));
        Scope scope(m_loop);
        for (size_t i = 0; i < 3; ++i) {
            scope.launch(contend(&trial[i], &m_loop, 3, &written));
            scope.launch(contend(reading[i], &m_loop, 3, &read));
        }
        int together = 0, overlaps = 0;
        const bool ended = eventually([&] {
            together = std::max(together, read.inside);
            overlaps += written.inside > 0 && read.inside > 0;
            return scope.isIdle();
        });
        QVERIFY(ended);
        QVERIFY2(written.failures.isEmpty() && read.failures.isEmpty(),
                 qPrintable((written.failures + read.failures).join(u"; "_s)));
        QCOMPARE(written.most, 1);
        QCOMPARE(written.counter, 9);
        QCOMPARE(read.entered, 9);
        QCOMPARE(overlaps, 0);
        OK(trial.isClean());
    }

    // A reader of the same client that asks to write: refused or out of time, never for ever.
    void E2_anUpgradeNeverHangs_data() { rows("E2", {Need::ReadWrite}); }
    void E2_anUpgradeNeverHangs()
    {
        TRIAL(trial);
        auto &client = trial.client(0);
        auto &reader = trial.joinWith(client, Side::Read);
        auto &writer = trial.joinWith(client);
        OK(trial.takes(reader));
        const auto before = trial.claims();
        writer.acquire(after(300ms));
        EVENTUALLY(writer.granted);
        QVERIFY(!writer.holds());
        EVENTUALLY(trial.claims() == before);
        OK(trial.isHeldBy(reader));
        OK(trial.givesBack(reader));
        OK(trial.takes(writer));
    }

    void E5_readersEnterTogetherAfterAWriter_data() { rows("E5", {Need::ReadWrite}); }
    void E5_readersEnterTogetherAfterAWriter()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        for (size_t i = 0; i < 10; ++i)
            trial.joinWith(trial.client(1 + i % 3), Side::Read).acquire();
        linger(100ms);
        for (size_t i = 1; i <= 10; ++i)
            QVERIFY(!trial[i].granted);
        OK(trial.givesBack(trial[0]));
        for (size_t i = 1; i <= 10; ++i)
            OK(trial.comesToHold(trial[i])); // all of them, and none releases
        OK(trial.isRefused(trial[0]));
    }

    // All at once: one of two readers dies.
    void E6_aDeadReadersShareIsItsOwn_data() { rows("E6", {Need::ReadWrite}); }
    void E6_aDeadReadersShareIsItsOwn()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                QString wrong = t.takes(t.joinMortal(Side::Read));
                t.options.ttl = 30s;
                wrong += t.takes(t.join(Side::Read));
                return wrong + t.waits(t.join());
            },
            [this] {
                for (auto *t : sceneTrials())
                    (*t)[0].client().cut();
                linger(2500ms);
                return QString();
            });
        OK(trial.problem);
        QVERIFY(!trial[2].granted);
        OK(trial.isHeldBy(trial[1]));
        OK(trial.knowsItIsMine(trial[1]));
        OK(trial.givesBack(trial[1]));
        OK(trial.comesToHold(trial[2])); // nothing but the living was in its way
        OK(trial.isHeldBy(trial[2]));
    }

    // All at once: all readers die.
    void E7_deadReadersLetAWriterIn_data() { rows("E7", {Need::ReadWrite}); }
    void E7_deadReadersLetAWriterIn()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                QString wrong;
                for (int i = 0; i < 3; ++i)
                    wrong += t.takes(t.joinMortal(Side::Read));
                return wrong + t.waits(t.join());
            },
            [this] {
                for (auto *t : sceneTrials()) {
                    for (size_t i = 0; i < 3; ++i)
                        (*t)[i].client().cut();
                }
                return QString();
            });
        OK(trial.problem);
        OK(trial.comesToHold(trial[3]));
        OK(trial.isHeldBy(trial[3]));
        OK(trial.givesBack(trial[3]));
    }

    void E8_oneReaderTakenAwayLeavesTheOther_data() { rows("E8", {Need::ReadWrite, Need::Record}); }
    void E8_oneReaderTakenAwayLeavesTheOther()
    {
        TRIAL(trial);
        trial.options.ttl = 2s;
        auto &one = trial.join(Side::Read);
        auto &two = trial.join(Side::Read);
        auto &writer = trial.join();
        OK(trial.takes(one));
        OK(trial.takes(two));
        QVERIFY(trial.arena.takeAway(trial.name, one.grant()));
        OK(trial.knowsItIsMine(one, false));
        OK(trial.knowsItIsMine(two));
        OK(trial.isRefused(writer));
        OK(trial.givesBack(two));
        OK(trial.takes(writer));
        // And the write side: its removal frees it for a reader.
        QVERIFY(trial.arena.takeAway(trial.name, writer.grant()));
        OK(trial.takes(two));
        OK(trial.isHeldBy(two));
    }

    // A reader that comes after a waiting writer does not overtake it.
    void E10_aWaitingWriterIsNotStarved_data() { rows("E10", {Need::ReadWrite, Need::Fair}); }
    void E10_aWaitingWriterIsNotStarved()
    {
        TRIAL(trial);
        auto &early = trial.join(Side::Read);
        auto &writer = trial.join();
        auto &late = trial.join(Side::Read);
        OK(trial.takes(early));
        OK(trial.waits(writer));
        OK(trial.waits(late));
        OK(trial.givesBack(early));
        OK(trial.comesToHold(writer));
        QVERIFY(!late.granted);
        OK(trial.givesBack(writer));
        OK(trial.comesToHold(late));
        OK(trial.givesBack(late));
        OK(trial.isClean());
    }
};

LOCKSCOPE_TEST(TestContractReadWrite)
#include "tst_contract_readwrite.moc"
