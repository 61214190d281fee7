// SPDX-License-Identifier: Apache-2.0
// Force-release: nothing is sent unless the same holder still holds and the intent is on disk, and what came of it is
// found out.
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/knownclients.h"
#include "tests/support/testmain.h"
#include "tests/unit/redislocks.h"
#include "tests/unit/releaseworld.h"

#include <QJsonDocument>
#include <QTest>

using namespace lockscope;
using namespace lockscope::operate;
using namespace lockscope::inspect;
using namespace lockscope::testing::releases;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using lockscope::testing::onSet, lockscope::testing::redisLock;

namespace {

LockSnapshot afterwards()
{
    auto snapshot = queue();
    snapshot.contenders.erase(snapshot.contenders.begin());
    snapshot.contenders[0].role = Role::Holder;
    return snapshot;
}

QStringList redLockFields()
{
    QStringList fields;
    for (int node = 1; node <= 3; ++node)
        fields << u"00000000-0000-4000-8000-00000000000%1:47"_s.arg(node);
    return fields;
}

LockSnapshot redLockOnThree()
{
    auto snapshot = redisLock("redisson-lock", redLockFields().front().toUtf8());
    for (int i = 0; i < 3; ++i)
        snapshot.nodes.push_back({u"%1:1"_s.arg(QChar(u'a' + i)), true, redLockFields()[i].toUtf8(), {}});
    return snapshot;
}

redis::Value numberReply(qint64 number)
{
    redis::Value value;
    value.kind = redis::Value::Kind::Integer;
    value.integer = number;
    return value;
}

} // namespace

class TestForceRelease : public QObject {
    Q_OBJECT
private slots:
    void theHolderIsDeletedAndTheNextReported()
    {
        ReleaseWorld w;
        w.observer.answers = {queue(), afterwards()};
        const auto outcome = w.release(queue());
        QVERIFY(outcome);
        QVERIFY(outcome->released);
        QVERIFY2(outcome->message.contains(u"it is now held by %1"_s.arg(label(nodeName(1)))),
                 qPrintable(outcome->message));
        QVERIFY(!w.tree.nodes.contains(ZPath(contender(0).guard.znode().path)));
        QVERIFY(w.tree.nodes.contains(ZPath(contender(1).guard.znode().path)));
        QCOMPARE(w.tree.sent.size(), 3); // sync, get, remove
        QCOMPARE(w.outcomes(), (QStringList{u"intent"_s, u"result: released"_s}));
        const auto records = w.audit.read(nullptr);
        QVERIFY(records);
        QCOMPARE(records->front().reason, u"stuck"_s);
        QVERIFY(!records->front().before.isEmpty());
        QVERIFY(!records->back().after.isEmpty());
    }

    // The next one's node may be old: how long it holds is counted from when it was seen to wait.
    void nextHolderIsNotHeldForHours()
    {
        ReleaseWorld w;
        auto before = queue(), after = afterwards();
        before.observed = ServerTime(std::chrono::hours(2));
        after.observed = before.observed + std::chrono::seconds(1);
        after.contenders.front().heldSince = ServerTime();
        after.contenders.front().heldAtMost = true;
        addAgeFindings(after, {});
        w.observer.answers = {before, after};
        QVERIFY(w.release(before));
        const auto records = w.audit.read(nullptr);
        QVERIFY(records);
        const auto recorded = QJsonDocument(records->back().after).toJson();
        QVERIFY2(!recorded.contains("long-held") && recorded.contains("\"heldMs\": 1000"), recorded);
    }

    void theIntentIsOnDiskBeforeTheDelete()
    {
        ReleaseWorld w;
        w.observer.answers = {queue(), afterwards()};
        QStringList atDelete;
        w.tree.before[u"remove"_s] = [&] { atDelete = w.outcomes(); };
        QVERIFY(w.release(queue()));
        QCOMPARE(atDelete, QStringList{u"intent"_s});
    }

    void anUnwritableAuditFileMeansNothingIsSent()
    {
        ReleaseWorld w;
        w.observer.answers = {queue()};
        w.audit = AuditFile(w.folder.path()); // a folder is no file
        const auto outcome = w.release(queue());
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QVERIFY(outcome.error().message.contains(w.folder.path()));
        QCOMPARE(w.tree.sent, QStringList());
    }

