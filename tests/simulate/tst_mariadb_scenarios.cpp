// SPDX-License-Identifier: Apache-2.0
// The SQL recipes, as they are, in whole runs on the simulated MariaDB.
#include "core/contention/guarantees.h"
#include "core/contention/simulation.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

#include <set>

using namespace lockscope::contention;

namespace {

Scenario scenarioOf(const QByteArray &recipe)
{
    return Scenario{.recipe = recipe, .contenders = 10, .rounds = 2, .seed = 4};
}

QByteArray complaint(const Recording &recording)
{
    QByteArray all;
    for (const auto &violation : recording.violations)
        all += violation.invariant + ": " + violation.message.toUtf8() + '\n';
    return all;
}

qint64 count(const Recording &recording, Mark mark)
{
    return std::count_if(recording.events.begin(), recording.events.end(),
                         [mark](const Event &event) { return event.mark == mark; });
}

std::vector<int> holders(const Recording &recording)
{
    std::vector<int> order;
    for (const auto &event : recording.events) {
        if (event.mark == Mark::Holds)
            order.push_back(event.contender);
    }
    return order;
}

} // namespace

class TestMariaDbScenarios : public QObject {
    Q_OBJECT

    static void recipesAsRows()
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const auto *recipe :
             {"sql-for-update", "sql-get-lock", "sql-version", "sql-shedlock", "sql-insert-mark", "sql-status-flag"})
            QTest::newRow(recipe) << QByteArray(recipe);
    }

