// The session on libzookeeper against a real server: every operation, every watch, and what the caller
// learns when the connection, the session or the credentials fail.
#include "tests/live/zookeeperfixture.h"

using namespace lockscope;
using namespace lockscope::test;
using namespace lockscope::zk;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

class TestZooKeeperClient : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void cleanupTestCase();

    void nodesAreCreatedReadWrittenAndDeleted();
    void sequenceAndContainerNodes();
    void timeToLiveIsRefusedBeforeSending();
    void errorsSayWhatHappened();
    void aZeroByteInAPathIsRefused();
    void transactionsAreAllOrNothing();
    void accessListsAndCredentials();
    void aWrongSchemeEndsTheSession();
    void pathsAreBelowTheChroot();
    void listIsSentTogetherWithCreate();
    void watchesFireOnce_data();
    void watchesFireOnce();
    void listenersOnOnePathShareAWatch();
    void existsWatchesAMissingNodeAndGetDoesNot();
    void removedWatchesStaySilent();
    void theWatchBudgetHolds();
    void thousandsOfWatchesSurviveARestart();
    void aBrokenConnectionIsAnUnknownOutcome();
    void aPassedDeadlineIsAnUnknownOutcome();
    void anExpiredSessionIsOver();
    void nothingIsSentWhileConnecting();
    void destroyingClosesTheSessionAndAnswersEverybody();
    void destroyingAnUnconnectedSessionIsQuick();
    void dataBeyondTheServersBufferIsRefused();
    void aChildListBeyondTheServersBufferArrives();
    void binaryDataAndOddNames();

private:
    std::unique_ptr<Session> open(SessionOptions options = {});
    std::unique_ptr<Session> openThrough(const Cable &cable);
    bool make(Session &session, const QByteArray &path, const QByteArray &data = {},
              CreateMode mode = CreateMode::Persistent);
    QByteArray under(const QByteArray &name) const { return m_root + '/' + name; }

    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::unique_ptr<Session> m_session;
    QByteArray m_root; // of this test function
};

void TestZooKeeperClient::initTestCase()
{
    auto server = sandbox::makeZooKeeper();
    if (!server)
        QSKIP(qPrintable(server.error().message));
    m_server = std::move(*server);
    const auto started = m_server->start(30s);
    QVERIFY2(started, started ? "" : qPrintable(started.error().message));
}

void TestZooKeeperClient::init()
{
    m_session = open();
    QVERIFY(m_session);
    m_root = QByteArray("/") + QTest::currentTestFunction() + (QTest::currentDataTag() ? QTest::currentDataTag() : "");
    QVERIFY(make(*m_session, m_root));
}

void TestZooKeeperClient::cleanup()
{
    m_session.reset();
}

void TestZooKeeperClient::cleanupTestCase()
{
    waitForClosingSessions(10s);
    m_server.reset();
}

std::unique_ptr<Session> TestZooKeeperClient::open(SessionOptions options)
{
    if (options.hosts.empty())
        options.hosts = {m_server->address()};
    auto session = openSession(m_loop, std::move(options));
    return waitForState(*session, SessionState::Connected) ? std::move(session) : nullptr;
}

std::unique_ptr<Session> TestZooKeeperClient::openThrough(const Cable &cable)
{
    SessionOptions options;
    options.hosts = {cable.address()};
    options.timeout = 1s;
    return open(options);
}

bool TestZooKeeperClient::make(Session &session, const QByteArray &path, const QByteArray &data, CreateMode mode)
{
    const auto made = await(session.create(ZPath(path), data, mode, openAcl(), Deadline::never()));
    if (!made)
        qWarning("%s", qPrintable(made.error().message));
    return bool(made);
}

