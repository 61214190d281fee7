// SPDX-License-Identifier: Apache-2.0
// The simulated Redis in virtual time: expiry, scripts, publishing, and what can go wrong with a server.
#include "redisworld.h"

#include "core/redis/client.h"
#include "core/redis/resp.h"
#include "core/simservers/redis/server.h"
#include "tests/support/testmain.h"

#include <QCryptographicHash>

using redis::ConnectionState;

class TestSimulatedRedisServer : public QObject {
    Q_OBJECT

    std::unique_ptr<RedisWorld> m_world;
    sim::Process *m_process = nullptr;
    redis::Connection *m_client = nullptr;

    sim::RedisServer &server() { return m_world->server(); }
    QByteArray tell(redis::Command command) { return m_world->tell(*m_client, std::move(command)); }
    QByteArray direct(const redis::Command &command) { return RedisWorld::textOf(server().execute(command)); }
    QByteArray script(const QByteArray &text) { return direct({"EVAL", text, "0"}); }
    void pass(Duration span) { m_world->world.advance(span); }
    // Who hears what of a channel, from now on.
    Subscription listen(QByteArrayList &heard)
    {
        auto subscription =
            m_client->subscribe("news", [&heard](const redis::Message &message) { heard << message.payload; });
        pass(10ms);
        return subscription;
    }

private slots:
    void init()
    {
        m_world = std::make_unique<RedisWorld>();
        m_process = &m_world->addProcess();
        m_client = &m_world->connect(*m_process);
        pass(10ms);
        QCOMPARE(m_client->state(), ConnectionState::Connected);
    }

    void keyExpiresOnTime()
    {
        QCOMPARE(direct({"SET", "lease", "me", "PX", "100"}), QByteArray("OK"));
        QCOMPARE(direct({"SET", "other", "1"}), QByteArray("OK"));
        pass(100ms);
        QCOMPARE(direct({"PTTL", "lease"}), QByteArray("0")); // through the whole of its last millisecond
        QCOMPARE(server().keys(), (std::vector<QByteArray>{"lease", "other"}));
        pass(1ms);
        QCOMPARE(server().keys(), (std::vector<QByteArray>{"other"}));
        QCOMPARE(direct({"SET", "lease", "you", "NX"}), QByteArray("OK"));
    }

    void itsClockJumps()
    {
        QCOMPARE(direct({"SET", "lease", "me", "PX", "30000"}), QByteArray("OK"));
        server().jumpClock(-10s);
        QCOMPARE(direct({"TTL", "lease"}), QByteArray("40"));
        server().jumpClock(50s);
        QCOMPARE(direct({"GET", "lease"}), QByteArray("(nil)"));
        pass(5s);
        QCOMPARE(direct({"TIME"}), QByteArray("[45 10000]"));
    }

    void aScriptSeesNoMoreThanRedisShows()
    {
        for (const QByteArray name :
             {"os", "io", "require", "dofile", "loadfile", "package", "debug", "print", "_G", "module"})
            QVERIFY2(script("return " + name).contains("nonexistent global variable '" + name), name);
        QVERIFY(script("return math.random()").startsWith("-ERR"));
        QCOMPARE(script("return type(string.format) .. type(redis.call)"), QByteArray("functionfunction"));
        QCOMPARE(script("return getmetatable(getfenv(1)) == false"), QByteArray("1"));
    }

    void aScriptThatDoesNotEndIsEnded()
    {
        QVERIFY(script("while true do end").contains("ran for too long"));
        QVERIFY(script("while true do pcall(function() while true do end end) end").contains("ran for too long"));
        QVERIFY(script("coroutine.wrap(function() while true do end end)()").contains("ran for too long"));
        QCOMPARE(script("return 1"), QByteArray("1"));
    }

    void scriptsAreForgottenAndSentAgain()
    {
        QByteArrayList verbs;
        server().onCommand([&](int process, const redis::Command &command) {
            verbs << QByteArray::number(process) + command.first();
        });
        const auto compare = redis::loadScript("compare-and-delete");
        const auto run = [&] {
            return m_world->resultOf(m_client->script(compare, {"key"}, {"token"}, m_world->soon()))->integer;
        };
        QCOMPARE(run(), -1);
        QCOMPARE(run(), -1);
        QCOMPARE(tell({"SCRIPT", "FLUSH"}), QByteArray("OK"));
        QCOMPARE(run(), -1);
        QCOMPARE(verbs, (QByteArrayList{"0EVALSHA", "0EVAL", "0EVALSHA", "0SCRIPT", "0EVALSHA", "0EVAL"}));
        QVERIFY(server().counts().fromScripts == 3);
    }

    void aRestartLosesEverything()
    {
        QByteArrayList heard;
        const auto subscription = listen(heard);
        QCOMPARE(tell({"SET", "key", "1"}), QByteArray("OK"));
        QCOMPARE(tell({"EVAL", "return 7", "0"}), QByteArray("7"));
        const auto sha = QCryptographicHash::hash("return 7", QCryptographicHash::Sha1).toHex();
        server().restart(2s);
        QVERIFY(!m_world->ask(*m_client, {"GET", "key"})); // down
        QCOMPARE(m_client->state(), ConnectionState::Connecting);
        pass(6s);
        QCOMPARE(m_client->state(), ConnectionState::Connected);
        QCOMPARE(tell({"GET", "key"}), QByteArray("(nil)"));
        QVERIFY(tell({"EVALSHA", sha, "0"}).contains("NOSCRIPT"));
        QCOMPARE(tell({"PUBLISH", "news", "again"}), QByteArray("1")); // who listened does so again
        QCOMPARE(heard, QByteArrayList{"again"});
    }

