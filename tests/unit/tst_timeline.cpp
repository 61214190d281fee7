// SPDX-License-Identifier: Apache-2.0
// What happened to a lock, from its history; and the note that is written of it.
#include "core/history/timeline.h"
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"
#include "core/workspace/past.h"
#include "tests/support/testmain.h"

#include <algorithm>

using namespace lockscope::history;
using inspect::Role;

namespace {

const Moment begun{std::chrono::milliseconds(1'700'000'000'000)};

// "a b c": a holds, the others wait, in order; "- b": nobody holds it; "": the lock is gone.
LockMoment seenAt(std::chrono::seconds after, const QByteArray &queue)
{
    LockMoment out{.at = begun + after};
    if (queue.isEmpty())
        return out;
    inspect::LockSnapshot lock{
        .lock = {ConnectionName("zk"), "/locks/orders"}, .recipe = "zk-mutex", .observed = out.at};
    int position = 0;
    for (const auto &id : queue.split(' ')) {
        if (id != "-") {
            inspect::Contender one{
                .id = id, .role = position == 0 ? Role::Holder : Role::Waiter, .position = position};
            lock.contenders.push_back(one);
        }
        ++position;
    }
    lock.state = lock.waiterCount() > 0   ? inspect::LockState::Contended
                 : lock.holderCount() > 0 ? inspect::LockState::Held
                                          : inspect::LockState::Free;
    out.lock = lock;
    return out;
}

LinkState stood(bool isConnected)
{
    LinkState state{.name = ConnectionName("zk")};
    state.isConnected = state.isLookedThrough = isConnected;
    return state;
}

LockHistory historyOf(std::vector<LockMoment> moments)
{
    return LockHistory{.begin = begun, .moments = std::move(moments), .connection = {{begun, stood(true)}}};
}

Act forced(std::chrono::seconds after, const QByteArray &holder, const QString &phase)
{
    // With single quotes: moc 6.4 loses its way in a raw string of double ones.
    const auto before =
        QByteArray(
            "{'state':'contended','contenders':[{'id':'a','role':'holder','identity':'billing-7'},{'id':'b','role':'waiter'}]}")
            .replace('\'', '"');
    return {begun + after,
            u"ann@host"_s,
            u"force-release"_s,
            "zk:/locks/orders",
            holder,
            u"stuck | `really`"_s,
            phase,
            phase == "result"_L1 ? u"released"_s : QString(),
            before,
            {},
            phase == "result"_L1};
}

// "0 a already holds it", one event a line; seconds since the beginning.
QString told(const Timeline &timeline)
{
    QStringList lines;
    for (const auto &event : timeline.events)
        lines << u"%1 %2%3"_s.arg(
            QString::number(std::chrono::floor<std::chrono::seconds>(event.at - begun).count()),
            event.contender.id.isEmpty() ? QString() : QString::fromUtf8(event.contender.id) + u' ', wordsOf(event));
    return lines.join(u'\n');
}

} // namespace

class TestTimeline : public QObject {
    Q_OBJECT
private slots:
    void eventsAreToldInOrder_data()
    {
        QTest::addColumn<QList<QByteArray>>("queues"); // one each ten seconds
        addColumns<QString, int>("events", "handOffs");
        const auto row = [](const char *name, const QList<QByteArray> &queues, const QString &events, int handOffs) {
            QTest::newRow(name) << queues << events << handOffs;
        };
        row("nothing", {}, {}, 0);
        row("held all the time", {"a"}, u"0 a already holds it"_s, 0);
        row("handed on", {"a b", "b"},
            u"0 a already holds it\n0 b already waits\n10 a no longer holds it\n10 b holds it"_s, 1);
        row("comes and gets it", {"a", "a b", "b"},
            u"0 a already holds it\n10 b starts to wait\n20 a no longer holds it\n"
            u"20 b holds it, having waited 10 s"_s,
            1);
        row("gives up", {"a", "a b", "a"},
            u"0 a already holds it\n10 b starts to wait\n20 b stops waiting without it, after 10 s"_s, 0);
        row("free in between", {"a b", "- b", "b"},
            u"0 a already holds it\n0 b already waits\n10 a no longer holds it\n20 b holds it"_s, 1);
        row("nobody waited", {"a", "", "b"},
            u"0 a already holds it\n10 a no longer holds it\n10 the lock no longer exists on its server\n"
            u"20 b holds it"_s,
            0);
        row("held, then let go", {"-", "a", "-"}, u"10 a holds it\n20 a no longer holds it, after 10 s"_s, 0);
    }
    void eventsAreToldInOrder()
    {
        QFETCH(QList<QByteArray>, queues);
        QFETCH(QString, events);
        QFETCH(int, handOffs);
        std::vector<LockMoment> moments;
        for (qsizetype i = 0; i < queues.size(); ++i)
            moments.push_back(seenAt(std::chrono::seconds(10 * i), queues[i]));
        const auto timeline = timelineOf(historyOf(moments));
        QCOMPARE(told(timeline), events);
        QCOMPARE(timeline.handOffs, handOffs);
    }