void TestZooKeeperClient::nodesAreCreatedReadWrittenAndDeleted()
{
    const ZPath path(under("node"));
    const auto made = await(m_session->create(path, "one", CreateMode::Ephemeral, openAcl(), Deadline::never()));
    QVERIFY(made);
    QCOMPARE(made->path.bytes(), path.bytes());
    QCOMPARE(made->stat.ephemeralOwner, m_session->id());
    QVERIFY(made->stat.czxid > 0);

    const auto read = await(m_session->get(path, {}, Deadline::never()));
    QVERIFY(read);
    QCOMPARE(read->data, QByteArray("one"));
    QCOMPARE(read->stat, made->stat);

    const auto written = await(m_session->set(path, "second", 0, Deadline::never()));
    QVERIFY(written);
    QCOMPARE(written->version, 1);
    QCOMPARE(written->dataLength, 6);

    const auto listed = await(m_session->children(ZPath(m_root), {}, Deadline::never()));
    QVERIFY(listed);
    QCOMPARE(listed->names.size(), std::size_t(1));
    QCOMPARE(listed->names.front().bytes(), QByteArray("node"));
    QCOMPARE(listed->stat.numChildren, 1);

    const auto synced = await(m_session->sync(path, Deadline::never()));
    QVERIFY(synced);
    const auto early = await(m_session->remove(path, 0, Deadline::never()));
    QVERIFY(!early);
    QCOMPARE(early.error().code, ErrorCode::BadVersion);
    const auto removed = await(m_session->remove(path, 1, Deadline::never()));
    QVERIFY(removed);
    const auto gone = await(m_session->exists(path, {}, Deadline::never()));
    QVERIFY(!gone);
    QCOMPARE(gone.error().code, ErrorCode::NoNode);
}

void TestZooKeeperClient::sequenceAndContainerNodes()
{
    const auto first = await(m_session->create(ZPath(under("lock-")), {}, CreateMode::EphemeralSequential, openAcl(),
                                               Deadline::never()));
    const auto second = await(m_session->create(ZPath(under("lock-")), {}, CreateMode::PersistentSequential, openAcl(),
                                                Deadline::never()));
    QVERIFY(first && second);
    QCOMPARE(first->path.bytes(), under("lock-0000000000"));
    QCOMPARE(second->path.bytes(), under("lock-0000000001"));
    QVERIFY(second->stat.ephemeralOwner.isNone());

    // A container shows as such only in what the server calls its owner: a number no session has.
    const auto container =
        await(m_session->create(ZPath(under("container")), {}, CreateMode::Container, openAcl(), Deadline::never()));
    QVERIFY2(container, container ? "" : qPrintable(container.error().message));
    QCOMPARE(container->path.bytes(), under("container"));
    QVERIFY(make(*m_session, under("container/child")));
}

void TestZooKeeperClient::timeToLiveIsRefusedBeforeSending()
{
    const auto made = await(
        m_session->create(ZPath(under("ttl")), {}, CreateMode::PersistentWithTtl, openAcl(), Deadline::never()));
    QVERIFY(!made);
    QCOMPARE(made.error().code, ErrorCode::Unsupported);
    QVERIFY(made.error().message.contains(u"time to live"_s));
}

void TestZooKeeperClient::errorsSayWhatHappened()
{
    QVERIFY(make(*m_session, under("node")));
    QVERIFY(make(*m_session, under("node/child")));
    QVERIFY(make(*m_session, under("ephemeral"), {}, CreateMode::Ephemeral));
    const auto code = [this](const auto &reply) { return await(reply).error().code; };

    const auto missing = await(m_session->get(ZPath(under("missing")), {}, Deadline::never()));
    QCOMPARE(missing.error().code, ErrorCode::NoNode);
    QVERIFY(missing.error().message.contains(QString::fromUtf8(under("missing"))));
    QVERIFY(!missing.error().retryable);
    QCOMPARE(code(m_session->create(ZPath(under("node")), {}, CreateMode::Persistent, openAcl(), Deadline::never())),
             ErrorCode::NodeExists);
    QCOMPARE(code(m_session->remove(ZPath(under("node")), anyVersion, Deadline::never())), ErrorCode::NotEmpty);
    QCOMPARE(code(m_session->set(ZPath(under("node")), "x", 7, Deadline::never())), ErrorCode::BadVersion);
    QCOMPARE(code(m_session->create(ZPath(under("ephemeral/x")), {}, CreateMode::Persistent, openAcl(),
                                    Deadline::never())),
             ErrorCode::NoChildrenForEphemerals);
    QCOMPARE(code(m_session->get(ZPath("no-slash"), {}, Deadline::never())), ErrorCode::BadInput);
}

