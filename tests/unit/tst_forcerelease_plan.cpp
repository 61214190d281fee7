// SPDX-License-Identifier: Apache-2.0
// Force-release: what is refused, and what a plan says before anything is sent.
#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/operate/forcereleaseplan.h"
#include "tests/support/testmain.h"
#include "tests/unit/redislocks.h"
#include "tests/unit/releaseworld.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>
#include <QTest>

using namespace lockscope;
using namespace lockscope::operate;
using namespace lockscope::inspect;
using namespace lockscope::testing::releases;
using namespace Qt::StringLiterals;
using lockscope::testing::onSet, lockscope::testing::redisLock;

class TestForceReleasePlan : public QObject {
    Q_OBJECT
private slots:
    void contenderThatDoesNotHoldIsRefused_data()
    {
        QTest::addColumn<QByteArray>("holder");
        QTest::addColumn<QString>("says");
        QTest::newRow("a waiter") << nodeName(1) << u"waits for zk:/locks/orders and does not hold it"_s;
        QTest::newRow("yesterday's") << QByteArray("_c_gone-lock-0000000007") << u"any more, or never did"_s;
        QTest::newRow("nothing") << QByteArray() << u"does not hold"_s;
    }
    void contenderThatDoesNotHoldIsRefused()
    {
        QFETCH(QByteArray, holder);
        QFETCH(QString, says);
        const auto plan = planForceRelease(queue(), holder);
        QVERIFY(!plan);
        QCOMPARE(plan.error().code, ErrorCode::Refused);
        QVERIFY2(plan.error().message.contains(says), qPrintable(plan.error().message));
        QVERIFY2(plan.error().message.contains(u"held by "_s + label(nodeName(0))), qPrintable(plan.error().message));
    }

    void aFreeLockIsRefused()
    {
        auto snapshot = queue();
        snapshot.contenders.clear();
        const auto plan = planForceRelease(snapshot, nodeName(0));
        QVERIFY(!plan);
        QCOMPARE(plan.error().code, ErrorCode::Refused);
        QVERIFY(plan.error().message.contains(u"no client holds"_s));
    }

