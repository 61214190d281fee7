// SPDX-License-Identifier: Apache-2.0
// The simulated ZooKeeper in virtual time: what breaks, expires, lags and comes back behaves as the real one does.
// That its answers are the real ones is what tests/live/tst_zookeeper_differential.cpp shows.
#include "tests/simulate/zookeeperworld.h"
#include "tests/support/testmain.h"

using zk::EventKind;
using zk::SessionState;

class TestSimulatedZooKeeper : public QObject {
    Q_OBJECT

    // What a session went through.
    static Subscription listen(const ZooKeeperWorld::Client &client, std::vector<SessionState> *states)
    {
        return client->onState([states](SessionState state) { states->push_back(state); });
    }
    static ErrorCode codeOf(const auto &result) { return result ? ErrorCode::Server : result.error().code; }
    // Loses the n-th message in that direction, once.
    static std::function<Delivery(const Message &)> losing(Direction direction, int n)
    {
        return [direction, left = n](const Message &message) mutable {
            return Delivery{message.direction == direction && --left == 0, {}};
        };
    }

private slots:
    void sessionsExpireOnATickAfterTheirTime();
    void anExpiredSessionFindsOutWhenItComesBack();
    void aPauseShorterThanTheTimeoutChangesNothing();
    void aDeadProcessKeepsItsNodesUntilTheTimeout();
    void aClosedSessionTakesItsNodesAway();
    void timeoutsAreNegotiated();
    void aLostRequestIsUnknownAndDidNotHappen();
    void aLostReplyIsUnknownAndDidHappen();
    void aDeadlinePassesWhileTheRequestIsOut();
    void watchesAreSetAgainAfterAReconnect();
    void aPartitionIsNoticedAfterTwoThirdsOfTheTimeout();
    void anEventComesBeforeALaterReply();
    void aFollowerLagsAndSyncWaits();
    void aWriteThroughAFollowerIsSeenBehindIt();
    void aServerThatKnowsLessIsRefused();
    void whenAServerGoesDownTheSessionMoves();
    void wrongCredentialsEndTheSession();
    void anOperatorTakesANodeAway();
    void aSessionsNodesGoAsTheyWereMade();
    void containersAndTimesToLiveAreReaped();
    void theCounterStopsAtItsEnd();
    void theSameSeedGivesTheSameRun();
};

void TestSimulatedZooKeeper::sessionsExpireOnATickAfterTheirTime()
{
    ZooKeeperWorld world;
    const auto admin = world.open();
    auto client = world.open();
    QVERIFY(world.make(client, "/mine", zk::CreateMode::Ephemeral));
    const zk::Watch watch(*admin.process);
    QVERIFY(world.await(admin->exists(ZPath("/mine"), watch, Deadline::never())));
    world.loop.advance(Instant(3s + 500ms) - world.loop.now());
    client.process->pause();
    // 3.5 s + 10 s, and then the next multiple of 2 s.
    world.loop.advance(Instant(14s) - world.loop.now() - 1us);
    QVERIFY(world.ensemble.node(ZPath("/mine")));
    world.loop.advance(1us);
    QVERIFY(!world.ensemble.node(ZPath("/mine")));
    world.loop.advance(1ms);
    QCOMPARE(watch.event().value().kind, EventKind::Deleted);
}

void TestSimulatedZooKeeper::anExpiredSessionFindsOutWhenItComesBack()
{
    ZooKeeperWorld world;
    auto client = world.open();
    std::vector<SessionState> states;
    const auto subscription = listen(client, &states);
    QVERIFY(world.make(client, "/mine", zk::CreateMode::Ephemeral));
    const zk::Watch watch(*client.process);
    QVERIFY(world.await(client->exists(ZPath("/mine"), watch, Deadline::never())));
    client.process->pause();
    world.loop.advance(15s);
    QVERIFY(!world.ensemble.node(ZPath("/mine")));
    QCOMPARE(client->state(), SessionState::Connected); // it does not know yet
    client.process->resume();
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Expired; }));
    world.loop.runReady();
    QCOMPARE(states, (std::vector{SessionState::Connecting, SessionState::Expired}));
    QCOMPARE(watch.event().value().kind, EventKind::SessionOver);
    QCOMPARE(codeOf(world.make(client, "/more")), ErrorCode::SessionExpired);
    QCOMPARE(world.ensemble.sessions().size(), std::size_t(0));
}

