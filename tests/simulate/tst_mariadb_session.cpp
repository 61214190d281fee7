// SPDX-License-Identifier: Apache-2.0
// The session on the simulated MariaDB tells what the real one tells: which errors, what was lost, what may have
// been done, and when it is noticed.
#include "core/simservers/mariadb/server.h"
#include "tests/support/testmain.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::sim;
using namespace std::chrono_literals;

namespace {

template <class T>
int codeOf(const Reply<T> &reply)
{
    if (!reply.isComplete())
        return -2;
    return reply.value() ? -1 : static_cast<int>(reply.value().error().code);
}

constexpr int code(ErrorCode wanted)
{
    return static_cast<int>(wanted);
}
constexpr int done = -1, open = -2;

} // namespace

class TestSimulatedSqlSession : public QObject {
    Q_OBJECT

    struct World {
        VirtualLoop loop;
        Network network{loop, Random(3), {}};
        SqlServer server{loop};
        Process one{loop, 1}, two{loop, 2};
        std::unique_ptr<mariadb::Session> a = openSession(one, server, network),
                                          b = openSession(two, server, network);

        World()
        {
            server.addRow("sim.row", "id", "1", 1);
            loop.advance(10ms);
        }
        ~World()
        {
            one.kill();
            two.kill();
        }
        Reply<mariadb::Rows> lockRow(mariadb::Session &session, Deadline deadline = Deadline::never())
        {
            return session.execute(
                {"SELECT `id` FROM `sim`.`row` WHERE `id` = ? FOR UPDATE", {"1"}, session.connectionId(), false},
                deadline);
        }
        // In a transaction of its own.
        Reply<mariadb::Rows> take(mariadb::Session &session, Deadline deadline = Deadline::never())
        {
            const auto begun = session.begin(session.connectionId(), Deadline::never());
            loop.advance(2ms);
            auto reply = lockRow(session, deadline);
            loop.advance(2ms);
            return reply;
        }
        [[nodiscard]] bool isFree() const { return !server.rowLocks().holderOf(RowId{"sim.row", "1"}); }
    };

private slots:
    void itConnectsAndSaysSo()
    {
        World world;
        QCOMPARE(world.a->state(), mariadb::SessionState::Connected);
        QCOMPARE(world.a->serverVersion(), QByteArray("10.11.6-MariaDB"));
        QVERIFY(world.a->connectionId() != 0 && world.a->connectionId() != world.b->connectionId());
        QVERIFY(world.a->features().inTransaction);
    }

    void aDeadlineEndsTheWaitAndNotWhatComesNext()
    {
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        const auto connection = world.b->connectionId();
        const auto waiting = world.take(*world.b, Deadline::after(world.two, 200ms));
        QCOMPARE(codeOf(waiting), open);
        world.loop.advance(205ms);
        QCOMPARE(codeOf(waiting), code(ErrorCode::TimedOut));
        const auto next =
            world.b->execute({"SELECT @@in_transaction AS mine", {}, connection, false}, Deadline::never());
        world.loop.advance(5ms);
        QCOMPARE(codeOf(next), done);
        QCOMPARE(next.value()->cell(0, "mine"), std::optional<QByteArray>("1"));
        const auto late = world.lockRow(*world.b, Deadline::at(world.two.now()));
        QCOMPARE(codeOf(late), code(ErrorCode::TimedOut));
    }

    void interruptEndsWhatRunsAndWhatQueues()
    {
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        const auto waiting = world.take(*world.b);
        const auto queued = world.lockRow(*world.b);
        world.b->interrupt(world.b->connectionId() + 99);
        world.loop.advance(5ms);
        QCOMPARE(codeOf(waiting), open);
        world.b->interrupt(world.b->connectionId());
        world.loop.advance(5ms);
        QCOMPARE(codeOf(waiting), code(ErrorCode::Cancelled));
        QCOMPARE(codeOf(queued), code(ErrorCode::Cancelled));
    }

