// SPDX-License-Identifier: Apache-2.0
// lockscopectl simulate: the exact cost of herd and predecessor in the simulated world, the same on a real
// ZooKeeper; the same seed is the same run; a real server is left as it was found.
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include <QJsonDocument>

namespace {

QJsonObject firstRun(const Ran &ran)
{
    return ran.json().value("runs"_L1).toArray().at(0).toObject();
}

} // namespace

class TestCtlSimulate : public QObject {
    Q_OBJECT

    Servers m_servers;

    [[nodiscard]] static QStringList simulating(const QString &recipe, int contenders)
    {
        return {u"simulate"_s, u"--recipe"_s, recipe, u"--contenders"_s, QString::number(contenders), u"--json"_s};
    }

private slots:
    void initTestCase() { OK(m_servers.start()); }
    void cleanupTestCase() { m_servers.stop(); }

    void theDrainCostsWhatTheAlgorithmSays_data()
    {
        QTest::addColumn<int>("contenders");
        for (const int n : {2, 10, 50, 100})
            QTest::addRow("%d contenders", n) << n;
    }
    void theDrainCostsWhatTheAlgorithmSays()
    {
        QFETCH(int, contenders);
        const qint64 n = contenders;
        const auto predecessor = firstRun(run(simulating(u"zk-mutex"_s, contenders)));
        QCOMPARE(predecessor.value("grants"_L1).toInteger(), n);
        QCOMPARE(predecessor.value("requests"_L1).toInteger(), 2 * n - 1);
        QCOMPARE(predecessor.value("watchEvents"_L1).toInteger(), n - 1);
        QCOMPARE(predecessor.value("wastedWakeups"_L1).toInteger(), 0);
        const auto herd = firstRun(run(simulating(u"zk-herd-mutex"_s, contenders)));
        QCOMPARE(herd.value("requests"_L1).toInteger(), n + n * (n - 1) / 2);
        QCOMPARE(herd.value("watchEvents"_L1).toInteger(), n * (n - 1) / 2);
        QCOMPARE(herd.value("wastedWakeups"_L1).toInteger(), n * (n - 1) / 2 - (n - 1));
        QVERIFY(herd.value("violations"_L1).toArray().isEmpty());
    }

    void theSameSeedIsTheSameRun()
    {
        const auto words = simulating(u"redisson-lock"_s, 5) + QStringList{u"--fault"_s, u"all"_s, u"--seed"_s};
        const auto hash = [&](const QString &seed) {
            return firstRun(run(words + QStringList{seed})).value("eventHash"_L1);
        };
        QVERIFY(!hash(u"7"_s).toString().isEmpty());
        QCOMPARE(hash(u"7"_s), hash(u"7"_s));
        QVERIFY(hash(u"7"_s) != hash(u"8"_s));
        const QStringList sim{u"--connect"_s, u"sim:7"_s};
        const auto bySim =
            firstRun(run(sim + simulating(u"redisson-lock"_s, 5) + QStringList{u"--fault"_s, u"all"_s}));
        QCOMPARE(bySim.value("eventHash"_L1), hash(u"7"_s));
    }

    void aViolationSaysWhatWhenAndHowToSeeItAgain()
    {
        const auto ran =
            run(simulating(u"redis-set-nx"_s, 3)
                + QStringList{u"--fault"_s, u"restart-empty"_s, u"--hold"_s, u"500ms"_s, u"--seed"_s, u"1"_s});
        QCOMPARE(ran.status, 0);
        const auto violations = firstRun(ran).value("violations"_L1).toArray();
        QVERIFY2(!violations.isEmpty(), ran.what());
        QCOMPARE(violations.at(0).toObject().value("invariant"_L1).toString(), u"exclusion"_s);
        QVERIFY(violations.at(0).toObject().value("atMs"_L1).toDouble() > 0);
    }

