// SPDX-License-Identifier: Apache-2.0
// lockscopectl on a set of Redis nodes: one lock on three servers, seen, held, lost and released.
#include "tests/support/redlockfixture.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

namespace {

constexpr int nodeCount = 3;
const QByteArray redlockKeyOfCtl("orders-lock");
const QByteArray tokenA("0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11");
const QByteArray tokenB("7a1d5e90-1b2c-4f3a-9d8e-6c5b4a392817");

QJsonObject findingOf(const QJsonObject &lock, const QString &code)
{
    for (const auto &one : lock.value("findings"_L1).toArray()) {
        if (one.toObject().value("code"_L1) == code)
            return one.toObject();
    }
    return {};
}

QStringList rolesOf(const QJsonObject &lock)
{
    QStringList roles;
    for (const auto &one : lock.value("contenders"_L1).toArray())
        roles << one.toObject().value("role"_L1).toString() + u' ' + one.toObject().value("id"_L1).toString();
    return roles;
}

} // namespace

class TestCtlRedlock : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    QTemporaryDir m_state;
    std::vector<Node> m_nodes;

    sandbox::Server &server(int node) { return *m_nodes[static_cast<std::size_t>(node)].server; }
    [[nodiscard]] QString address(int node) const
    {
        return displayHost(m_nodes[static_cast<std::size_t>(node)].server->address());
    }
    [[nodiscard]] QStringList connect() const
    {
        return {u"--connect"_s, u"redis://%1,%2,%3"_s.arg(address(0), address(1), address(2))};
    }
    Ran run(const QStringList &arguments) const { return testing::run(connect() + arguments); }
    void set(int node, const QByteArray &value, const QByteArrayList &more = {"PX", "30000"})
    {
        m_nodes[static_cast<std::size_t>(node)].ask(redis::Command{"SET", redlockKeyOfCtl, value} + more);
    }
    QByteArrayList stored()
    {
        QByteArrayList values;
        for (const auto &node : m_nodes)
            values << node.stored(redlockKeyOfCtl);
        return values;
    }
    QJsonObject shown() const
    {
        return run({u"show"_s, u"redis:orders-lock"_s, u"--json"_s}).json().value("lock"_L1).toObject();
    }
    static QStringList acquire(const QStringList &more = {})
    {
        return QStringList{u"--json"_s, u"acquire"_s, u"redis:orders-lock"_s, u"--recipe"_s, u"redlock"_s} + more;
    }
    static QStringList release(const QByteArray &holder, const QStringList &more)
    {
        return QStringList{u"--json"_s, u"force-release"_s, u"redis:orders-lock"_s, u"--holder"_s,
                           QString::fromUtf8(holder)}
               + more;
    }