    void changeAfterThePreviewIsNotReleased_data()
    {
        QTest::addColumn<int>("change");
        QTest::addColumn<QString>("says");
        QTest::newRow("vanished") << 0 << u"no longer exists"_s;
        QTest::newRow("a row nobody waits for, not shown") << 4 << u"still holds it is unknown"_s;
        QTest::newRow("another holds") << 1 << u"no longer exists"_s;
        QTest::newRow("same name, new node") << 2 << u"differs from the preview"_s;
        QTest::newRow("waits now") << 3 << u"differs from the preview"_s;
    }
    void changeAfterThePreviewIsNotReleased()
    {
        QFETCH(int, change);
        QFETCH(QString, says);
        ReleaseWorld w;
        auto fresh = queue();
        if (change == 1)
            fresh = afterwards();
        if (change == 2)
            fresh.contenders[0].guard.edit<inspect::ZnodeIdentity>().czxid += 100;
        if (change == 3)
            fresh.contenders[0].role = Role::Waiter;
        auto plan = planForceRelease(queue(), queue().contenders[0].id);
        plan->before.recipe = change == 4 ? QByteArray("sql-for-update") : plan->before.recipe;
        w.observer.answers = {change % 4 == 0 ? Result<LockSnapshot>(noNode()) : fresh};
        const auto outcome = w.release(*plan);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QVERIFY2(outcome.error().message.contains(says), qPrintable(outcome.error().message));
        QCOMPARE(w.tree.sent, QStringList());
        QCOMPARE(w.outcomes(), QStringList());
    }

    // A server that stops after the preview: the second look is a question only, and nothing follows it.
    void aLastLookThatFailsHasChangedNothing_data()
    {
        QTest::addColumn<bool>("isAlternative");
        QTest::newRow("release") << false;
        QTest::newRow("shorten-ttl") << true;
    }
    void aLastLookThatFailsHasChangedNothing()
    {
        QFETCH(bool, isAlternative);
        ReleaseWorld w;
        const auto before = redisLock("redis-set-nx", "token");
        const auto plan =
            isAlternative ? planWay(before, "token", ReleaseAction::ShortenTtl) : planForceRelease(before, "token");
        QVERIFY(plan);
        w.observer.answers = {Error{ErrorCode::UnknownOutcome, u"GET: no answer from Redis in time"_s, true}};
        const auto outcome = w.release(*plan);
        QVERIFY(!outcome);
        QVERIFY(outcome.error().code != ErrorCode::UnknownOutcome);
        QVERIFY2(outcome.error().message.startsWith(u"nothing was changed: "_s), qPrintable(outcome.error().message));
        QVERIFY2(outcome.error().message.contains(u"GET: no answer"_s), qPrintable(outcome.error().message));
        QVERIFY(w.store.sent.empty());
        QCOMPARE(w.outcomes(), QStringList());
    }

