// SPDX-License-Identifier: Apache-2.0
// The gate: what is logged, what is counted, what is refused, and that nothing slips past it.
#include "core/operate/gate.h"
#include "tests/support/testmain.h"
#include "tests/unit/tst_gate_fakes.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::operate;
using namespace Qt::StringLiterals;

namespace {

struct GateWorld {
    VirtualLoop loop;
    CommandLog log;
    Gate gate{ConnectionName("prod"), false, false, log};
    fakes::Session tree{loop};
    fakes::Connection store{loop};
    std::unique_ptr<zk::Session> zookeeper = gated(tree, gate);
    std::unique_ptr<redis::Connection> redis = gated(store, gate);

    const LogEntry &last() const { return log.entries().back(); }
};

redis::Command words(const char *text)
{
    return QByteArray(text).split(' ');
}

} // namespace

class TestGate : public QObject {
    Q_OBJECT
private slots:
    void redisCommandsByKind_data()
    {
        QTest::addColumn<QByteArray>("command");
        QTest::addColumn<bool>("write");
        const auto row = [](const char *command, bool write) {
            QTest::newRow(command) << QByteArray(command) << write;
        };
        row("GET k", false);
        row("get k", false);
        row("PTTL k", false);
        row("SCAN 0 MATCH *", false);
        row("HGETALL k", false);
        row("CLIENT LIST", false);
        row("client tracking on redirect 7 bcast", false);
        row("CLIENT SETNAME lockscope", false);
        row("CLIENT KILL ID 7", true);
        row("CLIENT PAUSE 1000", true);
        row("CLIENT", true);
        row("CONFIG GET maxmemory", false);
        row("CONFIG SET maxmemory 0", true);
        row("CONFIG RESETSTAT", true);
        row("PUBSUB NUMSUB c", false);
        row("OBJECT IDLETIME k", false);
        row("MEMORY USAGE k", false);
        row("MEMORY PURGE", true);
        row("COMMAND", false);
        row("AUTH secret", false);
        row("HELLO 2", false);
        row("PUBLISH c m", true);
        row("EVAL return 0", true);
        row("EVALSHA abc 0", true);
        row("EVAL_RO return 0", false);
        row("SCRIPT LOAD x", true);
        row("SCRIPT EXISTS x", false);
        row("SET k v", true);
        row("DEL k", true);
        row("GETEX k EX 1", true);
        row("GETSET k v", true);
        row("SORT k STORE d", true);
        row("PFCOUNT k", true);
        row("FLUSHALL", true);
        row("DEBUG SLEEP 1", true);
        row("NO.SUCH.COMMAND k", true);
    }
    void redisCommandsByKind()
    {
        QFETCH(QByteArray, command);
        QFETCH(bool, write);
        QCOMPARE(isWrite(command.split(' ')), write);
    }

    void anEmptyCommandIsAWrite() { QVERIFY(isWrite(redis::Command{})); }

    void zookeeperWritesAreRefusedBeforeAnythingIsSent()
    {
        GateWorld w;
        w.tree.put("/locks/a", 5, 0x77);
        w.gate.lockReadOnly();
        zk::Op removal;
        removal.kind = zk::Op::Kind::Remove;
        removal.path = ZPath("/locks/a");
        const auto never = Deadline::never();
        const auto created = w.zookeeper->create(ZPath("/x"), {}, zk::CreateMode::Persistent, zk::openAcl(), never);
        const auto removed = w.zookeeper->remove(ZPath("/locks/a"), 0, never);
        const auto set = w.zookeeper->set(ZPath("/locks/a"), "d", 0, never);
        const auto multi = w.zookeeper->multi({removal}, never);
        const auto acl = w.zookeeper->setAcls(ZPath("/locks/a"), zk::openAcl(), 0, never);
        w.loop.runReady();
        QCOMPARE(created.value().error().code, ErrorCode::Refused);
        QCOMPARE(removed.value().error().code, ErrorCode::Refused);
        QCOMPARE(set.value().error().code, ErrorCode::Refused);
        QCOMPARE(multi.value().error().code, ErrorCode::Refused);
        QCOMPARE(acl.value().error().code, ErrorCode::Refused);
        QCOMPARE(w.tree.sent, QStringList());
        QCOMPARE(w.gate.writesSent(), 0);
        QCOMPARE(w.gate.requestsSent(), 0);
        QVERIFY(w.last().refused);
        const auto &message = removed.value().error().message;
        QVERIFY2(message.contains(u"prod is read-only"_s) && message.contains(u"delete /locks/a version 0"_s)
                     && message.contains(u"--read-only"_s),
                 qPrintable(message));
    }

