// SPDX-License-Identifier: Apache-2.0
// Edits on real servers: what comes back as it was, and what another client does at the same moment is never undone.
// How often the races are run: LOCKSCOPE_RACES (100 unless said).
#include "tests/support/finish.h"
#include "tests/support/redisfixture.h"
#include "tests/support/ctlfixture.h"

#include "core/base/random.h"
#include "core/workspace/workspace.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using operate::EditKind;
using operate::EditPlan;
using operate::EditRequest;

namespace {

const ConnectionName zkOne("zk");
const ConnectionName redisOne("redis");
// How late the other one comes, at most, in us: about as long as the edit takes, most of which is its record.
constexpr int nodeSpread = 15'000;
constexpr int keySpread = 800;
constexpr int treeSpread = 25'000;

int editRaces()
{
    const int asked = qEnvironmentVariableIntValue("LOCKSCOPE_RACES");
    return asked > 0 ? asked : 100;
}

EditRequest edit(EditKind kind, const ConnectionName &connection, const QByteArray &name,
                 const QByteArray &value = {})
{
    EditRequest request;
    request.kind = kind;
    request.connection = connection;
    request.name = name;
    request.value = value;
    request.acls = zk::openAcl();
    return request;
}

} // namespace

class TestEditsLive : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::unique_ptr<redis::Connection> m_redis; // the other client
    std::unique_ptr<Workspace> m_workspace;
    Random m_random = Random(20261122);

    Loop &loop() { return m_servers.loop; }
    Deadline soon() { return Deadline::after(loop(), 20s); }
    zk::Session &other() { return *m_servers.session; }

    Result<EditPlan> plan(const EditRequest &request)
    {
        return testing::finish(loop(), m_workspace->planEdit(request, soon()));
    }
    Result<operate::EditOutcome> apply(const EditPlan &plan)
    {
        return testing::finish(loop(), m_workspace->applyEdit(plan, u"test"_s, soon()));
    }
    Result<operate::EditOutcome> edited(const EditRequest &request)
    {
        auto made = plan(request);
        if (!made)
            return made.error();
        return apply(*made);
    }
    redis::Value said(const redis::Command &command) { return testing::valueOf(m_redis->command(command, soon())); }
    QByteArray dataOf(const QByteArray &path)
    {
        const auto node = testing::await(other().get(ZPath(path), {}, soon()));
        return node ? node->data : "(" + node.error().message.toUtf8() + ")";
    }
    // The edit, with what another client does at a random moment around it.
    template <class Act>
    std::optional<Result<operate::EditOutcome>> around(const EditPlan &plan, int spread, Act act)
    {
        std::optional<Result<operate::EditOutcome>> outcome;
        Scope acting(loop());
        acting.launch(keepResult(m_workspace->applyEdit(plan, {}, soon()), &outcome));
        const auto until = loop().now() + std::chrono::microseconds(m_random.below(static_cast<quint64>(spread)));
        while (loop().now() < until)
            QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
        act();
        [&] { QTRY_VERIFY_WITH_TIMEOUT(outcome.has_value(), patienceMs); }();
        return outcome;
    }

