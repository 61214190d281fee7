// SPDX-License-Identifier: Apache-2.0
// The observer against a real server: what it finds, what a server proves, and how it follows changes.
#include "zookeeperobserverfixture.h"
#include "tests/support/countingsession.h"
#include "tests/support/testmain.h"

#include <QElapsedTimer>
#include <QTimer>

using namespace lockscope::inspect;

class TestZooKeeperObserver : public ZooKeeperObserverFixture {
    Q_OBJECT

private slots:
    void aQueueInOrderWithProvenWatches();
    void sessionsKnowWhatTheyHoldAndAwait();
    void aReleaseIsSeenAtOnce();
    void unexplainedNodesAreReported();
    void aQuietServerIsHeardAllTheSame();
    void aQuietServerIsAskedLittle();
    void amongOthersRequestsOursAreFew();
    void aLockIsSeenComingAndGoing();
    void holdingSinceWeSawIt();
    void plainAndCompositeLocks();
    void onlyWhatLiesBelowTheChroot();
    void aDateThatIsWrittenAnewIsSeen();
    void readNowIsFresh();
    void withoutFollowingNothingIsWatched();
    void aFirstLookAsksForNothingInVain();
    void theWalkDoesNotListAgainWhatWasRead();
    void howManyWatchChildrenIsKnownToo();
    void locksAmongManyNodes();
    void destroyedAtAnyMoment();
};

void TestZooKeeperObserver::aQueueInOrderWithProvenWatches()
{
    ensure("/queue/orders");
    std::vector<Client> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(join("/queue/orders"));
    look(*m_open);
    const auto *lock = m_sink.find("/queue/orders");
    QVERIFY(lock);
    QCOMPARE(lock->recipe, QByteArray("curator-mutex"));
    QCOMPARE(lock->state, LockState::Contended);
    QCOMPARE(lock->contenders.size(), std::size_t(4));
    QVERIFY(std::chrono::abs(lock->serverAhead) < 5s); // one machine
    for (std::size_t i = 0; i < 4; ++i) {
        const auto &contender = lock->contenders[i];
        QCOMPARE(contender.guard.znode().path, clients[i].node.bytes());
        QCOMPARE(contender.session, clients[i].session->id().text());
        QVERIFY(contender.endpoint && contender.endpoint->startsWith(u"127.0.0.1:"_s));
        QCOMPARE(contender.role, i == 0 ? Role::Holder : Role::Waiter);
        if (i == 0)
            continue;
        QCOMPARE(contender.watches.size(), 1);
        QCOMPARE(contender.watches.front().target, lock->contenders[i - 1].id);
        QCOMPARE(contender.watches.front().evidence, inspect::Evidence::Server);
    }
    QVERIFY(!m_sink.says(u"answered wchp"_s));
    QVERIFY(m_sink.how().startsWith(u"dump every "_s));
    QVERIFY(m_sink.steps.back().firstSnapshotComplete);
    QVERIFY(m_sink.cost.watches > 0);
}

void TestZooKeeperObserver::sessionsKnowWhatTheyHoldAndAwait()
{
    ensure("/sessions/a");
    const auto holder = join("/sessions/a");
    const auto waiter = join("/sessions/a");
    look(*m_open);
    const auto find = [this](const Client &client) {
        const auto at = std::ranges::find(m_sink.sessions, client.session->id().text(), &SessionSnapshot::session);
        return at == m_sink.sessions.end() ? nullptr : &*at;
    };
    QVERIFY(find(holder) && find(waiter));
    QCOMPARE(find(holder)->holds, std::vector<QByteArray>{"/sessions/a"});
    QCOMPARE(find(waiter)->waits, std::vector<QByteArray>{"/sessions/a"});
    QVERIFY(find(waiter)->endpoint && find(waiter)->expiresAt);
    QCOMPARE(find(waiter)->client, u"Curator"_s);
}