    void gapsAndSpansAreCounted()
    {
        const auto timeline =
            timelineOf(historyOf({seenAt(0s, "a b c"), seenAt(10s, "- b c"), seenAt(13s, "b c"), seenAt(20s, "c")}));
        QCOMPARE(timeline.gaps, (Spans{2, 0s, 3s, 3s, 3s}));
        QCOMPARE(timeline.holds, (Spans{1, 7s, 7s, 7s, 7s})); // of a the begin, of c the end is not known
        QCOMPARE(timeline.waits, Spans{});                    // nobody saw them come
    }

    void forcedReleaseIsNamedAsForced()
    {
        auto history = historyOf({seenAt(0s, "a b"), seenAt(40s, "b")});
        history.acts = {{begun + 39s, forced(39s, "a", u"intent"_s)}, {begun + 41s, forced(41s, "a", u"result"_s)}};
        const auto timeline = timelineOf(history);
        QCOMPARE(timeline.forced, 1);
        QCOMPARE(told(timeline), u"0 a already holds it\n0 b already waits\n"
                                 u"39 force-release is started by ann@host\n40 a is force-released\n40 b holds it\n"
                                 u"41 force-release by ann@host: released"_s);
        history.acts = {{begun + 1s, forced(1s, "other", u"result"_s)}};
        QCOMPARE(timelineOf(history).forced, 0);
    }

    // A client is seen to come before it is known where it is; the note names it although it is long gone.
    void contenderMayBeIdentifiedLater()
    {
        auto history = historyOf({seenAt(0s, "-"), seenAt(1s, "a b"), seenAt(2s, "a b"), seenAt(9s, "b")});
        auto &later = history.moments[2].lock->contenders;
        later[0].identity = "billing-7";
        later[1].endpoint = u"10.0.3.7:4711"_s;
        const auto timeline = timelineOf(history);
        QCOMPARE(timeline.events.size(), 4U);
        for (const auto &event : timeline.events) {
            QCOMPARE(event.contender.identity.has_value(), event.contender.id == "a");
            QCOMPARE(event.contender.endpoint.has_value(), event.contender.id == "b");
        }
        NoteFacts facts{
            .lock = *seenAt(9s, "b").lock, .asOf = begun + 10s, .connection = stood(true), .history = history};
        const auto note = incidentNote(facts);
        QVERIFY2(note.contains(u"| `a` | `billing-7` | - | no longer holds it, after 8.0 s |"_s), qPrintable(note));
    }

    // What happened while nobody looked is not measured.
    void unobservedTimeIsNotCounted()
    {
        auto history = historyOf({seenAt(0s, "-"), seenAt(1s, "a b"), seenAt(30s, "b")});
        history.connection = {{begun, stood(true)}, {begun + 10s, stood(false)}, {begun + 25s, stood(true)}};
        const auto timeline = timelineOf(history);
        QCOMPARE(timeline.holds.count, 0);
        QCOMPARE(timeline.waits.count, 0);
        QVERIFY2(told(timeline).contains(u"10 the connection broke; nothing is observed from here on\n"
                                         u"25 the connection is back"_s),
                 qPrintable(told(timeline)));
    }

    void initialScanFindsExistingHolds()
    {
        auto history = historyOf({seenAt(2s, "a")});
        auto looking = stood(true);
        looking.isLookedThrough = false;
        history.connection = {{begun, looking}, {begun + 3s, stood(true)}};
        QCOMPARE(told(timelineOf(history)), u"2 a already holds it"_s);
    }

    void percentilesAreByNearestRank()
    {
        std::vector<std::chrono::milliseconds> all;
        for (int i = 100; i > 0; --i)
            all.emplace_back(i);
        QCOMPARE(spansOf(all), (Spans{100, 50ms, 90ms, 99ms, 100ms}));
        QCOMPARE(spansOf({7ms}), (Spans{1, 7ms, 7ms, 7ms, 7ms}));
        QCOMPARE(spansOf({1ms, 9ms}), (Spans{2, 1ms, 9ms, 9ms, 9ms}));
        QCOMPARE(spansOf({}), Spans{});
    }

    void hostileTextStaysInItsCodeSpan()
    {
        QCOMPARE(codeSpan(u"plain"_s), u"`plain`"_s);
        QCOMPARE(codeSpan(u"a`b"_s), u"``a`b``"_s);
        QCOMPARE(codeSpan(u"`x``"_s), u"``` `x`` ```"_s);
        QCOMPARE(codeSpan(u"a|b"_s, true), u"`a\\|b`"_s);
        QCOMPARE(codeSpan(u"a\nb"_s), u"`a b`"_s);
        QCOMPARE(codeSpan(QString()), u"`  `"_s);
    }

