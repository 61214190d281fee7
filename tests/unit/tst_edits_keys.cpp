// SPDX-License-Identifier: Apache-2.0
// Edits of keys: compared and sent in one script, and what is said before of what cannot be taken back.
#include "tests/support/testmain.h"
#include "tests/unit/editworld.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::operate;
using namespace Qt::StringLiterals;

class TestEditsKeys : public EditsFixture {
    Q_OBJECT
private slots:
    void keysAreComparedInOneScript()
    {
        EditWorld w;
        EditPlan plan;
        plan.before.exists = true;
        plan.before.type = "string";
        plan.before.value = "old";
        plan.before.items = 3;
        plan.before.ttl = std::chrono::seconds(30);
        plan.request = request(EditKind::KeySet, "k", "new");
        w.store.next.kind = redis::Value::Kind::Bulk;
        w.store.next.text = "done";
        QVERIFY(w.run(sendEdit(plan, w.redis.get(), Deadline::never())));
        QCOMPARE(w.store.sent.back(),
                 (redis::Command{"EVALSHA", "edit-key", "k", "string", "value", "old", "1", "", "set", "new", ""}));
        w.store.next.text = "value";
        const auto refused = w.run(sendEdit(plan, w.redis.get(), Deadline::never()));
        QCOMPARE(refused.error().code, ErrorCode::Refused);
        w.store.next.text = "past";
        plan.request = request(EditKind::KeyExpire, "k");
        plan.request.expiryMs = 1'900'000'000'000;
        plan.request.expected.emplace(); // taken back: only from the end that the edit gave
        plan.before.expiryMs = 1'800'000'000'000;
        const auto past = w.run(sendEdit(plan, w.redis.get(), Deadline::never()));
        QVERIFY2(past.error().message.contains(u"server's clock"_s), qPrintable(past.error().message));
        QCOMPARE(w.store.sent.back(), (redis::Command{"EVALSHA", "edit-key", "k", "string", "value", "old", "1",
                                                      "1800000000000", "expireat", "1900000000000", ""}));
    }
    void tooLargeKeyIsNotSetAndItsDeleteIsNotExact()
    {
        EditPlan plan;
        plan.before.exists = true;
        plan.before.type = "string";
        plan.before.isWhole = false;
        plan.before.items = largestEdit + 1;
        plan.request = request(EditKind::KeySet, "k", "new");
        QCOMPARE(editError(plan)->code, ErrorCode::TooLarge);
        plan.request = request(EditKind::KeyDelete, "k");
        QVERIFY(!editError(plan));
        const auto preview = previewOf(plan);
        QVERIFY(!preview.exact);
        QVERIFY2(preview.undo.contains(u"cannot be undone"_s), qPrintable(preview.undo));
    }
    // As redis-cli reads it; and what had no end is given none back.
    void quotesAreEscapedAndUndoRemovesANewTtl()
    {
        EditPlan plan;
        plan.before.exists = plan.before.hasField = true;
        plan.before.type = "hash";
        plan.before.value = "a \"b\"";
        plan.request = request(EditKind::FieldSet, "h", "c \"d\" \\");
        plan.request.field = "f\"g";
        const auto preview = previewOf(plan);
        QVERIFY2(preview.commands.back().contains(u"HSET h \"f\\\"g\" \"c \\\"d\\\" \\\\\""_s),
                 qPrintable(preview.commands.back()));
        QVERIFY2(preview.guard.contains(u"holds \"a \\\"b\\\"\""_s), qPrintable(preview.guard));
        QVERIFY2(preview.undo.startsWith(u"restore the field's value"_s), qPrintable(preview.undo));
        plan.before.hasField = false;
        QVERIFY2(previewOf(plan).undo.startsWith(u"delete the field again"_s), qPrintable(previewOf(plan).undo));
        plan.request = request(EditKind::KeyExpire, "h");
        plan.request.ttl = std::chrono::hours(1);
        QCOMPARE(previewOf(plan).undo, u"remove its TTL again"_s);
        plan.before.ttl = std::chrono::seconds(10);
        plan.before.expiryMs = 1'700'000'000'000;
        QVERIFY(previewOf(plan).undo.contains(u"its previous expiry time"_s));
    }
    // The key goes with it: what is said before is of the key.
    void aLastFieldIsTakenBackAsItsKey()
    {
        EditPlan plan;
        plan.before.exists = plan.before.hasField = true;
        plan.before.type = "hash";
        plan.before.items = 2;
        plan.before.dump = "all of it";
        plan.before.ttl = std::chrono::seconds(10);
        plan.request = request(EditKind::FieldDelete, "h");
        plan.request.field = "f";
        QVERIFY(previewOf(plan).undo.startsWith(u"restore the field's value"_s));
        plan.before.items = 1;
        QVERIFY2(previewOf(plan).undo.contains(u"does not report the exact"_s), qPrintable(previewOf(plan).undo));
        plan.before.expiryMs = 1'700'000'000'000;
        QVERIFY(previewOf(plan).undo.contains(u"its expiry time"_s));
    }
};

LOCKSCOPE_TEST(TestEditsKeys)
#include "tst_edits_keys.moc"
