// SPDX-License-Identifier: Apache-2.0
// An edit whose answer was lost: what a later look says of it, and that a connection that comes back is waited for.
#include "tests/support/testmain.h"
#include "tests/unit/editworld.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::operate;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

EditState keyState(const QByteArray &value)
{
    EditState state;
    state.exists = true;
    state.type = "string";
    state.value = value;
    state.items = value.size();
    state.dump = "dump of " + value;
    return state;
}

EditState znodeState(const QByteArray &value, qint32 version)
{
    EditState state;
    state.exists = true;
    state.value = value;
    state.stat.czxid = 7;
    state.stat.version = version;
    state.acls = zk::openAcl();
    return state;
}

// A server that does what it is asked, and is not heard of for a while after.
struct Cut {
    EditWorld &world;
    decltype(EditTools::read) readTree;
    std::chrono::seconds away;
    std::optional<Instant> since = {};
};

Task<Result<EditSent>> sendAndBreak(Cut *cut)
{
    cut->world.tree.put("/app", 1, 0, "new", 4);
    cut->since = cut->world.loop.now();
    co_return Error{ErrorCode::UnknownOutcome, u"the connection broke"_s, true};
}

Task<Result<EditState>> readUnlessCut(Cut *cut, EditRequest edit, Deadline by)
{
    if (cut->since && cut->world.loop.now() < *cut->since + cut->away)
        co_return Error{ErrorCode::NotConnected, u"not connected; nothing was sent"_s, true};
    auto reading = cut->readTree(std::move(edit), by);
    auto state = co_await reading;
    co_return state;
}

} // namespace

