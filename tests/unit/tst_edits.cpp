// SPDX-License-Identifier: Apache-2.0
// Edits of znodes and keys: what is refused before anything is sent, what stops one on its way, what can be taken
// back, and what is written down.
#include "core/base/text.h"
#include "tests/support/testmain.h"
#include "tests/unit/editworld.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::operate;
using namespace Qt::StringLiterals;

namespace {

inspect::LockSnapshot heldLock(const QByteArray &path, const QByteArray &node)
{
    inspect::LockSnapshot lock;
    lock.lock = {ConnectionName("zk"), path};
    lock.recipe = "curator-mutex";
    inspect::Contender holder;
    holder.id = node;
    holder.role = inspect::Role::Holder;
    holder.endpoint = u"10.0.3.7:56332"_s;
    holder.guard.edit<inspect::ZnodeIdentity>().path = path + '/' + node;
    lock.contenders = {holder};
    return lock;
}

} // namespace

class TestEdits : public EditsFixture {
    Q_OBJECT
private slots:
    void aNodeIsSetUnderItsVersionAndBackAgain()
    {
        EditWorld w;
        w.tree.put("/app/config", 5, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app/config"));
        QVERIFY(plan);
        QCOMPARE(plan->before.value, "old");
        plan->request.value = QByteArray("new\0\xff", 5);
        const auto outcome = w.apply(*plan);
        QVERIFY2(outcome && outcome->done, outcome ? "" : qPrintable(outcome.error().message));
        QCOMPARE(w.tree.nodes[ZPath("/app/config")].data, QByteArray("new\0\xff", 5));
        // Back again, guarded by what that edit left.
        QVERIFY(outcome->undo);
        const auto undo = w.plan(*outcome->undo);
        QVERIFY(undo);
        const auto undone = w.apply(*undo);
        QVERIFY(undone && undone->done);
        QCOMPARE(w.tree.nodes[ZPath("/app/config")].data, "old");
    }
    void nothingIsTakenBackOverSomebodyElsesChange()
    {
        EditWorld w;
        w.tree.put("/app/config", 5, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app/config"));
        plan->request.value = "new";
        const auto outcome = w.apply(*plan);
        w.tree.put("/app/config", 5, 0, "theirs", 5);
        const auto undo = w.plan(*outcome->undo);
        QVERIFY(!undo);
        QCOMPARE(undo.error().code, ErrorCode::Refused);
    }
    void changeSinceThePreviewIsNotOverwritten_data()
    {
        QTest::addColumn<qint64>("czxid");
        QTest::addColumn<int>("version");
        QTest::newRow("its data was set") << qint64(5) << 4;
        QTest::newRow("it was made anew, at the same version") << qint64(9) << 3;
    }
    void changeSinceThePreviewIsNotOverwritten()
    {
        QFETCH(qint64, czxid);
        QFETCH(int, version);
        EditWorld w;
        w.tree.put("/app/config", 5, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app/config"));
        plan->request.value = "new";
        w.tree.put("/app/config", czxid, 0, "theirs", version);
        const auto outcome = w.apply(*plan);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QCOMPARE(w.writes(), QStringList());
        QVERIFY(w.records().empty()); // nothing was tried
    }
    void changeBeforeTheRequest_serverRefuses()
    {
        EditWorld w;
        w.tree.put("/app/config", 5, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app/config"));
        plan->request.value = "new";
        QVERIFY(previewOf(*plan).warnings.last().contains(u"the new node is changed: "_s));
        w.tree.before[u"set"_s] = [&] { w.tree.put("/app/config", 5, 0, "theirs", 4); };
        const auto outcome = w.apply(*plan);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QCOMPARE(w.tree.nodes[ZPath("/app/config")].data, "theirs");
        QVERIFY(w.records().back().outcome.startsWith(u"refused: "_s));
    }
    void aLastLookThatFailsHasChangedNothing()
    {
        EditWorld w;
        w.tree.put("/app/config", 5, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app/config"));
        plan->request.value = "new";
        w.tree.fails.insert({u"get"_s, Error{ErrorCode::UnknownOutcome, u"the connection broke"_s, true}});
        const auto outcome = w.apply(*plan);
        QVERIFY(!outcome);
        QVERIFY(outcome.error().code != ErrorCode::UnknownOutcome);
        QVERIFY2(outcome.error().message.contains(u"nothing was changed: "_s), qPrintable(outcome.error().message));
        QCOMPARE(w.writes(), QStringList());
        QVERIFY(w.records().empty());
    }
    void aTreeGoesChildrenFirstAndComesBack()
    {
        EditWorld w;
        w.tree.put("/app", 1, 0, "a");
        w.tree.put("/app/b", 2, 0, "b", 7);
        w.tree.put("/app/b/c", 3, 0, "c");
        w.tree.put("/app/d", 4, 0x77, "mine");
        w.tree.nodeAcls[ZPath("/app/b")] = {{zk::perms::read, "world", "anyone"}};
        const auto plan = w.plan(request(EditKind::ZnodeDelete, "/app"));
        QVERIFY(plan);
        QCOMPARE(plan->before.below.size(), std::size_t(3));
        const auto preview = previewOf(*plan);
        QVERIFY(preview.warnings.contains(u"3 nodes below it are deleted, too"_s));
        QVERIFY2(preview.warnings.last().endsWith(u"compares versions, not node identity"_s),
                 qPrintable(preview.warnings.last()));
        QVERIFY2(preview.undo.contains(u"not the 1 ephemeral"_s), qPrintable(preview.undo));
        QVERIFY2(preview.undo.contains(u"Former container and TTL nodes"_s), qPrintable(preview.undo));
        const auto outcome = w.apply(*plan);
        QVERIFY(outcome && outcome->done);
        QCOMPARE(w.writes(),
                 (QStringList{u"remove /app/b/c"_s, u"remove /app/d"_s, u"remove /app/b"_s, u"remove /app"_s}));
        QVERIFY(w.tree.nodes.empty());
        w.tree.sent.clear();
        const auto undo = w.plan(*outcome->undo);
        QVERIFY(undo);
        const auto undone = w.apply(*undo);
        QVERIFY(undone && undone->done);
        QCOMPARE(w.writes(), (QStringList{u"create /app"_s, u"create /app/b"_s, u"create /app/b/c"_s}));
        QCOMPARE(w.tree.nodes[ZPath("/app/b/c")].data, "c");
        QCOMPARE(w.tree.nodeAcls[ZPath("/app/b")].front().perms, zk::perms::read);
    }
    void newNodeBelowStopsADelete()
    {
        EditWorld w;
        w.tree.put("/app", 1, 0);
        w.tree.put("/app/a", 2, 0, "x");
        w.tree.put("/app/b", 3, 0, "y");
        const auto plan = w.plan(request(EditKind::ZnodeDelete, "/app"));
        int removed = 0;
        w.tree.before[u"remove"_s] = [&] {
            if (++removed == 2) // between the look at /app/a and its delete
                w.tree.put("/app/a", 2, 0, "set meanwhile", 1);
        };
        const auto outcome = w.apply(*plan);
        QVERIFY(outcome);
        QVERIFY(!outcome->done);
        QVERIFY2(outcome->message.contains(u"1 of 3 nodes were deleted"_s), qPrintable(outcome->message));
        QVERIFY(w.tree.nodes.contains(ZPath("/app/a")) && w.tree.nodes.contains(ZPath("/app")));
        QVERIFY(w.records().back().outcome.startsWith(u"in part: 1 node, "_s));
        // What was deleted can come back.
        QVERIFY(outcome->undo);
        QCOMPARE(outcome->undo->copies.size(), std::size_t(1));
        QCOMPARE(outcome->undo->copies.front().path.bytes(), "/app/b");
    }
    void lostReplyInBatchDeleteIsReportedAsUnknown()
    {
        EditWorld w;
        w.tree.put("/app", 1, 0);
        w.tree.put("/app/a", 2, 0);
        w.tree.put("/app/b", 3, 0);
        const auto plan = w.plan(request(EditKind::ZnodeDelete, "/app"));
        auto tools = w.tools();
        tools.send = [](EditPlan planned, Deadline) -> Task<Result<EditSent>> {
            EditSent sent;
            sent.done = {planned.before.below.back()};
            sent.stopped = Error{ErrorCode::UnknownOutcome, u"the connection broke"_s};
            co_return sent;
        };
        const auto outcome = w.run(applyEdit(*plan, tools, u"INC-7"_s, Deadline::never()));
        QVERIFY(outcome && !outcome->done);
        QVERIFY2(outcome->message.contains(u"The outcome of one more is unknown"_s), qPrintable(outcome->message));
        QVERIFY(!outcome->message.contains(u"are unchanged"_s));
        QVERIFY(w.records().back().outcome.contains(u"then: unknown: "_s));
    }
    void lostReply_editedObjectIsReadAgain()
    {
        EditWorld w;
        w.tree.put("/app", 1, 0);
        w.tree.put("/app/a", 2, 0);
        auto tools = w.tools();
        tools.send = [](EditPlan, Deadline) -> Task<Result<EditSent>> {
            co_return Error{ErrorCode::UnknownOutcome, u"the connection broke"_s};
        };
        const auto said = [&](const EditRequest &edit) {
            const auto outcome = w.run(applyEdit(*w.plan(edit), tools, u"INC-7"_s, Deadline::never()));
            return outcome ? QString() : outcome.error().message;
        };
        const auto deleted = said(request(EditKind::ZnodeDelete, "/app"));
        QVERIFY2(deleted.contains(u"is as it was before"_s), qPrintable(deleted));
        auto numbered = request(EditKind::ZnodeCreate, "/app/n-");
        numbered.isSequential = true;
        const auto created = said(numbered);
        QVERIFY2(created.endsWith(u"check its parent node"_s), qPrintable(created));
        // A rename that may not have been done: nobody knows of its new name.
        tools.read = [](EditRequest edit, Deadline) -> Task<Result<EditState>> {
            EditState state;
            state.exists = edit.name == "k";
            state.type = "string";
            co_return state;
        };
        EditPlan plan;
        plan.request = request(EditKind::KeyRename, "k", "other");
        plan.before.exists = true;
        plan.before.type = "string";
        const auto renamed = w.run(applyEdit(plan, tools, u"INC-7"_s, Deadline::never()));
        QVERIFY2(renamed.error().message.contains(u"is as it was before"_s), qPrintable(renamed.error().message));
    }
    void newNodeInAQueueTouchesItsLock()
    {
        auto lock = heldLock("/locks/orders", "x-lock-0000000001");
        auto restore = request(EditKind::ZnodeRestore, "/locks/orders/old-lock-0000000000");
        ZnodeCopy copy;
        copy.path = ZPath("/locks/orders/old-lock-0000000000");
        restore.copies = {copy};
        QCOMPARE(touchedLocks(restore, {lock}).size(), std::size_t(1));
        EditPlan plan;
        plan.request = restore;
        plan.locks = touchedLocks(restore, {lock});
        QVERIFY(previewOf(plan).warnings.join(u' ').contains(u"a lock's directory"_s));
        // A semaphore's leases lie one deeper.
        lock.lock.name = "/semaphore";
        lock.contenders[0].guard.edit<inspect::ZnodeIdentity>().path = "/semaphore/leases/x-lease-0000000001";
        QCOMPARE(touchedLocks(request(EditKind::ZnodeCreate, "/semaphore/leases/mine"), {lock}).size(),
                 std::size_t(1));
        QVERIFY(touchedLocks(restore, {lock}).empty());
    }
    void newChildSinceThePreviewStopsTheDelete()
    {
        EditWorld w;
        w.tree.put("/app", 1, 0);
        w.tree.put("/app/a", 2, 0);
        const auto plan = w.plan(request(EditKind::ZnodeDelete, "/app"));
        w.tree.put("/app/new", 9, 0x55);
        const auto outcome = w.apply(*plan);
        QVERIFY(!outcome);
        QVERIFY2(outcome.error().message.contains(u"/app/new is a new node below it"_s),
                 qPrintable(outcome.error().message));
        QCOMPARE(w.writes(), QStringList());
    }
    void aHeldLockIsNamedAndHasToBeAccepted()
    {
        EditWorld w;
        w.tree.put("/locks/orders", 1, 0);
        w.tree.put("/locks/orders/x-lock-0000000001", 2, 0x77);
        w.locks = {heldLock("/locks/orders", "x-lock-0000000001")};
        auto plan = w.plan(request(EditKind::ZnodeDelete, "/locks/orders"));
        QVERIFY(plan->touchesHeld());
        QVERIFY(plan->locks.front().text().contains(u"x-lock-0000000001 at 10.0.3.7:56332"_s));
        const auto refused = w.apply(*plan);
        QCOMPARE(refused.error().code, ErrorCode::Refused);
        QCOMPARE(w.writes(), QStringList());
        // Named, but somebody else holds it by now.
        plan->areLocksAccepted = true;
        w.locks = {heldLock("/locks/orders", "x-lock-0000000002")};
        const auto other = w.apply(*plan);
        QCOMPARE(other.error().code, ErrorCode::Refused);
        QCOMPARE(w.writes(), QStringList());
        w.locks = {heldLock("/locks/orders", "x-lock-0000000001")};
        const auto done = w.apply(*plan);
        QVERIFY(done && done->done);
        QVERIFY(!done->undo || done->undo->copies.size() == 1); // the ephemeral one does not come back
    }
    // Of Redisson's thread it is the same name: accepted was the hold that the form showed.
    void aHoldThatWasTakenSinceHasToBeAcceptedAgain()
    {
        using namespace std::chrono_literals;
        const auto heldSince = [](std::chrono::seconds since, std::chrono::seconds observed) {
            auto lock = heldLock("/locks/orders", "c8b9e7b0-8f6e-4d5e-a7a5-11d0f0a0b0c0:45");
            lock.recipe = "redisson-lock"; // where it lies is all the same here
            lock.observed = inspect::ServerTime(observed);
            lock.contenders[0].heldSince = inspect::ServerTime(since);
            return lock;
        };
        for (const auto since : {1030s, 400s}) {
            EditWorld w;
            w.tree.put("/locks/orders", 1, 0);
            w.locks = {heldSince(400s, 1000s)};
            auto plan = w.plan(request(EditKind::ZnodeDelete, "/locks/orders"));
            QVERIFY(plan->touchesHeld());
            plan->areLocksAccepted = true;
            w.locks = {heldSince(since, 1060s)};
            const auto outcome = w.apply(*plan);
            if (since == 400s) {
                QVERIFY2(outcome && outcome->done, outcome ? "" : qPrintable(outcome.error().message));
                continue;
            }
            QVERIFY(!outcome);
            QCOMPARE(outcome.error().code, ErrorCode::Refused);
            QVERIFY2(outcome.error().message.contains(u"acquired it again"_s), qPrintable(outcome.error().message));
            QCOMPARE(w.writes(), QStringList());
        }
    }
    void aReadOnlyConnectionRefuses()
    {
        EditWorld w;
        w.tree.put("/app/config", 5, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app/config"));
        plan->request.value = "new";
        w.gate.setReadOnly(true);
        const auto outcome = w.apply(*plan);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QCOMPARE(w.writes(), QStringList());
    }
    void withoutARecordNothingIsSent()
    {
        EditWorld w;
        w.tree.put("/app/config", 5, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app/config"));
        plan->request.value = "new";
        w.audit = AuditFile(u"/proc/no/such/place/audit.jsonl"_s);
        QVERIFY(!w.apply(*plan));
        QCOMPARE(w.writes(), QStringList());
    }
    void theRecordSaysBeforeAndAfter()
    {
        EditWorld w;
        w.tree.put("/app/config", 5, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app/config"));
        plan->request.value = "new";
        QVERIFY(w.apply(*plan));
        const auto records = w.records();
        QCOMPARE(records.size(), std::size_t(2));
        QCOMPARE(records[0].action, u"znode-set"_s);
        QCOMPARE(records[0].lock, "zk:/app/config");
        QCOMPARE(records[0].reason, u"INC-7"_s);
        QVERIFY(!records[0].lacksResult);
        // Should the program die between the two, it is known what it was about to make of it.
        QCOMPARE(records[0].to["value"_L1]["text"_L1].toString(), u"new"_s);
        QCOMPARE(records[1].before["value"_L1]["text"_L1].toString(), u"old"_s);
        QCOMPARE(records[1].after["value"_L1]["text"_L1].toString(), u"new"_s);
        QCOMPARE(records[1].outcome, u"done"_s);
    }
    void aPasswordIsHashedAndGoesNowhere()
    {
        // As `zkCli addauth` and DigestAuthenticationProvider make it.
        QCOMPARE(digestId("super", "test"), "super:D/InIHSb7yEEbrWz8b9l71RjZJU=");
        EditWorld w;
        w.tree.put("/app", 1, 0);
        auto plan = w.plan(request(EditKind::ZnodeAcl, "/app"));
        plan->request.acls = {{zk::perms::all, "digest", digestId("ops", "hunter2")}};
        QVERIFY(previewOf(*plan).warnings.join(u' ').contains(u"can change the ACL again"_s));
        const auto outcome = w.apply(*plan);
        QVERIFY(outcome && outcome->done && outcome->undo);
        QCOMPARE(outcome->undo->acls, zk::openAcl());
        QFile file(w.audit.path());
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto written = file.readAll();
        QVERIFY(!written.contains("hunter2"));
        QVERIFY(written.contains("digest:ops:x"));
        for (const auto &entry : w.log.entries())
            QVERIFY(!entry.text.contains(u"hunter2"_s));
    }
    void aclsReadAsTheyAreWritten()
    {
        const zk::Acls acls{{zk::perms::read | zk::perms::create, "world", "anyone"},
                            {zk::perms::all, "digest", "ops:Zk1xQp0/9vYf8rJ1bqSg3yX6lAs="}};
        const auto read = parseAcls(aclText(acls[0]) + u"\n\n"_s + aclText(acls[1]));
        QVERIFY(read);
        QCOMPARE(*read, acls);
        for (const auto &wrong : {u""_s, u"cdrwa"_s, u"xyz world:anyone"_s, u"cdrwa digest:ops:hunter2"_s})
            QVERIFY2(!parseAcls(wrong), qPrintable(wrong));
    }
    void impossibleEditIsRejected_data()
    {
        QTest::addColumn<QByteArray>("path");
        for (const auto *path : {"/", "/a//b", "a", "/a/", "/a/../b", "/zookeeper/quota"})
            QTest::newRow(path) << QByteArray(path);
    }
    void impossibleEditIsRejected()
    {
        QFETCH(QByteArray, path);
        EditPlan plan;
        plan.request = request(EditKind::ZnodeCreate, path);
        QVERIFY(editError(plan));
        plan.request.value = QByteArray(largestEdit + 1, 'x');
        QCOMPARE(editError(plan)->code, ErrorCode::TooLarge);
    }
    void aNodeIsItsSessionsOrHasATtl()
    {
        EditPlan plan;
        plan.request = request(EditKind::ZnodeCreate, "/app/new");
        plan.request.acls = zk::openAcl();
        plan.request.isEphemeral = true;
        plan.request.value = "x";
        QVERIFY(!editError(plan));
        QCOMPARE(previewOf(plan).commands.last(), u"create /app/new ephemeral, 1 byte"_s);
        QVERIFY(previewOf(plan).warnings.join(u' ').contains(u"is deleted with it"_s));
        plan.request.ttl = std::chrono::seconds(30);
        QVERIFY(editError(plan));
        plan.request.isEphemeral = false;
        QVERIFY(!editError(plan));
        QCOMPARE(previewOf(plan).commands.last(), u"create /app/new persistent TTL 30000 ms, 1 byte"_s);
        QVERIFY(previewOf(plan).warnings.join(u' ').contains(u"was not changed for 30 s"_s));
        plan.request.ttl = std::chrono::milliseconds(0);
        QVERIFY(editError(plan));
    }
    // Not "restore the previous ACL" beside a warning that nobody could.
    void anAclThatNobodyMayChangeAgainIsNotTakenBack()
    {
        EditWorld w;
        w.tree.put("/app", 1, 0);
        auto plan = w.plan(request(EditKind::ZnodeAcl, "/app"));
        plan->request.acls = {{zk::perms::read | zk::perms::write, "world", "anyone"}};
        QVERIFY(previewOf(*plan).undo.contains(u"cannot be undone"_s));
        QVERIFY(previewOf(*plan).warnings.join(u' ').contains(u"only a superuser"_s));
        const auto outcome = w.apply(*plan);
        QVERIFY(outcome && outcome->done && !outcome->undo);
        plan->request.acls.push_back({zk::perms::admin, "digest", "ops:x"});
        QCOMPARE(previewOf(*plan).undo, u"restore the previous ACL, if you have the letter a in an entry"_s);
    }
    void aHiddenHashIsNotWrittenBack()
    {
        EditPlan plan;
        plan.before.exists = true;
        plan.before.acls = {{zk::perms::all, "digest", "ops:x"}};
        plan.request = request(EditKind::ZnodeAcl, "/app");
        QVERIFY(previewOf(plan).undo.contains(u"cannot be undone"_s));
        plan.request.acls = {{zk::perms::read, "digest", "ops:x"}};
        QVERIFY(editError(plan));
    }
};

LOCKSCOPE_TEST(TestEdits)
#include "tst_edits.moc"
