// SPDX-License-Identifier: Apache-2.0
// A client's connection to the simulated Redis: what the port says of lost messages, deadlines and breaks is so.
#include "redisworld.h"
#include "tests/support/testmain.h"

using namespace lockscope::sim;
using redis::ConnectionState;

class TestSimulatedRedisConnection : public QObject {
    Q_OBJECT

    std::unique_ptr<RedisWorld> m_world;
    Process *m_process = nullptr;
    redis::Connection *m_client = nullptr;

    QByteArray direct(const redis::Command &command)
    {
        return RedisWorld::textOf(m_world->server().execute(command));
    }
    void pass(Duration span) { m_world->world.advance(span); }
    // -1: no error.
    int codeOf(redis::Command command)
    {
        const auto answer = m_world->ask(*m_client, std::move(command));
        return answer ? -1 : static_cast<int>(answer.error().code);
    }
    static int code(ErrorCode wanted) { return static_cast<int>(wanted); }
    void loseNext(Direction direction)
    {
        auto isDone = std::make_shared<bool>(false);
        m_world->network.setJudge([isDone, direction](const Message &message) {
            const bool isIt = message.direction == direction && !*isDone;
            *isDone = *isDone || isIt;
            return Delivery{isIt, {}};
        });
    }

private slots:
    void init()
    {
        m_world = std::make_unique<RedisWorld>();
        m_process = &m_world->addProcess();
        m_client = &m_world->connect(*m_process);
        QCOMPARE(m_client->state(), ConnectionState::Connecting);
        QCOMPARE(codeOf({"PING"}), code(ErrorCode::NotConnected));
        QCOMPARE(m_client->state(), ConnectionState::Connected);
        QCOMPARE(m_client->lastError(), QString());
    }

    void aLostRequestIsNotExecuted()
    {
        loseNext(Direction::ToServer);
        QCOMPARE(codeOf({"SET", "key", "1"}), code(ErrorCode::UnknownOutcome));
        QCOMPARE(direct({"GET", "key"}), QByteArray("(nil)"));
        QCOMPARE(m_client->state(), ConnectionState::Connected); // again
        QCOMPARE(codeOf({"SET", "key", "1"}), -1);
    }
    void aLostReplyIsExecuted()
    {
        loseNext(Direction::ToClient);
        QCOMPARE(codeOf({"SET", "key", "1"}), code(ErrorCode::UnknownOutcome));
        QCOMPARE(direct({"GET", "key"}), QByteArray("1"));
        QCOMPARE(codeOf({"GET", "key"}), -1);
    }
    void aPipelineIsLostAsAWhole()
    {
        loseNext(Direction::ToServer);
        const auto reply = m_client->pipeline({{"SET", "a", "1"}, {"SET", "b", "1"}}, m_world->soon());
        pass(1s);
        QVERIFY(reply.isComplete() && !reply.value());
        QCOMPARE(reply.value().error().code, ErrorCode::UnknownOutcome);
        QCOMPARE(direct({"DBSIZE"}), QByteArray("0"));
    }

    void deadlines()
    {
        const auto late = m_client->command({"PING"}, Deadline::at(m_world->world.now()));
        pass(1ms);
        QCOMPARE(late.value().error().code, ErrorCode::TimedOut);
        m_world->network.setJudge([](const Message &) { return Delivery{false, 600ms}; });
        QCOMPARE(codeOf({"SET", "key", "1"}), code(ErrorCode::UnknownOutcome));
        m_world->network.setJudge({});
        pass(1s);
        QCOMPARE(direct({"GET", "key"}), QByteArray("1"));
        QCOMPARE(codeOf({"PING"}), -1); // in step
        QCOMPARE(codeOf({"SUBSCRIBE", "x"}), code(ErrorCode::BadInput));
        QCOMPARE(codeOf({"INCR", "key", "x"}), code(ErrorCode::Server));
    }

    void aPartitionHoldsBackAndIsNoticedBySilence()
    {
        m_world->network.block(0, 0, Direction::ToServer);
        QCOMPARE(codeOf({"SET", "key", "1"}), code(ErrorCode::UnknownOutcome));
        QCOMPARE(direct({"GET", "key"}), QByteArray("(nil)"));
        QCOMPARE(m_client->state(), ConnectionState::Connected);
        m_world->network.open(0, 0, Direction::ToServer);
        pass(10ms);
        QCOMPARE(direct({"GET", "key"}), QByteArray("1")); // late, but it comes
        QCOMPARE(codeOf({"PING"}), -1);

        m_world->network.block(0, 0, Direction::ToClient);
        pass(50s);
        QCOMPARE(m_client->state(), ConnectionState::Connecting);
        m_world->network.open(0, 0, Direction::ToClient);
        pass(10s);
        QCOMPARE(m_client->state(), ConnectionState::Connected);
    }