void TestSimulatedZooKeeper::aPauseShorterThanTheTimeoutChangesNothing()
{
    ZooKeeperWorld world;
    auto client = world.open();
    std::vector<SessionState> states;
    const auto subscription = listen(client, &states);
    QVERIFY(world.make(client, "/mine", zk::CreateMode::Ephemeral));
    client.process->pause();
    world.loop.advance(6s);
    client.process->resume();
    world.loop.advance(1min);
    QCOMPARE(states.size(), std::size_t(0));
    // Beyond two thirds it gives the connection up, and finds its session alive.
    client.process->pause();
    world.loop.advance(7s);
    client.process->resume();
    world.loop.advance(1min);
    QCOMPARE(states, (std::vector{SessionState::Connecting, SessionState::Connected}));
    QVERIFY(world.ensemble.node(ZPath("/mine")));
}

void TestSimulatedZooKeeper::aDeadProcessKeepsItsNodesUntilTheTimeout()
{
    ZooKeeperWorld world;
    auto client = world.open();
    QVERIFY(world.make(client, "/mine", zk::CreateMode::Ephemeral));
    client.process->kill();
    client.session.reset(); // says farewell to nobody
    world.loop.advance(9s);
    QVERIFY(world.ensemble.node(ZPath("/mine")));
    world.loop.advance(4s);
    QVERIFY(!world.ensemble.node(ZPath("/mine")));
    QVERIFY(world.ensemble.sessions().empty());
}

void TestSimulatedZooKeeper::aClosedSessionTakesItsNodesAway()
{
    ZooKeeperWorld world;
    auto client = world.open();
    const auto path = ZPath("/mine");
    const auto out = client->create(path, {}, zk::CreateMode::Ephemeral, zk::openAcl(), Deadline::never());
    const zk::Watch watch(*client.process);
    client.session.reset();
    QCOMPARE(codeOf(out.value()), ErrorCode::UnknownOutcome);
    world.loop.advance(10ms);
    QVERIFY(!world.ensemble.node(path));
    QVERIFY(world.ensemble.sessions().empty());
}

void TestSimulatedZooKeeper::timeoutsAreNegotiated()
{
    ZooKeeperWorld world;
    keeper::SessionOptions options{.timeout = 1ms};
    QCOMPARE(world.open(options)->timeout(), 4000ms);
    options.timeout = 1h;
    QCOMPARE(world.open(options)->timeout(), 40'000ms);
}

void TestSimulatedZooKeeper::aLostRequestIsUnknownAndDidNotHappen()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    world.network.setJudge(losing(Direction::ToServer, 1));
    const auto made = world.make(client, "/node");
    QCOMPARE(codeOf(made), ErrorCode::UnknownOutcome);
    QVERIFY(made.error().retryable);
    QCOMPARE(codeOf(world.make(client, "/node")), ErrorCode::NotConnected);
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Connected; }));
    QVERIFY(!world.ensemble.node(ZPath("/node")));
}

void TestSimulatedZooKeeper::aLostReplyIsUnknownAndDidHappen()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    const auto id = client->id();
    world.network.setJudge(losing(Direction::ToClient, 1));
    const auto made = world.make(client, "/node", zk::CreateMode::Ephemeral);
    QCOMPARE(codeOf(made), ErrorCode::UnknownOutcome);
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Connected; }));
    QCOMPARE(client->id(), id);
    QCOMPARE(world.ensemble.node(ZPath("/node"))->stat.ephemeralOwner, id);
}