class TestEditsLost : public EditsFixture {
    Q_OBJECT
private slots:
    void aLaterLookSaysWhetherItIsAsItWasToBe_data()
    {
        QTest::addColumn<EditKind>("kind");
        QTest::addColumn<QByteArray>("value");
        QTest::addColumn<EditState>("before");
        QTest::addColumn<EditState>("now");
        QTest::addColumn<bool>("isDone");
        QTest::addColumn<bool>("hasUndo");
        const EditState nothing;
        QTest::newRow("key deleted") << EditKind::KeyDelete << QByteArray() << keyState("a") << nothing << true
                                     << true;
        QTest::newRow("key there") << EditKind::KeyDelete << QByteArray() << keyState("a") << keyState("a") << false
                                   << false;
        QTest::newRow("key set") << EditKind::KeySet << "b"_ba << keyState("a") << keyState("b") << true << true;
        QTest::newRow("key as before") << EditKind::KeySet << "b"_ba << keyState("a") << keyState("a") << false
                                       << false;
        QTest::newRow("key another's") << EditKind::KeySet << "b"_ba << keyState("a") << keyState("c") << false
                                       << false;
        QTest::newRow("key made") << EditKind::KeySet << "b"_ba << nothing << keyState("b") << true << true;
        QTest::newRow("renamed away") << EditKind::KeyRename << "other"_ba << keyState("a") << nothing << false
                                      << false;
        auto timed = keyState("a");
        timed.ttl = 60s;
        timed.expiryMs = 1'900'000'000'000;
        auto shortened = timed;
        shortened.ttl = 9s;
        shortened.expiryMs = 1'899'999'949'000;
        auto lengthened = timed;
        lengthened.ttl = 90s;
        lengthened.expiryMs = 1'900'000'040'000;
        auto vague = timed;
        vague.ttl = 5s;
        vague.expiryMs.reset();
        QTest::newRow("shortened") << EditKind::KeyExpire << "10"_ba << timed << shortened << true << true;
        QTest::newRow("its end is the same") << EditKind::KeyExpire << "10"_ba << timed << timed << false << false;
        QTest::newRow("longer than wanted")
            << EditKind::KeyExpire << "10"_ba << timed << lengthened << false << false;
        QTest::newRow("no end is told") << EditKind::KeyExpire << "10"_ba << timed << vague << false << false;
        QTest::newRow("stays") << EditKind::KeyExpire << QByteArray() << timed << keyState("a") << true << true;
        QTest::newRow("node set") << EditKind::ZnodeSet << "b"_ba << znodeState("a", 3) << znodeState("b", 4) << true
                                  << true;
        QTest::newRow("node as before") << EditKind::ZnodeSet << "b"_ba << znodeState("a", 3) << znodeState("a", 3)
                                        << false << false;
        QTest::newRow("node set by another")
            << EditKind::ZnodeSet << "b"_ba << znodeState("a", 3) << znodeState("c", 4) << false << false;
        QTest::newRow("node deleted") << EditKind::ZnodeDelete << QByteArray() << znodeState("a", 3) << nothing
                                      << true << true;
        QTest::newRow("node there") << EditKind::ZnodeDelete << QByteArray() << znodeState("a", 3)
                                    << znodeState("a", 3) << false << false;
    }
    void aLaterLookSaysWhetherItIsAsItWasToBe()
    {
        QFETCH(const EditKind, kind);
        QFETCH(const QByteArray, value);
        QFETCH(const EditState, before);
        QFETCH(const EditState, now);
        QFETCH(const bool, isDone);
        QFETCH(const bool, hasUndo);
        EditPlan plan;
        plan.request = request(kind, "/thing", value);
        if (kind == EditKind::KeyExpire && !value.isEmpty())
            plan.request.ttl = std::chrono::seconds(value.toInt());
        plan.before = before;
        const auto found = foundDone(plan, now);
        QCOMPARE(found.has_value(), isDone);
        QCOMPARE(found && found->undo, hasUndo);
        QVERIFY(!found || found->message.contains(u"This edit or another client made it"_s));
    }
    void allThatWentWithANodeComesBack()
    {
        EditPlan plan;
        plan.request = request(EditKind::ZnodeDelete, "/app");
        plan.before = znodeState("top", 0);
        ZnodeCopy child;
        child.path = ZPath("/app/a");
        child.data = "below";
        child.acls = zk::openAcl();
        plan.before.below = {child};
        QCOMPARE(lookAfterLost(plan.request).kind, EditKind::ZnodeSet); // the node alone tells
        const auto found = foundDone(plan, {});
        QVERIFY(found && found->undo);
        QCOMPARE(found->undo->copies.size(), std::size_t(2));
        QCOMPARE(found->undo->copies.front().path.bytes(), "/app");
        QCOMPARE(found->undo->copies.back().data.value_or(""), "below");
    }
    void missingResultIsReported_data()
    {
        QTest::addColumn<int>("answer"); // -1: done
        QTest::newRow("done") << -1;
        QTest::newRow("failed") << int(ErrorCode::Server);
        QTest::newRow("lost") << int(ErrorCode::UnknownOutcome);
    }
    void missingResultIsReported()
    {
        QFETCH(int, answer);
        EditWorld w;
        w.tree.put("/app", 1, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app", "new"));
        QVERIFY(plan);
        w.tree.before[u"set"_s] = [&] { w.audit = AuditFile(w.folder.path()); }; // a folder is no file
        if (answer >= 0)
            w.tree.fails[u"set"_s] = Error{ErrorCode(answer), u"so it is"_s};
        const auto outcome = w.apply(*plan);
        QCOMPARE(bool(outcome), answer < 0);
        const auto message = outcome ? outcome->message : outcome.error().message;
        QVERIFY2(message.contains(u"The result is missing in the audit log: "_s), qPrintable(message));
    }
    // It had been asked once, at the moment at which the connection broke, and then was not known for good.
    void aConnectionThatComesBackIsWaitedFor_data()
    {
        QTest::addColumn<int>("secondsAway");
        QTest::addColumn<bool>("isFound");
        QTest::newRow("back after 2 s") << 2 << true;
        QTest::newRow("away for longer") << 60 << false;
    }
    void aConnectionThatComesBackIsWaitedFor()
    {
        QFETCH(const int, secondsAway);
        QFETCH(const bool, isFound);
        EditWorld w;
        w.tree.put("/app", 1, 0, "old", 3);
        auto plan = w.plan(request(EditKind::ZnodeSet, "/app", "new"));
        QVERIFY(plan);
        auto tools = w.tools();
        Cut cut{w, tools.read, std::chrono::seconds(secondsAway)};
        tools.send = [&](EditPlan, Deadline) { return sendAndBreak(&cut); };
        tools.read = [&](EditRequest edit, Deadline by) { return readUnlessCut(&cut, std::move(edit), by); };
        std::optional<Result<EditOutcome>> outcome;
        w.scope.launch(EditWorld::keep(applyEdit(*plan, tools, u"INC-7"_s, Deadline::never()), &outcome));
        w.loop.advance(6s);
        QVERIFY(outcome);
        QCOMPARE(bool(*outcome), isFound);
        const auto record = w.records().back();
        QVERIFY(record.outcome.startsWith(isFound ? u"reply lost; found done: "_s : u"unknown: "_s));
        QCOMPARE(record.isDone, isFound);
        QCOMPARE(w.records().back().after.isEmpty(), !isFound);
        if (isFound) {
            QVERIFY((*outcome)->undo);
            return;
        }
        const auto said = outcome->error().message;
        QVERIFY2(said.contains(u"could not be re-read: not connected"_s), qPrintable(said));
        QVERIFY2(!said.contains(u"nothing was sent"_s), qPrintable(said)); // beside "the request was sent"
    }
};

LOCKSCOPE_TEST(TestEditsLost)
#include "tst_edits_lost.moc"
