// SPDX-License-Identifier: Apache-2.0
// From when on an age is worth a finding: the user's thresholds, what is held long by nature, and what changed.
#include "core/inspect/findings.h"
#include "core/workspace/settingsfile.h"
#include "tests/support/testmain.h"

#include <QFile>
#include <QTemporaryDir>

using namespace lockscope::inspect;

namespace {

constexpr ServerTime thresholdNoon{43'200s};

// Held since `age` ago by "h", with `waiters` that came a second ago.
LockSnapshot heldFor(std::chrono::milliseconds age, int waiters = 0, const QByteArray &name = "/locks/a")
{
    LockSnapshot lock{.lock = {ConnectionName("zk"), name}, .recipe = "curator-mutex", .observed = thresholdNoon};
    lock.contenders.resize(static_cast<std::size_t>(1 + waiters));
    for (int i = 0; i <= waiters; ++i) {
        auto &one = lock.contenders[static_cast<std::size_t>(i)];
        one.id = i == 0 ? QByteArray("h") : "w" + QByteArray::number(i);
        one.role = i == 0 ? Role::Holder : Role::Waiter;
        (i == 0 ? one.heldSince : one.waitingSince) = thresholdNoon - (i == 0 ? age : 1s);
    }
    return lock;
}

std::optional<Finding> judged(LockSnapshot lock, const std::optional<Usual> &usual = {}, Thresholds thresholds = {})
{
    addAgeFindings(lock, thresholds, usual);
    const auto *found = lock.find(FindingCode::LongHeld);
    return found ? std::optional(*found) : std::nullopt;
}

std::optional<Severity> severityOf(const std::optional<Finding> &finding)
{
    return finding ? std::optional(finding->severity) : std::nullopt;
}

// So many holds of that span, one after the other, each seen from its beginning to its end.
void play(UsualHolds &usual, int holds, std::chrono::milliseconds span)
{
    auto now = thresholdNoon;
    for (int i = 0; i < holds; ++i) {
        auto lock = heldFor(0s);
        lock.contenders[0].id = "h" + QByteArray::number(i);
        lock.contenders[0].heldSince = lock.observed = now;
        usual.note(lock);
        now += span;
    }
    auto free = heldFor(0s);
    free.contenders.clear();
    free.observed = now;
    usual.note(free);
}

} // namespace

class TestThresholds : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString path() const { return m_folder.filePath(u"thresholds.json"_s); }

private slots:
    void longHoldWithWaitersIsAWarning()
    {
        QVERIFY(!judged(heldFor(10min - 1s, 1)));
        QCOMPARE(severityOf(judged(heldFor(10min + 1s, 1))), Severity::Warning);
        QCOMPARE(severityOf(judged(heldFor(24h, 0))), Severity::Info);
    }

    // To lead for days is what leading is.
    void anElectionIsNoWarning()
    {
        auto lock = heldFor(72h, 3);
        lock.recipe = "zk-election";
        QVERIFY(!judged(lock));
        lock.recipe = "curator-leader";
        QVERIFY(!judged(lock));
        // By its name only: the client's recipe is an ordinary lock.
        for (const QByteArray name : {"/app/leader", "/app/election/1", "jobs:leader-lock", "SchedulerLeader"}) {
            auto named = heldFor(72h, 3, name);
            for (auto &contender : named.contenders)
                contender.waitingSince =
                    contender.role == Role::Waiter ? std::optional(thresholdNoon - 71h) : std::nullopt;
            addAgeFindings(named, {});
            QCOMPARE(named.findings.size(), 2u);
            QCOMPARE(named.worst(), Severity::Info);
        }
        QCOMPARE(severityOf(judged(heldFor(72h, 3, "/locks/misleader"))), Severity::Warning);
    }

    void anUpperBoundIsNoWarning()
    {
        auto lock = heldFor(72h, 3);
        lock.contenders[0].heldAtMost = true;
        QCOMPARE(severityOf(judged(lock)), Severity::Info);
    }

    void manyHoldersAreOneFinding()
    {
        auto lock = heldFor(72h, 0);
        auto second = lock.contenders[0];
        second.id = "h2";
        *second.heldSince -= 1h;
        lock.contenders.push_back(second);
        const auto found = judged(lock);
        QCOMPARE(found->contenders.size(), 2u);
        QVERIFY2(found->message.contains(u"the longest holder h2 has held it for 3 d"_s), qPrintable(found->message));
    }

    void unusuallyLongHoldIsReportedEarly()
    {
        UsualHolds usual;
        play(usual, 12, 2s);
        const auto known = usual.of("/locks/a");
        QCOMPARE(*known, (Usual{12, 2s, 2s}));
        QVERIFY(!judged(heldFor(29s, 1), known)); // ten times, but nothing to speak of
        const auto found = judged(heldFor(4min, 1), known);
        QCOMPARE(severityOf(found), Severity::Warning);
        QCOMPARE(found->message, u"held for 4 m 00 s; usually 2.0 s, at most 2.0 s in 12 holds seen"_s);
        QCOMPARE(severityOf(judged(heldFor(4min), known)), Severity::Info); // keeps nobody waiting
        QVERIFY(!judged(heldFor(4min, 1), known, {10min, 2min, 0}));
        QVERIFY(!judged(heldFor(4min, 1)));
        QCOMPARE(nextLongHeld(heldFor(0s), {}, known), thresholdNoon + 30s);
        QCOMPARE(nextLongHeld(heldFor(0s), {}, {}), thresholdNoon + 10min);
    }