    void readsPassAReadOnlyGate()
    {
        GateWorld w;
        w.tree.put("/locks/a", 5, 0x77, "me");
        w.gate.lockReadOnly();
        const auto never = Deadline::never();
        const auto got = w.zookeeper->get(ZPath("/locks/a"), {}, never);
        const auto synced = w.zookeeper->sync(ZPath("/locks/a"), never);
        const auto checked = w.zookeeper->multi({zk::Op{}}, never);
        const auto authed = w.zookeeper->addAuth("digest", "u:p", never);
        const auto value = w.redis->command(words("GET k"), never);
        w.loop.runReady();
        QVERIFY(got.value() && synced.value() && checked.value() && authed.value() && value.value());
        QCOMPARE(w.gate.requestsSent(), 5);
        QCOMPARE(w.gate.writesSent(), 0);
    }

    void redisWritesAreRefusedBeforeAnythingIsSent()
    {
        GateWorld w;
        w.gate.setReadOnly(true);
        const auto never = Deadline::never();
        const auto set = w.redis->command(words("SET k v"), never);
        const auto mixed = w.redis->pipeline({words("GET k"), words("DEL k")}, never);
        const auto script =
            w.redis->script(redis::Script{"redis-set-nx/release", "return 1", "abc"}, {"k"}, {"v"}, never);
        w.loop.runReady();
        QCOMPARE(set.value().error().code, ErrorCode::Refused);
        QCOMPARE(mixed.value().error().code, ErrorCode::Refused);
        QCOMPARE(script.value().error().code, ErrorCode::Refused);
        QVERIFY(w.store.sent.empty());
        QVERIFY(set.value().error().message.contains(u"allow writes"_s));
    }

    void readOnlyForGoodCannotBeArmed()
    {
        GateWorld w;
        w.gate.lockReadOnly();
        w.gate.setReadOnly(false);
        QVERIFY(w.gate.isReadOnly());
    }

    void armingIsLogged()
    {
        GateWorld w;
        w.gate.setReadOnly(true);
        w.gate.setReadOnly(false);
        QCOMPARE(w.log.entries().size(), 2U);
        QCOMPARE(w.last().kind, LogEntry::Kind::State);
        const auto done = w.redis->command(words("SET k v"), Deadline::never());
        w.loop.runReady();
        QVERIFY(done.value());
        QCOMPARE(w.gate.writesSent(), 1);
    }

    void outcomesAndDurationsAreLogged()
    {
        GateWorld w;
        w.tree.put("/locks", 1, 0);
        w.tree.put("/locks/a", 5, 0x77);
        w.tree.put("/locks/b", 6, 0x78);
        const auto listed = w.zookeeper->children(ZPath("/locks"), {}, Deadline::never());
        w.loop.runReady();
        QCOMPARE(w.last().text, u"getChildren /locks"_s);
        QCOMPARE(w.last().outcome, u"ok, 2 children"_s);
        const auto missing = w.zookeeper->get(ZPath("/none"), {}, Deadline::never());
        w.loop.runReady();
        QCOMPARE(w.last().outcome, u"no node /none"_s);
        QVERIFY(!missing.value());
    }

    // One is not several.
    void outcomesAreCounted_data()
    {
        QTest::addColumn<int>("count");
        QTest::addColumn<QString>("bulk");
        QTest::addColumn<QString>("array");
        QTest::newRow("none") << 0 << u"ok, 0 bytes"_s << u"ok, 0 items"_s;
        QTest::newRow("one") << 1 << u"ok, 1 byte"_s << u"ok, 1 item"_s;
        QTest::newRow("two") << 2 << u"ok, 2 bytes"_s << u"ok, 2 items"_s;
    }
    void outcomesAreCounted()
    {
        QFETCH(const int, count);
        QFETCH(const QString, bulk);
        QFETCH(const QString, array);
        GateWorld w;
        w.store.next.kind = redis::Value::Kind::Bulk;
        w.store.next.text = QByteArray(count, 'x');
        const auto got = w.redis->command(words("GET k"), Deadline::never());
        w.loop.runReady();
        QCOMPARE(w.last().outcome, bulk);
        w.store.next.kind = redis::Value::Kind::Array;
        w.store.next.items.resize(size_t(count));
        const auto listed = w.redis->command(words("SMEMBERS k"), Deadline::never());
        w.loop.runReady();
        QCOMPARE(w.last().outcome, array);
        QVERIFY(got.value() && listed.value());
    }