void TestSimulatedZooKeeper::aDeadlinePassesWhileTheRequestIsOut()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    world.network.setJudge([](const Message &message) {
        return Delivery{false, message.direction == Direction::ToClient ? Duration(2s) : Duration(0)};
    });
    const auto soon = Deadline::after(*client.process, 1s);
    const zk::Watch watch(*client.process);
    const auto late = world.await(client->get(ZPath("/"), watch, soon));
    QCOMPARE(codeOf(late), ErrorCode::UnknownOutcome);
    QCOMPARE(client->state(), SessionState::Connected);
    // The answer comes all the same, and the watch is set.
    world.network.setJudge({});
    QVERIFY(world.await(client->set(ZPath("/"), "x", zk::anyVersion, Deadline::never())));
    QVERIFY(watch.event().isComplete());
    QCOMPARE(codeOf(world.await(client->get(ZPath("/"), {}, soon))), ErrorCode::TimedOut);
}

void TestSimulatedZooKeeper::watchesAreSetAgainAfterAReconnect()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    const auto other = world.open();
    for (const auto *path : {"/changes", "/goes", "/grows", "/stays"})
        QVERIFY(world.make(other, path));
    const auto never = Deadline::never();
    std::map<QByteArray, zk::Watch> watches;
    for (const auto *name : {"changes", "goes", "grows", "stays", "comes", "stays away"})
        watches.emplace(name, zk::Watch(*client.process));
    QVERIFY(world.await(client->get(ZPath("/changes"), watches.at("changes"), never)));
    QVERIFY(world.await(client->children(ZPath("/goes"), watches.at("goes"), never)));
    QVERIFY(world.await(client->children(ZPath("/grows"), watches.at("grows"), never)));
    QVERIFY(world.await(client->get(ZPath("/stays"), watches.at("stays"), never)));
    QVERIFY(!world.await(client->exists(ZPath("/comes"), watches.at("comes"), never)));
    QVERIFY(!world.await(client->exists(ZPath("/away"), watches.at("stays away"), never)));

    world.network.setDown(0, true);
    world.loop.advance(1ms);
    QCOMPARE(client->state(), SessionState::Connecting);
    world.network.setDown(0, false);
    // Somebody else is quicker to be back.
    QVERIFY(world.waitFor([&] { return other->state() == SessionState::Connected; }));
    world.network.breakLinks(client.process->number());
    QVERIFY(world.await(other->set(ZPath("/changes"), "x", zk::anyVersion, never)));
    QVERIFY(world.await(other->remove(ZPath("/goes"), zk::anyVersion, never)));
    QVERIFY(world.make(other, "/grows/child"));
    QVERIFY(world.make(other, "/comes"));
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Connected; }));
    world.loop.advance(5ms);
    QCOMPARE(watches.at("changes").event().value().kind, EventKind::DataChanged);
    QCOMPARE(watches.at("goes").event().value().kind, EventKind::Deleted);
    QCOMPARE(watches.at("grows").event().value().kind, EventKind::ChildrenChanged);
    QCOMPARE(watches.at("comes").event().value().kind, EventKind::Created);
    QVERIFY(!watches.at("stays").event().isComplete());
    QVERIFY(!watches.at("stays away").event().isComplete());
    QCOMPARE(client->watchCount(), 2);
    // And what has been set again still fires.
    QVERIFY(world.await(other->remove(ZPath("/stays"), zk::anyVersion, never)));
    QVERIFY(world.make(other, "/away"));
    world.loop.advance(5ms);
    QCOMPARE(watches.at("stays").event().value().kind, EventKind::Deleted);
    QCOMPARE(watches.at("stays away").event().value().kind, EventKind::Created);
}

void TestSimulatedZooKeeper::aPartitionIsNoticedAfterTwoThirdsOfTheTimeout()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    const auto began = world.loop.now();
    world.network.block(client.process->number(), 0, Direction::ToClient);
    const auto read = client->get(ZPath("/"), {}, Deadline::never());
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Connecting; }));
    QVERIFY(world.loop.now() - began >= 6'666ms && world.loop.now() - began < 6'670ms);
    QCOMPARE(codeOf(world.await(read)), ErrorCode::UnknownOutcome);
    world.network.open(client.process->number(), 0, Direction::ToClient);
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Connected; }));
    QCOMPARE(world.ensemble.sessions().size(), std::size_t(1));
}