    // Found on demand; the command that is printed breaks the same.
    void theShortestScheduleIsToldAndReplayed()
    {
        const auto crowd = simulating(u"redis-set-nx"_s, 8)
                           + QStringList{u"--rounds"_s, u"3"_s, u"--fault"_s, u"all"_s, u"--hold"_s, u"300ms"_s};
        const auto plain = firstRun(run(crowd));
        QVERIFY(!plain.value("violations"_L1).toArray().isEmpty());
        QVERIFY(!plain.contains("shortest"_L1));
        const auto first = plain.value("violations"_L1).toArray().at(0).toObject().value("invariant"_L1);
        const auto searched = run(crowd + QStringList{u"--shrink"_s, u"100"_s});
        QCOMPARE(searched.status, 0);
        const auto shortest = firstRun(searched).value("shortest"_L1).toObject();
        QCOMPARE(shortest.value("invariant"_L1), first);
        QVERIFY(shortest.value("replays"_L1).toInt() <= 100);
        QVERIFY(shortest.value("scenario"_L1).toObject().value("contenders"_L1).toInt() < 8);
        const auto command = shortest.value("command"_L1).toString();
        QVERIFY2(command.startsWith("lockscopectl simulate --recipe redis-set-nx "_L1), qPrintable(command));
        const auto events = shortest.value("events"_L1).toArray();
        QVERIFY2(events.last().toString().contains(first.toString()), searched.out);
        const auto again = firstRun(run(command.split(u' ').mid(1) + QStringList{u"--json"_s}));
        QCOMPARE(again.value("violations"_L1).toArray().at(0).toObject().value("invariant"_L1), first);
        // As a scenario, too; and for a person without being asked.
        const auto json = QString::fromUtf8(QJsonDocument(shortest.value("scenario"_L1).toObject()).toJson());
        const auto whole = firstRun(run({u"simulate"_s, u"--scenario"_s, json, u"--json"_s}));
        QCOMPARE(whole.value("eventHash"_L1), again.value("eventHash"_L1));
        const auto told = run(command.split(u' ').mid(1));
        QVERIFY2(told.out.contains("The shortest schedule found that breaks"), told.out);
        QVERIFY2(told.out.contains("c00    joins"), told.out);
        const auto untold = run(command.split(u' ').mid(1) + QStringList{u"--shrink"_s, u"0"_s});
        QVERIFY2(!untold.out.contains("shortest"), untold.out);
    }

    void aScenarioSaysEverythingOrIsRefused()
    {
        const auto refused = [](const QStringList &words, const char *why) {
            const auto ran = run(QStringList{u"simulate"_s} + words);
            return ran.status == 2 && ran.err.contains(why);
        };
        QVERIFY(refused({u"--scenario"_s, u"{}"_s, u"--contenders"_s, u"3"_s}, "leave out --contenders"));
        QVERIFY(refused({u"--scenario"_s, u"{"_s}, "not a JSON object"));
        QVERIFY(refused({u"--scenario"_s, u"/there/is/no/such/file"_s}, "cannot read"));
        QVERIFY(refused({u"--scenario"_s, u"{\"recipe\": \"none\"}"_s}, "unknown recipe"));
        QVERIFY(refused({u"--scenario"_s, u"{\"contenders\": -1}"_s}, "contenders"));
        const QStringList two{u"--recipe"_s, u"zk-mutex"_s, u"--contenders"_s, u"2"_s};
        QVERIFY(refused(two + QStringList{u"--shrink"_s, u"many"_s}, "--shrink"));
    }

    // Fifty sessions, one each; within 5 %, as notifications may run together on a busy machine.
    void aRealZooKeeperCostsTheSame()
    {
        const QStringList connect{u"--connect"_s, m_servers.zk()};
        const double n = 50;
        const auto isNear = [](double counted, double expected) {
            return std::abs(counted - expected) <= 0.05 * expected;
        };
        Ctl predecessor(connect + simulating(u"zk-mutex"_s, 50));
        const auto one = predecessor.finish();
        const auto counted = firstRun(one);
        QCOMPARE(counted.value("world"_L1).toString(), u"zk"_s);
        QVERIFY2(isNear(counted.value("requests"_L1).toDouble(), 2 * n - 1), one.what());
        QVERIFY2(isNear(counted.value("watchEvents"_L1).toDouble(), n - 1), one.what());
        Ctl herd(connect + simulating(u"zk-herd-mutex"_s, 50));
        const auto many = herd.finish();
        QVERIFY2(isNear(firstRun(many).value("requests"_L1).toDouble(), n + n * (n - 1) / 2), many.what());
        QVERIFY2(isNear(firstRun(many).value("watchEvents"_L1).toDouble(), n * (n - 1) / 2), many.what());
        const auto tree = run(connect + QStringList{u"tree"_s, u"/"_s, u"--json"_s});
        QVERIFY2(!tree.out.contains("lockscope-simulate"), tree.out);
    }

    void productionAndRealFaultsAreRefused()
    {
        const QStringList connect{u"--connect"_s, m_servers.zk()};
        const auto production = run(connect + simulating(u"zk-mutex"_s, 2) + QStringList{u"--production"_s, u"zk"_s});
        QCOMPARE(production.status, 4);
        QVERIFY2(production.err.contains("production"), production.err);
        const auto readOnly = run(connect + simulating(u"zk-mutex"_s, 2) + QStringList{u"--read-only"_s});
        QCOMPARE(readOnly.status, 4);
        const auto faults = run(connect + simulating(u"zk-mutex"_s, 2) + QStringList{u"--fault"_s, u"crash"_s});
        QCOMPARE(faults.status, 2);
        const auto broken = run(connect + simulating(u"broken-forgets-to-look"_s, 2));
        QCOMPARE(broken.status, 2);
        QVERIFY2(broken.err.contains("only in the simulator"), broken.err);
        const auto wrong = run(connect + simulating(u"redis-set-nx"_s, 2));
        QCOMPARE(wrong.status, 2);
    }
};

LOCKSCOPE_TEST(TestCtlSimulate)
#include "tst_ctl_simulate.moc"