void TestZooKeeperClient::aZeroByteInAPathIsRefused()
{
    QVERIFY(make(*m_session, under("a")));
    const auto removed = await(m_session->remove(ZPath(under(QByteArray("a\0b", 3))), anyVersion, Deadline::never()));
    QVERIFY(!removed);
    QCOMPARE(removed.error().code, ErrorCode::BadInput);
    const auto still = await(m_session->exists(ZPath(under("a")), {}, Deadline::never()));
    QVERIFY(still);
}

void TestZooKeeperClient::transactionsAreAllOrNothing()
{
    Op create{Op::Kind::Create, ZPath(under("job-")), "x", CreateMode::EphemeralSequential, openAcl(), anyVersion};
    Op container{Op::Kind::Create, ZPath(under("box")), {}, CreateMode::Container, openAcl(), anyVersion};
    Op set{Op::Kind::Set, ZPath(m_root), "changed", CreateMode::Persistent, {}, 0};
    Op check{Op::Kind::Check, ZPath(m_root), {}, CreateMode::Persistent, {}, 1};
    const auto done = await(m_session->multi({create, set, check}, Deadline::never()));
    QVERIFY2(done, done ? "" : qPrintable(done.error().message));
    QCOMPARE(done->size(), std::size_t(3));
    QCOMPARE((*done)[0].created.bytes(), under("job-0000000000"));
    QCOMPARE((*done)[1].stat.version, 1);

    Op remove{Op::Kind::Remove, ZPath(under("job-0000000000")), {}, CreateMode::Persistent, {}, anyVersion};
    const auto refused = await(m_session->multi({remove, set}, Deadline::never()));
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::BadVersion);
    QVERIFY2(refused.error().message.contains(u"part 2"_s), qPrintable(refused.error().message));
    const auto still = await(m_session->exists((*done)[0].created, {}, Deadline::never()));
    QVERIFY(still);
    QCOMPARE(await(m_session->multi({container}, Deadline::never())).error().code, ErrorCode::Unsupported);
    QCOMPARE(await(m_session->multi({}, Deadline::never())).error().code, ErrorCode::BadInput);
}

void TestZooKeeperClient::accessListsAndCredentials()
{
    SessionOptions options;
    options.user = "alice";
    options.password = "secret";
    const auto alice = open(options);
    QVERIFY(alice);
    const ZPath path(under("private"));
    const Acls onlyAlice{{perms::all, "auth", ""}};
    const auto made = await(alice->create(path, "hers", CreateMode::Persistent, onlyAlice, Deadline::never()));
    QVERIFY(made);
    const auto acls = await(alice->acls(path, Deadline::never()));
    QVERIFY(acls);
    QCOMPARE(acls->acls.size(), std::size_t(1));
    QCOMPARE(acls->acls.front().scheme, QByteArray("digest"));
    QVERIFY(acls->acls.front().id.startsWith("alice:"));

    const auto refused = await(m_session->get(path, {}, Deadline::never()));
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::NoPermission);
    QVERIFY(refused.error().message.contains(u"with these credentials"_s));

    // A wrong password is taken, and opens nothing.
    QVERIFY(await(m_session->addAuth("digest", "alice:wrong", Deadline::never())));
    QCOMPARE(await(m_session->get(path, {}, Deadline::never())).error().code, ErrorCode::NoPermission);
    QVERIFY(await(m_session->addAuth("digest", "alice:secret", Deadline::never())));
    QVERIFY(await(m_session->get(path, {}, Deadline::never())));

    QVERIFY(await(alice->setAcls(path, openAcl(), anyVersion, Deadline::never())));
    const auto opened = await(alice->acls(path, Deadline::never()));
    QCOMPARE(opened->acls, openAcl());
    QCOMPARE(opened->stat.aversion, 1);
}