    void itConnectsAgainLaterAndLater()
    {
        pass(2s); // settled
        std::vector<qint64> attempts;
        const auto began = m_world->world.now();
        const auto subscription = m_client->onState([&](ConnectionState state) {
            QCOMPARE(state, ConnectionState::Connecting);
            attempts.push_back(
                std::chrono::duration_cast<std::chrono::milliseconds>(m_world->world.now() - began).count());
        });
        m_world->network.setDown(0, true);
        pass(20s);
        // The break itself, a try at once, then after 50 ms, 100 ms … 5 s, always at least.
        const std::vector<qint64> expected{0, 0, 50, 150, 350, 750, 1550, 3150, 6350, 11350, 16350};
        QCOMPARE(attempts, expected);
        QVERIFY(m_client->lastError().contains(QStringLiteral("refused")));
        QCOMPARE(codeOf({"PING"}), code(ErrorCode::NotConnected));
    }

    void subscriptionsComeBack()
    {
        QByteArrayList heard;
        const auto channel = m_client->subscribe("news", [&](const redis::Message &m) { heard << m.payload; });
        const auto pattern = m_client->subscribePattern("n*", [&](const redis::Message &m) { heard << m.pattern; });
        const auto id = [&] {
            const auto reply = m_client->subscriberId(m_world->soon());
            pass(100ms);
            return reply.isComplete() && reply.value() ? *reply.value() : 0;
        };
        const auto before = id();
        QVERIFY(before > 0);
        direct({"PUBLISH", "news", "one"});
        pass(10ms);
        QCOMPARE(heard, (QByteArrayList{"one", "n*"}));
        int restored = 0;
        const auto state =
            m_client->onState([&](ConnectionState now) { restored += now == ConnectionState::Connected ? 1 : 0; });
        m_world->network.breakLinks(0);
        pass(100ms);
        QVERIFY(restored >= 1);
        QVERIFY(id() > before);
        QCOMPARE(direct({"PUBLISH", "news", "two"}), QByteArray("2"));
        pass(10ms);
        QCOMPARE(heard, (QByteArrayList{"one", "n*", "two", "n*"}));
    }

    void aPausedProcessHearsLaterAndADeadOneNever()
    {
        QByteArrayList heard;
        auto channel = m_client->subscribe("news", [&](const redis::Message &m) { heard << m.payload; });
        pass(10ms);
        m_process->pause();
        QCOMPARE(direct({"PUBLISH", "news", "one"}), QByteArray("1"));
        pass(1s);
        QCOMPARE(heard, QByteArrayList());
        m_process->resume();
        pass(10ms);
        QCOMPARE(heard, QByteArrayList{"one"});
        const auto reply = m_client->command({"SET", "key", "1"}, m_world->soon());
        m_process->kill();
        pass(1s);
        QVERIFY(!reply.isComplete());
        QCOMPARE(direct({"GET", "key"}), QByteArray("1")); // it was on its way
        QCOMPARE(direct({"PUBLISH", "news", "two"}), QByteArray("0"));
        channel = {};
        m_world->connections.clear();
        pass(1s);
        QCOMPARE(heard, QByteArrayList{"one"});
    }

    void aConnectionThatGoesAwayEndsAtTheServer()
    {
        auto channel = m_client->subscribe("news", [](const redis::Message &) {});
        pass(10ms);
        const auto reply = m_client->command({"SET", "key", "1"}, m_world->soon());
        channel = {};
        m_world->connections.clear();
        QVERIFY(reply.isComplete());
        QCOMPARE(reply.value().error().code, ErrorCode::UnknownOutcome);
        pass(10ms);
        QCOMPARE(direct({"GET", "key"}), QByteArray("1"));
        QCOMPARE(direct({"PUBLISH", "news", "x"}), QByteArray("0"));
    }

    void twoProcessesTalkThroughTheServer()
    {
        QByteArrayList heard;
        const auto channel = m_client->subscribe("news", [&](const redis::Message &m) { heard << m.payload; });
        auto &other = m_world->connect(m_world->addProcess());
        pass(10ms);
        QCOMPARE(m_world->tell(other, {"PUBLISH", "news", "hello"}), QByteArray("1"));
        QCOMPARE(heard, QByteArrayList{"hello"});
    }
};

LOCKSCOPE_TEST(TestSimulatedRedisConnection)
#include "tst_redis_connection.moc"
