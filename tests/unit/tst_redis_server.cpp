// SPDX-License-Identifier: Apache-2.0
// What a Redis says that it is, by INFO, and what its user may do, by ACL.
#include "core/inspect/redis/observer.h"

#include "clusterfakes.h"
#include "tests/support/testmain.h"

namespace {

// As Redis 7 words it.
redis::Value refusedKey(const QByteArray &key)
{
    return redisBulk("User pre has no permissions to access the '" + key + "' key");
}

// User pre, to whom all but keys and channels is allowed.
redis::Value answerToPre(const redis::Command &command, const QByteArray &keys, const QByteArray &prefix)
{
    if (command.value(1) == "WHOAMI")
        return redisBulk("pre");
    if (command.value(1) == "GETUSER")
        return keys.isNull() ? redisError("NOPERM no getuser")
                             : redisList({redisBulk("flags"), redisList({}), redisBulk("keys"), redisBulk(keys)});
    if (command.value(3) == "PUBLISH")
        return redisBulk("User pre has no permissions to access the '" + command.value(4) + "' channel");
    const QByteArrayList ofKeys{"TYPE", "PTTL", "GET", "HGETALL", "LRANGE", "ZRANGE", "SET", "DEL"};
    const auto key = command.value(3) == "EVALSHA"       ? command.value(6)
                     : ofKeys.contains(command.value(3)) ? command.value(4)
                                                         : prefix;
    return key.startsWith(prefix) ? redisBulk("OK") : refusedKey(key);
}

Task<void> askRights(redis::Connection *connection, bool takesWrites, QStringList *into)
{
    auto asking = inspect::redisRights(connection, takesWrites, Deadline::never());
    auto said = co_await asking;
    *into = std::move(said);
}

QString rightsOfPre(const QByteArray &keys, const QByteArray &prefix, bool takesWrites = true)
{
    VirtualLoop loop;
    const auto server = std::make_shared<FakeRedisServer>();
    server->answer = [&](const redis::Command &command) { return answerToPre(command, keys, prefix); };
    FakeRedisConnection connection(loop, server);
    QStringList said;
    Scope scope(loop);
    scope.launch(askRights(&connection, takesWrites, &said));
    loop.runUntilIdle();
    return said.join(u'\n');
}

} // namespace

class TestRedisServer : public QObject {
    Q_OBJECT

private slots:
    void aUserOfSomeKeysIsToldWhich()
    {
        const auto said = rightsOfPre("~app:* %R~conf:[^a-c]?", "app:");
        QCOMPARE(said, u"user pre may receive changes, see clients\n"
                       "may find locks, read them, acquire and release among the keys app:* only\n"
                       "may not wake who waits: User pre has no permissions to access the "
                       "'redisson_lock__channel:{app:*}' channel"_s);
        QVERIFY(rightsOfPre("~*", {}).startsWith(
            u"user pre may find locks, read them, receive changes, see clients, acquire and release\n"_s));
        // None told, and none there.
        const auto untold = rightsOfPre({}, "app:");
        QVERIFY2(untold.contains(u"may not find locks: User pre has no permissions to access the '*' key; the keys "
                                 "are unknown, because"_s),
                 qPrintable(untold));
        QVERIFY(rightsOfPre("", "app:").contains(u"may not find locks: User pre has no permissions"_s));
        const auto many = rightsOfPre("~a ~b ~c ~d ~e ~f ~g ~h ~i ~j", "a");
        QVERIFY2(many.contains(u"has 2 more patterns of keys"_s), qPrintable(many));
        QVERIFY(!rightsOfPre("~\x1b[2J*", "\x1b").contains(u'\x1b'));
    }
    void aReplicaTakesNoWrites()
    {
        const auto said = rightsOfPre("~*", {}, false);
        QVERIFY2(said.startsWith(u"user pre may find locks, read them, receive changes, see clients\n"_s)
                     && said.endsWith(u"\nmay not acquire and release here: a replica takes no writes"_s),
                 qPrintable(said));
    }
    void aKeyLikeAPatternMatchesIt_data()
    {
        const Rows<QByteArray> row("key");
        row("app:*", "app:a-key");
        row("a?c", "axc");
        row("a[b-d]e", "ade");
        row("a[^u-z]e", "ate");
        row("a\\*b", "a*b");
        row("a[b", "a[b");
    }
    void aKeyLikeAPatternMatchesIt()
    {
        QFETCH(QByteArray, key);
        QCOMPARE(inspect::redisKeyLike(QTest::currentDataTag()), key);
    }
    void readsThePatternsOfSelectorsToo()
    {
        const auto selector = redisList({redisBulk("keys"), redisBulk("~sel:* ~app:*")});
        const auto user = redisList({redisBulk("keys"), redisBulk("~app:* %R~conf:*"), redisBulk("channels"),
                                     redisBulk("&x"), redisBulk("selectors"), redisList({selector})});
        QCOMPARE(inspect::redisKeyPatterns(user), (QByteArrayList{"app:*", "conf:*", "sel:*"}));
        const auto six = redisList({redisBulk("keys"), redisList({redisBulk("app:*"), redisBulk("~b")})});
        QCOMPARE(inspect::redisKeyPatterns(six), (QByteArrayList{"app:*", "b"}));
    }

    void saysVersionAndRole_data()
    {
        const Rows<QByteArray, QString> row("info", "said");
        const QByteArray node = "redis_version:7.0.15\r\nredis_mode:cluster\r\n";
        row("by itself", "# Server\r\nredis_version:7.0.15\r\nrole:master\r\nconnected_slaves:0\r\n"_ba,
            u"Redis 7.0.15, primary without a replica"_s);
        row("with replicas", "redis_version:7.0.15\nrole:master\nconnected_slaves:2\n"_ba,
            u"Redis 7.0.15, primary with 2 replicas"_s);
        row("a replica", "redis_version:7.0.15\nrole:slave\nmaster_host:10.0.0.1\nmaster_port:6379\n"_ba,
            u"Redis 7.0.15, replica of 10.0.0.1:6379"_s);
        row("a cluster", node + "role:master\n" + node + "role:slave\n" + node + "role:master\n",
            u"Redis 7.0.15 on 3 nodes, 2 of them primaries"_s);
        row("a cluster that is being upgraded",
            "redis_version:7.0.15\nredis_version:7.2.4\nrole:master\nrole:slave\n"_ba,
            u"Redis 7.0.15 and 7.2.4 on 2 nodes, 1 of them primaries"_s);
        row("Valkey, which says what it is compatible with as well",
            "redis_version:7.2.4\nserver_name:valkey\nvalkey_version:8.0.1\nrole:master\nconnected_slaves:1\n"_ba,
            u"Valkey 8.0.1, primary with 1 replica"_s);
        row("no role", "redis_version:7.0.15\n"_ba, u"Redis 7.0.15"_s);
        row("hostile", "redis_version:\x1b[31m7\n"_ba, u"Redis \\x1B[31m7"_s);
        row("nothing", {}, {});
    }
    void saysVersionAndRole()
    {
        QFETCH(QByteArray, info);
        QFETCH(QString, said);
        QCOMPARE(inspect::redisServerOf(info), said);
    }
};

LOCKSCOPE_TEST(TestRedisServer)
#include "tst_redis_server.moc"