    void aKilledConnectionIsNoticedAndReplaced()
    {
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        const auto before = world.a->connectionId();
        QVERIFY(world.server.kill(before));
        QVERIFY(world.isFree()); // at once; it believes to hold it until it asks
        QCOMPARE(world.a->connectionId(), before);
        world.loop.advance(1100ms);
        QCOMPARE(world.a->state(), mariadb::SessionState::Connected);
        QVERIFY(world.a->connectionId() != before);
        const auto bound = world.a->execute({"COMMIT", {}, before, true}, Deadline::never());
        QCOMPARE(codeOf(bound), code(ErrorCode::SessionExpired));
    }

    void aReplyThatIsLost_data()
    {
        QTest::addColumn<bool>("isCommit");
        QTest::addColumn<bool>("isRequest"); // that is lost, and not its reply
        QTest::addColumn<int>("wanted");
        QTest::newRow("the reply of a read") << false << false << code(ErrorCode::SessionExpired);
        QTest::newRow("the reply of a COMMIT") << true << false << code(ErrorCode::UnknownOutcome);
        QTest::newRow("a COMMIT itself") << true << true << code(ErrorCode::UnknownOutcome);
    }
    void aReplyThatIsLost()
    {
        QFETCH(bool, isCommit);
        QFETCH(bool, isRequest);
        QFETCH(int, wanted);
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        const auto connection = world.a->connectionId();
        const mariadb::Statement write{
            "UPDATE `sim`.`row` SET `version` = `version` + 1 WHERE `id` = ? AND `version` = ?",
            {"1", "1"},
            connection,
            false};
        const auto written = world.a->execute(write, Deadline::never());
        world.loop.advance(5ms);
        QCOMPARE(codeOf(written), done);
        bool isLost = false;
        world.network.setJudge([&](const Message &message) {
            const auto direction = isRequest ? Direction::ToServer : Direction::ToClient;
            return Delivery{message.direction == direction && !std::exchange(isLost, true), {}};
        });
        const auto reply = isCommit ? world.a->commit(connection, Deadline::never()) : world.lockRow(*world.a);
        const auto queued = world.lockRow(*world.a);
        world.loop.advance(5ms);
        QCOMPARE(codeOf(reply), wanted);
        QCOMPARE(codeOf(queued), code(ErrorCode::SessionExpired));
        QVERIFY(world.isFree());
        // Done, and only the client cannot know; or gone with the connection.
        const bool isDone = isCommit && !isRequest;
        QCOMPARE(world.server.committedVersion({"sim.row", "1"}), std::optional<qint64>(isDone ? 2 : 1));
    }

    void aServerThatAnswersNothingIsLeft()
    {
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        world.network.block(1, 0, Direction::ToServer);
        world.network.block(1, 0, Direction::ToClient);
        const auto reply = world.a->commit(world.a->connectionId(), Deadline::after(world.one, 500ms));
        world.loop.advance(3400ms);
        QCOMPARE(codeOf(reply), open);
        world.loop.advance(200ms);
        QCOMPARE(codeOf(reply), code(ErrorCode::UnknownOutcome));
        QCOMPARE(world.a->state(), mariadb::SessionState::Connecting);
        QVERIFY(!world.isFree()); // half-open: the server has heard nothing of it
        world.network.open(1, 0, Direction::ToServer);
        world.network.open(1, 0, Direction::ToClient);
        world.loop.advance(15s);
        QCOMPARE(world.a->state(), mariadb::SessionState::Connected);
        QVERIFY(world.isFree());
    }

    void anIdleConnectionThatAnswersNothingIsLeft()
    {
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        const auto connection = world.a->connectionId();
        world.network.block(1, 0, Direction::ToClient);
        world.loop.advance(9s);
        QCOMPARE(world.a->connectionId(), connection);
        world.loop.advance(3s);
        QCOMPARE(world.a->state(), mariadb::SessionState::Connecting);
        world.loop.advance(1s);
        QVERIFY(world.isFree()); // the end of the connection gets through
        world.network.open(1, 0, Direction::ToClient);
        world.loop.advance(10s);
        QCOMPARE(world.a->state(), mariadb::SessionState::Connected);
    }
    // Its own standstill is not the server's.
    void aPausedProgramKeepsItsConnection()
    {
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        const auto connection = world.a->connectionId();
        world.loop.advance(999ms); // about to ask, or just asking
        world.one.pause();
        world.loop.advance(1h);
        world.one.resume();
        world.loop.advance(5s);
        QCOMPARE(world.a->connectionId(), connection);
        QVERIFY(!world.isFree());
    }