    void recipesWithoutASafeWayAreUnsupported_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const char *recipe : {"zk-lease", "redlock", "redisson-semaphore", "sql-version", "unheard-of"})
            QTest::newRow(recipe) << QByteArray(recipe);
    }
    void recipesWithoutASafeWayAreUnsupported()
    {
        QFETCH(QByteArray, recipe);
        auto snapshot = queue();
        snapshot.recipe = recipe;
        const auto plan = planForceRelease(snapshot, nodeName(0));
        QVERIFY(!plan);
        QCOMPARE(plan.error().code, ErrorCode::Unsupported);
    }

    // Nobody said on which node it is.
    void unknownHoldOnEachNodeIsUnsupported_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const char *recipe : {"redis-set-nx", "redisson-lock", "redisson-semaphore"})
            QTest::newRow(recipe) << QByteArray(recipe);
    }
    void unknownHoldOnEachNodeIsUnsupported()
    {
        QFETCH(QByteArray, recipe);
        auto snapshot = redisLock(recipe, "token");
        QVERIFY(planForceRelease(snapshot, "token"));
        snapshot.nodes = {{u"a:1"_s, true, {}, {}}, {u"b:1"_s, true, {}, {}}, {u"c:1"_s, true, {}, {}}};
        const auto plan = planForceRelease(snapshot, "token");
        QVERIFY(!plan);
        QVERIFY2(plan.error().message.contains(u"on each node of the set is unknown"_s),
                 qPrintable(plan.error().message));
    }

    void theQueuePlanSaysEverything()
    {
        const auto plan = planForceRelease(queue(), nodeName(0));
        QVERIFY(plan);
        QVERIFY(plan->exact);
        QCOMPARE(plan->nextHolder, nodeName(1));
        QCOMPARE(plan->commands.last(), u"delete /locks/orders/%1 version 0"_s.arg(QString::fromUtf8(nodeName(0))));
        QVERIFY2(plan->guardText.contains(u"0x5f21"_s) && plan->guardText.contains(u"0x2000009b4890007"_s),
                 qPrintable(plan->guardText));
        QVERIFY2(plan->wakes.startsWith(u"1 waiter"_s), qPrintable(plan->wakes));
        QVERIFY(plan->otherLocksLost.empty() && plan->otherLocksKnown);
        QVERIFY2(plan->staleHolder.contains(u"may still act as if"_s), qPrintable(plan->staleHolder));
        QVERIFY(!plan->warnings.contains(plan->staleHolder) && plan->allWarnings().first() == plan->staleHolder);
        QVERIFY(plan->alternatives.join(u' ').contains(u"__REVOKE__"_s));
        QVERIFY(plan->alternatives.last().contains(u"it is killed, its session times out"_s));
    }

    // A resource can check what its clients are handed, and that few recipes do: not kazoo's, nor Curator's.
    void aFencingTokenIsNamedWhereClientsAreHandedOne()
    {
        const auto warningOf = [](const LockSnapshot &snapshot) {
            const auto plan = planForceRelease(snapshot, snapshot.contenders.front().id);
            return plan ? plan->staleHolder : plan.error().message;
        };
        for (const auto *recipe : {"curator-mutex", "kazoo-lock", "zk-mutex", "zk-ephemeral"}) {
            auto snapshot = queue();
            snapshot.recipe = recipe;
            QVERIFY2(warningOf(snapshot).contains(u"no fencing token that a resource could check"_s),
                     qPrintable(warningOf(snapshot)));
            QVERIFY2(warningOf(snapshot).contains(u"The czxid of the node, 0x5f21, can serve as one only if"_s),
                     qPrintable(warningOf(snapshot)));
        }
        QVERIFY(
            !warningOf(redisLock("redisson-lock", "6c8d1f2e-0b7a-4e44-9d3a-2f5d1c4b3a21:1")).contains(u"czxid"_s));
        const auto holder = "6c8d1f2e-0b7a-4e44-9d3a-2f5d1c4b3a21:1";
        QVERIFY(warningOf(redisLock("redisson-lock", holder))
                    .contains(u"no fencing token that a resource could check"_s));
        QVERIFY(warningOf(redisLock("redisson-fenced-lock", holder)).contains(u"checks fencing tokens"_s));
    }

    // What the recipe says of a watch is not what the server said.
    void inferredWatchIsNamedAsInferred()
    {
        auto snapshot = queue();
        const auto wakes = [&] { return planForceRelease(snapshot, snapshot.contenders[0].id)->wakes; };
        snapshot.contenders[0].watches = {WatchEdge{nodeName(0), false, Evidence::Server}}; // its own node
        QVERIFY2(!wakes().contains(u"the recipe"_s) && wakes().startsWith(u"1 waiter, "_s), qPrintable(wakes()));
        snapshot.contenders[1].watches[0].evidence = Evidence::Inferred;
        QVERIFY2(wakes().startsWith(u"1 waiter, by the deletion"_s), qPrintable(wakes()));
        QVERIFY2(wakes().endsWith(u"this watch is inferred from the recipe, not observed"_s), qPrintable(wakes()));
        for (auto &contender : snapshot.contenders)
            contender.watches = {WatchEdge{{}, true, Evidence::Inferred}};
        snapshot.contenders[0].watches.clear();
        snapshot.contenders[2].watches[0].evidence = Evidence::Server;
        QVERIFY2(wakes().endsWith(u"observed watches: 1, the others are inferred from the recipe"_s),
                 qPrintable(wakes()));
        QVERIFY(wakes().startsWith(u"2 waiters, "_s));
    }

    // "then the lock is free" is said only where nobody else holds it or waits for it.
    void alternativesSayHowTheHoldExpires()
    {
        auto snapshot = redisLock("redisson-lock", "6c8d1f2e-0b7a-4e44-9d3a-2f5d1c4b3a21:1");
        snapshot.waitersKnown = true;
        snapshot.contenders.front().expiresAt = snapshot.observed + std::chrono::seconds(20);
        const auto alternatives = [&snapshot] {
            const auto plan = planForceRelease(snapshot, snapshot.contenders.front().id);
            return plan ? plan->alternatives.join(u' ') : plan.error().message;
        };
        QVERIFY2(alternatives().contains(u"; then the lock is free"_s), qPrintable(alternatives()));
        Contender subscriber;
        subscriber.id = "subscriber 1";
        snapshot.contenders.push_back(subscriber);
        QVERIFY2(alternatives().contains(u"; then one of the waiters gets it"_s), qPrintable(alternatives()));
        auto reader = snapshot.contenders.front();
        reader.id = "6c8d1f2e-0b7a-4e44-9d3a-2f5d1c4b3a21:2";
        snapshot.contenders.insert(snapshot.contenders.begin() + 1, reader);
        QVERIFY2(alternatives().contains(u"; the other holders keep it"_s), qPrintable(alternatives()));
    }

    void aFixedNameLeavesAGap()
    {
        auto snapshot = queue();
        snapshot.recipe = "zk-ephemeral";
        snapshot.lock.name = "/locks/orders/0000000001";
        snapshot.contenders[0].guard.edit<inspect::ZnodeIdentity>().path = snapshot.lock.name;
        const auto plan = planForceRelease(snapshot, nodeName(0));
        QVERIFY(plan);
        QVERIFY(!plan->exact);
        QVERIFY(plan->warnings.join(u' ').contains(u"Its name is reused"_s));
    }

    void aNameThatComesAgainIsRefusedWithTheFullId()
    {
        auto snapshot = queue();
        snapshot.contenders[0].id = "leader@24353";
        const auto bare = planForceRelease(snapshot, "leader");
        QVERIFY(!bare);
        QCOMPARE(bare.error().code, ErrorCode::Refused);
        QVERIFY2(bare.error().message.contains(u"leader@24353"_s), qPrintable(bare.error().message));
        QVERIFY(!planForceRelease(snapshot, "leader@24352"));
        const auto full = planForceRelease(snapshot, "leader@24353");
        QVERIFY(full);
        QCOMPARE(full->holder, QByteArray("leader@24353"));
    }

    void aSessionNamesWhatItHolds()
    {
        auto snapshot = queue();
        for (std::size_t n = 0; n < snapshot.contenders.size(); ++n)
            snapshot.contenders[n].session = u"0x%1"_s.arg(0x10 + n, 0, 16);
        const auto byHolder = planForceRelease(snapshot, "session:0x10");
        QVERIFY(byHolder);
        QCOMPARE(byHolder->holder, nodeName(0));
        const auto byWaiter = planForceRelease(snapshot, "session:0x11");
        QVERIFY(!byWaiter && byWaiter.error().message.contains(u"waits"_s));
        QVERIFY(!planForceRelease(snapshot, "session:0x99"));
        // One that waits besides holding means what it holds; one that holds twice must say which.
        snapshot.contenders[1].session = u"0x10"_s;
        QVERIFY(planForceRelease(snapshot, "session:0x10"));
        snapshot.contenders[1].role = Role::Holder;
        const auto twice = planForceRelease(snapshot, "session:0x10");
        QVERIFY(!twice);
        QVERIFY2(twice.error().message.contains(label(nodeName(1), 80)), qPrintable(twice.error().message));
    }

    void aConstantValueIsComparedWithItsExpiry()
    {
        ReleaseWorld w;
        auto snapshot = redisLock("redis-setnx-expire", "1");
        snapshot.contenders[0].id = "1@1763780400123";
        snapshot.contenders[0].guard.edit<inspect::RedisIdentity>().expiryMs = 1763780400123;
        QVERIFY(!planForceRelease(snapshot, "1"));
        const auto plan = planForceRelease(snapshot, "1@1763780400123");
        QVERIFY(plan && !plan->exact && plan->risk.isEmpty());
        w.observer.answers = {snapshot, noNode()};
        w.store.next.kind = redis::Value::Kind::Integer;
        w.store.next.integer = 1;
        QVERIFY(w.release(snapshot));
        QCOMPARE(w.store.sent[0],
                 (redis::Command{"EVALSHA", "compare-and-delete-until", "orders-lock", "1", "1763780400123"}));
    }

    // What sleeps until the lock's own release is woken in the same script.
    void theLocksOwnWakeUpIsSentWithTheDelete()
    {
        ReleaseWorld w;
        auto snapshot = redisLock("redis-set-nx", "token");
        snapshot.lock.name = "lock:orders";
        w.observer.answers = {snapshot, noNode()};
        w.store.next.kind = redis::Value::Kind::Integer;
        w.store.next.integer = 3;
        const auto outcome = w.release(snapshot);
        QVERIFY(outcome && outcome->message.contains(u"2 subscribers notified"_s));
        QCOMPARE(w.store.sent[0], (redis::Command{"EVALSHA", "compare-and-delete-and-wake", "lock:orders", "token",
                                                  "", "lock-signal:orders"}));
    }

    // Nothing is a value, too: what nobody signed is compared as it is.
    void anEmptyValueIsComparedAsItIs()
    {
        ReleaseWorld w;
        auto snapshot = redisLock("redis-setnx-expire", "");
        snapshot.contenders[0].id = "unknown@1763780400123";
        snapshot.contenders[0].guard.edit<inspect::RedisIdentity>().value = "";
        snapshot.contenders[0].guard.edit<inspect::RedisIdentity>().expiryMs = 1763780400123;
        w.observer.answers = {snapshot, noNode()};
        w.store.next.kind = redis::Value::Kind::Integer;
        w.store.next.integer = 1;
        QVERIFY(w.release(snapshot));
        QCOMPARE(w.store.sent[0],
                 (redis::Command{"EVALSHA", "compare-and-delete-until", "orders-lock", "", "1763780400123"}));
        snapshot.contenders[0].guard.edit<inspect::RedisIdentity>().value = QByteArray();
        const auto refused = planForceRelease(snapshot, snapshot.contenders[0].id);
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.contains(u"could not be read"_s), qPrintable(refused.error().message));
    }

    void constantWithoutExpiryIsReleasedOnlyAtARisk()
    {
        ReleaseWorld w;
        auto snapshot = redisLock("redis-setnx-expire", "1");
        snapshot.contenders[0].guard.edit<inspect::RedisIdentity>().comesAgain = true;
        w.observer.answers = {snapshot, noNode()};
        w.store.next.kind = redis::Value::Kind::Integer;
        w.store.next.integer = 1;
        auto plan = planForceRelease(snapshot, "1");
        QVERIFY(plan && !plan->exact && !plan->risk.isEmpty());
        QVERIFY2(plan->warnings.contains(plan->risk), "the risk is said before");
        const auto refused = w.release(*plan);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::Refused);
        QVERIFY(w.store.sent.empty() && w.outcomes().isEmpty());
        plan->isRiskAccepted = true;
        QVERIFY(w.release(*plan));
        QCOMPARE(w.store.sent.size(), 1U);
    }

    void anElectionIsWarnedOf()
    {
        auto snapshot = queue();
        snapshot.recipe = "curator-leader";
        const auto plan = planForceRelease(snapshot, nodeName(0));
        QVERIFY(plan);
        QVERIFY(plan->warnings.join(u' ').contains(u"run with two leaders"_s));
    }

    void identityOfAnotherBackendIsRefused()
    {
        auto node = queue();
        node.contenders[0].guard = inspect::RedisIdentity{.value = "/locks/orders/a"};
        auto key = redisLock("redis-set-nx", "token");
        key.contenders[0].guard = inspect::ZnodeIdentity{.path = "token", .czxid = 7};
        for (const auto &snapshot : {node, key}) {
            const auto plan = planForceRelease(snapshot, snapshot.contenders[0].id);
            QVERIFY(!plan);
            QVERIFY2(plan.error().message.contains(u"could not be read"_s), qPrintable(plan.error().message));
        }
    }

    void anUnreadIdentityIsRefused()
    {
        auto snapshot = queue();
        snapshot.contenders[0].guard.edit<inspect::ZnodeIdentity>().czxid = 0;
        const auto plan = planForceRelease(snapshot, nodeName(0));
        QVERIFY(!plan);
        QCOMPARE(plan.error().code, ErrorCode::Refused);
    }

    // A name that the resource lacks would end the program where it is needed.
    void everyTextHasANameInCode()
    {
        QString code;
        const QDir folder(QStringLiteral(CORPUS "/../../../core/operate"));
        for (const auto &name : folder.entryList({u"*.cpp"_s})) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QFile::ReadOnly));
            code += QString::fromUtf8(file.readAll());
        }
        const auto texts = QJsonDocument::fromJson(readResource(u"words/operate.json"_s))[u"texts"_s].toArray();
        QStringList names;
        for (const auto &text : texts)
            names << text[u"name"_s].toString();
        QCOMPARE(names.removeDuplicates(), 0);
        for (const auto &name : std::as_const(names)) {
            QVERIFY2(code.contains(u'"' + name + u'"'), qPrintable(name));
            (void)sentence(name.toLatin1());
        }
        static const QRegularExpression call(u"(?:sentence|addTexts)\\(([^;{]*)"_s);
        static const QRegularExpression literal(u"(?<!u)\"([a-z-]+)\"(?!_)"_s);
        for (const auto &asked : call.globalMatch(code)) {
            for (const auto &name : literal.globalMatch(asked.captured(1)))
                QVERIFY2(names.contains(name.captured(1)), qPrintable(name.captured(1)));
        }
    }
};

LOCKSCOPE_TEST(TestForceReleasePlan)
#include "tst_forcerelease_plan.moc"