    void theUsersLabelsNameClientsThroughout()
    {
        const auto history = historyOf({seenAt(0s, "a b"), seenAt(40s, "b")});
        const std::vector<inspect::ClientLabel> labels{{"a", u"billing | till"_s}};
        for (const auto &event : timelineOf(history, labels).events)
            QCOMPARE(event.contender.label, event.contender.id == "a" ? u"billing | till"_s : QString());
        NoteFacts facts{.lock = *seenAt(0s, "a b").lock, .asOf = begun + 60s, .history = history, .labels = labels};
        addLabels(facts.lock, labels);
        const auto note = incidentNote(facts);
        for (const auto &part : {u"is held by billing | till (a)"_s, u"| `a` | `billing \\| till` |"_s,
                                 u"| `billing \\| till`, `a` |"_s})
            QVERIFY2(note.contains(part), qPrintable(part + u"\n\n"_s + note));
    }

    void theNoteSaysWhatThereIsAndWhatIsNot()
    {
        NoteFacts facts{.lock = *seenAt(40s, "a b").lock};
        facts.lock.contenders[0].identity = "@everyone | `rm -rf` <b>\x1b[2J";
        facts.lock.contenders[0].heldSince = begun;
        facts.asOf = begun + 60s;
        facts.lock.serverAhead = 2s;
        facts.lock.contenders[0].program = "billing-7";
        inspect::addFinding(facts.lock, inspect::FindingCode::Herd, u"wakes 4"_s, {"a"});
        inspect::addFinding(facts.lock, inspect::FindingCode::NoTtl, u"never ends"_s, {"a"});
        facts.connection = stood(true);
        facts.connection.uri = u"zk://h:2181"_s;
        facts.coverage = {{ConnectionName("zk"), false, u"1 of 3 members answered"_s}};
        const auto once = incidentNote(facts);
        QVERIFY2(once.startsWith(u"# Incident: `zk:/locks/orders`\n\n``/locks/orders is held by "_s),
                 qPrintable(once));
        for (const auto &part :
             {u"`zk`, `zk://h:2181`"_s, u"not marked as production"_s, u"version not known"_s,
              u"2023-11-14T22:14:20.000Z, by the server's clock about 2023-11-14T22:14:22.000Z"_s,
              u"``@everyone \\| `rm -rf` <b>\\x1B[2J``"_s, u"never ends"_s, u"`1 of 3 members answered`"_s,
              u"No history: this is a single read"_s, u"None is recorded for this lock."_s})
            QVERIFY2(once.contains(part), qPrintable(part + u"\n\n"_s + once));
        QVERIFY2(once.indexOf(u"never ends"_s) < once.indexOf(u"wakes 4"_s), "the gravest comes first");
        QVERIFY2(once.contains(u"`, `billing-7`"_s), qPrintable(once));
        QVERIFY(!once.contains(QChar(0x1b)) && !once.contains(u"user `"_s) && once.contains(u"| From | For |"_s));
        auto sql = facts;
        sql.lock.backend = BackendKind::MariaDb; // its identity is the account it logged in with
        sql.lock.contenders[0].identity = "app";
        QVERIFY2(incidentNote(sql).contains(u"user `app`, `billing-7`"_s), qPrintable(incidentNote(sql)));
        QVERIFY(!once.contains(u"**PRODUCTION**"_s));

        auto failed = facts;
        failed.historyProblem = u"disk full"_s;
        failed.actsProblem = u"permission denied"_s;
        const auto gaps = incidentNote(failed);
        QVERIFY2(gaps.contains(u"The history could not be read: `disk full`"_s)
                     && gaps.contains(u"the audit log could not be read (`permission denied`)"_s)
                     && !gaps.contains(u"No history: this is a single read"_s)
                     && !gaps.contains(u"None is recorded"_s),
                 qPrintable(gaps));

        facts.connection.production = true;
        facts.history = historyOf({seenAt(0s, "a b"), seenAt(40s, "b")});
        facts.history->acts = {{begun + 41s, forced(41s, "a", u"result"_s)}};
        facts.acts = {facts.history->acts.front().second};
        const auto whole = incidentNote(facts);
        for (const auto &part :
             {u"**PRODUCTION**"_s, u"is force-released"_s, u"Forced releases: 1"_s, u"`` stuck \\| `really` ``"_s,
              u"`contended by a (billing-7); 1 waiting`"_s, u"`ann@host`"_s})
            QVERIFY2(whole.contains(part), qPrintable(part + u"\n\n"_s + whole));
        QVERIFY(!whole.contains(u"No history"_s));
        // Each row of a table has as many cells as its head.
        qsizetype cells = 0;
        for (auto line : whole.split(u'\n')) {
            const auto bars = line.remove(u"\\|"_s).count(u'|');
            QVERIFY2(bars == 0 || cells == 0 || bars == cells, qPrintable(line));
            cells = bars;
        }
    }