void TestSimulatedZooKeeper::anEventComesBeforeALaterReply()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    const zk::Watch watch(*client.process);
    QByteArrayList heard;
    watch.event().then([&heard](const zk::WatchEvent &) { heard << "event"; });
    const auto listed = client->children(ZPath("/"), watch, Deadline::never());
    const auto made = client->create(ZPath("/a"), {}, zk::CreateMode::Persistent, zk::openAcl(), Deadline::never());
    listed.then([&heard](const auto &) { heard << "listed"; });
    made.then([&heard](const auto &) { heard << "made"; });
    world.loop.advance(5ms);
    QCOMPARE(heard, (QByteArrayList{"listed", "event", "made"}));
}

void TestSimulatedZooKeeper::aFollowerLagsAndSyncWaits()
{
    keeper::EnsembleOptions options{.members = 2};
    ZooKeeperWorld world(1, options);
    keeper::SessionOptions leaders, followers;
    leaders.member = 0;
    followers.member = 1;
    const auto writer = world.open(leaders);
    const auto reader = world.open(followers);
    const zk::Watch watch(*reader.process);
    const auto never = Deadline::never();
    QVERIFY(!world.await(reader->exists(ZPath("/news"), watch, never)));
    world.ensemble.setLag(1, 500ms);
    QVERIFY(world.make(writer, "/news"));
    QCOMPARE(codeOf(world.await(reader->exists(ZPath("/news"), {}, never))), ErrorCode::NoNode);
    QVERIFY(!watch.event().isComplete());
    const auto began = world.loop.now();
    const auto synced = reader->sync(ZPath("/"), never);
    const auto after = reader->exists(ZPath("/news"), {}, never); // sent together
    QVERIFY(world.await(after));
    QVERIFY(synced.isComplete() && synced.value());
    QVERIFY(world.loop.now() - began > 400ms && world.loop.now() - began < 510ms);
    QVERIFY(watch.event().isComplete());
    // It catches up at once when the lag is over.
    QVERIFY(world.make(writer, "/more"));
    world.ensemble.setLag(1, {});
    QVERIFY(world.await(reader->exists(ZPath("/more"), {}, never)));
}

void TestSimulatedZooKeeper::aWriteThroughAFollowerIsSeenBehindIt()
{
    keeper::EnsembleOptions options{.members = 3};
    ZooKeeperWorld world(1, options);
    keeper::SessionOptions followers{.member = 2};
    const auto client = world.open(followers);
    world.ensemble.setLag(2, 300ms);
    const auto began = world.loop.now();
    const auto never = Deadline::never();
    const auto made = client->create(ZPath("/n"), "x", zk::CreateMode::Ephemeral, zk::openAcl(), never);
    const auto read = client->get(ZPath("/n"), {}, never);
    world.loop.advance(1ms);
    QVERIFY(world.ensemble.node(ZPath("/n"))); // the leader has decided
    QVERIFY(!made.isComplete());
    QVERIFY(world.await(read));
    QVERIFY(made.isComplete());
    QVERIFY(world.loop.now() - began >= 300ms);
    QCOMPARE(read.value()->stat, world.ensemble.node(ZPath("/n"))->stat);
}

void TestSimulatedZooKeeper::aServerThatKnowsLessIsRefused()
{
    keeper::EnsembleOptions options{.members = 2};
    ZooKeeperWorld world(1, options);
    keeper::SessionOptions leaders{.member = 0};
    const auto client = world.open(leaders);
    world.ensemble.setLag(1, 1min);
    QVERIFY(world.make(client, "/seen"));
    world.network.setDown(0, true);
    world.loop.advance(3s);
    // The other one would have to show it a past without the node.
    QCOMPARE(client->state(), SessionState::Connecting);
    world.network.setDown(0, false);
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Connected; }));
    QVERIFY(world.await(client->exists(ZPath("/seen"), {}, Deadline::never())));
}