void TestZooKeeperClient::aWrongSchemeEndsTheSession()
{
    const Watch watch(m_loop);
    QVERIFY(await(m_session->get(ZPath(m_root), watch, Deadline::never())));
    const auto added = await(m_session->addAuth("no-such-scheme", "x", Deadline::never()));
    QVERIFY(!added);
    QCOMPARE(added.error().code, ErrorCode::AuthFailed);
    QVERIFY(waitForState(*m_session, SessionState::AuthFailed));
    QCOMPARE(await(watch.event(), WatchEvent{EventKind::Created, {}}).kind, EventKind::SessionOver);
    QCOMPARE(await(m_session->get(ZPath(m_root), {}, Deadline::never())).error().code, ErrorCode::AuthFailed);
}

void TestZooKeeperClient::pathsAreBelowTheChroot()
{
    SessionOptions options;
    options.chroot = m_root;
    const auto inside = open(options);
    QVERIFY(inside);
    const Watch children(m_loop);
    const Watch data(m_loop);
    QVERIFY(await(inside->children(ZPath("/"), children, Deadline::never())));
    const auto made = await(inside->create(ZPath("/a-"), {}, CreateMode::EphemeralSequential, openAcl(), Deadline::never()));
    QVERIFY(made);
    QCOMPARE(made->path.bytes(), QByteArray("/a-0000000000"));
    const auto event = await(children.event(), WatchEvent{});
    QCOMPARE(event.kind, EventKind::ChildrenChanged);
    QCOMPARE(event.path.bytes(), QByteArray("/"));
    QVERIFY(await(inside->get(made->path, data, Deadline::never())));
    QVERIFY(await(m_session->remove(ZPath(under("a-0000000000")), anyVersion, Deadline::never())));
    const auto gone = await(data.event(), WatchEvent{});
    QCOMPARE(gone.kind, EventKind::Deleted);
    QCOMPARE(gone.path.bytes(), QByteArray("/a-0000000000"));
    Op create{Op::Kind::Create, ZPath("/m-"), "x", CreateMode::EphemeralSequential, openAcl(), anyVersion};
    const auto done = await(inside->multi({create}, Deadline::never()));
    QVERIFY(done);
    QCOMPARE(done->front().created.bytes(), QByteArray("/m-0000000001"));
}

void TestZooKeeperClient::listIsSentTogetherWithCreate()
{
    const auto made =
        m_session->create(ZPath(under("lock-")), {}, CreateMode::EphemeralSequential, openAcl(), Deadline::never());
    const auto listed = m_session->children(ZPath(m_root), {}, Deadline::never());
    const auto children = await(listed);
    // Answered in the order sent: whoever has the list has the node's name, and the list holds it.
    QVERIFY(made.isComplete());
    QVERIFY(made.value());
    QVERIFY(children);
    QCOMPARE(children->names.size(), std::size_t(1));
    QCOMPARE(children->names.front(), made.value()->path.name());
}

void TestZooKeeperClient::watchesFireOnce_data()
{
    QTest::addColumn<QByteArray>("read");
    QTest::addColumn<QByteArray>("change");
    QTest::addColumn<int>("event"); // -1: none
    const auto row = [](const char *read, const char *change, int event) {
        QTest::addRow("-%s-%s", read, change) << QByteArray(read) << QByteArray(change) << event;
    };
    row("get", "set", int(EventKind::DataChanged));
    row("get", "remove", int(EventKind::Deleted));
    row("exists", "set", int(EventKind::DataChanged));
    row("exists", "remove", int(EventKind::Deleted));
    row("children", "add", int(EventKind::ChildrenChanged));
    row("children", "remove", int(EventKind::Deleted));
    row("get", "add", -1);
    row("children", "set", -1);
}

