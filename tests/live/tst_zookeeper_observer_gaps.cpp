// SPDX-License-Identifier: Apache-2.0
// The observer against a real server that tells little, or where it may not ask: what it sees all the same, and what
// it says that it does not see.
#include "zookeeperobserverfixture.h"
#include "tests/support/sessiondecorator.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

// Keeps the first lists waiting, and refuses the others before the caller waits.
class UnlistedSession : public SessionDecorator {
public:
    using SessionDecorator::SessionDecorator;
    static constexpr int kept = 128; // as many as are read at a time
    int asked = 0;

protected:
    RequestFault fateOf(RequestKind kind) override
    {
        if (kind != RequestKind::Children)
            return RequestFault::Pass;
        return ++asked <= kept ? RequestFault::HoldRequest : RequestFault::Refuse;
    }
};

zk::Op creationOf(const QByteArray &path, zk::CreateMode mode)
{
    return zk::Op{.kind = zk::Op::Kind::Create, .path = ZPath(path), .mode = mode, .acls = zk::openAcl()};
}

} // namespace

class TestZooKeeperObserverGaps : public ZooKeeperObserverFixture {
    Q_OBJECT

private slots:
    void aCrawlWhereDumpIsRefused();
    void nodesThatMayNotBeRead();
    void beyondTheWatchBudgetItPolls();
    void aBrokenConnectionKeepsTheSnapshots();
    void readAloneItSaysWhatWasNotSeen();
    void thousandsOfReadingsMayEndAtOnce();
};

void TestZooKeeperObserverGaps::aCrawlWhereDumpIsRefused()
{
    m_server = m_strict.get();
    m_maker = open(*m_strict);
    ensure("/deep/er/orders");
    ensure("/elsewhere/nothing");
    std::vector<Client> clients;
    for (int i = 0; i < 3; ++i)
        clients.push_back(join("/deep/er/orders"));
    look(*m_strict);
    const auto *lock = m_sink.find("/deep/er/orders");
    QVERIFY(lock);
    QCOMPARE(lock->contenders.size(), std::size_t(3));
    QCOMPARE(lock->contenders[1].watches.front().evidence, inspect::Evidence::Inferred);
    QVERIFY(!lock->contenders[1].endpoint);
    QVERIFY(m_sink.says(u"0 of 1 members answered dump: found by crawling"_s));
    QVERIFY(m_sink.says(u"not in the whitelist"_s));
    QVERIFY(m_sink.says(u"watches: 0 of 1 members answered wchp"_s));
    QVERIFY(std::ranges::none_of(m_sink.coverage, &Coverage::complete));
    QCOMPARE(m_sink.how(), u"crawl"_s);
    QVERIFY(m_sink.steps.back().done > 5);
    // Followed all the same.
    QVERIFY(await(clients[0].session->remove(clients[0].node, zk::anyVersion, Deadline::never())));
    QTRY_COMPARE(m_sink.find("/deep/er/orders")->contenders.size(), std::size_t(2));
}

void TestZooKeeperObserverGaps::nodesThatMayNotBeRead()
{
    ensure("/private/x");
    const auto client = open(*m_open);
    QVERIFY(await(client->addAuth("digest", "alice:secret", Deadline::never())));
    const zk::Acls onlyAlice{{zk::perms::all, "auth", ""}};
    const auto made = await(client->create(ZPath("/private/x/_c_00000000-0000-4000-8000-aaaaaaaaaaaa-lock-"), "hers",
                                           zk::CreateMode::EphemeralSequential, onlyAlice, Deadline::never()));
    QVERIFY(made);
    ensure("/private/closed-lock");
    const auto inside = await(client->create(ZPath("/private/closed-lock/lock-"), {},
                                             zk::CreateMode::EphemeralSequential, zk::openAcl(), Deadline::never()));
    QVERIFY(inside);
    QVERIFY(await(client->setAcls(ZPath("/private/closed-lock"), onlyAlice, zk::anyVersion, Deadline::never())));
    look(*m_open);
    // Whose node it is shows without permission to read it.
    const auto *lock = m_sink.find("/private/x");
    QVERIFY(lock);
    QCOMPARE(lock->contenders.front().session, client->id().text());
    QVERIFY(!lock->contenders.front().identity);
    // From 3.9.3 on its stat is hidden, too: whose it is a server's list of sessions tells, since when nothing does.
    const auto stat = await(m_maker->exists(made->path, {}, Deadline::never()));
    QCOMPARE(lock->contenders.front().heldSince.has_value(), bool(stat));
    QCOMPARE(m_sink.says(u"no permission to read 1 znodes"_s), !bool(stat));
    const auto closed = u"no permission to list 1 znodes, /private/closed-lock"_s;
    QVERIFY(m_sink.says(closed));
    // The sweep, which finds it as well, does not make it two.
    QTRY_VERIFY(!m_sink.says(u"not looked for everywhere yet"_s));
    QVERIFY(m_sink.says(closed));
    QVERIFY(await(client->setAcls(ZPath("/private/closed-lock"), zk::openAcl(), zk::anyVersion, Deadline::never())));
}