    // By its id it is the same: a thread of Redisson's, a connection of a pool.
    void aHoldThatItTookSinceIsAnother_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<bool>("isAlternative");
        QTest::newRow("Redisson's thread") << QByteArray("redisson-lock") << false;
        QTest::newRow("shortened") << QByteArray("redisson-lock") << true;
        QTest::newRow("a connection of MariaDB's") << QByteArray("sql-get-lock") << false;
        QTest::newRow("a connection of PostgreSQL's") << QByteArray("pg-advisory") << false;
    }
    void aHoldThatItTookSinceIsAnother()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(bool, isAlternative);
        auto before = redisLock(recipe, "c8b9e7b0-8f6e-4d5e-a7a5-11d0f0a0b0c0:45");
        before.observed = ServerTime(1000s);
        before.contenders[0].heldSince = ServerTime(400s);
        auto plan = isAlternative ? planWay(before, before.contenders[0].id, ReleaseAction::ShortenTtl)
                                  : planForceRelease(before, before.contenders[0].id);
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        auto again = before;
        again.observed = ServerTime(1060s);
        for (const auto since : {1030s, 400s}) {
            ReleaseWorld w;
            w.store.next.items = {numberReply(1), numberReply(0)};
            again.contenders[0].heldSince = ServerTime(since);
            w.observer.answers = {again, noNode()};
            const auto outcome = w.release(*plan);
            if (since == 400s) {
                QCOMPARE(w.outcomes().value(0), u"intent"_s); // it went on
                continue;
            }
            QVERIFY(!outcome);
            QCOMPARE(outcome.error().code, ErrorCode::Refused);
            QVERIFY2(outcome.error().message.contains(u"acquired it again"_s), qPrintable(outcome.error().message));
            QCOMPARE(w.outcomes(), QStringList());
            QVERIFY(w.store.sent.empty());
        }
    }

    void changeRightBeforeSendingIsNotReleased_data()
    {
        QTest::addColumn<int>("change");
        QTest::newRow("gone before the last look") << 0;
        QTest::newRow("made anew before the last look") << 1;
        QTest::newRow("gone before the delete") << 2;
        QTest::newRow("written before the delete") << 3;
    }
    void changeRightBeforeSendingIsNotReleased()
    {
        QFETCH(int, change);
        ReleaseWorld w;
        w.observer.answers = {queue(), afterwards()};
        const ZPath node(contender(0).guard.znode().path);
        const auto interfere = [&] {
            if (change == 1)
                w.tree.put(node.bytes(), headCzxid + 50, headOwner);
            else if (change == 3)
                ++w.tree.nodes[node].stat.version;
            else
                w.tree.nodes.erase(node);
        };
        w.tree.before[change < 2 ? u"exists"_s : u"remove"_s] = interfere;
        const auto outcome = w.release(queue());
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QCOMPARE(w.tree.nodes.contains(node), change == 1 || change == 3);
        QCOMPARE(w.tree.sent.contains(u"remove "_s + QString::fromUtf8(node.bytes())), change >= 2);
        QCOMPARE(w.outcomes(), (QStringList{u"intent"_s, u"result: refused"_s}));
    }

    void readOnlyRefusesAtTheGate()
    {
        ReleaseWorld w;
        w.observer.answers = {queue()};
        w.gate.lockReadOnly();
        const auto outcome = w.release(queue());
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QVERIFY(w.tree.nodes.contains(ZPath(contender(0).guard.znode().path)));
        QCOMPARE(w.gate.writesSent(), 0);
    }

    void aLostAnswerIsSettledByLookingAgain_data()
    {
        QTest::addColumn<int>("second");
        QTest::newRow("gone") << 0;
        QTest::newRow("still there") << 1;
        QTest::newRow("unreadable") << 2;
    }
    void aLostAnswerIsSettledByLookingAgain()
    {
        QFETCH(int, second);
        ReleaseWorld w;
        w.tree.fails[u"remove"_s] = Error{ErrorCode::UnknownOutcome, u"connection lost"_s};
        const Error broken{ErrorCode::NotConnected, u"no connection"_s};
        w.observer.answers = {queue(), second == 0   ? Result<LockSnapshot>(afterwards())
                                       : second == 1 ? Result<LockSnapshot>(queue())
                                                     : broken};
        const auto outcome = w.release(queue());
        QCOMPARE(bool(outcome), second != 2);
        if (outcome)
            QCOMPARE(outcome->released, second == 0);
        else
            QCOMPARE(outcome.error().code, ErrorCode::UnknownOutcome);
        const QStringList written{u"reply lost; found released"_s, u"reply lost; found still held"_s, u"unknown"_s};
        QCOMPARE(w.outcomes(), (QStringList{u"intent"_s, u"result: "_s + written[second]}));
        QCOMPARE(w.audit.read(nullptr)->back().isDone, second == 0);
    }

    void missingResultIsReported_data()
    {
        QTest::addColumn<bool>("isAlternative");
        QTest::addColumn<int>("answer"); // -1: done
        for (const bool isAlternative : {false, true}) {
            const QByteArray what = isAlternative ? "kill-waiter" : "release";
            QTest::addRow("%s, done", what.constData()) << isAlternative << -1;
            QTest::addRow("%s, failed", what.constData()) << isAlternative << int(ErrorCode::Server);
            QTest::addRow("%s, lost", what.constData()) << isAlternative << int(ErrorCode::UnknownOutcome);
        }
    }
    // Whatever came of the act: its intent alone is in the audit file.
    void missingResultIsReported()
    {
        QFETCH(bool, isAlternative);
        QFETCH(int, answer);
        ReleaseWorld w;
        w.observer.answers = {queue(), Error{ErrorCode::NotConnected, u"no connection"_s}};
        const auto plan = isAlternative ? planWay(queue(), queue().contenders[1].id, ReleaseAction::KillWaiter)
                                        : planForceRelease(queue(), queue().contenders[0].id);
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        const auto request = isAlternative ? u"multi"_s : u"remove"_s;
        w.tree.before[request] = [&] { w.audit = AuditFile(w.folder.path()); }; // a folder is no file
        if (answer >= 0)
            w.tree.fails[request] = Error{ErrorCode(answer), u"so it is"_s};
        const auto outcome = w.release(*plan);
        QCOMPARE(bool(outcome), answer < 0);
        const auto message = outcome ? outcome->message : outcome.error().message;
        QVERIFY2(message.contains(u"The result is missing in the audit log: "_s), qPrintable(message));
        QVERIFY(!outcome || !outcome->isRecorded);
    }

    void oldSecondLookIsNotTheResult_data()
    {
        QTest::addColumn<bool>("isAlternative");
        QTest::newRow("release") << false;
        QTest::newRow("kill-waiter") << true;
    }
    void oldSecondLookIsNotTheResult()
    {
        QFETCH(bool, isAlternative);
        ReleaseWorld w;
        auto old = queue();
        old.mayBeOld = true;
        w.observer.answers = {queue(), old};
        const auto plan = isAlternative ? planWay(queue(), queue().contenders[1].id, ReleaseAction::KillWaiter)
                                        : planForceRelease(queue(), queue().contenders[0].id);
        QVERIFY(plan);
        const auto outcome = w.release(*plan);
        QVERIFY(outcome && outcome->done && !outcome->after);
        QVERIFY2(
            outcome->message.contains(u"could not re-read the lock: the server may have returned an old state"_s),
            qPrintable(outcome->message));
        QVERIFY(w.audit.read(nullptr)->back().after.isEmpty());
    }

    void lostAnswerOfAWaiterIsRecordedAsSeen()
    {
        for (const bool isGone : {true, false}) {
            ReleaseWorld w;
            auto after = queue();
            if (isGone)
                after.contenders.erase(after.contenders.begin() + 1);
            w.observer.answers = {queue(), after};
            w.tree.fails[u"multi"_s] = Error{ErrorCode::UnknownOutcome, u"connection lost"_s};
            const auto plan = planWay(queue(), queue().contenders[1].id, ReleaseAction::KillWaiter);
            QVERIFY(plan && !w.release(*plan));
            QCOMPARE(w.outcomes(), (QStringList{u"intent"_s, isGone ? u"result: reply lost; found removed"_s
                                                                    : u"result: reply lost; found still there"_s}));
            QCOMPARE(w.audit.read(nullptr)->back().isDone, isGone);
        }
    }

    void aRedisTokenIsComparedInTheScript()
    {
        ReleaseWorld w;
        const auto snapshot = redisLock("redis-set-nx", "tok\"en");
        w.observer.answers = {snapshot, noNode()};
        w.store.next.kind = redis::Value::Kind::Integer;
        w.store.next.integer = 1;
        const auto outcome = w.release(snapshot);
        QVERIFY(outcome);
        QVERIFY(outcome->released && !outcome->after);
        QVERIFY2(outcome->message.contains(u"free now"_s), qPrintable(outcome->message));
        QCOMPARE(w.store.sent.size(), 1U);
        QCOMPARE(w.store.sent[0], (redis::Command{"EVALSHA", "compare-and-delete", "orders-lock", "tok\"en"}));
    }

    // RedLock.net's renewal sets a missing key anew, at half of its time; an unknown client's may.
    void keyPutBackByItsClientIsReported_data()
    {
        const Rows<bool, int, int, QString> row("isKnown", "left", "then", "said"); // 0 gone, 2 another, 3 unread
        row("put back", true, 30, 1, u"still runs and puts it back at each renewal"_s);
        row("another has it", true, 30, 2, u"it is free now"_s);
        row("not read", true, 30, 3, u"Could not check whether its client put it back: no connection"_s);
        row("a long lease is not waited for", true, 3600, 1, u"may put it back within 30 m 01 s"_s);
        row("unknown, back", false, 18, 1, u"back with the same token or lease: its client still runs. End"_s);
        row("unknown, gone", false, 18, 0, u"it is free now"_s);
        row("unknown, a longer lease", false, 60, 1, u"may put the key back within 31 s, if it still runs"_s);
    }
    void keyPutBackByItsClientIsReported()
    {
        QFETCH(bool, isKnown);
        QFETCH(int, left);
        QFETCH(int, then);
        QFETCH(QString, said);
        ReleaseWorld w;
        auto snapshot = redisLock("redis-set-nx", "token");
        if (isKnown)
            attribute(snapshot, knownClient("pottery"));
        snapshot.contenders[0].expiresAt = snapshot.observed + std::chrono::seconds(left);
        auto another = snapshot;
        another.contenders[0].id = "other";
        const Error unread{ErrorCode::NotConnected, u"no connection"_s};
        const std::vector<Result<LockSnapshot>> later{noNode(), snapshot, another, unread};
        w.observer.answers = {snapshot, noNode(), later[std::size_t(then)]};
        w.store.next.kind = redis::Value::Kind::Integer;
        w.store.next.integer = 1;
        const auto plan = planForceRelease(snapshot, "token");
        QVERIFY(plan && plan->warnings.join(u' ').contains(u"puts the key back"_s) == isKnown);
        const auto begun = w.loop.now();
        const auto outcome = w.release(*plan);
        QVERIFY(outcome);
        QVERIFY2(outcome->message.contains(said), qPrintable(outcome->message));
        const bool isWaitedFor = left <= 30;
        const std::chrono::seconds within(left / 2 + 1);
        QCOMPARE(w.loop.now() - begun >= within, isWaitedFor);
        const bool isBack = isWaitedFor && then == 1;
        QCOMPARE(outcome->released, !isBack);
        QCOMPARE(outcome->done, !isBack);
        QStringList written{u"intent"_s, u"result: released"_s};
        if (isBack)
            written << u"result: back with the same token or lease after %1 s"_s.arg(within.count());
        QCOMPARE(w.outcomes(), written);
    }

    void aRedisTokenThatChangedIsLeftAlone_data()
    {
        QTest::addColumn<int>("answer");
        QTest::newRow("another value") << 0;
        QTest::newRow("no key") << -1;
    }
    void aRedisTokenThatChangedIsLeftAlone()
    {
        QFETCH(int, answer);
        ReleaseWorld w;
        const auto snapshot = redisLock("redis-setnx-expire", "1");
        w.observer.answers = {snapshot, noNode()};
        w.store.next.kind = redis::Value::Kind::Integer;
        w.store.next.integer = answer;
        const auto outcome = w.release(snapshot);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
    }

    void aClaimOnASetIsDeletedOnEveryNode()
    {
        ReleaseWorld w;
        const auto snapshot = onSet(Role::Holder);
        w.observer.answers = {snapshot, noNode()};
        w.store.next.kind = redis::Value::Kind::Integer;
        w.store.next.integer = 1;
        const auto outcome = w.release(snapshot);
        QVERIFY(outcome && outcome->released);
        QVERIFY2(outcome->message.contains(u"on 3 of 3 nodes"_s), qPrintable(outcome->message));
        QCOMPARE(w.store.sent.size(), 3U);
        QCOMPARE(w.store.sent[2], (redis::Command{"EVALSHA", "compare-and-delete", "orders-lock", "token"}));
        QCOMPARE(w.outcomes(), (QStringList{u"intent"_s, u"result: released on 3 of 3 nodes"_s}));
    }

    // RedissonRedLock's: each node's own field, one node after the other, each with a record of its own.
    void aHoldOnSeveralNodesIsTakenAwayNodeByNode()
    {
        ReleaseWorld w;
        const auto snapshot = redLockOnThree();
        w.observer.answers = {snapshot, noNode()};
        w.store.next.items = {numberReply(1), numberReply(2)};
        const auto outcome = w.release(snapshot);
        QVERIFY2(outcome && outcome->released, qPrintable(outcome ? outcome->message : outcome.error().message));
        QVERIFY2(outcome->message.contains(u"on 3 of 3 nodes (a:1, b:1, c:1) (6 subscribers notified)"_s),
                 qPrintable(outcome->message));
        QCOMPARE(w.store.sent.size(), 3U);
        QStringList fields;
        for (const auto &sent : w.store.sent)
            fields << QString::fromUtf8(sent[sent.size() - 2]);
        QCOMPARE(fields, redLockFields());
        const auto records = w.audit.read(nullptr);
        QVERIFY(records);
        QStringList written;
        for (const auto &record : *records)
            written << u"%1 %2 %3"_s.arg(record.phase, record.node, QString::fromUtf8(record.holder));
        QStringList wanted;
        for (int i = 0; i < 3; ++i)
            wanted << u"intent %1:1 %2"_s.arg(QChar(u'a' + i)).arg(redLockFields()[i])
                   << u"result %1:1 %2"_s.arg(QChar(u'a' + i)).arg(redLockFields()[i]);
        QCOMPARE(written, wanted);
    }
    void theFirstSurpriseEndsItAndSaysWhatIsDone_data()
    {
        QTest::addColumn<int>("at");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("said");
        QTest::newRow("first") << 0 << int(ErrorCode::Refused) << u"on a:1: "_s;
        QTest::newRow("second") << 1 << int(ErrorCode::Server) << u"released on a:1; then on b:1: "_s;
        QTest::newRow("last") << 2 << int(ErrorCode::Server) << u"released on a:1, b:1; then on c:1: "_s;
    }
    void theFirstSurpriseEndsItAndSaysWhatIsDone()
    {
        QFETCH(int, at);
        QFETCH(int, code);
        QFETCH(QString, said);
        ReleaseWorld w;
        const auto snapshot = redLockOnThree();
        w.observer.answers = {snapshot};
        int sent = 0;
        w.store.whenSent = [&w, &sent, at] {
            const bool isAnothers = sent++ == at;
            w.store.next.items = {numberReply(isAnothers ? 0 : 1), numberReply(0)};
        };
        const auto outcome = w.release(snapshot);
        QVERIFY(!outcome);
        QCOMPARE(int(outcome.error().code), code);
        QVERIFY2(outcome.error().message.startsWith(said)
                     && outcome.error().message.contains(u"another client now holds it"_s),
                 qPrintable(outcome.error().message));
        QCOMPARE(outcome.error().message.contains(u"Nothing was sent to"_s), at < 2);
        QCOMPARE(w.store.sent.size(), std::size_t(at) + 1);
        QCOMPARE(w.outcomes().size(), 2 * (at + 1));
        QCOMPARE(w.outcomes().last(), u"result: refused"_s);
    }
    // Without a record of what was done, nothing is sent to the next node; after the last one all is done.
    void missingRecordStopsBeforeTheNextNode_data()
    {
        QTest::addColumn<int>("at");
        QTest::newRow("first node") << 0;
        QTest::newRow("last node") << 2;
    }
    void missingRecordStopsBeforeTheNextNode()
    {
        QFETCH(int, at);
        ReleaseWorld w;
        w.observer.answers = {redLockOnThree(), noNode()};
        w.store.next.items = {numberReply(1), numberReply(0)};
        int sent = 0;
        w.store.whenSent = [&w, &sent, at] {
            if (sent++ == at)
                w.audit = AuditFile(w.folder.path()); // a folder is no file
        };
        const auto outcome = w.release(redLockOnThree());
        QCOMPARE(bool(outcome), at == 2);
        QCOMPARE(w.store.sent.size(), std::size_t(at) + 1);
        const auto message = outcome ? outcome->message : outcome.error().message;
        QVERIFY2(message.contains(u"The result is missing in the audit log: "_s), qPrintable(message));
        QCOMPARE(message.contains(u"Nothing was sent to b:1, c:1"_s), at == 0);
        QVERIFY(!outcome || (outcome->released && !outcome->isRecorded));
    }
    void aHoldOnOtherNodesThanInThePreviewIsRefused()
    {
        ReleaseWorld w;
        auto now = redLockOnThree();
        now.nodes[2].value.reset();
        w.observer.answers = {now};
        const auto outcome = w.release(redLockOnThree());
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QVERIFY2(outcome.error().message.contains(u"on other nodes"_s), qPrintable(outcome.error().message));
        QVERIFY(w.store.sent.empty());
    }

    // What was planned as a leftover must not turn out to be the holder, nor be another's.
    void aClaimOnASetThatChangedIsLeftAlone_data()
    {
        QTest::addColumn<int>("then");
        QTest::addColumn<int>("now");
        QTest::addColumn<bool>("released");
        QTest::newRow("leftover") << int(Role::Waiter) << int(Role::Waiter) << true;
        QTest::newRow("won meanwhile") << int(Role::Waiter) << int(Role::Holder) << false;
        QTest::newRow("lost its majority") << int(Role::Holder) << int(Role::Waiter) << true;
    }
    void aClaimOnASetThatChangedIsLeftAlone()
    {
        QFETCH(int, then);
        QFETCH(int, now);
        QFETCH(bool, released);
        ReleaseWorld w;
        w.observer.answers = {onSet(Role(now)), noNode()};
        w.store.next.kind = redis::Value::Kind::Integer;
        w.store.next.integer = 1;
        const auto outcome = w.release(onSet(Role(then)));
        QCOMPARE(bool(outcome), released);
        QCOMPARE(w.store.sent.empty(), !released);
        if (!released)
            QCOMPARE(outcome.error().code, ErrorCode::Refused);
    }

    void aSetWhoseNodesDoNotAnswerIsSaid()
    {
        ReleaseWorld w;
        const auto snapshot = onSet(Role::Holder);
        w.store.failure = Error{ErrorCode::UnknownOutcome, u"connection lost"_s};
        w.observer.answers = {snapshot, Error{ErrorCode::NotConnected, u"no connection"_s}};
        const auto outcome = w.release(snapshot);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::UnknownOutcome);
        QVERIFY2(outcome.error().message.contains(u"n3:6379: connection lost"_s),
                 qPrintable(outcome.error().message));
    }

    void redissonNamesItsKeysAndChannels_data()
    {
        QTest::addColumn<QByteArray>("lock");
        QTest::addColumn<QByteArray>("channel");
        QTest::addColumn<QByteArray>("timeouts");
        QTest::newRow("plain") << QByteArray("orders") << QByteArray("redisson_lock__channel:{orders}")
                               << QByteArray("{orders}:");
        QTest::newRow("with a tag") << QByteArray("{shop}:orders")
                                    << QByteArray("redisson_lock__channel:{shop}:orders")
                                    << QByteArray("{shop}:orders:");
    }
    void redissonNamesItsKeysAndChannels()
    {
        QFETCH(QByteArray, lock);
        QFETCH(QByteArray, channel);
        QFETCH(QByteArray, timeouts);
        ReleaseWorld w;
        auto snapshot = redisLock("redisson-lock", "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29:1");
        snapshot.lock.name = lock;
        w.observer.answers = {snapshot, noNode()};
        w.store.next.items = {numberReply(1), numberReply(3)};
        const auto outcome = w.release(snapshot);
        QVERIFY(outcome);
        QVERIFY2(outcome->message.contains(u"3 subscribers notified"_s), qPrintable(outcome->message));
        QCOMPARE(w.store.sent[0].value(2), lock);
        QCOMPARE(w.store.sent[0].value(3), channel);
        QCOMPARE(w.store.sent[0].last(), timeouts);
    }

    // The one of the last look: it was renewed since the preview.
    void aLeaseIsComparedInTheScript()
    {
        ReleaseWorld w;
        auto snapshot = redisLock("redisson-lock", "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29:1");
        snapshot.observed = ServerTime(1000s);
        snapshot.contenders[0].expiresAt = ServerTime(1020s);
        const auto plan = planForceRelease(snapshot, snapshot.contenders[0].id);
        snapshot.contenders[0].expiresAt = ServerTime(1030s);
        w.observer.answers = {snapshot, snapshot};
        w.store.next.items = {numberReply(-3), numberReply(0)};
        const auto outcome = w.release(*plan);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QCOMPARE(w.store.sent[0].last(), "1030000");
        QCOMPARE(w.outcomes(), (QStringList{u"intent"_s, u"result: refused"_s}));
        w.store.next.items = {numberReply(1), numberReply(0)};
        const auto again = w.release(*plan);
        QVERIFY(again && !again->released);
        QVERIFY2(again->message.contains(u"holds it, still or again"_s), qPrintable(again->message));
    }
};

LOCKSCOPE_TEST(TestForceRelease)
#include "tst_forcerelease.moc"
