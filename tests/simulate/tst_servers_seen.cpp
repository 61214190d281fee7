// SPDX-License-Identifier: Apache-2.0
// What a run tells beside its events: what stood on the servers when, which messages there were, and why something
// did not hold, as one would tell it.
#include "core/contention/recording.h"
#include "tests/simulate/played.h"
#include "tests/support/testmain.h"

using namespace lockscope::contention;

namespace {

bool stoodThere(const Recording &run, const QByteArray &words)
{
    return std::ranges::any_of(run.history.changes,
                               [&](const ServerChange &change) { return change.line.text.contains(words); });
}

} // namespace

class TestServersSeen : public QObject {
    Q_OBJECT
private slots:
    void serverListsHoldersAndWaiters_data()
    {
        addColumns<QByteArray, QByteArray>("recipe", "words");
        QTest::newRow("a node and its watch") << QByteArray("zk-mutex") << QByteArray("of c00, watched by c01");
        QTest::newRow("the children's watches")
            << QByteArray("zk-herd-mutex") << QByteArray("children watched by c01 c02");
        QTest::newRow("a row and its queue")
            << QByteArray("sql-for-update") << QByteArray("locked by c00, queue: c01 c02");
        QTest::newRow("a named lock") << QByteArray("sql-get-lock") << QByteArray("locked by c00, queue: c01 c02");
        QTest::newRow("a row with a time") << QByteArray("sql-shedlock") << QByteArray("by ");
        QTest::newRow("a mark") << QByteArray("sql-insert-mark") << QByteArray("by ");
        QTest::newRow("a flag") << QByteArray("sql-status-flag") << QByteArray("status 1, version 3");
        QTest::newRow("a version") << QByteArray("sql-version") << QByteArray("version 3");
        QTest::newRow("a constant") << QByteArray("redis-setnx-expire") << QByteArray("= 1");
        QTest::newRow("a hash's field") << QByteArray("redisson-lock") << QByteArray(": 1 }");
    }
    void serverListsHoldersAndWaiters()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(QByteArray, words);
        const auto run = play(scenarioFor(recipe, 3));
        QVERIFY(run.history.isKept && !run.history.until);
        QStringList all;
        for (const auto &change : run.history.changes)
            all << QString::fromLatin1(change.line.name + ": " + change.line.text);
        QVERIFY2(stoodThere(run, words), qPrintable(all.join(QLatin1Char('\n'))));
        // In the end nothing of the lock is there any more, unless it is a row.
        QVERIFY(std::ranges::is_sorted(run.history.changes, {}, &ServerChange::at));
    }

    void aLeaseRunsOut()
    {
        const auto run = play(scenarioFor("redis-set-nx", 2));
        const auto had = std::ranges::find_if(
            run.history.changes, [](const ServerChange &change) { return change.line.ends.has_value(); });
        QVERIFY(had != run.history.changes.end());
        QCOMPARE(std::chrono::round<std::chrono::milliseconds>(*had->line.ends - had->at), 3000ms);
    }

    void serversThatRestartEmptyAreSeenDownAndUp()
    {
        auto scenario = scenarioFor("redlock", 2);
        scenario.hold = 500ms;
        scenario.planned = {{FaultKind::RestartEmpty, 100ms, 0, 200ms}};
        const auto run = play(scenario);
        QCOMPARE(run.history.servers, 5);
        int down = 0, up = 0;
        for (const auto &change : run.history.changes) {
            down += change.line.name.isEmpty() && change.line.text == "down";
            up += change.line.name.isEmpty() && change.line.text == "up";
        }
        QCOMPARE(down, 3);
        QCOMPARE(up, 3);
    }

    // Somebody chose which one.
    void oneOfSeveralServersRestarts()
    {
        auto scenario = scenarioFor("redlock", 2);
        scenario.hold = 500ms;
        PlannedFault restart{FaultKind::RestartEmpty, 100ms, 0, 200ms};
        restart.only = 3;
        scenario.planned = {restart};
        const auto read = Scenario::fromJson(scenario.toJson());
        QVERIFY(read && *read == scenario);
        const auto run = play(*read);
        QList<int> down;
        for (const auto &change : run.history.changes) {
            if (change.line.name.isEmpty() && change.line.text == "down")
                down << change.line.server;
        }
        QCOMPARE(down, QList<int>{3});
    }

    // A follower has what it has applied, not what the leader has.
    void eachMemberOfAnEnsembleHasItsOwn()
    {
        auto scenario = scenarioFor("zk-mutex", 2);
        scenario.hold = 500ms;
        scenario.servers = 3;
        scenario.planned = {{FaultKind::Lag, 50ms, 0, 400ms}};
        scenario.acts = {{20ms, 1, "create /sim/config v1"}, {60ms, 1, "set /sim/config v2"}};
        const auto run = play(scenario);
        std::map<int, Moment> changed;
        for (const auto &change : run.history.changes) {
            if (change.line.text.startsWith("= v2"))
                changed.emplace(change.line.server, change.at);
        }
        QCOMPARE(changed.size(), 3u);
        QVERIFY(changed[1] > changed[0] + 10ms && changed[2] > changed[0] + 10ms);
    }

    void messagesGoBothWaysAndSomeAreLost()
    {
        auto scenario = scenarioFor("zk-mutex", 3);
        const auto well = play(scenario);
        QVERIFY(!well.history.messages.empty());
        for (const auto &message : well.history.messages) {
            QVERIFY(message.contender >= 0 && message.contender < 3);
            QVERIFY(message.arrives && *message.arrives > message.at);
        }
        scenario.planned = {{FaultKind::LoseRequest, 5ms, 0, 0ms}};
        const auto badly = play(scenario);
        QVERIFY(std::ranges::any_of(badly.history.messages,
                                    [](const SentMessage &message) { return !message.arrives && message.toServer; }));
    }

    void lookingChangesNothing_data()
    {
        const Rows<QByteArray> row("recipe");
        for (const auto *recipe : {"zk-shared", "redisson-fair-lock", "redlock", "sql-for-update"})
            row(recipe, QByteArray(recipe));
    }
    void lookingChangesNothing()
    {
        QFETCH(QByteArray, recipe);
        auto scenario = scenarioFor(recipe, 4);
        scenario.faults = faultsFor(recipe);
        const auto seen = play(scenario);
        scenario.keepsEvents = false; // nobody looks then
        const auto unseen = play(scenario);
        QVERIFY(seen.history.isKept && !unseen.history.isKept);
        QCOMPARE(seen.eventHash, unseen.eventHash);
    }

    void itIsInTheFile()
    {
        auto scenario = scenarioFor("redlock", 2);
        scenario.planned = {{FaultKind::RestartEmpty, 20ms, 0, 50ms}};
        const auto run = play(scenario);
        const auto read = Recording::load(run.save());
        QVERIFY2(read, read ? "" : qPrintable(read.error().message));
        QVERIFY(read->history.isKept);
        QCOMPARE(read->history.changes.size(), run.history.changes.size());
        QCOMPARE(read->history.messages.size(), run.history.messages.size());
        QVERIFY(read->history.changes.back().line == run.history.changes.back().line);
        QCOMPARE(read->save(), run.save());
        // A server that is not there.
        auto wrong = run;
        wrong.history.changes.front().line.server = 7;
        QVERIFY(!Recording::load(wrong.save()));
    }

    void ownersAndWatchersAreRecorded()
    {
        const auto run = play(scenarioFor("zk-mutex", 3));
        const auto isWatchOfSecond = [](const ServerChange &change) {
            return change.line.owner == 0 && change.line.watchers == std::vector<int>{1};
        };
        QVERIFY(std::ranges::any_of(run.history.changes, isWatchOfSecond));
        const auto read = Recording::load(run.save());
        QVERIFY(read && std::ranges::any_of(read->history.changes, isWatchOfSecond));
        // A contender that is not there.
        auto wrong = run;
        wrong.history.changes.front().line.owner = 3;
        QVERIFY(!Recording::load(wrong.save()));
    }

    void violationIsExplainedAsAStory()
    {
        auto scenario = scenarioFor("zk-mutex", 3);
        scenario.hold = 400ms;
        scenario.planned = {{FaultKind::Pause, 100ms, 0, 8s}};
        const auto run = play(scenario);
        QVERIFY(broke(run, "exclusion") && broke(run, "effect"));
        for (const auto &violation : run.violations) {
            const auto story = explain(run, violation);
            if (violation.invariant == "effect") {
                for (const auto *part : {"c00 got the lock at ", "c00 was paused at 0.10 s, for 8.00 s",
                                         "its lock no longer existed on the server at ", "c01 got the lock at ",
                                         "at 8.10 s c00 woke and wrote"})
                    QVERIFY2(story.contains(QLatin1String(part)), qPrintable(story));
            } else if (violation.invariant == "exclusion") {
                QVERIFY2(story.contains(QLatin1String("and c00 did not know")), qPrintable(story));
            }
        }
    }

    // A lease that ended is named as the cause, by its own moment.
    void aLeaseThatEndedIsNamed()
    {
        auto scenario = scenarioFor("redis-set-nx", 2);
        scenario.hold = 400ms;
        scenario.ttl = 2s;
        scenario.planned = {{FaultKind::Pause, 100ms, 0, 8s}};
        const auto run = play(scenario);
        QVERIFY(broke(run, "exclusion"));
        const auto story = explain(run, run.violations.front());
        QVERIFY2(story.contains(
                     QLatin1String("c00 was paused at 0.10 s, for 8.00 s; its lease ended on the server at 2.")),
                 qPrintable(story));
    }

    // Who left it, and why: not only that something is there.
    void leftoverHasACause()
    {
        auto scenario = scenarioFor("redis-setnx-expire", 3);
        scenario.ttl = 3s;
        scenario.wait = 6s;
        scenario.planned = {{FaultKind::Crash, 1100us, 0, 0ms}};
        const auto run = play(scenario);
        QVERIFY(broke(run, "cleanliness"));
        const auto story = explain(run, run.violations.back());
        QStringList parts = story.split(u"; "_s);
        QVERIFY2(parts.size() == 4, qPrintable(story));
        QVERIFY2(parts[0].startsWith(u"c00 made sim-lock at 0.00"_s), qPrintable(story));
        QVERIFY2(parts[1].startsWith(u"c00 died at 0.00"_s), qPrintable(story));
        QCOMPARE(parts[2], u"it has no TTL, and no other client may delete it"_s);
        QVERIFY2(parts[3].startsWith(u"left behind: sim-lock at "_s), qPrintable(story));
    }

    // Who waits for ever does so because of one who came after the last that had it.
    void endlessWaitHasACause()
    {
        auto scenario = scenarioFor("redis-setnx-expire", 4);
        scenario.seed = 6;
        scenario.faults = {FaultKind::Crash};
        const auto run = play(scenario);
        QVERIFY(broke(run, "progress"));
        const auto stuck = std::ranges::find(run.violations, QByteArray("progress"), &Violation::invariant);
        const auto parts = explain(run, *stuck).split(u"; "_s);
        QVERIFY2(parts.size() == 5, qPrintable(parts.join(u'\n')));
        QVERIFY2(parts[0].startsWith(u"c03 was the last to get the lock at "_s), qPrintable(parts[0]));
        QVERIFY2(parts[1].startsWith(u"c02 made sim-lock at "_s), qPrintable(parts[1]));
        QVERIFY2(parts[2].startsWith(u"c02 died at "_s), qPrintable(parts[2]));
        QVERIFY2(parts[4].startsWith(u"c01: still waits"_s), qPrintable(parts[4]));
    }

    // acquire(2 s), two times, is one wait of 4 s, and one that gave up.
    void aWaitGoesOnWithTheNextTry()
    {
        auto scenario = scenarioFor("curator-mutex", 2);
        scenario.hold = 10s;
        scenario.wait = 2s;
        scenario.tries = 2;
        const auto run = play(scenario);
        QCOMPARE(run.counters.gaveUp, 1);
        QVERIFY(run.counters.waits.max >= 4s && run.counters.waits.max < 4500ms);
        auto longer = scenario;
        longer.tries = 6; // it gets it at 10 s
        const auto granted = play(longer);
        QCOMPARE(granted.counters.grants, 2);
        QCOMPARE(granted.counters.gaveUp, 0);
        QVERIFY(granted.counters.waits.max > 9s);
    }

    // Whoever holds by a process that lives keeps the lock, whatever its threads do; a lease that nobody renews ends.
    void aDeadThreadKeepsWhatItsProcessKeepsAlive_data()
    {
        const Rows<QByteArray, bool> row("recipe", "isKept");
        row("a session", "zk-mutex", true);
        row("a watchdog", "redisson-lock", true);
        row("a connection", "sql-for-update", true);
        row("a TTL", "redis-setnx-expire", false);
    }
    void aDeadThreadKeepsWhatItsProcessKeepsAlive()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(bool, isKept);
        auto scenario = scenarioFor(recipe, 3);
        scenario.hold = 200ms;
        scenario.planned = {{FaultKind::DeadThread, 50ms, 0, 0ms}};
        const auto run = play(scenario);
        QCOMPARE(broke(run, "progress"), isKept);
        QCOMPARE(run.counters.grants, isKept ? 1 : 3);
    }

    // Of two locks the first that is had was not waited for in vain.
    void aWakeUpThatWonOneOfTwoLocksIsNotInVain()
    {
        auto scenario = scenarioFor("zk-mutex", 3);
        scenario.locks = 2;
        const auto run = play(scenario);
        QCOMPARE(run.counters.grants, 3);
        QCOMPARE(std::ranges::count(run.events, Mark::Gets, &Event::mark), 6);
        QCOMPARE(run.counters.wastedWakeups, 0);
    }
};

LOCKSCOPE_TEST(TestServersSeen)
#include "tst_servers_seen.moc"