void TestZooKeeperClient::watchesFireOnce()
{
    QFETCH(QByteArray, read);
    QFETCH(QByteArray, change);
    QFETCH(int, event);
    const ZPath path(under("node"));
    QVERIFY(make(*m_session, path.bytes()));
    const auto other = open();
    QVERIFY(other);
    const Watch watch(m_loop);
    if (read == "get")
        QVERIFY(await(m_session->get(path, watch, Deadline::never())));
    else if (read == "exists")
        QVERIFY(await(m_session->exists(path, watch, Deadline::never())));
    else
        QVERIFY(await(m_session->children(path, watch, Deadline::never())));
    QCOMPARE(m_session->watchCount(), 1);
    QCOMPARE(m_session->watchedBytes(), path.bytes().size());

    if (change == "set")
        QVERIFY(await(other->set(path, "x", anyVersion, Deadline::never())));
    else if (change == "remove")
        QVERIFY(await(other->remove(path, anyVersion, Deadline::never())));
    else
        QVERIFY(make(*other, path.bytes() + "/child"));

    if (event < 0) {
        // Events come before the answers to what is asked later.
        QVERIFY(await(m_session->sync(path, Deadline::never())));
        QVERIFY(!watch.event().isComplete());
        QCOMPARE(m_session->watchCount(), 1);
        return;
    }
    const auto fired = await(watch.event(), WatchEvent{});
    QCOMPARE(int(fired.kind), event);
    QCOMPARE(fired.path.bytes(), path.bytes());
    QCOMPARE(m_session->watchCount(), 0);
    QCOMPARE(m_session->watchedBytes(), 0);
}

void TestZooKeeperClient::listenersOnOnePathShareAWatch()
{
    const ZPath path(under("node"));
    QVERIFY(make(*m_session, path.bytes()));
    const Watch first(m_loop);
    const Watch second(m_loop);
    const Watch third(m_loop);
    QVERIFY(await(m_session->get(path, first, Deadline::never())));
    QVERIFY(await(m_session->exists(path, second, Deadline::never())));
    QVERIFY(await(m_session->children(path, third, Deadline::never())));
    QCOMPARE(m_session->watchCount(), 2); // data and children are two watches of the server
    QVERIFY(await(m_session->set(path, "x", anyVersion, Deadline::never())));
    QCOMPARE(await(first.event(), WatchEvent{}).kind, EventKind::DataChanged);
    QCOMPARE(await(second.event(), WatchEvent{}).kind, EventKind::DataChanged);
    QVERIFY(!third.event().isComplete());
    QVERIFY(await(m_session->remove(path, anyVersion, Deadline::never())));
    QCOMPARE(await(third.event(), WatchEvent{}).kind, EventKind::Deleted);
}

void TestZooKeeperClient::existsWatchesAMissingNodeAndGetDoesNot()
{
    const ZPath path(under("later"));
    const Watch byGet(m_loop);
    const Watch byExists(m_loop);
    QCOMPARE(await(m_session->get(path, byGet, Deadline::never())).error().code, ErrorCode::NoNode);
    QCOMPARE(m_session->watchCount(), 0);
    QCOMPARE(await(m_session->exists(path, byExists, Deadline::never())).error().code, ErrorCode::NoNode);
    QCOMPARE(m_session->watchCount(), 1);
    QVERIFY(make(*m_session, path.bytes()));
    QCOMPARE(await(byExists.event(), WatchEvent{}).kind, EventKind::Created);
    QVERIFY(!byGet.event().isComplete());
}