    // Cut off without a word, and dead: the server keeps the row until it loses patience.
    void halfOpen_data()
    {
        QTest::addColumn<int>("idleSeconds");
        QTest::addColumn<int>("keepAliveSeconds");
        QTest::newRow("wait_timeout") << 60 << 7200;
        QTest::newRow("keep-alive") << 28800 << 60;
    }
    void halfOpen()
    {
        QFETCH(int, idleSeconds);
        QFETCH(int, keepAliveSeconds);
        World world;
        Process third(world.loop, 3);
        SqlLinkOptions options;
        options.idleAtMost = std::chrono::seconds(idleSeconds);
        options.keepAlive = std::chrono::seconds(keepAliveSeconds);
        auto session = openSession(third, world.server, world.network, options);
        world.loop.advance(10ms);
        QCOMPARE(codeOf(world.take(*session)), done);
        world.network.block(3, 0, Direction::ToServer);
        third.kill();
        session.reset();
        world.loop.advance(59s);
        QVERIFY(!world.isFree());
        world.loop.advance(2s);
        QVERIFY(world.isFree());
    }
    void deadClientOnAGoodNetworkIsNoticedAtOnce()
    {
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        const auto waiting = world.take(*world.b);
        world.one.kill();
        world.loop.advance(2ms);
        QCOMPARE(codeOf(waiting), done);
    }

    void destroyedSessionReleasesItsLocksAndWaits()
    {
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        const auto waiting = world.take(*world.b);
        world.b.reset(); // its wait is ended by KILL: the server would not look
        QCOMPARE(codeOf(waiting), code(ErrorCode::NotConnected));
        world.loop.advance(5ms);
        QCOMPARE(world.server.leftBehind().size(), 2); // a's lock and transaction
        world.a.reset();
        world.loop.advance(5ms);
        QVERIFY(world.server.leftBehind().isEmpty());
    }

    void refusedSessionRetriesAtLongerIntervals()
    {
        World world;
        world.network.setDown(0, true);
        int attempts = 0;
        const auto subscription = world.a->onState(
            [&](mariadb::SessionState state) { attempts += state == mariadb::SessionState::Connecting; });
        world.loop.advance(10s);
        QCOMPARE(world.a->state(), mariadb::SessionState::Connecting);
        QVERIFY2(attempts >= 6 && attempts <= 10, QByteArray::number(attempts));
        const auto reply = world.lockRow(*world.a);
        QCOMPARE(codeOf(reply), code(ErrorCode::NotConnected));
        world.network.setDown(0, false);
        world.loop.advance(6s);
        QCOMPARE(world.a->state(), mariadb::SessionState::Connected);
    }

    void theServersWordsBecomeThePortsErrors()
    {
        World world;
        QCOMPARE(codeOf(world.take(*world.a)), done);
        const auto once = world.b->execute(
            {"SELECT `id` FROM `sim`.`row` WHERE `id` = ? FOR UPDATE NOWAIT", {"1"}, {}, false}, Deadline::never());
        const auto wrong = world.b->execute({"SELEKT", {}, {}, false}, Deadline::never());
        const auto missing = world.b->execute(
            {"SELECT `id` FROM `no`.`row` WHERE `id` = ? FOR UPDATE", {"1"}, {}, false}, Deadline::never());
        world.loop.advance(5ms);
        QCOMPARE(codeOf(once), code(ErrorCode::TimedOut));
        QVERIFY(once.value().error().message.contains(QStringLiteral("1205")));
        QCOMPARE(codeOf(wrong), code(ErrorCode::BadInput));
        QCOMPARE(codeOf(missing), code(ErrorCode::Unsupported));
    }
};

LOCKSCOPE_TEST(TestSimulatedSqlSession)
#include "tst_mariadb_session.moc"