void TestZooKeeperObserver::aReleaseIsSeenAtOnce()
{
    ensure("/release/x");
    std::vector<Client> clients;
    for (int i = 0; i < 3; ++i)
        clients.push_back(join("/release/x"));
    ObserverOptions options;
    options.dumpEvery = 60s; // what is seen is seen by the watch
    look(*m_open, options);
    QCOMPARE(m_sink.find("/release/x")->contenders.size(), std::size_t(3));
    QVERIFY(await(clients[0].session->remove(clients[0].node, zk::anyVersion, Deadline::never())));
    QTRY_COMPARE(m_sink.find("/release/x")->contenders.size(), std::size_t(2));
    QCOMPARE(m_sink.find("/release/x")->contenders.front().guard.znode().path, clients[1].node.bytes());
    // Somebody joins: the watch was set again; and its own watch is proven soon.
    clients.push_back(join("/release/x"));
    QTRY_COMPARE(m_sink.find("/release/x")->contenders.size(), std::size_t(3));
    QTRY_COMPARE(m_sink.find("/release/x")->contenders.back().watches.front().evidence, inspect::Evidence::Server);
}

// And of a lock whose nodes come and go between two dumps nothing is ever told.
void TestZooKeeperObserver::unexplainedNodesAreReported()
{
    ensure("/registry/api");
    ensure("/busy/x");
    for (const char *member : {"/registry/api/host-a", "/registry/api/host-b"})
        QVERIFY(
            await(m_maker->create(ZPath(member), {}, zk::CreateMode::Ephemeral, zk::openAcl(), Deadline::never())));
    ObserverOptions options;
    options.dumpEvery = 50ms;
    look(*m_open, options);
    const auto unexplained = [this] {
        std::vector<Unexplained> told;
        for (const auto &part : m_observer->coverage())
            std::ranges::copy(part.unexplained, std::back_inserter(told));
        return told;
    };
    const std::vector<Unexplained> expected{
        {2, u"2 ephemeral nodes like /registry/api/* belong to no known lock"_s, "/registry/api/host-a"}};
    QCOMPARE(unexplained(), expected);
    for (int round = 0; round < 40; ++round) {
        auto client = join("/busy/x");
        QTRY_VERIFY(m_sink.find("/busy/x"));
        QCOMPARE(unexplained(), expected);
        m_queue.clear();
        client.session.reset();
        QCOMPARE(unexplained(), expected);
    }
    for (const char *member : {"/registry/api/host-a", "/registry/api/host-b"})
        QVERIFY(await(m_maker->remove(ZPath(member), zk::anyVersion, Deadline::never())));
    QTRY_COMPARE(unexplained(), std::vector<Unexplained>());
}

// "As of" is the age of what is shown: nothing changes, and it is heard again and again that nothing did.
void TestZooKeeperObserver::aQuietServerIsHeardAllTheSame()
{
    look(*m_strict); // asked for its dump every ten seconds only
    m_sink.looks = 0;
    QTRY_VERIFY(m_sink.looks >= 2);
}

// With every look, however many locks are followed: their folders are watched, not read.
void TestZooKeeperObserver::aQuietServerIsAskedLittle()
{
    std::vector<Client> clients;
    for (int i = 0; i < 20; ++i) {
        const auto directory = "/quiet/" + QByteArray::number(i);
        ensure(directory);
        clients.push_back(join(directory));
        clients.push_back(join(directory));
        m_queue.clear();
    }
    m_session = open(*m_open);
    QVERIFY(m_session);
    CountingSession counting(*m_session);
    m_source = std::make_unique<zk::EvidenceSource>(m_loop, std::vector{m_open->address()}, m_open->adminPort());
    m_observer = std::make_unique<ZooKeeperObserver>(counting, *m_source, ConnectionName("zk"), QByteArray(),
                                                     ObserverOptions{}, m_sink);
    m_observer->start();
    QVERIFY(await(m_observer->firstSnapshot(), false));
    QTRY_VERIFY(!m_sink.says(u"not looked for everywhere yet"_s));
    m_sink.looks = 0;
    QTRY_VERIFY(m_sink.looks >= 2);
    counting.reset();
    m_sink.looks = 0;
    QTRY_VERIFY(m_sink.looks >= 4);
    QVERIFY2(counting.requests() <= m_sink.looks, counting.spoken());
    m_observer.reset(); // before what it asks
}