void TestSimulatedZooKeeper::whenAServerGoesDownTheSessionMoves()
{
    keeper::EnsembleOptions options{.members = 3};
    ZooKeeperWorld world(1, options);
    keeper::SessionOptions followers{.member = 1};
    const auto client = world.open(followers);
    const auto id = client->id();
    QVERIFY(world.make(client, "/mine", zk::CreateMode::Ephemeral));
    world.network.setDown(1, true);
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Connecting; }));
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Connected; }));
    QCOMPARE(client->id(), id);
    world.loop.advance(1min);
    QVERIFY(world.ensemble.node(ZPath("/mine")));
}

void TestSimulatedZooKeeper::wrongCredentialsEndTheSession()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    const zk::Watch watch(*client.process);
    QVERIFY(world.await(client->get(ZPath("/"), watch, Deadline::never())));
    QCOMPARE(codeOf(world.await(client->addAuth("nosuch", "x", Deadline::never()))), ErrorCode::AuthFailed);
    world.loop.runReady();
    QCOMPARE(client->state(), SessionState::AuthFailed);
    QCOMPARE(watch.event().value().kind, EventKind::SessionOver);
    QCOMPARE(codeOf(world.make(client, "/n")), ErrorCode::AuthFailed);
}

void TestSimulatedZooKeeper::anOperatorTakesANodeAway()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    QVERIFY(world.make(client, "/dir"));
    QVERIFY(world.make(client, "/dir/lock", zk::CreateMode::Ephemeral));
    const zk::Watch watch(*client.process);
    QVERIFY(world.await(client->get(ZPath("/dir/lock"), watch, Deadline::never())));
    QCOMPARE(world.ensemble.below(ZPath("/dir")), std::vector{ZPath("/dir/lock")});
    QVERIFY(!world.ensemble.removeByForce(ZPath("/dir"))); // it has a child
    QVERIFY(!world.ensemble.removeByForce(ZPath("/nothing")));
    QVERIFY(world.ensemble.removeByForce(ZPath("/dir/lock")));
    world.loop.advance(5ms);
    QCOMPARE(watch.event().value().kind, EventKind::Deleted);
    QVERIFY(world.ensemble.expire(client->id()));
    QVERIFY(!world.ensemble.expire(client->id()));
    QVERIFY(world.waitFor([&] { return client->state() == SessionState::Expired; }));
}

// Those, too, whose removal was taken back, and not those that are gone.
void TestSimulatedZooKeeper::aSessionsNodesGoAsTheyWereMade()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    const auto watcher = world.open();
    const QByteArrayList made{"/a", "/b", "/c", "/d", "/e"};
    for (const auto &path : made)
        QVERIFY(world.make(client, path, zk::CreateMode::Ephemeral));
    QVERIFY(world.await(client->remove(ZPath("/e"), zk::anyVersion, Deadline::never())));
    for (const auto *path : {"/b", "/d", "/a"}) {
        zk::Op remove{.kind = zk::Op::Kind::Remove, .path = ZPath(path)};
        zk::Op check{.kind = zk::Op::Kind::Check, .path = ZPath("/nothing")};
        QVERIFY(!world.await(client->multi({remove, check}, Deadline::never())));
    }
    QVERIFY(world.await(client->remove(ZPath("/c"), zk::anyVersion, Deadline::never())));
    QVERIFY(world.make(client, "/f", zk::CreateMode::Ephemeral));
    QByteArrayList gone;
    for (const auto *path : {"/f", "/d", "/b", "/a"}) {
        const zk::Watch watch(*watcher.process);
        watch.event().then([&gone](const zk::WatchEvent &event) { gone << event.path.bytes(); });
        QVERIFY(world.await(watcher->get(ZPath(path), watch, Deadline::never())));
    }
    QVERIFY(world.ensemble.expire(client->id()));
    QVERIFY(world.waitFor([&] { return gone.size() == 4; }));
    QCOMPARE(gone, (QByteArrayList{"/a", "/b", "/d", "/f"}));
}