void TestZooKeeperClient::removedWatchesStaySilent()
{
    const ZPath path(m_root);
    const Watch data(m_loop);
    const Watch children(m_loop);
    QVERIFY(await(m_session->get(path, data, Deadline::never())));
    QVERIFY(await(m_session->children(path, children, Deadline::never())));
    const auto removed = await(m_session->removeWatches(path, WatchKind::Data, Deadline::never()));
    QVERIFY2(removed, removed ? "" : qPrintable(removed.error().message));
    QCOMPARE(m_session->watchCount(), 1);
    QVERIFY(await(m_session->set(path, "x", anyVersion, Deadline::never())));
    QVERIFY(make(*m_session, under("child")));
    QCOMPARE(await(children.event(), WatchEvent{}).kind, EventKind::ChildrenChanged);
    QVERIFY(!data.event().isComplete());
    // Nothing left to remove is no error.
    QVERIFY(await(m_session->removeWatches(path, WatchKind::Data, Deadline::never())));
}

void TestZooKeeperClient::theWatchBudgetHolds()
{
    SessionOptions options;
    options.watchBudgetBytes = m_root.size() + 3;
    const auto tight = open(options);
    QVERIFY(tight);
    const Watch fits(m_loop);
    QVERIFY(await(tight->children(ZPath(m_root), fits, Deadline::never())));
    const auto beyond = await(tight->get(ZPath(m_root), Watch(m_loop), Deadline::never()));
    QVERIFY(!beyond);
    QCOMPARE(beyond.error().code, ErrorCode::BudgetExceeded);
    QVERIFY(await(tight->get(ZPath(m_root), {}, Deadline::never())));
    // The same place again costs nothing; a fired watch gives its bytes back.
    QVERIFY(await(tight->children(ZPath(m_root), Watch(m_loop), Deadline::never())));
    QVERIFY(make(*m_session, under("child")));
    QCOMPARE(await(fits.event(), WatchEvent{}).kind, EventKind::ChildrenChanged);
    QVERIFY(await(tight->get(ZPath(m_root), Watch(m_loop), Deadline::never())));
}

void TestZooKeeperClient::thousandsOfWatchesSurviveARestart()
{
    constexpr int count = 6000;
    std::vector<Reply<Created>> made;
    for (int i = 0; i < count; ++i)
        made.push_back(m_session->create(ZPath(under("n" + QByteArray::number(i))), {}, CreateMode::Persistent,
                                         openAcl(), Deadline::never()));
    QVERIFY(await(made.back()));
    std::vector<Watch> watches;
    std::vector<Reply<Node>> reads;
    for (int i = 0; i < count; ++i) {
        watches.emplace_back(m_loop);
        reads.push_back(m_session->get(ZPath(under("n" + QByteArray::number(i))), watches.back(), Deadline::never()));
    }
    QVERIFY(await(reads.back()));
    QCOMPARE(m_session->watchCount(), count);
    const auto id = m_session->id();

    m_server->stop();
    QVERIFY(waitForState(*m_session, SessionState::Connecting));
    QVERIFY(m_server->start(30s));
    QVERIFY(waitForState(*m_session, SessionState::Connected));
    QCOMPARE(m_session->id(), id);
    QCOMPARE(m_session->watchCount(), count);
    for (const int i : {0, count / 2, count - 1}) {
        QVERIFY(await(m_session->set(ZPath(under("n" + QByteArray::number(i))), "x", anyVersion, Deadline::never())));
        QCOMPARE(await(watches[std::size_t(i)].event(), WatchEvent{}).kind, EventKind::DataChanged);
    }
    QVERIFY(!watches[1].event().isComplete());
}