    void endedDeadlockIsAnEvent_data()
    {
        const Rows<bool, int> row("isTimeExact", "at"); // seconds after the recording's begin
        row("by the server's log", true, 5);            // its clock is 2 s ahead
        row("counted only", false, 9);
    }
    void endedDeadlockIsAnEvent()
    {
        QFETCH(bool, isTimeExact);
        QFETCH(int, at);
        auto history = historyOf({seenAt(0s, "a b"), seenAt(40s, "b")});
        for (auto &moment : history.moments)
            moment.lock->serverAhead = 2s;
        const inspect::EndedDeadlock deadlock{.at = begun + 7s,
                                              .isAtLatest = !isTimeExact,
                                              .parties = {{u"6"_s, "root", "UPDATE `a|b`", "/locks/orders", true},
                                                          {u"5"_s, {}, {}, "shop.b#id=2", false}}};
        history.deadlocks = {{begun + 9s, deadlock}};
        const auto timeline = timelineOf(history);
        const auto ended =
            std::ranges::find(timeline.events, TimelineEvent::Kind::DeadlockEnded, &TimelineEvent::kind);
        QVERIFY(ended != timeline.events.end());
        QCOMPARE(ended->at, begun + std::chrono::seconds(at));
        QCOMPARE(nameOf(ended->kind), u"deadlock-ended"_s);
        QCOMPARE(wordsOf(*ended), inspect::deadlockText(deadlock));
        NoteFacts facts{
            .lock = *seenAt(40s, "b").lock, .asOf = begun + 60s, .connection = stood(true), .history = history};
        facts.coverage = {{.connection = facts.lock.lock.connection, .complete = true, .endedDeadlocks = {deadlock}}};
        const auto note = incidentNote(facts);
        QVERIFY2(note.contains(u"in \"UPDATE `a\\|b`\"; connection 5 waited for lock shop.b#id=2; connection 6 was "
                               u"rolled back"_s),
                 qPrintable(note));
        QVERIFY2(note.contains(u"- info `deadlock-ended`: ``the server ended a deadlock"_s), qPrintable(note));
        facts.lock.lock.name = "/locks/other";
        facts.history.reset();
        QVERIFY(!incidentNote(facts).contains(u"deadlock-ended"_s));
    }

    void ttlChangesAreEvents_data()
    {
        const Rows<BackendKind, QString, QString> row("backend", "ttls", "events");
        row("removed", BackendKind::Redis, u"30 -"_s, u"held-at-start ttl-removed"_s);
        row("set", BackendKind::Redis, u"- 30"_s, u"held-at-start ttl-set"_s);
        row("removed, and set again", BackendKind::Redis, u"30 - 20"_s, u"held-at-start ttl-removed ttl-set"_s);
        row("shortened", BackendKind::Redis, u"30 5"_s, u"held-at-start ttl-shortened"_s);
        row("renewed", BackendKind::Redis, u"30 60"_s, u"held-at-start"_s);
        row("read a little differently", BackendKind::Redis, u"30 29.5"_s, u"held-at-start"_s);
        row("not read once", BackendKind::Redis, u"30 ? 30"_s, u"held-at-start"_s);
        row("a session's end is no TTL", BackendKind::ZooKeeper, u"30 5"_s, u"held-at-start"_s);
    }
    // "-": it never ends; "?": when it ends was not read.
    void ttlChangesAreEvents()
    {
        QFETCH(BackendKind, backend);
        QFETCH(QString, ttls);
        QFETCH(QString, events);
        std::vector<LockMoment> moments;
        for (const auto &ttl : ttls.split(u' ')) {
            auto moment = seenAt(std::chrono::seconds(moments.size()), "a");
            moment.lock->backend = backend;
            auto &holder = moment.lock->contenders.front();
            if (ttl == "-"_L1)
                inspect::addFinding(*moment.lock, inspect::FindingCode::NoTtl, u"never ends"_s, {"a"});
            else if (ttl != "?"_L1)
                holder.expiresAt = begun + std::chrono::milliseconds(qRound64(ttl.toDouble() * 1000));
            moments.push_back(moment);
        }
        QStringList names;
        for (const auto &event : timelineOf(historyOf(moments)).events)
            names << nameOf(event.kind);
        QCOMPARE(names.join(u' '), events);
    }
};

LOCKSCOPE_TEST(TestTimeline)
#include "tst_timeline.moc"