private slots:
    void everybodyComesToAnEnd_data() { recipesAsRows(); }
    void everybodyComesToAnEnd()
    {
        QFETCH(QByteArray, recipe);
        const auto scenario = scenarioOf(recipe);
        const auto one = contention::simulate(scenario);
        QVERIFY2(one, one ? "" : qPrintable(one.error().message));
        QVERIFY2(one->violations.empty(), complaint(*one));
        QVERIFY(one->leftBehind.empty());
        QCOMPARE(count(*one, Mark::Writes) > 0, true);
        const auto again = contention::simulate(scenario);
        QVERIFY(again);
        QCOMPARE(again->eventHash, one->eventHash);
        auto other = scenario;
        other.seed = 5;
        const auto different = contention::simulate(other);
        QVERIFY(different);
        QVERIFY(different->eventHash != one->eventHash);
    }

    // All of them wait in the server, in the order they came, and each is told by its own answer.
    void aQueueIsServedInItsOrderWithoutMoreRequests_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<int>("statements"); // of one who joins and leaves
        QTest::newRow("sql-for-update") << QByteArray("sql-for-update") << 3;
        QTest::newRow("sql-get-lock") << QByteArray("sql-get-lock") << 2;
    }
    void aQueueIsServedInItsOrderWithoutMoreRequests()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(int, statements);
        const auto run = contention::simulate(scenarioOf(recipe));
        QVERIFY(run);
        std::vector<int> expected;
        for (int i = 0; i < 20; ++i)
            expected.push_back(i % 10);
        QCOMPARE(holders(*run), expected);
        QCOMPARE(run->counters.allRequests, 20 * statements);
        QCOMPARE(run->counters.longestOverlap.count(), 0);
    }

    // An index on the column that says which row: those of different rows have nothing to do with each other.
    void rowsAreLockedOneByOneWhereThereIsAnIndex_data()
    {
        QTest::addColumn<bool>("isIndexed");
        QTest::addColumn<int>("together"); // hold at most
        QTest::newRow("with an index") << true << 3;
        QTest::newRow("without one") << false << 1;
    }
    void rowsAreLockedOneByOneWhereThereIsAnIndex()
    {
        QFETCH(bool, isIndexed);
        QFETCH(int, together);
        auto scenario = scenarioOf("sql-for-update");
        scenario.contenders = 6;
        scenario.rows = 3;
        scenario.isIndexed = isIndexed;
        const auto run = contention::simulate(scenario);
        QVERIFY2(run, run ? "" : qPrintable(run.error().message));
        QVERIFY2(run->violations.empty(), complaint(*run));
        QVERIFY(run->leftBehind.empty());
        int now = 0, most = 0;
        for (const auto &event : run->events) {
            now += event.mark == Mark::Holds ? 1 : event.mark == Mark::Releases ? -1 : 0;
            most = std::max(most, now);
        }
        QCOMPARE(most, together);
        QCOMPARE(count(*run, Mark::Holds), 6 * scenario.rounds);
    }
    void rowsAreForWhoLooksForOne()
    {
        for (const auto *recipe :
             {"sql-get-lock", "sql-version", "sql-shedlock", "sql-insert-mark", "pg-for-update", "zk-mutex"}) {
            auto scenario = scenarioOf(recipe);
            scenario.rows = 2;
            const auto run = contention::simulate(scenario);
            QVERIFY2(!run && run.error().message.contains(QStringLiteral("several rows")), recipe);
        }
    }

    // They all hold at once; one of them wins each time, and the others do their work again.
    void anOptimisticLockWorksInVainButLosesNothing()
    {
        const auto run = contention::simulate(scenarioOf("sql-version"));
        QVERIFY(run);
        QCOMPARE(count(*run, Mark::Writes), 20);
        const auto conflicts = count(*run, Mark::GivesUp);
        QVERIFY(conflicts > 0);
        QCOMPARE(count(*run, Mark::Holds), 20 + conflicts);
        std::set<qint64> versions;
        for (const auto &event : run->events) {
            if (event.mark == Mark::GivesUp)
                QVERIFY2(event.what.startsWith("conflict"), event.what);
            if (event.mark == Mark::Writes)
                versions.insert(event.token);
        }
        QCOMPARE(versions.size(), std::size_t(20));
        QCOMPARE(*versions.begin(), 1);
        QCOMPARE(*versions.rbegin(), 20);
    }

    // Whatever goes wrong on the way: nothing is stuck, nothing stays, no write is lost. Only who is killed while
    // it holds believes on for a while, and that is seen.
    void faultsOnTheWay_data()
    {
        addColumns<QByteArray, int>("recipe", "fault");
        for (const auto *recipe : {"sql-for-update", "sql-get-lock", "sql-version"}) {
            for (const auto kind : faultsFor(recipe))
                QTest::addRow("%s %s", recipe, nameOf(kind).constData()) << QByteArray(recipe) << int(kind);
        }
    }
    void faultsOnTheWay()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(int, fault);
        const auto kind = static_cast<FaultKind>(fault);
        const bool mayBreak =
            recipe != "sql-version" && (kind == FaultKind::Expire || kind == FaultKind::ForceRelease);
        int believers = 0;
        // What may break does not in each; what holds is counted in release, and looked at under a sanitizer.
        const quint64 many = mayBreak || testing::sanitizerShare == 1 ? 20 : 2;
        for (quint64 seed = 1; seed <= many; ++seed) {
            auto scenario = scenarioOf(recipe);
            scenario.seed = seed;
            scenario.contenders = 6;
            scenario.faults = {kind};
            const auto run = contention::simulate(scenario);
            QVERIFY(run);
            for (const auto &violation : run->violations) {
                // What its process keeps alive does not end when its thread does.
                if (kind == FaultKind::DeadThread && recipe != "sql-version" && violation.invariant == "progress")
                    continue;
                const bool isBelief = violation.invariant == "exclusion" || violation.invariant == "effect";
                QVERIFY2(mayBreak && isBelief, "seed " + QByteArray::number(seed) + ": " + complaint(*run));
                ++believers;
            }
        }
        QCOMPARE(believers > 0, mayBreak);
    }

    // What is given back behind a partition arrives when the same session wants the lock again: it must not hit that.
    void lateReleaseChangesNothing_data() { recipesAsRows(); }
    void lateReleaseChangesNothing()
    {
        QFETCH(QByteArray, recipe);
        for (quint64 seed = 1; seed <= (testing::sanitizerShare == 1 ? 40 : 4); ++seed) {
            auto scenario = scenarioOf(recipe);
            scenario.seed = seed;
            scenario.hold = std::chrono::seconds(3);
            scenario.wait = std::chrono::seconds(2);
            scenario.planned = {{FaultKind::Partition, std::chrono::milliseconds(10 * seed), int(seed % 2),
                                 std::chrono::seconds(seed % 4 < 2 ? 9 : 20)}};
            const auto run = contention::simulate(scenario);
            QVERIFY(run);
            for (const auto &violation : run->violations) { // of a lock that nothing ends something may stay
                const auto rule = guaranteeRule(recipe, FaultKind::Partition, violation.invariant, false);
                QVERIFY2(rule.mayBreak() && violation.invariant == "cleanliness", complaint(*run));
            }
        }
    }

    // The answer to its UPDATE is lost: nobody can tell whose flag it is, and nobody is told that it is his.
    void aFlagWhoseAnswerIsLostIsNobodys()
    {
        int stuck = 0;
        for (int step = 0; step < 60; ++step) {
            auto scenario = scenarioOf("sql-status-flag");
            scenario.contenders = 2;
            scenario.rounds = 1;
            scenario.wait = 2s;
            scenario.planned = {{FaultKind::LoseReply, step * 100us, step % 2, 0ms}};
            const auto run = contention::simulate(scenario);
            QVERIFY(run);
            QVERIFY2(
                std::ranges::none_of(run->violations, [](const auto &one) { return one.invariant == "exclusion"; }),
                complaint(*run));
            if (run->leftBehind.empty())
                continue;
            ++stuck;
            QVERIFY(count(*run, Mark::GivesUp) > 0);
        }
        QVERIFY(stuck > 0);
    }

    // A supervisor deletes marks that are older than its limit, and cannot know whether their clients still work.
    void aSupervisorIsTooSoonOrTooLate_data()
    {
        const Rows<int, bool, bool, int> row("seconds", "dies", "twoHold", "waitsAtLeast");
        row("without one", 0, false, false, 0);
        row("sooner than the work is done", 1, false, true, 0);
        row("soon after a crash", 4, true, false, 4);
        row("late after a crash", 20, true, false, 20);
    }
    void aSupervisorIsTooSoonOrTooLate()
    {
        QFETCH(int, seconds);
        QFETCH(bool, dies);
        QFETCH(bool, twoHold);
        QFETCH(int, waitsAtLeast);
        auto scenario = scenarioOf("sql-insert-mark");
        scenario.contenders = 3;
        scenario.rounds = 1;
        scenario.hold = 3s;
        if (dies)
            scenario.planned = {{FaultKind::Crash, 500ms, 0, 0ms}};
        for (int at = 1; seconds > 0 && at < 40; ++at)
            scenario.acts.push_back({std::chrono::seconds(at), 2,
                                     "DELETE FROM sim.lock_marks WHERE created_at < UTC_TIMESTAMP(3) - INTERVAL "
                                         + QByteArray::number(seconds) + " SECOND"});
        const auto run = contention::simulate(scenario);
        QVERIFY2(run, run ? "" : qPrintable(run.error().message));
        QCOMPARE(run->counters.longestOverlap > 500ms, twoHold);
        QCOMPARE(run->violations.empty(), !twoHold);
        QCOMPARE(run->counters.grants, 3);
        QVERIFY(run->leftBehind.empty());
        QVERIFY(run->counters.waits.max >= std::chrono::seconds(waitsAtLeast));
    }

    // It asks once a second whether its connection still stands.
    void killedHolderOverlapsForASecondAtMost()
    {
        contention::Moment longest{};
        for (quint64 seed = 1; seed <= 20; ++seed) {
            auto scenario = scenarioOf("sql-for-update");
            scenario.seed = seed;
            scenario.contenders = 4;
            scenario.hold = 5s;
            scenario.faults = {FaultKind::ForceRelease};
            const auto run = contention::simulate(scenario);
            QVERIFY(run);
            longest = std::max(longest, run->counters.longestOverlap);
        }
        QVERIFY(longest > 100ms);
        QVERIFY2(longest <= 1s + 10ms, QByteArray::number(longest.count()));
    }
};

LOCKSCOPE_TEST(TestMariaDbScenarios)
#include "tst_mariadb_scenarios.moc"