void TestSimulatedZooKeeper::containersAndTimesToLiveAreReaped()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    const auto never = Deadline::never();
    QVERIFY(world.make(client, "/used", zk::CreateMode::Container));
    QVERIFY(world.make(client, "/unused", zk::CreateMode::Container));
    QVERIFY(world.make(client, "/used/child"));
    const auto mode = zk::CreateMode::PersistentWithTtl;
    QVERIFY(world.await(client->createWithTtl(ZPath("/short"), {}, mode, 70s, zk::openAcl(), never)));
    QVERIFY(world.await(client->createWithTtl(ZPath("/long"), {}, mode, 1h, zk::openAcl(), never)));
    world.loop.advance(100s);
    QVERIFY(world.ensemble.node(ZPath("/used")) && world.ensemble.node(ZPath("/short")));
    QVERIFY(world.await(client->remove(ZPath("/used/child"), zk::anyVersion, never)));
    world.loop.advance(30s); // past the look at two minutes
    QVERIFY(!world.ensemble.node(ZPath("/used")));
    QVERIFY(!world.ensemble.node(ZPath("/short")));
    QVERIFY(world.ensemble.node(ZPath("/unused")) && world.ensemble.node(ZPath("/long")));
    // The servers' clock decides.
    world.ensemble.jumpClock(1h);
    world.loop.advance(1min);
    QVERIFY(!world.ensemble.node(ZPath("/long")));
    QCOMPARE(client->state(), SessionState::Connected);
}

void TestSimulatedZooKeeper::theCounterStopsAtItsEnd()
{
    ZooKeeperWorld world;
    const auto client = world.open();
    QVERIFY(world.make(client, "/q"));
    world.ensemble.presetCounter(ZPath("/q"), std::numeric_limits<qint32>::max() - 1);
    const auto number = [&](const QByteArray &path) {
        const auto made = world.make(client, path, zk::CreateMode::EphemeralSequential);
        return made ? made->path.name().bytes() : made.error().message.toUtf8();
    };
    QCOMPARE(number("/q/a-"), QByteArray("a-2147483646"));
    QCOMPARE(number("/q/a-"), QByteArray("a-2147483647"));
    QCOMPARE(number("/q/b-"), QByteArray("b-2147483647"));
    const auto again = world.make(client, "/q/a-", zk::CreateMode::EphemeralSequential);
    QCOMPARE(codeOf(again), ErrorCode::NodeExists);
    world.ensemble.presetCounter(ZPath("/q"), -5);
    QCOMPARE(number("/q/c-"), QByteArray("c--000000005"));
}

void TestSimulatedZooKeeper::theSameSeedGivesTheSameRun()
{
    const auto run = [](quint64 seed) {
        ZooKeeperWorld world(seed);
        std::vector<ZooKeeperWorld::Client> clients(8);
        QByteArrayList heard;
        for (auto &client : clients) {
            client = world.open();
            const auto number = QByteArray::number(client.process->number());
            client->create(ZPath("/n-"), {}, zk::CreateMode::EphemeralSequential, zk::openAcl(), Deadline::never())
                .then([&heard, &world, number](const Result<zk::Created> &made) {
                    const auto at = world.loop.now().time_since_epoch().count();
                    heard << number + ' ' + made->path.bytes() + ' ' + QByteArray::number(qint64(at));
                });
        }
        world.network.breakLinks(3);
        world.loop.advance(5s);
        heard << QByteArray::number(world.ensemble.requestCount());
        return heard;
    };
    QCOMPARE(run(1), run(1));
    QVERIFY(run(1) != run(2));
}

LOCKSCOPE_TEST(TestSimulatedZooKeeper)
#include "tst_zookeeper.moc"