    void aFailoverLosesTheLastWrites()
    {
        server().setReplicaLag(100ms);
        direct({"SET", "old", "1"});
        direct({"SET", "deleted", "1", "PX", "1000000"});
        direct({"HSET", "hash", "a", "1"});
        pass(200ms);
        direct({"SET", "new", "1", "NX"});
        direct({"SET", "old", "2", "PX", "5000"});
        direct({"DEL", "deleted"});
        direct({"HSET", "hash", "b", "2"});
        direct({"HINCRBY", "hash", "a", "5"});
        pass(50ms);
        direct({"HINCRBY", "hash", "a", "5"});
        server().failOver();
        QCOMPARE(server().keys(), (std::vector<QByteArray>{"deleted", "hash", "old"}));
        QCOMPARE(direct({"GET", "old"}) + direct({"GET", "new"}), QByteArray("1(nil)"));
        QCOMPARE(direct({"TTL", "old"}), QByteArray("-1"));
        QCOMPARE(direct({"TTL", "deleted"}), QByteArray("1000"));
        QCOMPARE(direct({"HGETALL", "hash"}), QByteArray("[a 1]"));
        // What is old enough is on the replica.
        direct({"SET", "kept", "1"});
        pass(101ms);
        server().failOver(1s);
        QCOMPARE(direct({"GET", "kept"}), QByteArray("1"));
        pass(10ms);
        QCOMPARE(m_client->state(), ConnectionState::Connecting);
        pass(5s);
        QCOMPARE(tell({"GET", "kept"}), QByteArray("1"));
    }

    void expiredKeyStaysExpiredAfterAFailover()
    {
        server().setReplicaLag(1s);
        direct({"SET", "lease", "1", "PX", "1500"});
        pass(1200ms);
        direct({"PEXPIRE", "lease", "100"});
        pass(500ms);
        server().failOver();
        QCOMPARE(direct({"GET", "lease"}), QByteArray("(nil)"));
    }

    void aPublishIsLost()
    {
        QByteArrayList heard;
        const auto subscription = listen(heard);
        server().loseNextPublishes(1);
        direct({"PUBLISH", "empty", "nobody would have heard it"});
        QCOMPARE(direct({"PUBLISH", "news", "lost"}), QByteArray("1"));
        direct({"PUBLISH", "news", "heard"});
        pass(10ms);
        QCOMPARE(heard, QByteArrayList{"heard"});
        QCOMPARE(server().counts().lost, 1);
        QCOMPARE(server().counts().delivered, 1);
        QCOMPARE(server().counts().published, 3);
    }

    // Wherever what is sent is cut in two, the same commands are read, and those that come whole after it.
    void aCommandMayComeInPieces()
    {
        const std::vector<redis::Command> sent{
            {"SET", "lock", "", "NX"}, {"GET", "with\r\n$3\r\nin it"}, {"EVAL", QByteArray(5000, 'x'), "0"}};
        QByteArray bytes;
        for (const auto &command : sent)
            bytes += redis::encode(command);
        for (qsizetype cut = 0; cut <= bytes.size(); ++cut) {
            sim::RequestReader reader(1 << 20);
            std::vector<redis::Command> read;
            for (const auto &piece : {bytes.first(cut), bytes.sliced(cut), redis::encode(sent[1])}) {
                reader.feed(piece);
                while (const auto command = reader.next())
                    read.push_back(*command);
            }
            QCOMPARE(read, (std::vector<redis::Command>{sent[0], sent[1], sent[2], sent[1]}));
        }
    }

    void invalidRequestHasNoCommand_data()
    {
        const Rows<QByteArray> row("bytes");
        row("no words", "*0\r\n");
        row("an announced crowd", "*2000000000\r\n$1\r\nx\r\n");
        row("an announced size", "*1\r\n$99999999999999999999\r\nx\r\n");
        row("no number", "*x\r\n");
    }
    void invalidRequestHasNoCommand()
    {
        QFETCH(QByteArray, bytes);
        sim::RequestReader reader(1 << 20);
        reader.feed(bytes);
        while (const auto command = reader.next())
            QVERIFY2(command->isEmpty(), command->join(' '));
    }

    void aKeyIsTakenAway()
    {
        direct({"HSET", "lock", "me", "1"});
        QVERIFY(server().forceDelete("lock"));
        QVERIFY(!server().forceDelete("lock"));
        QCOMPARE(server().keys().size(), 0u);
    }

    void serversAreApart()
    {
        RedisWorld two(2);
        auto &process = two.addProcess();
        auto &first = two.connect(process, 0);
        auto &second = two.connect(process, 1);
        two.world.advance(10ms);
        QCOMPARE(two.tell(first, {"SET", "key", "first"}), QByteArray("OK"));
        QCOMPARE(two.tell(second, {"GET", "key"}), QByteArray("(nil)"));
        two.server(0).restart(1h);
        QCOMPARE(two.tell(second, {"SET", "key", "second"}), QByteArray("OK"));
        QVERIFY(first.state() != ConnectionState::Connected);
    }
};

LOCKSCOPE_TEST(TestSimulatedRedisServer)
#include "tst_redis_server.moc"
