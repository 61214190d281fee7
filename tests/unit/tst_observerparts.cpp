// SPDX-License-Identifier: Apache-2.0
// The observer's pure parts: which directories to read, when two snapshots say the same, who the sessions
// are, what the coverage says.
#include "core/inspect/findings.h"
#include "core/inspect/observer.h"
#include "core/inspect/pace.h"
#include "core/inspect/state/statesnapshot.h"
#include "core/inspect/zookeeper/observercrawl.h"
#include "core/inspect/zookeeper/observerjudge.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

LockSnapshot snapshot(const QByteArray &name, std::vector<QByteArray> contenders = {"a", "b"})
{
    LockSnapshot lock{.lock = {ConnectionName("zk"), name}, .recipe = "zk-mutex"};
    for (const auto &id : contenders) {
        lock.contenders.push_back({.id = id,
                                   .role = lock.contenders.empty() ? Role::Holder : Role::Waiter,
                                   .session = u"0x"_s + QString::fromLatin1(id)});
    }
    return lock;
}

zk::Evidence::Answer answer(int answered, int members, const QString &refusal = {})
{
    return {members, answered, {}, refusal};
}

} // namespace

class TestZooKeeperObserverParts : public QObject {
    Q_OBJECT
    static Cost costOf(const AskedRate &rate)
    {
        Cost cost;
        rate.putInto(cost);
        return cost;
    }
private slots:
    // What is asked and what the servers count are of one span: neither is newer than the other.
    void oursAndAllAreOfOneSpan()
    {
        const Instant start(100s);
        AskedRate rate;
        rate.note(start, 0);
        rate.note(start + 2s, 20);
        QCOMPARE(costOf(rate), (Cost{0, 0, 0, 10.0}));
        rate.noteServed(start + 3s, 25, 1'000'000);
        QVERIFY(!costOf(rate).servedPerSecond); // since when they count is not known
        rate.note(start + 4s, 30);
        QCOMPARE(costOf(rate), (Cost{0, 0, 0, 5.0}));
        rate.noteServed(start + 13s, 65, 1'020'000);
        QCOMPARE(costOf(rate), (Cost{0, 0, 0, 4.0, 2000.0}));
        rate.note(start + 14s, 1000);
        QCOMPARE(costOf(rate), (Cost{0, 0, 0, 4.0, 2000.0}));
        rate.noteServed(start + 13s + 100ms, 1000, 1'030'000); // too soon for a rate
        QCOMPARE(costOf(rate), (Cost{0, 0, 0, 4.0, 2000.0}));
        rate.noteServed(start + 23s, 1065, 1'030'000);
        QCOMPARE(costOf(rate), (Cost{0, 0, 0, 100.0, 1000.0}));
    }
    void restartedServerCountIsNotMeasured_data()
    {
        QTest::addColumn<qint64>("served"); // -1: not told
        QTest::addColumn<int>("servers");
        QTest::newRow("began anew") << qint64(50) << 3;
        QTest::newRow("one more member") << qint64(900'000) << 4;
        QTest::newRow("not told") << qint64(-1) << 3;
    }
    void restartedServerCountIsNotMeasured()
    {
        QFETCH(const qint64, served);
        QFETCH(const int, servers);
        const Instant start(100s);
        AskedRate rate;
        rate.noteServed(start, 0, 1000, 3);
        rate.noteServed(start + 10s, 50, 11'000, 3);
        QCOMPARE(costOf(rate), (Cost{0, 0, 0, 5.0, 1000.0}));
        rate.noteServed(start + 20s, 100, served < 0 ? std::nullopt : std::optional(served), servers);
        QVERIFY(!costOf(rate).servedPerSecond);
        rate.note(start + 21s, 165);
        QCOMPARE(costOf(rate).requestsPerSecond, 115.0 / 11); // since the last that was told
        if (served < 0)
            return;
        rate.noteServed(start + 30s, 200, served + 5000, servers);
        QCOMPARE(costOf(rate), (Cost{0, 0, 0, 10.0, 500.0}));
    }

    void theChrootIsStrippedAtItsBoundary_data()
    {
        addColumns<QByteArray, QByteArray>("chroot", "path");
        QTest::addColumn<QByteArray>("parent"); // empty: outside
        const auto row = [](const char *chroot, const char *path, const char *parent) {
            QTest::addRow("%s in '%s'", path, chroot) << QByteArray(chroot) << QByteArray(path) << QByteArray(parent);
        };
        row("", "/a/b", "/a");
        row("", "/a", "/");
        row("/", "/a/b", "/a");
        row("/apps", "/apps/a/b", "/a");
        row("/apps", "/apps/a", "/");
        row("/apps", "/apps2/a", "");
        row("/apps", "/apps", "");
        row("/apps", "/other/a", "");
    }
    void theChrootIsStrippedAtItsBoundary()
    {
        QFETCH(QByteArray, chroot);
        QFETCH(QByteArray, path);
        QFETCH(QByteArray, parent);
        zk::Evidence evidence;
        evidence.ephemerals[{1}] = {ZPath(path)};
        const auto names = ephemeralsBelow(evidence, chroot);
        QCOMPARE(names.size(), std::size_t(parent.isEmpty() ? 0 : 1));
        if (!parent.isEmpty())
            QVERIFY(names.contains(ZPath(parent)));
    }

    void foldersOfOneLockAreOneCandidate()
    {
        NamesByParent names;
        names[ZPath("/s/locks")] = {NodeName("_c_4b8a64b0-aaaa-4bbb-8ccc-000000000001-lock-0000000001")};
        names[ZPath("/s/leases")] = {NodeName("_c_4b8a64b0-aaaa-4bbb-8ccc-000000000001-lease-0000000000")};
        names[ZPath("/brokers/ids")] = {NodeName("1"), NodeName("2")};
        const auto found = candidates(names);
        QCOMPARE(found.size(), std::size_t(1));
        QCOMPARE(found.begin()->first, ZPath("/s"));
        QCOMPARE(found.begin()->second.size(), std::size_t(2));
        QVERIFY(std::ranges::is_sorted(found.begin()->second));
    }

    void aGlobNarrowsTheSearch_data()
    {
        addColumns<QByteArray, QByteArray>("glob", "root");
        const auto row = [](const char *glob, const char *root) {
            QTest::newRow(glob) << QByteArray(glob) << QByteArray(root);
        };
        row("zk:/locks/*", "/locks");
        row("/locks/*", "/locks");
        row("zk:/locks/eu/order?", "/locks/eu");
        row("zk:/locks/orders", "/locks"); // a lock may be one node of its folder
        row("zk:/lo*", "");
        row("*", "");
        row("*:/locks/*", "");
        row("*/locks/*", "");
        row("zk*", "");
        row("redis:lock:*", "");
        row("zk:/a\\\\b/*", ""); // escaped: not the name as it is
    }
    void aGlobNarrowsTheSearch()
    {
        QFETCH(QByteArray, glob);
        QFETCH(QByteArray, root);
        QCOMPARE(searchRoot(glob), root);
    }

    void equivalentSnapshotsDifferInTimesOnly_data()
    {
        const Rows<bool, int> row("same", "change");
        row("when it was looked at", true, 0);
        row("the clock's lead", true, 1);
        row("seconds in a message", true, 2);
        row("expiry wavers", true, 3);
        row("expiry moves", false, 4);
        row("expiry becomes known", false, 5);
        row("a contender less", false, 6);
        row("evidence of a watch", false, 7);
        row("a finding", false, 8);
        row("state", false, 9);
    }
    void equivalentSnapshotsDifferInTimesOnly()
    {
        QFETCH(bool, same);
        QFETCH(int, change);
        auto before = snapshot("/x");
        before.findings.push_back({FindingCode::LongHeld, Severity::Warning, u"held for 10 m 1 s"_s, {"a"}});
        before.contenders[0].expiresAt = ServerTime(10s);
        before.contenders[1].watches.push_back({"a", false, inspect::Evidence::Inferred});
        auto now = before;
        switch (change) {
        case 0: now.observed += 1h; break;
        case 1: now.serverAhead = 7ms; break;
        case 2: now.findings[0].message = u"held for 10 m 2 s"_s; break;
        case 3: now.contenders[0].expiresAt = ServerTime(11s); break;
        case 4: now.contenders[0].expiresAt = ServerTime(20s); break;
        case 5: now.contenders[1].expiresAt = ServerTime(10s); break;
        case 6: now.contenders.pop_back(); break;
        case 7: now.contenders[1].watches[0].evidence = inspect::Evidence::Server; break;
        case 8: now.findings.clear(); break;
        default: now.state = LockState::Contended; break;
        }
        QCOMPARE(isEquivalent(before, now, 2500ms), same);
    }

    void theStoreTellsWhatChanged()
    {
        SnapshotStore store;
        auto changes = store.replace("/d", {snapshot("/d/a"), snapshot("/d/b")});
        QCOMPARE(changes.size(), std::size_t(2));
        QCOMPARE(changes[0].kind, ChangeKind::Added);
        QVERIFY(store.replace("/d", {snapshot("/d/a"), snapshot("/d/b")}).empty());
        QCOMPARE(store.sourceOf("/d/b"), QByteArray("/d"));

        changes = store.replace("/d", {snapshot("/d/b", {"b"})});
        QCOMPARE(changes.size(), std::size_t(2));
        QCOMPARE(changes[0].kind, ChangeKind::Changed);
        QCOMPARE(changes[1].kind, ChangeKind::Removed);
        QCOMPARE(changes[1].lock.lock.name, QByteArray("/d/a"));
        QVERIFY(!store.find("/d/a"));
        QCOMPARE(store.find("/d/b")->contenders.size(), std::size_t(1));

        changes = store.replace("/d", {});
        QCOMPARE(changes.size(), std::size_t(1));
        QVERIFY(store.all().empty());
        QVERIFY(store.replace("/d", {}).empty());
    }

    void aLockThatMovesToAnotherDirectoryStays()
    {
        SnapshotStore store;
        QCOMPARE(store.replace("/s/locks", {snapshot("/s")}).size(), std::size_t(1));
        QVERIFY(store.replace("/s", {snapshot("/s")}).empty());
        QVERIFY(store.replace("/s/locks", {}).empty());
        QVERIFY(store.find("/s"));
    }

    void sessionsOfEverySource()
    {
        SnapshotStore store;
        QCOMPARE(store.replace("/x", {snapshot("/x", {"1", "2"})}).size(), std::size_t(1));
        zk::Evidence evidence;
        evidence.connections[{1}].endpoint = u"10.0.0.1:5"_s;
        evidence.expiresIn[{2}] = 4s;
        evidence.ephemerals[{3}] = {ZPath("/y")};
        const auto sessions = sessionsOf(ConnectionName("zk"), evidence, store, {3}, ServerTime(100s));
        QCOMPARE(sessions.size(), std::size_t(3));
        QCOMPARE(sessions[0].session, u"0x1"_s);
        QCOMPARE(sessions[0].endpoint, u"10.0.0.1:5"_s);
        QCOMPARE(sessions[0].holds, std::vector<QByteArray>{"/x"});
        QCOMPARE(sessions[1].waits, std::vector<QByteArray>{"/x"});
        QCOMPARE(sessions[1].expiresAt, ServerTime(104s));
        QCOMPARE(sessions[2].client, u"Lockscope"_s);

        auto later = sessions;
        later[1].expiresAt = ServerTime(106s);
        QVERIFY(isEquivalent(sessions, later));
        later[1].expiresAt = ServerTime(110s);
        QVERIFY(!isEquivalent(sessions, later));
        QVERIFY(!isEquivalent(sessions, {sessions[0]}));
    }

    void coverageSaysWhatIsMissing()
    {
        zk::Evidence evidence;
        evidence.answers["dump"] = answer(0, 3, u"not in the whitelist"_s);
        evidence.answers["cons"] = answer(3, 3);
        evidence.answers["wchp"] = answer(1, 3, u"connection refused"_s);
        SearchFacts search{.refusal = u"the server refused the credentials"_s,
                           .crawled = true,
                           .crawlSeen = 200'000,
                           .crawlCut = true,
                           .polledDirectories = 2};
        QStringList messages;
        for (const auto &one : coverageOf(ConnectionName("zk"), evidence, search)) {
            QVERIFY(!one.complete);
            messages.append(one.message);
        }
        QCOMPARE(
            messages,
            (QStringList{u"no znode can be read here: the server refused the credentials"_s,
                         u"0 of 3 members answered dump: found by crawling 200,000 znodes (not in the whitelist)"_s,
                         u"the crawl stopped at 200,000 znodes: there may be more locks"_s,
                         u"watches: 1 of 3 members answered wchp (connection refused)"_s,
                         u"2 lock directories are polled: the watch budget is used up"_s}));
    }

    void coverageSaysWhenNothingIsMissing()
    {
        zk::Evidence evidence;
        for (const auto *command : {"dump", "cons", "wchp"})
            evidence.answers[command] = answer(1, 1);
        evidence.childWatchTotal = 5;
        SearchFacts search{.sweepComplete = true, .ownChildWatches = 5};
        const auto whole = coverageOf(ConnectionName("zk"), evidence, search);
        QCOMPARE(whole.size(), std::size_t(1));
        QVERIFY(whole[0].complete);
        search.ownChildWatches = 2;
        const auto others = coverageOf(ConnectionName("zk"), evidence, search);
        QCOMPARE(others.size(), std::size_t(2));
        QCOMPARE(others[1].message, u"3 child watches exist; servers do not say whose"_s);
        search.sweepComplete = false;
        QVERIFY(!coverageOf(ConnectionName("zk"), evidence, search)[0].complete);
    }
};

LOCKSCOPE_TEST(TestZooKeeperObserverParts)
#include "tst_observerparts.moc"