    void watchesAreForwardedAndLogged()
    {
        GateWorld w;
        w.tree.put("/locks/a", 5, 0x77);
        const zk::Watch watch(w.loop);
        const auto got = w.zookeeper->get(ZPath("/locks/a"), watch, Deadline::never());
        QCOMPARE(w.last().text, u"getData /locks/a watch"_s);
        w.loop.runReady();
        QVERIFY(!watch.event().isComplete());
        w.tree.fire("/locks/a", zk::EventKind::Deleted);
        w.loop.runReady();
        QVERIFY(watch.event().isComplete());
        QCOMPARE(watch.event().value().path, ZPath("/locks/a"));
        QCOMPARE(w.last().kind, LogEntry::Kind::Event);
        QCOMPARE(w.last().text, u"watch: /locks/a deleted"_s);
    }

    void eventAndReplyKeepTheServersOrder()
    {
        GateWorld w;
        w.tree.put("/locks/a", 5, 0x77);
        const zk::Watch watch(w.loop);
        const auto got = w.zookeeper->get(ZPath("/locks/a"), watch, Deadline::never());
        w.loop.runReady();
        QStringList order;
        watch.event().then([&](const zk::WatchEvent &) { order << u"event"_s; });
        w.tree.fire("/locks/a", zk::EventKind::Deleted);
        const auto after = w.zookeeper->children(ZPath("/locks"), {}, Deadline::never());
        after.then([&](const Result<zk::Children> &) { order << u"reply"_s; });
        w.loop.runReady();
        QCOMPARE(order, (QStringList{u"event"_s, u"reply"_s}));
    }

    void answersMayOutliveTheGate()
    {
        VirtualLoop loop;
        fakes::Session tree(loop);
        tree.put("/a", 1, 0);
        const zk::Watch watch(loop);
        std::optional<Reply<zk::Node>> late;
        {
            CommandLog log;
            Gate gate(ConnectionName("zk"), false, false, log);
            const auto session = gated(tree, gate);
            late = session->get(ZPath("/a"), watch, Deadline::never());
        }
        tree.fire("/a", zk::EventKind::DataChanged);
        loop.runReady();
        QVERIFY(late->value());
        QVERIFY(watch.event().isComplete());
    }

    void secretsAndHostileTextStayOutOfTheLog()
    {
        GateWorld w;
        const auto never = Deadline::never();
        const auto auth = w.redis->command({"AUTH", "bob", "hunter2"}, never);
        const auto hello = w.redis->command({"HELLO", "2", "AUTH", "bob", "hunter2"}, never);
        const auto config = w.redis->command({"CONFIG", "SET", "requirepass", "hunter2"}, never);
        const auto acl = w.redis->command({"ACL", "SETUSER", "bob", ">hunter2"}, never);
        const auto digest = w.zookeeper->addAuth("digest", "bob:hunter2", never);
        const auto acls = w.zookeeper->setAcls(ZPath("/a"), {{zk::perms::all, "digest", "bob:hunter2"}}, 0, never);
        const auto data = w.zookeeper->set(ZPath("/a\x1b[31m"), "\x1b]0;owned\x07" + QByteArray(5000, 'x'), 0, never);
        w.loop.runReady();
        QVERIFY(auth.value() && hello.value() && config.value() && acl.value() && digest.value() && acls.value());
        for (const auto &entry : w.log.entries()) {
            QVERIFY2(!entry.text.contains(u"hunter2"_s) && !entry.outcome.contains(u"hunter2"_s),
                     qPrintable(entry.text));
            QVERIFY2(!entry.text.contains(QChar(0x1b)) && entry.text.size() < 400, qPrintable(entry.text));
        }
        QVERIFY(w.last().text.contains(u"\\x1B[31m"_s));
    }

    void theLogForgetsTheOldest()
    {
        CommandLog log(3);
        std::vector<quint64> heard;
        log.setListener([&](const LogEntry &entry) { heard.push_back(entry.number); });
        const auto first = log.add({});
        log.add({});
        log.add({});
        const auto last = log.add({});
        QCOMPARE(log.entries().size(), 3U);
        log.finish(first, u"ok"_s, Duration(1));
        log.finish(last, u"done"_s, Duration(5));
        QCOMPARE(log.entries().back().outcome, u"done"_s);
        QCOMPARE(log.entries().front().outcome, QString());
        QCOMPARE(heard, (std::vector<quint64>{1, 2, 3, 4, 4}));
    }

    void messagesAreLogged()
    {
        GateWorld w;
        int heard = 0;
        const auto held = w.redis->subscribe("c", [&](const redis::Message &) { ++heard; });
        w.store.messageListener(redis::Message{"c", {}, "hello"});
        QCOMPARE(heard, 1);
        QCOMPARE(w.last().text, u"message on c: hello"_s);
    }
};

LOCKSCOPE_TEST(TestGate)
#include "tst_gate.moc"