    void usuallyLongHoldIsNotAWarning()
    {
        UsualHolds usual;
        play(usual, 8, 1h);
        const auto found = judged(heldFor(90min, 4), usual.of("/locks/a"));
        QCOMPARE(severityOf(found), Severity::Info);
        QVERIFY2(found->message.contains(u"; this is usual: up to 1 h 00 m in 8 holds"_s),
                 qPrintable(found->message));
        QCOMPARE(severityOf(judged(heldFor(3h, 4), usual.of("/locks/a"))), Severity::Warning);
    }

    // Seven holds are no habit, and one whose beginning nobody saw says nothing.
    void usualHoldNeedsEightObservedHolds()
    {
        UsualHolds usual;
        play(usual, 7, 2s);
        QVERIFY(!usual.of("/locks/a"));
        auto old = heldFor(5h);
        old.contenders[0].heldAtMost = true;
        usual.note(old);
        usual.noteGone("/locks/a", thresholdNoon + 1s);
        QVERIFY(!usual.of("/locks/a"));
        play(usual, 1, 4s);
        QCOMPARE(*usual.of("/locks/a"), (Usual{8, 2s, 4s}));
        play(usual, 20, 1s); // the last sixteen count
        QCOMPARE(*usual.of("/locks/a"), (Usual{16, 1s, 1s}));
    }

    // A lock per order: what is remembered of them is bounded.
    void namesThatDoNotComeBackAreForgotten()
    {
        UsualHolds usual;
        play(usual, 8, 2s);
        for (int i = 0; i < 50'000; ++i) {
            usual.note(heldFor(0s, 0, "/orders/" + QByteArray::number(i)));
            if (i % 10'000 == 0)
                play(usual, 1, 2s); // this one does come back
        }
        QVERIFY(usual.of("/locks/a"));
        for (int i = 0; i < 50'000; ++i)
            usual.note(heldFor(0s, 0, "/later/" + QByteArray::number(i)));
        QVERIFY(!usual.of("/locks/a"));
    }

    void rulesAreByPatternAndTheFirstCounts()
    {
        ThresholdRules rules;
        rules.usual = {1min, 2min, 10};
        rules.rules = {{u"zk:/batch/night*"_s, 8h, {}, {}}, {u"/batch/*"_s, 2h, 1h, {}}, {u"redis:*"_s, 5s, 5s, 3}};
        QCOMPARE(rules.of({ConnectionName("zk"), "/locks/a"}), rules.usual);
        QCOMPARE(rules.of({ConnectionName("zk"), "/batch/nightly"}), (Thresholds{8h, 1h, 10}));
        QCOMPARE(rules.of({ConnectionName("zk2"), "/batch/nightly"}), (Thresholds{2h, 1h, 10}));
        QCOMPARE(rules.of({ConnectionName("redis"), "x"}), (Thresholds{5s, 5s, 3}));
    }

    void areKeptInAFile()
    {
        QCOMPARE(*readThresholds(path()), ThresholdRules()); // no file: the defaults
        ThresholdRules rules{.usual = {90s, 24h, 0},
                             .rules = {{u"zk:/a/*"_s, 1500ms, {}, {}}, {u"*"_s, {}, 5min, 100}}};
        QVERIFY(writeThresholds(rules, path()));
        QCOMPARE(*readThresholds(path()), rules);
        QFile::remove(path());
    }

    void aBrokenFileSaysWhere_data()
    {
        const Rows<QByteArray, QString> row("text", "says");
        row("no duration", QByteArray(R"({"version":1,"longHeld":"soon"})"), u"longHeld: must be"_s);
        row("too short", QByteArray(R"({"version":1,"longWait":"10ms"})"), u"longWait: must be"_s);
        row("no pattern", QByteArray(R"({"version":1,"rules":[{"longHeld":"1m"}]})"), u"rules[0].pattern: must be"_s);
        row("no number", QByteArray(R"({"version":1,"rules":[{"pattern":"*","unusual":1}]})"),
            u"rules[0].unusual: must be from 2"_s);
        row("unknown", QByteArray(R"({"version":1,"longheld":"1m"})"), u"longheld: is not known here"_s);
        row("unknown in a rule", QByteArray(R"({"version":1,"rules":[{"pattern":"*","longhold":"1m"}]})"),
            u"rules[0].longhold: is not known here"_s);
    }
    void aBrokenFileSaysWhere()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, says);
        QFile file(path());
        QVERIFY(file.open(QFile::WriteOnly));
        file.write(text);
        file.close();
        const auto read = readThresholds(path());
        QVERIFY(!read);
        QVERIFY2(read.error().message.contains(path() + u": "_s + says), qPrintable(read.error().message));
        file.remove();
    }
};

LOCKSCOPE_TEST(TestThresholds)
#include "tst_thresholds.moc"