// By the server's own count, over the ten looks between two of which it is asked for: others ask for 3,000 things a
// second, as beside a small service, and we look at twenty locks at rest.
void TestZooKeeperObserver::amongOthersRequestsOursAreFew()
{
    std::vector<Client> clients;
    for (int i = 0; i < 20; ++i) {
        const auto directory = "/beside/" + QByteArray::number(i);
        ensure(directory);
        clients.push_back(join(directory));
        m_queue.clear();
    }
    QTimer others;
    others.setInterval(100ms);
    QObject::connect(&others, &QTimer::timeout, &others, [this] {
        for (int i = 0; i < 300; ++i)
            m_maker->exists(ZPath("/"), {}, Deadline::never());
    });
    others.start();
    look(*m_open);
    QVERIFY(!m_sink.cost.servedPerSecond); // a count by itself says nothing
    QTRY_VERIFY(m_sink.cost.servedPerSecond);
    const auto cost = m_sink.cost;
    qInfo("%.1f of %.0f requests a second", cost.requestsPerSecond, *cost.servedPerSecond);
    QVERIFY2(cost.requestsPerSecond > 1, qPrintable(QString::number(cost.requestsPerSecond)));
    QVERIFY2(cost.requestsPerSecond <= *cost.servedPerSecond / 100,
             qPrintable(u"%1 of %2"_s.arg(cost.requestsPerSecond).arg(*cost.servedPerSecond)));
}

void TestZooKeeperObserver::aLockIsSeenComingAndGoing()
{
    ensure("/coming/x");
    look(*m_open);
    QVERIFY(!m_sink.find("/coming/x"));
    {
        const auto client = join("/coming/x");
        QTRY_VERIFY(m_sink.find("/coming/x")); // by the next dump
    }
    QTRY_VERIFY(!m_sink.find("/coming/x"));
    m_queue.clear();
    const auto again = join("/coming/x");
    QTRY_VERIFY(m_sink.find("/coming/x"));
    QCOMPARE(m_sink.find("/coming/x")->contenders.size(), std::size_t(1));
}

void TestZooKeeperObserver::holdingSinceWeSawIt()
{
    ensure("/since/x");
    std::vector<Client> clients;
    for (int i = 0; i < 2; ++i)
        clients.push_back(join("/since/x"));
    look(*m_open);
    const auto waitingSince = m_sink.find("/since/x")->contenders[1].waitingSince;
    QVERIFY(waitingSince);
    const auto before = m_sink.find("/since/x")->observed;
    QTest::qWait(20);
    QVERIFY(await(clients[0].session->remove(clients[0].node, zk::anyVersion, Deadline::never())));
    QTRY_COMPARE(m_sink.find("/since/x")->contenders.size(), std::size_t(1));
    const auto &holder = m_sink.find("/since/x")->contenders[0];
    QVERIFY(!holder.heldAtMost);
    QVERIFY(holder.heldSince && *holder.heldSince > before && *holder.heldSince > *waitingSince);
    // It stays so when the same is looked at again.
    const auto since = holder.heldSince;
    clients.push_back(join("/since/x"));
    QTRY_COMPARE(m_sink.find("/since/x")->contenders.size(), std::size_t(2));
    QCOMPARE(m_sink.find("/since/x")->contenders[0].heldSince, since);
}