private slots:
    void initTestCase()
    {
        const auto why = m_servers.start();
        QVERIFY2(why.isEmpty(), qPrintable(why));
        m_redis = redis::openConnection(loop(), testing::optionsFor(m_servers.redis->address()));
        QVERIFY(testing::becomes(*m_redis, redis::ConnectionState::Connected));
        m_workspace = std::make_unique<Workspace>(loop(), WorkspaceOptions{}, nullptr);
        for (const auto &uri : {u"zk="_s + m_servers.zk(), u"redis="_s + m_servers.redisUri()}) {
            const auto spec = parseConnection(uri);
            QVERIFY(spec);
            QVERIFY(m_workspace->add(*spec));
        }
    }
    void cleanupTestCase()
    {
        m_workspace.reset();
        m_redis.reset();
        m_servers.stop();
    }

    void aTreeIsDeletedAndComesBackWithDataAndAcls()
    {
        const zk::Acls readers{{zk::perms::all, "world", "anyone"}, {zk::perms::read, "ip", "10.0.0.1"}};
        QVERIFY(m_servers.put("/tree", "top"));
        QVERIFY(m_servers.put("/tree/a", QByteArray("\0\xff", 2)));
        QVERIFY(m_servers.put("/tree/a/b", "deep"));
        QVERIFY(testing::await(other().setAcls(ZPath("/tree/a"), readers, zk::anyVersion, soon())));
        const auto outcome = edited(edit(EditKind::ZnodeDelete, zkOne, "/tree"));
        QVERIFY2(outcome && outcome->done, outcome ? "" : qPrintable(outcome.error().message));
        QVERIFY(!testing::await(other().exists(ZPath("/tree"), {}, soon())));
        const auto undone = edited(*outcome->undo);
        QVERIFY2(undone && undone->done, undone ? qPrintable(undone->message) : qPrintable(undone.error().message));
        QCOMPARE(dataOf("/tree/a"), QByteArray("\0\xff", 2));
        QCOMPARE(dataOf("/tree/a/b"), "deep");
        QCOMPARE(testing::await(other().acls(ZPath("/tree/a"), soon()))->acls, readers);
        QVERIFY(edited(edit(EditKind::ZnodeDelete, zkOne, "/tree"))->done);
    }
    void nodesAreCreatedSetAndGivenAnAcl()
    {
        QVERIFY(m_servers.put("/made"));
        auto numbered = edit(EditKind::ZnodeCreate, zkOne, "/made/n-", "x");
        numbered.isSequential = true;
        const auto created = edited(numbered);
        QVERIFY2(created, created ? "" : qPrintable(created.error().message));
        QCOMPARE(dataOf("/made/n-0000000000"), "x");
        QCOMPARE(created->undo->name, "/made/n-0000000000");
        QVERIFY(edited(*created->undo)->done);
        QVERIFY(!testing::await(other().exists(ZPath("/made/n-0000000000"), {}, soon())));

        auto acl = edit(EditKind::ZnodeAcl, zkOne, "/made");
        acl.acls = {{zk::perms::all, "world", "anyone"}, {zk::perms::read, "ip", "10.0.0.1"}};
        const auto given = edited(acl);
        QVERIFY2(given && given->done, given ? "" : qPrintable(given.error().message));
        QCOMPARE(testing::await(other().acls(ZPath("/made"), soon()))->acls, acl.acls);
        QVERIFY(edited(*given->undo)->done);
        QCOMPARE(testing::await(other().acls(ZPath("/made"), soon()))->acls, zk::openAcl());
    }
    // An ephemeral one is of the connection's session; one with a TTL nobody's.
    void nodesThatEndByThemselvesAreMade()
    {
        QVERIFY(m_servers.put("/short"));
        auto ephemeral = edit(EditKind::ZnodeCreate, zkOne, "/short/mine", "x");
        ephemeral.isEphemeral = true;
        const auto made = edited(ephemeral);
        QVERIFY2(made && made->done, made ? qPrintable(made->message) : qPrintable(made.error().message));
        const auto owner = testing::await(other().exists(ZPath("/short/mine"), {}, soon()))->ephemeralOwner;
        QVERIFY(!owner.isNone());
        QCOMPARE(owner, zooKeeperOf(m_workspace->find(zkOne))->id());
        QVERIFY(edited(*made->undo)->done);
        auto timed = edit(EditKind::ZnodeCreate, zkOne, "/short/n-", "x");
        timed.ttl = std::chrono::hours(1);
        timed.isSequential = true;
        const auto numbered = edited(timed);
        QVERIFY2(numbered && numbered->done, numbered ? "" : qPrintable(numbered.error().message));
        QCOMPARE(dataOf(numbered->undo->name), "x");
        QVERIFY(edited(*numbered->undo)->done);
    }
    void keysOfEveryTypeComeBackByteForByte_data()
    {
        QTest::addColumn<QList<QByteArray>>("make");
        QTest::newRow("string") << QList<QByteArray>{"SET", "k", QByteArray("\0\xff\r\n", 4)};
        QTest::newRow("number") << QList<QByteArray>{"SET", "k", "12345"};
        QTest::newRow("hash") << QList<QByteArray>{"HSET", "k", "f", "1", "g", "2"};
        QTest::newRow("list") << QList<QByteArray>{"RPUSH", "k", "a", "b"};
        QTest::newRow("set") << QList<QByteArray>{"SADD", "k", "a", "b"};
        QTest::newRow("zset") << QList<QByteArray>{"ZADD", "k", "1", "a", "2.5", "b"};
        QTest::newRow("stream") << QList<QByteArray>{"XADD", "k", "1-1", "f", "v"};
    }
    void keysOfEveryTypeComeBackByteForByte()
    {
        QFETCH(const QList<QByteArray>, make);
        QVERIFY(!said({"DEL", "k", "k2"}).isError());
        QVERIFY(!said(make).isError());
        QVERIFY(!said({"PEXPIRE", "k", "600000"}).isError());
        // A set has no order, and comes back in another.
        const bool isSet = make.first() == "SADD";
        const auto whole = [&] {
            if (!isSet)
                return said({"DUMP", "k"}).text;
            const auto both = said({"SMISMEMBER", "k", "a", "b"});
            return both.items.size() == 2 && both.items[0].integer == 1 && both.items[1].integer == 1
                       ? QByteArray::number(said({"SCARD", "k"}).integer)
                       : QByteArray();
        };
        const auto before = whole();
        const auto ends = said({"PEXPIRETIME", "k"});
        for (const auto kind : {EditKind::KeyDelete, EditKind::KeyRename, EditKind::KeyExpire}) {
            const auto outcome = edited(edit(kind, redisOne, "k", kind == EditKind::KeyRename ? "k2" : ""));
            QVERIFY2(outcome && outcome->done, outcome ? "" : qPrintable(outcome.error().message));
            QCOMPARE(said({"PTTL", "k"}).integer, kind == EditKind::KeyExpire ? -1 : -2);
            QVERIFY(outcome->undo);
            const auto undone = edited(*outcome->undo);
            QVERIFY2(undone && undone->done, undone ? "" : qPrintable(undone.error().message));
            QCOMPARE(whole(), before);
            if (!ends.isError()) // Redis 7
                QCOMPARE(said({"PEXPIRETIME", "k"}).integer, ends.integer);
        }
    }
    void aStringKeepsItsTimeAndANameThatIsTakenStays()
    {
        QVERIFY(!said({"SET", "k", "old", "PX", "600000"}).isError());
        const auto set = edited(edit(EditKind::KeySet, redisOne, "k", QByteArray("new\0", 4)));
        QVERIFY2(set && set->done, set ? "" : qPrintable(set.error().message));
        QCOMPARE(said({"GET", "k"}).text, QByteArray("new\0", 4));
        QVERIFY(said({"PTTL", "k"}).integer > 0);
        QVERIFY(!said({"SET", "taken", "theirs"}).isError());
        const auto renamed = edited(edit(EditKind::KeyRename, redisOne, "k", "taken"));
        QVERIFY(!renamed);
        QCOMPARE(renamed.error().code, ErrorCode::NodeExists);
        QCOMPARE(said({"GET", "taken"}).text, "theirs");
    }
    void fieldsAreSetAndDeleted()
    {
        QVERIFY(!said({"DEL", "h"}).isError());
        QVERIFY(!said({"HSET", "h", "f", "1", "g", "2"}).isError());
        auto field = edit(EditKind::FieldSet, redisOne, "h", "3");
        field.field = "f";
        const auto set = edited(field);
        QVERIFY2(set && set->done, set ? "" : qPrintable(set.error().message));
        QCOMPARE(said({"HGET", "h", "f"}).text, "3");
        QVERIFY(edited(*set->undo)->done);
        QCOMPARE(said({"HGET", "h", "f"}).text, "1");
        field.kind = EditKind::FieldDelete;
        const auto gone = edited(field);
        QVERIFY(gone && gone->done);
        QCOMPARE(said({"HLEN", "h"}).integer, 1);
        QVERIFY(edited(*gone->undo)->done);
        QCOMPARE(said({"HGET", "h", "f"}).text, "1");
    }
    // From Redis 7.4 on. HSET alone would take it away.
    void aFieldKeepsItsOwnEnd()
    {
        QVERIFY(!said({"DEL", "h"}).isError());
        QVERIFY(!said({"HSET", "h", "f", "1", "g", "2"}).isError());
        if (said({"HPEXPIRE", "h", "600000", "FIELDS", "1", "f"}).isError())
            QSKIP("fields of this Redis have no end of their own");
        const auto end = [this] { return said({"HPEXPIRETIME", "h", "FIELDS", "1", "f"}).items.at(0).integer; };
        const auto ends = end();
        auto field = edit(EditKind::FieldSet, redisOne, "h", "3");
        field.field = "f";
        const auto set = edited(field);
        QVERIFY2(set && set->done, set ? "" : qPrintable(set.error().message));
        QCOMPARE(said({"HGET", "h", "f"}).text, "3");
        QCOMPARE(end(), ends);
        QVERIFY(edited(*set->undo)->done);
        QCOMPARE(said({"HGET", "h", "f"}).text, "1");
        QCOMPARE(end(), ends);
    }
    // A hash goes with its last field, and its time to live with it: taken back, it ends when it would have.
    void theLastFieldIsTakenBackWithTheTimeOfItsKey()
    {
        QVERIFY(!said({"DEL", "h"}).isError());
        QVERIFY(!said({"HSET", "h", "f", "1"}).isError());
        QVERIFY(!said({"PEXPIRE", "h", "600000"}).isError());
        const auto ends = said({"PEXPIRETIME", "h"});
        if (ends.isError())
            QSKIP("this Redis does not say when a key ends");
        auto field = edit(EditKind::FieldDelete, redisOne, "h", "");
        field.field = "f";
        const auto gone = edited(field);
        QVERIFY2(gone && gone->done, gone ? "" : qPrintable(gone.error().message));
        QCOMPARE(said({"EXISTS", "h"}).integer, 0);
        QVERIFY(gone->undo);
        const auto undone = edited(*gone->undo);
        QVERIFY2(undone && undone->done, undone ? "" : qPrintable(undone.error().message));
        QCOMPARE(said({"HGET", "h", "f"}).text, "1");
        QCOMPARE(said({"PEXPIRETIME", "h"}).integer, ends.integer);
    }
    void theLocksBelowAreNamed()
    {
        QVERIFY(m_servers.put("/locks"));
        QVERIFY(m_servers.put("/locks/orders"));
        const auto node =
            testing::await(other().create(ZPath("/locks/orders/_c_0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29-lock-"),
                                          "10.0.3.7", zk::CreateMode::EphemeralSequential, zk::openAcl(), soon()));
        QVERIFY(node);
        std::optional<EditPlan> made;
        const auto isNamed = [&] {
            const auto planned = plan(edit(EditKind::ZnodeDelete, zkOne, "/locks"));
            if (planned)
                made = *planned;
            return planned && planned->touchesHeld();
        };
        QTRY_VERIFY_WITH_TIMEOUT(isNamed(), patienceMs);
        QCOMPARE(made->locks.front().lock.name, "/locks/orders");
        const auto refused = apply(*made);
        QVERIFY(!refused);
        QVERIFY(testing::await(other().exists(node->path, {}, soon())));
        made->areLocksAccepted = true;
        const auto done = apply(*made);
        QVERIFY2(done && done->done, done ? qPrintable(done->message) : qPrintable(done.error().message));
        QVERIFY(!testing::await(other().exists(ZPath("/locks"), {}, soon())));
    }

    // A connection's name is given to another server, which is a copy: nothing of what was looked at before is done
    // there.
    void planOfOneServerIsRefusedOnAnother()
    {
        auto copy = sandbox::makeRedis();
        QVERIFY(copy && (*copy)->start(10s));
        const auto other = redis::openConnection(loop(), testing::optionsFor((*copy)->address()));
        QVERIFY(testing::becomes(*other, redis::ConnectionState::Connected));
        const QByteArray token("b1946ac9-2492-4d23-9c1f-0e7f7a3f6f10");
        for (auto *one : {m_redis.get(), other.get()}) {
            QVERIFY(!testing::valueOf(one->command({"SET", "moved:lock", token, "PX", "60000"}, soon())).isError());
            QVERIFY(!testing::valueOf(one->command({"SET", "moved:key", "value"}, soon())).isError());
        }
        const ConnectionName moving("moving");
        const auto leadTo = [&](const HostPort &server) {
            m_workspace->remove(moving);
            QVERIFY(m_workspace->add(*parseConnection(u"moving=redis://127.0.0.1:%1"_s.arg(server.port))));
        };
        const auto released = [&](const operate::ForceReleasePlan &plan) {
            return testing::finish(loop(), m_workspace->forceRelease(plan, u"test"_s, soon()));
        };
        leadTo(m_servers.redis->address());
        const auto release =
            testing::finish(loop(), m_workspace->planForceRelease({moving, "moved:lock"}, token, soon()));
        QVERIFY2(release, release ? "" : qPrintable(release.error().message));
        operate::BulkTarget target;
        target.lock = {moving, "moved:lock"};
        target.server = release->server;
        target.contender = token;
        const auto bulk = [&] {
            return testing::finish(loop(), m_workspace->bulkRelease({target}, u"test"_s, {}))->why;
        };
        const auto planned = plan(edit(EditKind::KeyDelete, moving, "moved:key"));
        QVERIFY(planned);
        const auto gone = edited(edit(EditKind::KeyDelete, moving, "moved:key"));
        QVERIFY(gone && gone->undo);

        leadTo((*copy)->address());
        QCOMPARE(released(*release).error().code, ErrorCode::Refused);
        QVERIFY2(bulk().contains(u"now points to redis"_s), qPrintable(bulk()));
        QCOMPARE(apply(*planned).error().code, ErrorCode::Refused);
        QVERIFY(!testing::valueOf(other->command({"RENAME", "moved:key", "moved:aside"}, soon())).isError());
        const auto undone = edited(*gone->undo);
        QVERIFY(!undone);
        QVERIFY2(
            undone.error().message.contains(u"now points to redis://127.0.0.1:%1"_s.arg((*copy)->address().port)),
            qPrintable(undone.error().message));
        QCOMPARE(testing::valueOf(other->command({"DBSIZE"}, soon())).integer, 2);

        leadTo(m_servers.redis->address()); // the same server by a new connection
        QVERIFY(edited(*gone->undo));
        QVERIFY(released(*release));
        QVERIFY(!said({"SET", "moved:lock", token, "PX", "60000"}).isError());
        QCOMPARE(bulk(), QString());
        QCOMPARE(said({"EXISTS", "moved:lock"}).integer, 0);
        QCOMPARE(testing::valueOf(other->command({"GET", "moved:lock"}, soon())).text, token);
        m_workspace->remove(moving);
    }
    void aNodeSetByAnotherIsNeverOverwritten()
    {
        int done = 0;
        int refused = 0;
        for (int n = 0; n < editRaces(); ++n) {
            const auto path = "/race-set-" + QByteArray::number(n);
            QVERIFY(m_servers.put(path, "old"));
            auto made = plan(edit(EditKind::ZnodeSet, zkOne, path));
            QVERIFY(made);
            made->request.value = "ours";
            std::optional<Result<zk::Stat>> theirs;
            const auto outcome = around(*made, nodeSpread, [&] {
                theirs = testing::await(other().set(ZPath(path), "theirs", zk::anyVersion, soon()));
            });
            QVERIFY(outcome && *theirs);
            // Theirs is always the last: ours came before it, or not at all.
            QCOMPARE(dataOf(path), "theirs");
            QCOMPARE((*theirs)->version, *outcome ? 2 : 1);
            ++(*outcome ? done : refused);
            if (!*outcome)
                QVERIFY2(outcome->error().code == ErrorCode::Refused, qPrintable(outcome->error().message));
        }
        qInfo("znodes set while another sets them: done before %d, refused %d, wrong 0", done, refused);
    }
    void aKeySetByAnotherIsNeverOverwritten()
    {
        int done = 0;
        int refused = 0;
        for (int n = 0; n < editRaces(); ++n) {
            QVERIFY(!said({"SET", "race", "old"}).isError());
            auto made = plan(edit(EditKind::KeySet, redisOne, "race"));
            QVERIFY(made);
            made->request.value = "ours";
            redis::Value was;
            const auto outcome = around(*made, keySpread, [&] { was = said({"GETSET", "race", "theirs"}); });
            QVERIFY(outcome);
            QCOMPARE(said({"GET", "race"}).text, "theirs");
            QCOMPARE(was.text, QByteArray(*outcome ? "ours" : "old"));
            ++(*outcome ? done : refused);
        }
        qInfo("keys set while another sets them: done before %d, refused %d, wrong 0", done, refused);
    }
    void aChildMadeDuringADeleteStays()
    {
        int done = 0;
        int stopped = 0;
        for (int n = 0; n < editRaces(); ++n) {
            const auto top = "/race-tree-" + QByteArray::number(n);
            QVERIFY(m_servers.put(top));
            for (const auto *name : {"/a", "/b", "/b/c"})
                QVERIFY(m_servers.put(top + name));
            const auto made = plan(edit(EditKind::ZnodeDelete, zkOne, top));
            QVERIFY(made);
            bool isMade = false;
            const auto outcome = around(*made, treeSpread, [&] { isMade = m_servers.put(top + "/b/new", "theirs"); });
            QVERIFY(outcome);
            if (isMade)
                QCOMPARE(dataOf(top + "/b/new"), "theirs");
            QCOMPARE(*outcome && (*outcome)->done, !isMade);
            ++(isMade ? stopped : done);
        }
        qInfo("trees deleted while another adds to them: whole %d, stopped %d, wrong 0", done, stopped);
    }
};

LOCKSCOPE_TEST(TestEditsLive)
#include "tst_edits_live.moc"
