// SPDX-License-Identifier: Apache-2.0
// E: readers together, writers alone.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope::contract;

class TestContractReadWrite : public Fixture {
    Q_OBJECT

public:
    TestContractReadWrite() : Fixture('E') {}

private slots:
    void E1_readersTogetherWritersAlone_data() { rows("E1", {Need::ReadWrite}); }
    void E1_readersTogetherWritersAlone()
    {
        TRIAL(test);
        for (int i = 0; i < 3; ++i)
            OK(test.takes(test.join(Side::Read)));
        for (int i = 0; i < 3; ++i)
            OK(test.isHeldBy(test[size_t(i)]));
        auto &writer = test.join();
        OK(test.isRefused(writer));
        for (int i = 0; i < 3; ++i)
            OK(test.givesBack(test[size_t(i)]));
        OK(test.takes(writer));
        OK(test.isRefused(test[0]));
        auto &another = test.join();
        OK(test.isRefused(another));
        OK(test.givesBack(writer));
        OK(test.isClean());
    }

    void E1_writersExcludeUnderLoad_data() { rows("E1", {Need::ReadWrite}); }
    void E1_writersExcludeUnderLoad()
    {
        TRIAL(test);
        for (int i = 0; i < 3; ++i)
            test.join();
        TestCase readers(test.environment, test.recipe);
        Tally written, read;
        std::vector<Contender *> reading;
        for (int i = 0; i < 3; ++i)
            reading.push_back(&test.joinWith(test.client(size_t(i)), Side::Read));
        Scope scope(m_loop);
        for (size_t i = 0; i < 3; ++i) {
            scope.launch(contend(&test[i], &m_loop, 3, &written));
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
        OK(test.isClean());
    }

    // A reader of the same client that asks to write: refused or out of time, never for ever.
    void E2_anUpgradeNeverHangs_data() { rows("E2", {Need::ReadWrite}); }
    void E2_anUpgradeNeverHangs()
    {
        TRIAL(test);
        auto &client = test.client(0);
        auto &reader = test.joinWith(client, Side::Read);
        auto &writer = test.joinWith(client);
        OK(test.takes(reader));
        const auto before = test.claims();
        writer.acquire(after(300ms));
        EVENTUALLY(writer.granted);
        QVERIFY(!writer.holds());
        EVENTUALLY(test.claims() == before);
        OK(test.isHeldBy(reader));
        OK(test.givesBack(reader));
        OK(test.takes(writer));
    }

    void E5_readersEnterTogetherAfterAWriter_data() { rows("E5", {Need::ReadWrite}); }
    void E5_readersEnterTogetherAfterAWriter()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        for (size_t i = 0; i < 10; ++i)
            test.joinWith(test.client(1 + i % 3), Side::Read).acquire();
        linger(100ms);
        for (size_t i = 1; i <= 10; ++i)
            QVERIFY(!test[i].granted);
        OK(test.givesBack(test[0]));
        for (size_t i = 1; i <= 10; ++i)
            OK(test.comesToHold(test[i])); // all of them, and none releases
        OK(test.isRefused(test[0]));
    }

    // All at once: one of two readers dies.
    void E6_aDeadReadersShareIsItsOwn_data() { rows("E6", {Need::ReadWrite}); }
    void E6_aDeadReadersShareIsItsOwn()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                QString wrong = t.takes(t.joinMortal(Side::Read));
                t.options.ttl = 30s;
                wrong += t.takes(t.join(Side::Read));
                return wrong + t.waits(t.join());
            },
            [this] {
                for (auto *t : sceneTests())
                    (*t)[0].client().cut();
                linger(2500ms);
                return QString();
            });
        OK(test.problem);
        QVERIFY(!test[2].granted);
        OK(test.isHeldBy(test[1]));
        OK(test.knowsItIsMine(test[1]));
        OK(test.givesBack(test[1]));
        OK(test.comesToHold(test[2])); // nothing but the living was in its way
        OK(test.isHeldBy(test[2]));
    }

    // All at once: all readers die.
    void E7_deadReadersLetAWriterIn_data() { rows("E7", {Need::ReadWrite}); }
    void E7_deadReadersLetAWriterIn()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                QString wrong;
                for (int i = 0; i < 3; ++i)
                    wrong += t.takes(t.joinMortal(Side::Read));
                return wrong + t.waits(t.join());
            },
            [this] {
                for (auto *t : sceneTests()) {
                    for (size_t i = 0; i < 3; ++i)
                        (*t)[i].client().cut();
                }
                return QString();
            });
        OK(test.problem);
        OK(test.comesToHold(test[3]));
        OK(test.isHeldBy(test[3]));
        OK(test.givesBack(test[3]));
    }

    void E8_oneReaderTakenAwayLeavesTheOther_data() { rows("E8", {Need::ReadWrite, Need::Record}); }
    void E8_oneReaderTakenAwayLeavesTheOther()
    {
        TRIAL(test);
        test.options.ttl = 2s;
        auto &one = test.join(Side::Read);
        auto &two = test.join(Side::Read);
        auto &writer = test.join();
        OK(test.takes(one));
        OK(test.takes(two));
        QVERIFY(test.environment.takeAway(test.name, one.grant()));
        OK(test.knowsItIsMine(one, false));
        OK(test.knowsItIsMine(two));
        OK(test.isRefused(writer));
        OK(test.givesBack(two));
        OK(test.takes(writer));
        // And the write side: its removal frees it for a reader.
        QVERIFY(test.environment.takeAway(test.name, writer.grant()));
        OK(test.takes(two));
        OK(test.isHeldBy(two));
    }

    // A reader that comes after a waiting writer does not overtake it.
    void E10_aWaitingWriterIsNotStarved_data() { rows("E10", {Need::ReadWrite, Need::Fair}); }
    void E10_aWaitingWriterIsNotStarved()
    {
        TRIAL(test);
        auto &early = test.join(Side::Read);
        auto &writer = test.join();
        auto &late = test.join(Side::Read);
        OK(test.takes(early));
        OK(test.waits(writer));
        OK(test.waits(late));
        OK(test.givesBack(early));
        OK(test.comesToHold(writer));
        QVERIFY(!late.granted);
        OK(test.givesBack(writer));
        OK(test.comesToHold(late));
        OK(test.givesBack(late));
        OK(test.isClean());
    }
};

LOCKSCOPE_TEST(TestContractReadWrite)
#include "tst_contract_readwrite.moc"
