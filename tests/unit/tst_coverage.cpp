// SPDX-License-Identifier: Apache-2.0
// The closing statement of an answer: it claims no more than was read and understood.
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"
#include "core/inspect/state/statesnapshot.h"
#include "tests/support/testmain.h"

#include <QJsonArray>

using namespace lockscope::inspect;

namespace {

const ConnectionName redisConnection("redis");

std::vector<Coverage> completeCoverage()
{
    return {{redisConnection, true, u"all key names were read"_s}};
}

std::vector<Coverage> coverageWithUnexplained()
{
    auto coverage = completeCoverage();
    addUnexplained(coverage, {{1, u"1 key has a lease and belongs to no lock"_s, "jobs/\x1b"}});
    return coverage;
}

LockSnapshot lowLock(const QByteArray &name, std::vector<Finding> findings)
{
    return LockSnapshot{.lock = {redisConnection, name}, .findings = std::move(findings)};
}

std::vector<Coverage> coverageWithHidden(bool hasFinding)
{
    HiddenLocks hidden;
    hide(hidden, lowLock("a", {}));
    if (hasFinding) {
        hide(hidden, lowLock("b", {{FindingCode::NoTtl, Severity::Critical, u"no expiry"_s, {}}}));
        hide(hidden, lowLock("c", {{FindingCode::Herd, Severity::Info, u"herd"_s, {}}}));
    }
    auto coverage = completeCoverage();
    addHidden(coverage, hidden);
    return coverage;
}

} // namespace

class TestCoverage : public QObject {
    Q_OBJECT
private slots:
    void completeAnswerIsPlain()
    {
        const auto coverage = completeCoverage();
        QVERIFY(isAllKnown(coverage));
        QVERIFY(gapsIn(coverage).isEmpty());
        QCOMPARE(noneFound(Question::Locks, true, coverage), u"no locks found"_s);
        QCOMPARE(noneFound(Question::Findings, true, coverage), u"no problems found"_s);
        QCOMPARE(noneFound(Question::Waits, true, coverage), u"no waiting client found"_s);
        QCOMPARE(noneFound(Question::Findings, true, coverage, false), u"no problems found on any one server"_s);
        QCOMPARE(noneFound(Question::Locks, false, coverage), u"no server could be read"_s);
    }

    void unreadPartIsReported()
    {
        const std::vector<Coverage> coverage{{redisConnection, false, u"database 3 has 1 key: not read"_s}};
        QVERIFY(!isAllKnown(coverage));
        for (const auto question : {Question::Locks, Question::Findings, Question::Waits})
            QVERIFY(noneFound(question, true, coverage).endsWith(u"that was not everything"_s));
        QCOMPARE(gapsIn(coverage), QStringList(u"Incomplete: redis: database 3 has 1 key: not read"_s));
    }

    void unexplainedEntryIsReported()
    {
        const auto coverage = coverageWithUnexplained();
        QVERIFY(!isAllKnown(coverage));
        for (const auto question : {Question::Locks, Question::Findings, Question::Waits})
            QVERIFY(noneFound(question, true, coverage).endsWith(u"not everything on the servers is understood"_s));
        QCOMPARE(gapsIn(coverage),
                 QStringList(u"not understood: redis: 1 key has a lease and belongs to no lock: jobs/\\x1B"_s));
        QJsonObject answer;
        addClosing(answer, coverage);
        const auto entry = answer[u"unexplained"_s].toArray().at(0).toObject();
        QCOMPARE(entry[u"connection"_s], u"redis"_s);
        QCOMPARE(entry[u"count"_s], 1);
        QCOMPARE(entry[u"example"_s], u"jobs/\\x1B"_s);
        QVERIFY(answer[u"coverage"_s].toArray().at(0)[u"complete"_s].toBool());
    }

    void hiddenLockWithFindingIsReported()
    {
        const auto coverage = coverageWithHidden(true);
        QVERIFY(!isAllKnown(coverage));
        QCOMPARE(noneFound(Question::Findings, true, coverage),
                 u"no problems found among the locks that are shown"_s);
        QCOMPARE(noneFound(Question::Locks, true, coverage), u"no locks of medium or high confidence found"_s);
        QCOMPARE(
            gapsIn(coverage, u"--all shows them"_s),
            QStringList(u"3 low-confidence locks are hidden, for example b; the worst finding is critical no-ttl; "
                        u"--all shows them"_s));
        QJsonObject answer;
        addClosing(answer, coverage);
        const QJsonObject expected{
            {u"count"_s, 3}, {u"withFindings"_s, 2}, {u"worst"_s, u"critical no-ttl"_s}, {u"example"_s, u"b"_s}};
        QCOMPARE(answer[u"hidden"_s].toObject(), expected);
    }

    void hiddenLockWithoutFindingIsCounted()
    {
        const auto coverage = coverageWithHidden(false);
        QVERIFY(isAllKnown(coverage));
        QCOMPARE(noneFound(Question::Findings, true, coverage), u"no problems found"_s);
        QCOMPARE(gapsIn(coverage), QStringList(u"1 low-confidence lock is hidden: a"_s));
        QJsonObject answer;
        addClosing(answer, coverage);
        QVERIFY(answer[u"hidden"_s].toObject()[u"worst"_s].isNull());
    }

    // A gap that another part of the program adds does not take away what the server shows.
    void onlyUnexplainedWaitsAreFindings()
    {
        auto coverage = coverageWithUnexplained();
        QVERIFY(findingsOfUnexplainedWaits(coverage).empty());
        addUnexplained(coverage, {{2, u"2 connections wait"_s, "connection 7", true}});
        const auto found = findingsOfUnexplainedWaits(coverage);
        QCOMPARE(found.size(), std::size_t(1));
        QCOMPARE(found[0].first, redisConnection);
        QCOMPARE(found[0].second.code, FindingCode::UnexplainedWait);
        QCOMPARE(found[0].second.severity, Severity::Warning);
        QCOMPARE(found[0].second.message, u"2 connections wait"_s);
    }

    void gapKeepsUnexplained()
    {
        const auto coverage =
            withGap(coverageWithUnexplained(), {redisConnection, false, u"the replica is behind"_s});
        QCOMPARE(coverage.size(), std::size_t(1));
        QVERIFY(!coverage.front().complete);
        QCOMPARE(coverage.front().unexplained.size(), std::size_t(1));
    }

    // As a directory or key is read again, its hidden locks are counted again.
    void storeCountsHiddenLocksBySource()
    {
        SnapshotStore store;
        auto shownLock = lowLock("shown", {});
        shownLock.confidence = Confidence::Medium;
        const auto shown = store.withoutLow("/a", {lowLock("low", {}), shownLock});
        QCOMPARE(shown.size(), std::size_t(1));
        QCOMPARE(shown.front().lock.name, QByteArray("shown"));
        (void)store.withoutLow("/b", {lowLock("other", {})});
        QCOMPARE(store.hidden().count, 2);
        (void)store.withoutLow("/a", {lowLock("low", {})});
        QCOMPARE(store.hidden().count, 2);
        (void)store.withoutLow("/a", {});
        QCOMPARE(store.hidden().count, 1);
        QCOMPARE(store.hidden().example, QByteArray("other"));
    }
};

LOCKSCOPE_TEST(TestCoverage)
#include "tst_coverage.moc"