void TestZooKeeperClient::aBrokenConnectionIsAnUnknownOutcome()
{
    Cable cable(m_server->address());
    const auto session = openThrough(cable);
    QVERIFY(session);
    std::vector<SessionState> seen;
    const auto subscription = session->onState([&seen](SessionState state) { seen.push_back(state); });
    const auto id = session->id();

    m_server->pause();
    const auto out = session->set(ZPath(m_root), "x", anyVersion, Deadline::never());
    cable.cut();
    const auto broken = await(out);
    m_server->resume();
    cable.mend();
    QVERIFY(!broken);
    QCOMPARE(broken.error().code, ErrorCode::UnknownOutcome);
    QVERIFY(broken.error().retryable);
    QVERIFY(waitForState(*session, SessionState::Connected));
    QCOMPARE(session->id(), id);
    QTRY_COMPARE(seen, (std::vector{SessionState::Connecting, SessionState::Connected}));
    QVERIFY(await(session->get(ZPath(m_root), {}, Deadline::never())));
}

void TestZooKeeperClient::aPassedDeadlineIsAnUnknownOutcome()
{
    m_server->pause();
    const auto late = await(m_session->get(ZPath(m_root), {}, Deadline::after(m_loop, 50ms)));
    m_server->resume();
    QVERIFY(!late);
    QCOMPARE(late.error().code, ErrorCode::UnknownOutcome);
    const auto none = await(m_session->get(ZPath(m_root), {}, Deadline::at(m_loop.now())));
    QCOMPARE(none.error().code, ErrorCode::TimedOut);
    QVERIFY(await(m_session->get(ZPath(m_root), {}, Deadline::after(m_loop, 10s))));
}

void TestZooKeeperClient::anExpiredSessionIsOver()
{
    Cable cable(m_server->address());
    const auto session = openThrough(cable);
    QVERIFY(session);
    QVERIFY(make(*session, under("ephemeral"), {}, CreateMode::Ephemeral));
    const Watch watch(m_loop);
    QVERIFY(await(session->get(ZPath(m_root), watch, Deadline::never())));
    const Watch gone(m_loop);
    QVERIFY(await(m_session->get(ZPath(under("ephemeral")), gone, Deadline::never())));

    cable.cut();
    QVERIFY(waitForState(*session, SessionState::Connecting));
    QVERIFY(!watch.event().isComplete()); // a broken connection is not the end
    QCOMPARE(await(gone.event(), WatchEvent{}).kind, EventKind::Deleted); // the server gave the session up
    cable.mend();
    QVERIFY(waitForState(*session, SessionState::Expired));
    QCOMPARE(await(watch.event(), WatchEvent{}).kind, EventKind::SessionOver);
    QCOMPARE(session->watchCount(), 0);
    const auto after = await(session->get(ZPath(m_root), {}, Deadline::never()));
    QCOMPARE(after.error().code, ErrorCode::SessionExpired);
    QVERIFY(!after.error().retryable);
}