void TestZooKeeperObserverGaps::beyondTheWatchBudgetItPolls()
{
    ensure("/budget/one");
    ensure("/budget/two");
    std::vector<Client> clients;
    clients.push_back(join("/budget/one"));
    m_queue.clear();
    clients.push_back(join("/budget/two"));
    zk::SessionOptions how;
    how.watchBudgetBytes = 12; // one of them
    ObserverOptions options{.dumpEvery = 100ms};
    look(*m_open, options, how);
    QVERIFY(m_sink.find("/budget/one") && m_sink.find("/budget/two"));
    QVERIFY(m_sink.says(u"1 lock directories are polled: the watch budget is used up"_s));
    for (const auto &client : clients)
        QVERIFY(await(client.session->remove(client.node, zk::anyVersion, Deadline::never())));
    QTRY_VERIFY(!m_sink.find("/budget/one") && !m_sink.find("/budget/two"));
}

void TestZooKeeperObserverGaps::aBrokenConnectionKeepsTheSnapshots()
{
    ensure("/broken/x");
    std::vector<Client> clients;
    for (int i = 0; i < 2; ++i)
        clients.push_back(join("/broken/x"));
    Cable cable(m_open->address());
    zk::SessionOptions how{.hosts = {cable.address()}};
    look(*m_open, {}, how);
    QVERIFY(m_sink.find("/broken/x"));
    cable.cut();
    QVERIFY(waitForState(*m_session, zk::SessionState::Connecting));
    QVERIFY(await(clients[0].session->remove(clients[0].node, zk::anyVersion, Deadline::never())));
    QVERIFY(m_sink.find("/broken/x"));
    cable.mend();
    QVERIFY(waitForState(*m_session, zk::SessionState::Connected));
    QTRY_COMPARE(m_sink.find("/broken/x")->contenders.size(), std::size_t(1));
    QVERIFY(await(clients[1].session->remove(clients[1].node, zk::anyVersion, Deadline::never())));
    QTRY_VERIFY_WITH_TIMEOUT(!m_sink.find("/broken/x"), 20'000);
}

void TestZooKeeperObserverGaps::readAloneItSaysWhatWasNotSeen()
{
    constexpr int crowd = 2100;
    m_server = m_strict.get();
    m_maker = open(*m_strict);
    ensure("/crowd");
    const ZPath name("/crowd/_c_00000000-0000-4000-8000-000000000001-lock-");
    for (int i = 1; i < crowd; ++i)
        m_maker->create(name, {}, zk::CreateMode::EphemeralSequential, zk::openAcl(), Deadline::never());
    QVERIFY(await(m_maker->create(name, {}, zk::CreateMode::EphemeralSequential, zk::openAcl(), Deadline::never())));
    m_session = open(*m_strict);
    m_source = std::make_unique<zk::EvidenceSource>(m_loop, std::vector{m_strict->address()}, 0);
    m_observer = std::make_unique<ZooKeeperObserver>(*m_session, *m_source, ConnectionName("zk"), QByteArray(),
                                                     ObserverOptions{}, m_sink);
    QVERIFY(m_observer->coverage().empty());
    const auto lock = readNow("/crowd");
    QVERIFY2(lock, "nothing is followed, as for `show`");
    QCOMPARE(lock->contenders.size(), std::size_t(crowd));
    const auto coverage = m_observer->coverage();
    QVERIFY(std::ranges::any_of(coverage, [](const Coverage &one) {
        return !one.complete && one.message.contains(u"watches: 0 of 1 members answered wchp"_s);
    }));
}

// As they do without a connection: each begins where one ends, and all of them on one stack would be too many.
void TestZooKeeperObserverGaps::thousandsOfReadingsMayEndAtOnce()
{
    constexpr int locks = 20'000;
    constexpr int atOnce = 500;
    ensure("/many");
    for (int first = 0; first < locks; first += atOnce) {
        std::vector<zk::Op> ops;
        for (int i = first; i < first + atOnce; ++i) {
            const auto directory = "/many/" + QByteArray::number(i);
            ops.push_back(creationOf(directory, zk::CreateMode::Persistent));
            ops.push_back(creationOf(directory + "/lock-", zk::CreateMode::EphemeralSequential));
        }
        QVERIFY(await(m_maker->multi(std::move(ops), Deadline::never())));
    }
    const auto session = openBelow("/many");
    QVERIFY(session);
    UnlistedSession unlisted(*session);
    zk::EvidenceSource source(m_loop, {m_open->address()}, m_open->adminPort());
    ObserverOptions once{.follow = false};
    ZooKeeperObserver observer(unlisted, source, ConnectionName("zk"), "/many", once, m_sink);
    observer.start();
    QTRY_COMPARE(unlisted.held(), qsizetype(UnlistedSession::kept));
    QCOMPARE(unlisted.asked, UnlistedSession::kept);
    unlisted.letThrough();
    QVERIFY(await(observer.firstSnapshot(), false));
    QCOMPARE(unlisted.asked, locks);
    QCOMPARE(observer.snapshots().size(), std::size_t(UnlistedSession::kept));
}

LOCKSCOPE_TEST(TestZooKeeperObserverGaps)
#include "tst_zookeeper_observer_gaps.moc"
