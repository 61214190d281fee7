// SPDX-License-Identifier: Apache-2.0
// What lockscopectl sees on real servers, and every field of its JSON against docs/json.md.
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include "core/redis/client.h"

#include <QDateTime>

namespace {

bool isIsoUtc(const QJsonValue &value)
{
    const auto text = value.toString();
    return text.endsWith(u'Z') && QDateTime::fromString(text, Qt::ISODateWithMs).isValid();
}

bool isNumberOrNull(const QJsonValue &value)
{
    return value.isDouble() || value.isNull();
}

bool isTextOrNull(const QJsonValue &value)
{
    return value.isString() || value.isNull();
}

} // namespace

class TestCtlLocks : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::unique_ptr<redis::Connection> m_redis;
    std::vector<std::unique_ptr<Ctl>> m_queue;

    bool send(const redis::Command &command) { return bool(await(m_redis->command(command, m_servers.soon()))); }
    static QJsonObject named(const QJsonArray &array, const QString &field, const QString &value)
    {
        for (const auto &entry : array) {
            if (entry.toObject().value(field).toString() == value)
                return entry.toObject();
        }
        return {};
    }
    void checkContender(const QJsonObject &contender) const
    {
        for (const auto &field :
             words("id role mode position session endpoint identity reentry heldMs waitingMs ttlMs watches"))
            QVERIFY2(contender.contains(field), qPrintable(field));
        QVERIFY(contender.value("id"_L1).isString());
        QVERIFY(words("holder waiter").contains(contender.value("role"_L1).toString()));
        QVERIFY(words("exclusive read write permit").contains(contender.value("mode"_L1).toString()));
        for (const char *field : {"position", "heldMs", "waitingMs", "ttlMs"})
            QVERIFY2(isNumberOrNull(contender.value(QLatin1StringView(field))), field);
        for (const char *field : {"session", "endpoint", "identity"})
            QVERIFY2(isTextOrNull(contender.value(QLatin1StringView(field))), field);
        QVERIFY(contender.value("reentry"_L1).toInt() >= 1);
        for (const auto &watch : contender.value("watches"_L1).toArray()) {
            QCOMPARE(fields(watch.toObject()), words("evidence target"));
            QVERIFY(words("server inferred").contains(watch.toObject().value("evidence"_L1).toString()));
        }
    }
    void checkLock(const QJsonObject &lock) const
    {
        for (const auto &field :
             words("lock backend recipe client why confidence state contenders findings observed"))
            QVERIFY2(lock.contains(field), qPrintable(field));
        QVERIFY(words("zookeeper redis mariadb").contains(lock.value("backend"_L1).toString()));
        QVERIFY(words("high medium low").contains(lock.value("confidence"_L1).toString()));
        QVERIFY(words("free held contended").contains(lock.value("state"_L1).toString()));
        QVERIFY(isTextOrNull(lock.value("client"_L1)));
        QVERIFY(isIsoUtc(lock.value("observed"_L1)));
        bool waiting = false;
        for (const auto &contender : lock.value("contenders"_L1).toArray()) {
            checkContender(contender.toObject());
            const bool isWaiter = contender.toObject().value("role"_L1).toString() == u"waiter"_s;
            QVERIFY2(isWaiter || !waiting, "holders come first");
            waiting = waiting || isWaiter;
        }
        for (const auto &finding : lock.value("findings"_L1).toArray()) {
            QCOMPARE(fields(finding.toObject()), sorted(words("code severity message contenders")));
            QVERIFY(words("info warning critical").contains(finding.toObject().value("severity"_L1).toString()));
        }
    }
    void checkCoverage(const QJsonValue &coverage) const
    {
        QVERIFY(coverage.isArray());
        for (const auto &part : coverage.toArray())
            QCOMPARE(fields(part.toObject()), sorted(words("connection complete message")));
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(m_servers.start());
        m_redis = redis::openConnection(m_servers.loop, {.host = m_servers.redis->address()});
        QTRY_COMPARE(m_redis->state(), redis::ConnectionState::Connected);
        // A queue of three, a Redis token without a TTL, Redisson's hash.
        const auto arguments =
            m_servers.connect()
            + QStringList{u"acquire"_s, u"zk:/locks/orders"_s, u"--recipe"_s, u"zk-mutex"_s, u"--json"_s};
        for (int n = 0; n < 3; ++n) {
            m_queue.push_back(std::make_unique<Ctl>(arguments));
            if (n == 0)
                QVERIFY(m_queue.front()->jsonLine().value("acquired"_L1).toBool());
            QTRY_COMPARE(m_servers.childrenWithZxids("/locks/orders").size(), n + 2);
        }
        QVERIFY(send({"SET", "orders-lock", "83427f40e55111f1a2e7fac9e99d7ff8"}));
        QVERIFY(send({"HSET", "checkout", "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29:41", "2"}));
        QVERIFY(send({"PEXPIRE", "checkout", "60000"}));
    }
    void cleanupTestCase()
    {
        for (const auto &ctl : m_queue)
            ctl->signal(SIGTERM);
        for (const auto &ctl : m_queue)
            (void)ctl->finish();
        m_queue.clear();
        m_redis.reset();
        m_servers.stop();
    }

    void locksHaveEveryDocumentedField()
    {
        const auto ran = m_servers.run({u"locks"_s, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        const auto json = ran.json();
        QCOMPARE(fields(json), sorted(words("schema incidents locks coverage hidden unexplained")));
        QCOMPARE(json.value("schema"_L1).toString(), u"lockscope/1"_s);
        checkCoverage(json.value("coverage"_L1));
        const auto locks = json.value("locks"_L1).toArray();
        for (const auto &lock : locks)
            checkLock(lock.toObject());
        const auto orders = named(locks, u"lock"_s, u"zk:/locks/orders"_s);
        QCOMPARE(orders.value("recipe"_L1).toString(), u"curator-mutex"_s);
        QCOMPARE(orders.value("state"_L1).toString(), u"contended"_s);
        QCOMPARE(orders.value("contenders"_L1).toArray().size(), 3);
        const auto token = named(locks, u"lock"_s, u"redis:orders-lock"_s);
        QCOMPARE(token.value("recipe"_L1).toString(), u"redis-set-nx"_s);
        QVERIFY(!named(token.value("findings"_L1).toArray(), u"code"_s, u"no-ttl"_s).isEmpty());
        const auto checkout = named(locks, u"lock"_s, u"redis:checkout"_s);
        QCOMPARE(checkout.value("recipe"_L1).toString(), u"redisson-lock"_s);
        QCOMPARE(checkout.value("contenders"_L1).toArray().first().toObject().value("reentry"_L1).toInt(), 2);
    }

    void showHasTheQueueInOrderWithItsWatches()
    {
        const auto ran = m_servers.run({u"show"_s, u"zk:/locks/orders"_s, u"--json"_s});
        QVERIFY2(ran.status == 0 && ran.err.isEmpty(), ran.what());
        const auto json = ran.json();
        QCOMPARE(fields(json), sorted(words("schema lock coverage")));
        checkCoverage(json.value("coverage"_L1));
        const auto lock = json.value("lock"_L1).toObject();
        checkLock(lock);
        const auto contenders = lock.value("contenders"_L1).toArray();
        QCOMPARE(contenders.size(), 3);
        for (int n = 0; n < 3; ++n) {
            const auto contender = contenders[n].toObject();
            QCOMPARE(contender.value("position"_L1).toInt(-1), n);
            QVERIFY2(contender.value("endpoint"_L1).toString().startsWith(u"127.0.0.1:"_s), ran.what());
            QVERIFY2(contender.value("session"_L1).toString().startsWith(u"0x"_s), ran.what());
            if (n == 0)
                continue;
            const auto watches = contender.value("watches"_L1).toArray();
            QCOMPARE(watches.size(), 1);
            QCOMPARE(watches[0].toObject().value("target"_L1), contenders[n - 1].toObject().value("id"_L1));
            QCOMPARE(watches[0].toObject().value("evidence"_L1).toString(), u"server"_s);
        }
    }

    void globsChooseByNameOrByLock_data()
    {
        const Rows<QString, int> row("glob", "count");
        row("the whole LOCK", u"zk:/locks/orders"_s, 1);
        row("the name alone", u"/locks/*"_s, 1);
        row("a star for a path", u"zk:*"_s, 1);
        row("in both backends", u"*orders*"_s, 2);
        row("none", u"nothing"_s, 0);
    }
    void globsChooseByNameOrByLock()
    {
        QFETCH(QString, glob);
        QFETCH(int, count);
        const auto ran = m_servers.run({u"locks"_s, u"--json"_s, u"--match"_s, glob});
        QVERIFY2(ran.json().value("locks"_L1).toArray().size() == count, ran.what());
    }

    // What answers, what its user may do by the server's own word, what is seen at first.
    void aTrialSaysWhatEachConnectionIsGoodFor()
    {
        QVERIFY(send(
            {"ACL", "SETUSER", "looker", "on", ">s3cret", "~*", "&*", "+@read", "+@connection", "+info", "+acl"}));
        QVERIFY(send({"ACL", "SETUSER", "pre", "on", ">s3cret", "resetchannels", "~app:*", "+@all"}));
        const auto asLooker = m_servers.redisUri(u"looker:s3cret@"_s);
        const auto ran = run({u"test"_s, u"--json"_s, u"--connect"_s, m_servers.zk(), u"--connect"_s,
                              m_servers.redisUri(), u"--connect"_s, u"looker="_s + asLooker});
        QVERIFY2(ran.status == 0, ran.what());
        QVERIFY2(!ran.what().contains("s3cret"), ran.what());
        const auto all = ran.json().value("connections"_L1).toArray();
        QCOMPARE(all.size(), 3);
        const auto rights = [&all](const QString &name) {
            return named(all, u"connection"_s, name).value("rights"_L1).toVariant().toStringList().join(u'\n');
        };
        for (const auto &one : all) {
            QCOMPARE(fields(one.toObject()),
                     sorted(words("connection uri server note rights locks initialScanComplete coverage")));
            QVERIFY2(one.toObject().value("initialScanComplete"_L1).toBool(), ran.what());
            checkCoverage(one.toObject().value("coverage"_L1));
        }
        QCOMPARE(named(all, u"connection"_s, u"zk"_s).value("locks"_L1).toInt(), 1);
        QCOMPARE(named(all, u"connection"_s, u"redis"_s).value("locks"_L1).toInt(), 2);
        const auto server = named(all, u"connection"_s, u"redis"_s).value("server"_L1).toString();
        QVERIFY2(server.startsWith(u"Redis "_s) && server.endsWith(u", primary without a replica"_s),
                 qPrintable(server));
        const auto zooKeeper = named(all, u"connection"_s, u"zk"_s).value("server"_L1).toString();
        QVERIFY2(zooKeeper.startsWith(u"ZooKeeper 3."_s) && zooKeeper.endsWith(u", standalone"_s),
                 qPrintable(zooKeeper));
        QVERIFY2(rights(u"redis"_s).startsWith(u"user default may find locks, read them, "_s),
                 qPrintable(rights(u"redis"_s)));
        QVERIFY2(rights(u"looker"_s).contains(u"user looker may find locks, read them"_s),
                 qPrintable(rights(u"looker"_s)));
        QVERIFY2(rights(u"looker"_s).contains(u"may not acquire and release: "_s), qPrintable(rights(u"looker"_s)));
        const auto some = run({u"test"_s, u"--connect"_s, u"pre="_s + m_servers.redisUri(u"pre:s3cret@"_s)});
        QVERIFY2(some.out.contains("may find locks, read them, acquire and release among the keys app:* only\n"),
                 some.what());
        const auto nobody = run({u"test"_s, u"--connect"_s, u"redis://127.0.0.1:1"_s});
        QVERIFY2(nobody.status == 3 && nobody.err.contains("could not connect"), nobody.what());
    }

    void sessionsHoldAndWait()
    {
        const auto ran = m_servers.run({u"sessions"_s, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        int holding = 0;
        int waiting = 0;
        for (const auto &entry : ran.json().value("sessions"_L1).toArray()) {
            const auto session = entry.toObject();
            QCOMPARE(fields(session), sorted(words("session connection endpoint client holds waits expiresMs")));
            holding += session.value("holds"_L1).toArray().contains(u"zk:/locks/orders"_s) ? 1 : 0;
            waiting += session.value("waits"_L1).toArray().contains(u"zk:/locks/orders"_s) ? 1 : 0;
        }
        QCOMPARE(holding, 1);
        QCOMPARE(waiting, 2);
    }

    void findingsNameLocksAndContenders()
    {
        const auto ran = m_servers.run({u"findings"_s, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        const auto all = ran.json().value("findings"_L1).toArray();
        const auto incident = named(ran.json().value("incidents"_L1).toArray(), u"kind"_s, u"no-ttl"_s);
        QCOMPARE(fields(incident),
                 sorted(words("kind severity cause action locks target blocked blockedClients ageMs "
                              "ageAtMost folded")));
        QCOMPARE(incident.value("locks"_L1).toArray(), QJsonArray{u"redis:orders-lock"_s});
        const auto finding = named(all, u"code"_s, u"no-ttl"_s);
        QCOMPARE(fields(finding), sorted(words("code severity message locks contenders")));
        QCOMPARE(finding.value("locks"_L1).toArray(), QJsonArray{u"redis:orders-lock"_s});
        QCOMPARE(finding.value("contenders"_L1).toArray().first().toObject().value("lock"_L1).toString(),
                 u"redis:orders-lock"_s);
    }

    // kazoo's acquire(ephemeral=False), its client gone: found, or it is said that nobody looked there.
    void aLockWithoutASessionIsNotPassedOverInSilence()
    {
        const QByteArray name = "/locks/left-behind/83427f40e55111f1a2e7fac9e99d7ff8__lock__0000000000";
        QVERIFY(m_servers.put("/locks/left-behind") && m_servers.put(name));
        const auto text = m_servers.run({u"findings"_s});
        QVERIFY2(text.out.contains("persistent-node") || text.out.contains("Incomplete: zk: "), text.what());
        const auto json = m_servers.run({u"findings"_s, u"--json"_s});
        QVERIFY2(json.out.contains("persistent-node") || json.out.contains("\"complete\": false"), json.what());
        QVERIFY(await(m_servers.session->remove(ZPath(name), -1, m_servers.soon())));
        QVERIFY(await(m_servers.session->remove(ZPath("/locks/left-behind"), -1, m_servers.soon())));
    }

    void treeHasEveryNodeWithItsStat()
    {
        const auto ran = m_servers.run({u"tree"_s, u"zk:/locks"_s, u"--json"_s});
        QVERIFY2(ran.status == 0 && ran.err.isEmpty(), ran.what());
        const auto nodes = ran.json().value("nodes"_L1).toArray();
        QCOMPARE(nodes.size(), 5);
        for (const auto &entry : nodes) {
            const auto node = entry.toObject();
            QCOMPARE(fields(node),
                     sorted(words("path ephemeralOwner czxid mzxid version children dataBytes ctime mtime error")));
            QVERIFY(node.value("czxid"_L1).toString().toLongLong() > 0);
            QVERIFY(isIsoUtc(node.value("ctime"_L1)) && isIsoUtc(node.value("mtime"_L1)));
            QVERIFY(isTextOrNull(node.value("ephemeralOwner"_L1)));
        }
        QCOMPARE(nodes[0].toObject().value("path"_L1).toString(), u"/locks"_s);
        QVERIFY(nodes[2].toObject().value("ephemeralOwner"_L1).toString().startsWith(u"0x"_s));
        const auto shallow = m_servers.run({u"tree"_s, u"/locks"_s, u"--depth"_s, u"1"_s, u"--json"_s});
        QCOMPARE(shallow.json().value("nodes"_L1).toArray().size(), 2);
        QCOMPARE(m_servers.run({u"tree"_s, u"/none"_s}).status, 1);
    }

    void keysHaveTypeAndTtl()
    {
        const auto ran = m_servers.run({u"keys"_s, u"redis:*"_s, u"--json"_s});
        QVERIFY2(ran.status == 0 && ran.err.isEmpty(), ran.what());
        const auto keys = ran.json().value("keys"_L1).toArray();
        for (const auto &key : keys)
            QCOMPARE(fields(key.toObject()), sorted(words("key type ttlMs bytes")));
        const auto token = named(keys, u"key"_s, u"orders-lock"_s);
        QCOMPARE(token.value("type"_L1).toString(), u"string"_s);
        QVERIFY(token.value("ttlMs"_L1).isNull() && token.value("bytes"_L1).isDouble());
        const auto checkout = named(keys, u"key"_s, u"checkout"_s);
        QCOMPARE(checkout.value("type"_L1).toString(), u"hash"_s);
        QVERIFY(checkout.value("ttlMs"_L1).toInt() > 0);
        QCOMPARE(m_servers.run({u"keys"_s, u"check*"_s, u"--json"_s}).json().value("keys"_L1).toArray().size(), 1);
    }

    void watchingTellsOfEveryChange()
    {
        Ctl watching(m_servers.connect() + QStringList{u"locks"_s, u"--watch"_s, u"--match"_s, u"*watched-lock"_s});
        // It is following when it tells of a lock made before it could look.
        QVERIFY(send({"SET", "first-watched-lock", "73427f40e55111f1a2e7fac9e99d7ff8", "PX", "60000"}));
        const auto first = watching.jsonLine();
        QCOMPARE(fields(first), sorted(words("schema time change lock")));
        QCOMPARE(first.value("change"_L1).toString(), u"added"_s);
        QVERIFY(isIsoUtc(first.value("time"_L1)));
        checkLock(first.value("lock"_L1).toObject());
        QVERIFY(send({"DEL", "first-watched-lock"}));
        QJsonObject last;
        while (last.value("change"_L1).toString() != u"removed"_s) {
            last = watching.jsonLine();
            QVERIFY(!last.isEmpty());
        }
        QCOMPARE(last.value("lock"_L1).toObject().value("lock"_L1).toString(), u"redis:first-watched-lock"_s);
        watching.signal(SIGINT);
        QCOMPARE(watching.finish().status, 0);
    }

    void expiringLockHasItsTtlInTheTable()
    {
        const auto header = [this](const QString &lock) {
            return m_servers.run({u"show"_s, lock}).out.split('\n').value(3).simplified();
        };
        QVERIFY2(header(u"redis:checkout"_s).contains("AGE TTL WAITS FOR"), header(u"redis:checkout"_s));
        QVERIFY2(!header(u"zk:/locks/orders"_s).contains("TTL"), header(u"zk:/locks/orders"_s));
    }

    void aMissingLockIsOneLine()
    {
        for (const auto &lock : {u"zk:/locks/none"_s, u"redis:none"_s}) {
            const auto ran = m_servers.run({u"show"_s, lock, u"--json"_s});
            QVERIFY2(ran.status == 1 && ran.out.isEmpty() && ran.err.count('\n') == 1, ran.what());
        }
    }

    // Its address says nothing of that: whoever looks at one lock of it is told, too.
    // As a shell completes a folder. A key of Redis may end so: it is another.
    void aSlashBehindAPathIsNotPartOfIt()
    {
        const auto plain = m_servers.run({u"show"_s, u"zk:/locks/orders"_s, u"--json"_s});
        const auto slash = m_servers.run({u"show"_s, u"zk:/locks/orders/"_s, u"--json"_s});
        QVERIFY2(plain.status == 0 && slash.status == 0, slash.what());
        QCOMPARE(slash.json().value("lock"_L1).toObject().value("lock"_L1).toString(), u"zk:/locks/orders"_s);
        const auto tree = m_servers.run({u"tree"_s, u"/locks/orders/"_s, u"--json"_s});
        QVERIFY2(tree.status == 0 && tree.out.contains("\"/locks/orders\""), tree.what());
        const auto key = m_servers.run({u"show"_s, u"redis:nobody/"_s});
        QVERIFY2(key.status == 1 && key.err.contains("nobody/"), key.what());
    }

    void aLockOnAReplicaIsShownAsSuch()
    {
        std::unique_ptr<sandbox::Server> copy;
        OK(startInto(copy, sandbox::makeRedis()));
        const auto connection = redis::openConnection(m_servers.loop, {.host = copy->address()});
        QTRY_COMPARE(connection->state(), redis::ConnectionState::Connected);
        const auto port = QByteArray::number(m_servers.redis->address().port);
        QVERIFY(await(connection->command({"REPLICAOF", "127.0.0.1", port}, m_servers.soon())));
        const QStringList show{u"--connect"_s, u"copy=redis://127.0.0.1:%1"_s.arg(copy->address().port), u"show"_s,
                               u"copy:orders-lock"_s};
        QTRY_COMPARE_WITH_TIMEOUT(run(show).status, 0, patienceMs);
        const auto ran = run(show);
        QVERIFY2(ran.err.contains("copy: this is a replica of 127.0.0.1:" + port), ran.what());
    }

    void hostileTextIsEscapedAndReadBack()
    {
        const QByteArray name = "evil \x1b[31m\n\xff-lock";
        QVERIFY(send({"SET", name, "63427f40e55111f1a2e7fac9e99d7ff8", "PX", "60000"}));
        QVERIFY(m_servers.put("/hostile"));
        QVERIFY(m_servers.put("/hostile/_c_11111111-2222-3333-4444-555555555555-lock-", "\x1b]0;owned\x07<b>\xfe",
                              zk::CreateMode::EphemeralSequential));
        const auto lock = u"redis:evil \\x1B[31m\\x0A\\xFF-lock"_s;
        for (const bool json : {false, true}) {
            for (const auto &command : {QStringList{u"locks"_s}, QStringList{u"show"_s, u"zk:/hostile"_s},
                                        QStringList{u"show"_s, lock}, QStringList{u"keys"_s, u"*"_s},
                                        QStringList{u"tree"_s, u"/hostile"_s}, QStringList{u"sessions"_s}}) {
                const auto ran = m_servers.run(json ? command + QStringList{u"--json"_s} : command);
                QVERIFY2(ran.status == 0, ran.what());
                QVERIFY2(!ran.out.contains('\x1b') && !ran.out.contains('\x07') && !ran.out.contains('\xff'),
                         ran.what());
            }
        }
        const auto shown = m_servers.run({u"show"_s, lock, u"--json"_s}).json().value("lock"_L1).toObject();
        QCOMPARE(shown.value("lock"_L1).toString(), lock);
        const auto identity = m_servers.run({u"show"_s, u"zk:/hostile"_s, u"--json"_s})
                                  .json()
                                  .value("lock"_L1)
                                  .toObject()
                                  .value("contenders"_L1)
                                  .toArray()
                                  .first()
                                  .toObject()
                                  .value("identity"_L1)
                                  .toString();
        QCOMPARE(identity, u"\\x1B]0;owned\\x07<b>\\xFE"_s);
        QVERIFY(send({"DEL", name}));
    }

    void aNodeWithoutPermissionSaysSoAndTheRestWorks()
    {
        const zk::Acls nobody{{zk::perms::all, "digest", "nobody:9vxmOo3dzlRLkzHYCKMDNuO7gfo="}};
        QVERIFY(m_servers.put("/private"));
        QVERIFY(m_servers.put("/private/open"));
        QVERIFY(await(m_servers.session->create(ZPath("/private/closed"), "x", zk::CreateMode::Persistent, nobody,
                                                m_servers.soon())));
        const auto ran = m_servers.run({u"tree"_s, u"/private"_s, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        const auto nodes = ran.json().value("nodes"_L1).toArray();
        QCOMPARE(nodes.size(), 3);
        const auto taking = m_servers.run({u"acquire"_s, u"zk:/private/closed"_s, u"--recipe"_s, u"zk-mutex"_s});
        QVERIFY2(taking.status == 1 && taking.err.contains("permission") && taking.err.count('\n') == 1,
                 taking.what());
    }

    void aChrootIsTakenOff()
    {
        const auto uri = u"zk://127.0.0.1:%1/locks?admin=%2"_s.arg(m_servers.zooKeeper->address().port)
                             .arg(m_servers.zooKeeper->adminPort());
        const auto ran = run({u"--connect"_s, uri, u"locks"_s, u"--json"_s});
        QVERIFY2(ran.status == 0, ran.what());
        const auto orders = named(ran.json().value("locks"_L1).toArray(), u"lock"_s, u"zk:/orders"_s);
        QCOMPARE(orders.value("contenders"_L1).toArray().size(), 3);
    }

    void oneConnectionThatFailsDoesNotHideTheOthers()
    {
        const auto ran = m_servers.run({u"--connect"_s, u"dead=redis://127.0.0.1:1"_s, u"locks"_s, u"--json"_s});
        QVERIFY2(ran.status == 3 && ran.err.count('\n') == 1, ran.what());
        QVERIFY(!named(ran.json().value("locks"_L1).toArray(), u"lock"_s, u"zk:/locks/orders"_s).isEmpty());
        const auto dead = named(ran.json().value("coverage"_L1).toArray(), u"connection"_s, u"dead"_s);
        QCOMPARE(dead.value("complete"_L1), QJsonValue(false));
    }

    void aWrongRedisPasswordIsSaidAndNotPrinted()
    {
        auto made = sandbox::makeRedis({.password = "right"});
        QVERIFY(made && (*made)->start(std::chrono::seconds(20)));
        const auto at = u"127.0.0.1:%1"_s.arg((*made)->address().port);
        const auto wrong = run({u"locks"_s, u"--connect"_s, u"redis://:hunter2@"_s + at});
        QVERIFY2(wrong.status == 3 && wrong.err.count('\n') == 1 && !wrong.err.contains("hunter2"), wrong.what());
        const auto none = run({u"locks"_s, u"--connect"_s, u"redis://"_s + at});
        QVERIFY2(none.status == 3 && none.err.count('\n') == 1, none.what());
        const auto right = run({u"locks"_s, u"--connect"_s, u"redis://:right@"_s + at});
        QVERIFY2(right.status == 0, right.what());
        const auto byVariable = run({u"locks"_s, u"--connect"_s, u"my-redis=redis://"_s + at},
                                    {{u"LOCKSCOPE_PASSWORD_MY_REDIS"_s, u"right"_s}});
        QVERIFY2(byVariable.status == 0, byVariable.what());
    }

    void theSandboxPrintsUrisAndLeavesNothing()
    {
        Ctl sandbox({u"sandbox"_s, u"--redis"_s, u"2"_s});
        const auto first = sandbox.line();
        const auto second = sandbox.line();
        QVERIFY2(first.startsWith("redis=redis://127.0.0.1:") && second.startsWith("redis2=redis://127.0.0.1:"),
                 first);
        QCOMPARE(run({u"keys"_s, u"*"_s, u"--connect"_s, QString::fromUtf8(first)}).status, 0);
        sandbox.signal(SIGINT);
        QCOMPARE(sandbox.finish().status, 0);
        QCOMPARE(run({u"keys"_s, u"*"_s, u"--connect"_s, QString::fromUtf8(first)}).status, 3);
    }

    void aSandboxConnectionIsThereForOneRun()
    {
        const auto ran = run({u"--connect"_s, u"sandbox:"_s, u"acquire"_s, u"zk:/a"_s, u"--recipe"_s, u"zk-mutex"_s,
                              u"--hold"_s, u"0ms"_s});
        QVERIFY2(ran.status == 0 && ran.out.contains("acquired zk:/a"), ran.what());
    }
};

LOCKSCOPE_TEST(TestCtlLocks)
#include "tst_ctl_locks.moc"