void TestZooKeeperObserver::plainAndCompositeLocks()
{
    ensure("/various");
    ensure("/various/semaphore/locks");
    ensure("/various/semaphore/leases");
    const auto holder = open(*m_open);
    QVERIFY(await(holder->create(ZPath("/various/master-lock"), "me", zk::CreateMode::Ephemeral, zk::openAcl(),
                                 Deadline::never())));
    const auto lease = join("/various/semaphore/leases", "-lease-");
    look(*m_open);
    const auto *plain = m_sink.find("/various/master-lock");
    QVERIFY(plain);
    QCOMPARE(plain->recipe, QByteArray("zk-ephemeral"));
    QCOMPARE(plain->state, LockState::Held);
    const auto *semaphore = m_sink.find("/various/semaphore");
    QVERIFY(semaphore);
    QCOMPARE(semaphore->recipe, QByteArray("curator-semaphore"));
    QCOMPARE(semaphore->contenders.size(), std::size_t(1));

    // Who comes to wait for the plain one shows only in the servers' answers.
    const auto waiter = open(*m_open);
    QVERIFY(await(waiter->exists(ZPath("/various/master-lock"), zk::Watch(m_loop), Deadline::never())));
    QTRY_COMPARE(m_sink.find("/various/master-lock")->state, LockState::Contended);
    // A change in one of the folders changes the semaphore.
    m_queue.clear();
    const auto queued = join("/various/semaphore/locks");
    QTRY_COMPARE(m_sink.find("/various/semaphore")->state, LockState::Contended);
}

void TestZooKeeperObserver::onlyWhatLiesBelowTheChroot()
{
    ensure("/apps/one/locks");
    ensure("/apps2/locks");
    std::vector<Client> clients;
    clients.push_back(join("/apps/one/locks"));
    clients.push_back(join("/apps/one/locks"));
    m_queue.clear();
    clients.push_back(join("/apps2/locks"));
    zk::SessionOptions how{.chroot = "/apps"};
    look(*m_open, {}, how);
    QCOMPARE(m_sink.locks.size(), std::size_t(1));
    const auto *lock = m_sink.find("/one/locks");
    QVERIFY(lock);
    QCOMPARE(lock->contenders[1].watches.front().evidence, inspect::Evidence::Server);
    QVERIFY(await(clients[0].session->remove(clients[0].node, zk::anyVersion, Deadline::never())));
    QTRY_COMPARE(m_sink.find("/one/locks")->contenders.size(), std::size_t(1));
}

// ShedLock's node stays: no list of nodes changes when the next one has it. What is known of other nodes is read
// again after a minute.
void TestZooKeeperObserver::aDateThatIsWrittenAnewIsSeen()
{
    constexpr int fewLooks = 20;
    ensure("/dates/shedlock/job");
    const auto write = [this](const QByteArray &until) {
        return await(m_maker->set(ZPath("/dates/shedlock/job"), until, zk::anyVersion, Deadline::never()));
    };
    QVERIFY(write("2999-01-01T00:00:00Z"));
    look(*m_open);
    const auto seen = [this] { return m_sink.find("/dates/shedlock/job"); };
    QVERIFY(eventually([&] { return seen() && seen()->state == LockState::Held; }));
    const auto first = seen()->contenders.front().id;
    const auto isToldSoon = [&](const auto &isSo) {
        const auto begun = m_sink.looks;
        return eventually([&] { return isSo() || m_sink.looks > begun + fewLooks; }) && isSo();
    };
    QVERIFY(write("2999-01-01T00:01:00Z"));
    QVERIFY(isToldSoon([&] { return seen()->state == LockState::Held && seen()->contenders.front().id != first; }));
    QVERIFY(write("2001-01-01T00:00:00Z"));
    QVERIFY(isToldSoon([&] { return seen()->state == LockState::Free; }));
}