private slots:
    void initTestCase()
    {
        if (!sandbox::makeRedis())
            QSKIP("redis-server is not installed");
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        OK(testing::startNodes(m_loop, nodeCount, m_nodes));
    }
    void init()
    {
        for (auto &node : m_nodes) {
            // A connection notices only when it speaks that its server was restarted meanwhile.
            QTRY_COMPARE(node.ask({"PING"}).text, QByteArray("PONG"));
            node.ask({"FLUSHALL"});
        }
    }

    void heldSeenAndGivenBack()
    {
        Ctl holder(connect() + acquire());
        const auto had = holder.jsonLine();
        QCOMPARE(had.value("acquired"_L1), QJsonValue(true));
        const auto token = had.value("id"_L1).toString();
        QTRY_COMPARE(stored(), QByteArrayList(nodeCount, token.toUtf8()));

        const auto lock = shown();
        QCOMPARE(lock.value("recipe"_L1), QJsonValue(u"redlock"_s));
        QCOMPARE(lock.value("state"_L1), QJsonValue(u"held"_s));
        QCOMPARE(rolesOf(lock), QStringList{u"holder "_s + token});
        QCOMPARE(lock.value("findings"_L1).toArray(), QJsonArray());
        const auto ttl = lock.value("contenders"_L1).toArray()[0].toObject().value("ttlMs"_L1).toInteger(-1);
        QVERIFY(ttl > 0 && ttl <= 30'000);
        const auto nodes = lock.value("nodes"_L1).toArray();
        QCOMPARE(nodes.size(), nodeCount);
        for (int i = 0; i < nodeCount; ++i) {
            QCOMPARE(nodes[i].toObject().value("node"_L1).toString(), address(i));
            QCOMPARE(nodes[i].toObject().value("value"_L1).toString(), token);
        }

        const auto locks = run({u"locks"_s, u"--json"_s});
        QCOMPARE(locks.json().value("locks"_L1).toArray().size(), 1);
        QCOMPARE(locks.json().value("locks"_L1).toArray()[0].toObject().value("recipe"_L1), QJsonValue(u"redlock"_s));
        QVERIFY2(locks.json().value("coverage"_L1).toArray()[0].toObject().value("complete"_L1).toBool(),
                 locks.what());
        const auto keys = run({u"keys"_s, u"*"_s, u"--json"_s}).json().value("keys"_L1).toArray();
        QCOMPARE(keys.size(), 1);
        QCOMPARE(keys[0].toObject().value("key"_L1), QJsonValue(u"orders-lock"_s));

        const auto second = run(acquire({u"--wait"_s, u"200ms"_s}));
        QVERIFY2(second.status == 5, second.what());
        QCOMPARE(stored(), QByteArrayList(nodeCount, token.toUtf8()));

        holder.signal(SIGTERM);
        const auto back = holder.jsonLine();
        QCOMPARE(back.value("reason"_L1), QJsonValue(u"interrupted"_s));
        QCOMPARE(holder.finish().status, 0);
        QCOMPARE(stored(), QByteArrayList(nodeCount, {}));
        QVERIFY(shown().isEmpty());
    }

    void aHolderLearnsThatAMajorityIsGone()
    {
        Ctl holder(connect() + acquire());
        QVERIFY(holder.jsonLine().value("acquired"_L1).toBool());
        QTRY_COMPARE(stored().count(QByteArray()), 0);
        m_nodes[0].ask({"DEL", redlockKeyOfCtl});
        m_nodes[1].ask({"SET", redlockKeyOfCtl, "another"});
        QCOMPARE(holder.jsonLine().value("reason"_L1), QJsonValue(u"lost"_s));
        QCOMPARE(holder.finish().status, 1);
        QTRY_COMPARE(stored(), (QByteArrayList{{}, "another", {}})); // what was left went, another's stays
    }

    void fewerThanAMajorityIsNoQuorum()
    {
        set(1, tokenA);
        auto lock = shown();
        QCOMPARE(lock.value("recipe"_L1), QJsonValue(u"redlock"_s));
        QCOMPARE(lock.value("state"_L1), QJsonValue(u"free"_s));
        auto finding = findingOf(lock, u"no-quorum"_s);
        QCOMPARE(finding.value("severity"_L1), QJsonValue(u"warning"_s));
        QCOMPARE(finding.value("contenders"_L1).toArray(), QJsonArray{QString::fromUtf8(tokenA)});
        const auto message = finding.value("message"_L1).toString();
        QVERIFY2(message.contains(u"on 1 of them (%1)"_s.arg(address(1))) && message.contains(u"nothing on 2"_s),
                 qPrintable(message));
        const auto all = run({u"findings"_s, u"--json"_s});
        QVERIFY2(all.out.contains("no-quorum"), all.what());

        set(0, tokenB);
        set(2, tokenB);
        lock = shown();
        QCOMPARE(rolesOf(lock),
                 (QStringList{u"holder "_s + QString::fromUtf8(tokenB), u"waiter "_s + QString::fromUtf8(tokenA)}));
        finding = findingOf(lock, u"no-quorum"_s);
        QCOMPARE(finding.value("severity"_L1), QJsonValue(u"info"_s));
    }

    void theHolderIsReleasedOnEveryNode()
    {
        const auto token = tokenB;
        for (int i = 0; i < nodeCount; ++i)
            set(i, token);
        const auto dry = run(release(token, {u"--dry-run"_s}));
        QVERIFY2(dry.status == 0, dry.what());
        const auto commands = dry.json().value("commands"_L1).toArray();
        QCOMPARE(commands.size(), nodeCount + 1);
        for (int i = 0; i < nodeCount; ++i)
            QVERIFY2(commands[i].toString().startsWith(address(i) + u": EVALSHA compare-and-delete"_s), dry.what());
        QCOMPARE(stored(), QByteArrayList(nodeCount, token));

        for (const auto &[id, status] : {std::pair(tokenA, 4), std::pair(token, 0)}) {
            const auto ran = run(release(id, {u"--yes"_s, u"--reason"_s, u"stuck"_s}));
            QVERIFY2(ran.status == status, ran.what());
            QCOMPARE(ran.json().value("released"_L1), QJsonValue(status == 0));
            if (status == 0)
                QVERIFY2(ran.json().value("outcome"_L1).toString().contains(u"on 3 of 3 nodes"_s), ran.what());
        }
        QCOMPARE(stored(), QByteArrayList(nodeCount, {}));
        const auto records = run({u"audit"_s, u"--json"_s}).json().value("records"_L1).toArray();
        QVERIFY(records.size() >= 2);
        const auto last = records.last().toObject();
        QCOMPARE(last.value("phase"_L1), QJsonValue(u"result"_s));
        QCOMPARE(last.value("lock"_L1), QJsonValue(u"redis:orders-lock"_s));
        QVERIFY2(last.value("outcome"_L1).toString().startsWith(u"released on 3 of 3 nodes"_s),
                 qPrintable(last.value("outcome"_L1).toString()));
    }

    void theHolderHearsThatItWasReleased()
    {
        Ctl holder(connect() + acquire());
        const auto token = holder.jsonLine().value("id"_L1).toString().toUtf8();
        QTRY_COMPARE(stored(), QByteArrayList(nodeCount, token));
        const auto ran = run(release(token, {u"--yes"_s}));
        QVERIFY2(ran.status == 0, ran.what());
        QCOMPARE(holder.jsonLine().value("reason"_L1), QJsonValue(u"lost"_s));
        QCOMPARE(holder.finish().status, 1);
        QCOMPARE(stored(), QByteArrayList(nodeCount, {}));
    }

    void aLeftoverBelowTheMajorityGoesToo()
    {
        set(0, tokenB);
        set(1, tokenA, {}); // left without an expiry
        set(2, tokenB);
        const auto ran = run(release(tokenA, {u"--yes"_s}));
        QVERIFY2(ran.status == 0, ran.what());
        QCOMPARE(ran.json().value("released"_L1), QJsonValue(true));
        QVERIFY2(ran.out.contains("does not hold the lock: its value is on only 1 of 3 nodes"), ran.what());
        QVERIFY2(ran.json().value("outcome"_L1).toString().contains(u"on 1 of 3 nodes"_s), ran.what());
        QCOMPARE(stored(), (QByteArrayList{tokenB, {}, tokenB}));

        m_nodes[0].ask({"DEL", redlockKeyOfCtl});
        const auto rest = run(release(tokenB, {u"--yes"_s}));
        QVERIFY2(rest.status == 0, rest.what());
        QVERIFY2(rest.out.contains("no client holds it"), rest.what());
        QCOMPARE(stored(), QByteArrayList(nodeCount, {}));
        QCOMPARE(run(release(tokenB, {u"--yes"_s})).status, 4);
    }

    // By a client of its own on each node and the same thread: one confirmation, each node by itself.
    void redissonRedLockIsReleasedOnEveryNode()
    {
        QByteArrayList fields;
        for (int i = 0; i < nodeCount; ++i) {
            fields << "00000000-0000-4000-8000-00000000000" + QByteArray::number(i + 1) + ":47";
            m_nodes[static_cast<std::size_t>(i)].ask({"HSET", redlockKeyOfCtl, fields[i], "1"});
            m_nodes[static_cast<std::size_t>(i)].ask({"PEXPIRE", redlockKeyOfCtl, "30000"});
        }
        const auto dry = run(release(fields[0], {u"--dry-run"_s}));
        QVERIFY2(dry.status == 0, dry.what());
        for (int i = 0; i < nodeCount; ++i)
            QVERIFY2(dry.out.contains(address(i).toUtf8() + ": EVALSHA redisson-force-release"), dry.what());

        m_nodes[2].ask({"HDEL", redlockKeyOfCtl, fields[2]});
        m_nodes[2].ask({"HSET", redlockKeyOfCtl, "00000000-0000-4000-8000-00000000000a:51", "1"});
        const auto unsure = run(release(fields[0], {u"--yes"_s}));
        QVERIFY2(unsure.status != 0 && (unsure.out + unsure.err).contains("they may be separate holds"),
                 unsure.what());
        m_nodes[2].ask({"DEL", redlockKeyOfCtl});
        const auto most = run(release(fields[0], {u"--yes"_s, u"--reason"_s, u"stuck"_s}));
        QVERIFY2(most.status == 0, most.what());
        QVERIFY2(most.json()
                     .value("outcome"_L1)
                     .toString()
                     .contains(u"on 2 of 3 nodes (%1, %2)"_s.arg(address(0), address(1))),
                 most.what());
        for (const auto &node : m_nodes)
            QCOMPARE(node.ask({"EXISTS", redlockKeyOfCtl}).integer, 0);
        const auto records = run({u"audit"_s, u"--json"_s}).json().value("records"_L1).toArray();
        QVERIFY(records.size() >= 4);
        for (int i = 0; i < 4; ++i) {
            const auto record = records[records.size() - 4 + i].toObject();
            QCOMPARE(record.value("phase"_L1).toString(), i % 2 == 0 ? u"intent"_s : u"result"_s);
            QCOMPARE(record.value("node"_L1).toString(), address(i / 2));
            QCOMPARE(record.value("holder"_L1).toString().toUtf8(), fields[i / 2]);
        }
        QCOMPARE(run({u"audit"_s, u"--verify"_s}).status, 0);
    }

    void readOnlyTouchesNothing()
    {
        for (int i = 0; i < nodeCount; ++i)
            set(i, tokenA);
        QCOMPARE(run(QStringList{u"--read-only"_s} + release(tokenA, {u"--yes"_s})).status, 4);
        QCOMPARE(run(QStringList{u"--read-only"_s} + acquire({u"--wait"_s, u"0ms"_s})).status, 4);
        QCOMPARE(stored(), QByteArrayList(nodeCount, tokenA));
    }

    void aNodeOfTheSetIsMissing_data() { addRows<bool>("kill", {{"killed", true}, {"stopped", false}}); }
    void aNodeOfTheSetIsMissing()
    {
        QFETCH(bool, kill);
        kill ? server(2).stop() : server(2).pause();
        Ctl holder(connect() + acquire());
        const auto token = holder.jsonLine().value("id"_L1).toString();
        const auto show = run({u"show"_s, u"redis:orders-lock"_s, u"--json"_s});
        const auto locks = run({u"locks"_s, u"--json"_s});
        const auto keys = run({u"keys"_s, u"--json"_s});
        holder.signal(SIGTERM);
        const auto ended = holder.finish();
        if (kill)
            QVERIFY(server(2).start(std::chrono::seconds(20)));
        else
            server(2).resume();
        QVERIFY(testing::becomes(*m_nodes[2].admin, redis::ConnectionState::Connected));

        const auto lock = show.json().value("lock"_L1).toObject();
        QCOMPARE(rolesOf(lock), QStringList{u"holder "_s + token});
        QVERIFY(findingOf(lock, u"no-quorum"_s).isEmpty());
        QCOMPARE(lock.value("nodes"_L1).toArray()[2].toObject().value("answered"_L1), QJsonValue(false));
        QVERIFY2(show.out.contains("node " + address(2).toUtf8()), show.what());
        QCOMPARE(locks.json().value("locks"_L1).toArray().size(), 1);
        QVERIFY2(locks.out.contains("node " + address(2).toUtf8()), locks.what());
        QCOMPARE(keys.json().value("keys"_L1).toArray().size(), 1);
        QVERIFY2(keys.err.contains("node " + address(2).toUtf8()), keys.what());
        QCOMPARE(ended.status, 0);
        QTRY_COMPARE(stored(), QByteArrayList(nodeCount, {}));
    }

    void withoutAMajorityThereIsNoConnection()
    {
        server(1).stop();
        server(2).stop();
        const auto ran = run({u"locks"_s, u"--json"_s});
        QVERIFY(server(1).start(std::chrono::seconds(20)));
        QVERIFY(server(2).start(std::chrono::seconds(20)));
        QVERIFY2(ran.status == 3, ran.what());
        QVERIFY2(ran.err.contains("1 of 3 nodes can be reached, and it takes 2"), ran.what());
        for (const auto &node : m_nodes)
            QVERIFY(testing::becomes(*node.admin, redis::ConnectionState::Connected));
    }

    void watchTellsOfOneLock()
    {
        Ctl watch(connect() + QStringList{u"locks"_s, u"--watch"_s});
        // The first line may come before it looked at every node; the holder is told in any case.
        for (int i = 0; i < nodeCount; ++i)
            set(i, tokenA);
        QStringList roles;
        QByteArray told;
        for (int i = 0; i < 4 && !roles.contains(u"holder "_s + QString::fromUtf8(tokenA)); ++i) {
            const auto line = watch.line();
            told += line + '\n';
            roles = rolesOf(QJsonDocument::fromJson(line).object().value("lock"_L1).toObject());
        }
        QVERIFY2(roles == QStringList{u"holder "_s + QString::fromUtf8(tokenA)}, told);
        for (auto &node : m_nodes)
            node.ask({"DEL", redlockKeyOfCtl});
        QString change;
        for (int i = 0; i < 4 && change != u"removed"_s; ++i)
            change = watch.jsonLine().value("change"_L1).toString();
        QCOMPARE(change, u"removed"_s);
        watch.signal(SIGTERM);
        QCOMPARE(watch.finish().status, 0);
    }

    void recipesOfOneServerAndOfASetAreKeptApart()
    {
        const auto wrong = run({u"acquire"_s, u"redis:orders-lock"_s, u"--recipe"_s, u"redis-set-nx"_s});
        QVERIFY2(wrong.status == 2 && wrong.err.contains("set of nodes"), wrong.what());
        const auto alone = testing::run(QStringList{u"--connect"_s, u"redis://"_s + address(0)} + acquire());
        QVERIFY2(alone.status == 2 && alone.err.contains("needs a set"), alone.what());
        const auto twice =
            testing::run({u"--connect"_s, u"redis://%1,%2,%1"_s.arg(address(0), address(1)), u"locks"_s});
        QVERIFY2(twice.status == 2 && twice.err.contains("twice"), twice.what());

        // A lock of Redisson's that is on one node: taken away there.
        m_nodes[1].ask({"HSET", redlockKeyOfCtl, tokenA + ":1", "1"});
        m_nodes[1].ask({"PEXPIRE", redlockKeyOfCtl, "30000"});
        QCOMPARE(shown().value("recipe"_L1), QJsonValue(u"redisson-lock"_s));
        const auto ran = run(release(tokenA + ":1", {u"--yes"_s}));
        QVERIFY2(ran.status == 0 && ran.out.contains("on 1 of 3 nodes"), ran.what());
        QCOMPARE(m_nodes[1].ask({"EXISTS", redlockKeyOfCtl}).integer, 0);
    }

    // Beside a cluster what the sentinels name was left empty: both are Redis.
    void theDemoFillsEachDeployment()
    {
        Ctl sandbox({u"sandbox"_s, u"--redis-cluster"_s, u"--sentinel"_s, u"--demo"_s});
        for (const auto &name : {QByteArray("cluster="), QByteArray("sentinel=")}) {
            const auto line = sandbox.line();
            QVERIFY2(line.startsWith(name), line);
            const QStringList locks{u"--connect"_s, QString::fromUtf8(line), u"locks"_s};
            Ran ran;
            QTRY_VERIFY2_WITH_TIMEOUT((ran = testing::run(locks)).out.contains("orders:checkout"), ran.what(),
                                      testing::patienceMs);
        }
        sandbox.signal(SIGTERM);
        QCOMPARE(sandbox.finish().status, 0);
    }

    void theSandboxSaysThatItIsASet()
    {
        Ctl sandbox({u"sandbox"_s, u"--redis"_s, u"3"_s});
        QByteArrayList hosts;
        for (int i = 0; i < 3; ++i) {
            const auto line = sandbox.line();
            const QByteArray name = i == 0 ? "redis=redis://" : "redis" + QByteArray::number(i + 1) + "=redis://";
            QVERIFY2(line.startsWith(name), line);
            hosts << line.mid(name.size());
        }
        const auto ran =
            testing::run({u"--connect"_s, u"set=redis://"_s + QString::fromUtf8(hosts.join(',')), u"acquire"_s,
                          u"set:orders"_s, u"--recipe"_s, u"redlock"_s, u"--hold"_s, u"10ms"_s});
        QVERIFY2(ran.status == 0, ran.what());
        sandbox.signal(SIGTERM);
        const auto ended = sandbox.finish();
        QCOMPARE(ended.status, 0);
        QCOMPARE(ended.out, QByteArray()); // one line per server, and no more
        QVERIFY2(ended.err.contains("redis://" + hosts.join(',')), ended.what());
    }
};

LOCKSCOPE_TEST(TestCtlRedlock)
#include "tst_ctl_redlock.moc"