void TestZooKeeperClient::nothingIsSentWhileConnecting()
{
    QTcpServer nobody; // accepts and never answers
    QVERIFY(nobody.listen(QHostAddress::LocalHost));
    SessionOptions options;
    options.hosts = {{u"127.0.0.1"_s, nobody.serverPort()}};
    const auto session = openSession(m_loop, options);
    QCOMPARE(session->state(), SessionState::Connecting);
    QVERIFY(session->id().isNone());
    QVERIFY(!session->connectedAt());
    const auto read = await(session->get(ZPath("/"), {}, Deadline::never()));
    QCOMPARE(read.error().code, ErrorCode::NotConnected);
    QVERIFY(read.error().retryable);
    QVERIFY(QTest::qWaitFor([&] { return nobody.hasPendingConnections(); }, 10'000));
    QCOMPARE(await(session->get(ZPath("/"), {}, Deadline::never())).error().code, ErrorCode::NotConnected);
}

void TestZooKeeperClient::destroyingClosesTheSessionAndAnswersEverybody()
{
    auto session = open();
    QVERIFY(session);
    QVERIFY(make(*session, under("ephemeral"), {}, CreateMode::Ephemeral));
    const Watch gone(m_loop);
    QVERIFY(await(m_session->get(ZPath(under("ephemeral")), gone, Deadline::never())));
    const Watch watch(m_loop);
    QVERIFY(await(session->get(ZPath(m_root), watch, Deadline::never())));
    std::vector<Reply<Node>> out;
    for (int i = 0; i < 1000; ++i)
        out.push_back(session->get(ZPath(m_root), {}, Deadline::never()));
    session.reset();
    for (const auto &reply : out)
        QVERIFY(reply.isComplete());
    QCOMPARE(await(out.back()).error().code, ErrorCode::UnknownOutcome);
    QCOMPARE(await(watch.event(), WatchEvent{}).kind, EventKind::SessionOver);
    QCOMPARE(await(gone.event(), WatchEvent{}).kind, EventKind::Deleted);
    waitForClosingSessions(10s);
}

void TestZooKeeperClient::destroyingAnUnconnectedSessionIsQuick()
{
    SessionOptions options;
    options.hosts = {{u"127.0.0.1"_s, 1}};
    for (int i = 0; i < 20; ++i) {
        const auto session = openSession(m_loop, options);
        QCOMPARE(session->state(), SessionState::Connecting);
    }
    options.hosts = {{u"no-such-host.invalid"_s, 2181}};
    const auto unknown = openSession(m_loop, options);
    QCOMPARE(await(unknown->get(ZPath("/"), {}, Deadline::never())).error().code, ErrorCode::NotConnected);
}

void TestZooKeeperClient::dataBeyondTheServersBufferIsRefused()
{
    const QByteArray big(1'000'000, 'x');
    const auto fits = await(m_session->create(ZPath(under("big")), big, CreateMode::Persistent, openAcl(), Deadline::never()));
    QVERIFY(fits);
    const auto read = await(m_session->get(ZPath(under("big")), {}, Deadline::never()));
    QCOMPARE(read->data.size(), big.size());
    const auto refused = await(m_session->set(ZPath(m_root), QByteArray(2'000'000, 'x'), anyVersion, Deadline::never()));
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::TooLarge);
    QCOMPARE(m_session->state(), SessionState::Connected); // sending it would have broken the connection
}

void TestZooKeeperClient::aChildListBeyondTheServersBufferArrives()
{
    // jute.maxbuffer (1 MiB) limits what the server takes, not what it answers to this client.
    const QByteArray stem(100, 'n');
    constexpr int count = 15'000;
    std::vector<Reply<Created>> made;
    for (int i = 0; i < count; ++i)
        made.push_back(m_session->create(ZPath(under(stem + QByteArray::number(i))), {}, CreateMode::Persistent,
                                         openAcl(), Deadline::never()));
    QVERIFY(await(made.back()));
    const auto listed = await(m_session->children(ZPath(m_root), {}, Deadline::never()));
    QVERIFY2(listed, listed ? "" : qPrintable(listed.error().message));
    QCOMPARE(listed->names.size(), std::size_t(count));
}

void TestZooKeeperClient::binaryDataAndOddNames()
{
    const QByteArray name("\xc3\xa4 <b>%s</b>\n\\x");
    const QByteArray data("\0\xff\x1b[31m\n", 8);
    const auto made = await(m_session->create(ZPath(under(name)), data, CreateMode::Persistent, openAcl(), Deadline::never()));
    if (!made) { // newlines are not allowed by every server
        QCOMPARE(made.error().code, ErrorCode::BadInput);
        return;
    }
    const auto listed = await(m_session->children(ZPath(m_root), {}, Deadline::never()));
    QCOMPARE(listed->names.front().bytes(), name);
    QCOMPARE(await(m_session->get(ZPath(under(name)), {}, Deadline::never()))->data, data);
}

QTEST_GUILESS_MAIN(TestZooKeeperClient)
#include "tst_zookeeper_client.moc"