void TestZooKeeperObserver::readNowIsFresh()
{
    ensure("/now/x");
    std::vector<Client> clients;
    for (int i = 0; i < 2; ++i)
        clients.push_back(join("/now/x"));
    ObserverOptions once{.follow = false};
    look(*m_open, once);
    QVERIFY(await(clients[0].session->remove(clients[0].node, zk::anyVersion, Deadline::never())));
    QCOMPARE(m_sink.find("/now/x")->contenders.size(), std::size_t(2)); // not following
    const auto lock = readNow("/now/x");
    QVERIFY2(lock, lock ? "" : qPrintable(lock.error().message));
    QCOMPARE(lock->contenders.size(), std::size_t(1));
    QCOMPARE(lock->contenders.front().guard.znode().path, clients[1].node.bytes());
    QVERIFY(lock->contenders.front().endpoint);
    QCOMPARE(readNow("/now/none").error().code, ErrorCode::NoNode);
    QCOMPARE(readNow("/now").error().code, ErrorCode::NoNode);
    QCOMPARE(readNow("no path").error().code, ErrorCode::BadInput);

    // Locks that came later, in each of the places a name can mean.
    QVERIFY(await(
        m_maker->create(ZPath("/now/plain-lock"), {}, zk::CreateMode::Ephemeral, zk::openAcl(), Deadline::never())));
    QVERIFY(await(m_maker->create(ZPath("/now/stock_lock_"), {}, zk::CreateMode::EphemeralSequential, zk::openAcl(),
                                  Deadline::never())));
    QCOMPARE(readNow("/now/plain-lock")->recipe, QByteArray("zk-ephemeral"));
    QCOMPARE(readNow("/now/stock")->recipe, QByteArray("zk-flat-mutex"));
    m_maker = open(*m_open);
}

void TestZooKeeperObserver::withoutFollowingNothingIsWatched()
{
    ensure("/once/x");
    const auto client = join("/once/x");
    ObserverOptions once{.follow = false};
    look(*m_open, once);
    QVERIFY(m_sink.find("/once/x"));
    QCOMPARE(m_session->watchCount(), 0);
    QVERIFY(!m_sink.steps.back().running);
    QVERIFY(m_sink.says(u"lock nodes without a session"_s));
}

// A directory's data is read only where its list says that it has any.
void TestZooKeeperObserver::aFirstLookAsksForNothingInVain()
{
    ensure("/lean/x");
    ensure("/lean/full");
    QVERIFY(await(m_maker->set(ZPath("/lean/full"), "words", zk::anyVersion, Deadline::never())));
    const auto holder = join("/lean/x");
    const auto waiter = join("/lean/x");
    m_queue.clear();
    const auto other = join("/lean/full");
    const auto session = openBelow("/lean");
    QVERIFY(session);
    CountingSession counting(*session);
    zk::EvidenceSource source(m_loop, {m_open->address()}, m_open->adminPort());
    ObserverOptions once{.follow = false};
    ZooKeeperObserver observer(counting, source, ConnectionName("zk"), "/lean", once, m_sink);
    observer.start();
    QVERIFY(await(observer.firstSnapshot(), false));
    QCOMPARE(observer.snapshots().size(), std::size_t(2));
    QCOMPARE(counting.spoken(), QByteArray("get 4, exists 1, children 2"));
}

// Nor looks for what is below an ephemeral. What belongs to no session is found beside them all the same.
void TestZooKeeperObserver::theWalkDoesNotListAgainWhatWasRead()
{
    ensure("/walked/locks/a");
    ensure("/walked/locks/b/_c_00000000-0000-4000-8000-aaaaaaaaaaaa-lock-0000000007");
    ensure("/walked/locks/left/_c_00000000-0000-4000-8000-bbbbbbbbbbbb-lock-0000000001");
    ensure("/walked/other");
    const auto holder = join("/walked/locks/a");
    const auto waiter = join("/walked/locks/a");
    m_queue.clear();
    const auto behind = join("/walked/locks/b");
    const auto session = openBelow("/walked");
    QVERIFY(session);
    CountingSession counting(*session);
    zk::EvidenceSource source(m_loop, {m_open->address()}, m_open->adminPort());
    ObserverOptions once{.follow = false, .everywhere = true};
    ZooKeeperObserver observer(counting, source, ConnectionName("zk"), "/walked", once, m_sink);
    observer.start();
    QVERIFY(await(observer.firstSnapshot(), false));
    QCOMPARE(observer.snapshots().size(), std::size_t(3));
    QCOMPARE(m_sink.find("/walked/locks/b"), nullptr);
    QVERIFY(m_sink.find("/locks/left"));
    QCOMPARE(m_sink.find("/locks/b")->contenders.size(), std::size_t(2));
    // Read: a, b and, as the walk has found it, left. Walked: the root, locks, other, left, and the two nodes that
    // belong to no session.
    QCOMPARE(counting.count(RequestKind::Children), 3 + 6);
    QCOMPARE(counting.spoken(), QByteArray("get 5, exists 1, children 9"));
}

// With what is looked at once. Who follows is shown the locks first: a server goes through all its znodes for that.
void TestZooKeeperObserver::howManyWatchChildrenIsKnownToo()
{
    const auto isSaid = [this] { return m_sink.says(u"child watches exist; servers do not say whose"_s); };
    QVERIFY(await(m_maker->children(ZPath("/"), zk::Watch(m_loop), Deadline::never())));
    ObserverOptions once{.follow = false};
    look(*m_open, once);
    QVERIFY(isSaid());

    m_sink = {};
    ZooKeeperObserver follows(*m_session, *m_source, ConnectionName("zk"), {}, {}, m_sink);
    std::optional<bool> saidBeforeTheLocks;
    follows.start();
    follows.firstSnapshot().then([&](bool) { saidBeforeTheLocks = isSaid(); });
    QTRY_VERIFY_WITH_TIMEOUT(isSaid(), patienceMs);
    QCOMPARE(saidBeforeTheLocks, std::optional(false));
}

void TestZooKeeperObserver::locksAmongManyNodes()
{
    constexpr int locks = 300;
    constexpr int others = 20'000;
    ensure("/many");
    std::vector<Reply<zk::Created>> made;
    for (int i = 0; i < locks; ++i) {
        const QByteArray directory = "/many/lock" + QByteArray::number(i);
        m_maker->create(ZPath(directory), {}, zk::CreateMode::Persistent, zk::openAcl(), Deadline::never());
        for (int k = 0; k < 3; ++k)
            made.push_back(m_maker->create(
                ZPath(directory + "/_c_00000000-0000-4000-8000-00000000000" + QByteArray::number(k) + "-lock-"), {},
                zk::CreateMode::EphemeralSequential, zk::openAcl(), Deadline::never()));
    }
    for (int i = 0; i < others; ++i)
        made.push_back(m_maker->create(ZPath("/many/n" + QByteArray::number(i)), {}, zk::CreateMode::Persistent,
                                       zk::openAcl(), Deadline::never()));
    QVERIFY(await(made.back()));
    ObserverOptions once{.follow = false};
    QElapsedTimer clock;
    clock.start();
    look(*m_open, once);
    qInfo("%d locks among %d znodes: %lld ms", locks, others, clock.elapsed());
    QCOMPARE(
        std::ranges::count_if(m_sink.locks, [](const auto &lock) { return lock.first.startsWith("/many/lock"); }),
        locks);
    m_maker = open(*m_open);
}

void TestZooKeeperObserver::destroyedAtAnyMoment()
{
    ensure("/destroyed/x");
    const auto client = join("/destroyed/x");
    m_session = open(*m_open);
    for (int i = 0; i < 20; ++i) {
        m_source = std::make_unique<zk::EvidenceSource>(m_loop, std::vector{m_open->address()}, m_open->adminPort());
        m_observer = std::make_unique<ZooKeeperObserver>(*m_session, *m_source, ConnectionName("zk"), QByteArray(),
                                                         ObserverOptions{}, m_sink);
        m_observer->start();
        QTest::qWait(i);
        m_observer.reset();
        m_sink = {};
    }
    QVERIFY(await(m_session->get(ZPath("/destroyed/x"), {}, Deadline::never())));
}

LOCKSCOPE_TEST(TestZooKeeperObserver)
#include "tst_zookeeper_observer.moc"
