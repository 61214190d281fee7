// SPDX-License-Identifier: Apache-2.0
// What ZooKeeper's observer shows while nothing comes back: as of when it was read, and anew at once when the
// connection is back. On virtual time, without the servers' commands.
#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/observer.h"
#include "tests/simulate/zookeeperworld.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

const QByteArray queue = "/locks/it";

// When each change arrived.
struct DatingSink : KeepingSink {
    explicit DatingSink(Loop &of) : loop(of) {}
    void note(SnapshotChange change) override
    {
        told.emplace_back(loop.now(), change.lock);
        KeepingSink::note(std::move(change));
    }
    Loop &loop;
    std::vector<std::pair<Instant, LockSnapshot>> told;
};

ServerTime wallTimeOf(const Loop &loop)
{
    return std::chrono::time_point_cast<std::chrono::milliseconds>(loop.wallNow());
}

} // namespace

class TestZooKeeperObserved : public QObject {
    Q_OBJECT

    std::unique_ptr<ZooKeeperWorld> m_world;
    std::vector<ZooKeeperWorld::Client> m_clients;
    std::vector<ZPath> m_nodes; // in the queue, the holder's first
    ZooKeeperWorld::Client m_watching;
    std::unique_ptr<DatingSink> m_sink;
    std::unique_ptr<zk::EvidenceSource> m_source;
    std::unique_ptr<ZooKeeperObserver> m_observer;

    // Three in a queue, and an observer that has seen them.
    void begin(std::chrono::milliseconds timeout)
    {
        m_world = std::make_unique<ZooKeeperWorld>(5);
        const auto admin = m_world->open();
        QVERIFY(m_world->make(admin, "/locks"));
        QVERIFY(m_world->make(admin, queue));
        for (int i = 0; i < 3; ++i) {
            m_clients.push_back(m_world->open());
            const auto made = m_world->make(m_clients.back(), queue + "/lock-", zk::CreateMode::EphemeralSequential);
            QVERIFY(made);
            m_nodes.push_back(made->path);
        }
        keeper::SessionOptions options{.timeout = timeout};
        m_watching = m_world->open(options);
        auto &process = *m_watching.process;
        m_sink = std::make_unique<DatingSink>(process);
        m_source = std::make_unique<zk::EvidenceSource>(process, std::vector<HostPort>(), quint16(0));
        m_observer = std::make_unique<ZooKeeperObserver>(*m_watching.session, *m_source, ConnectionName("zk"),
                                                         QByteArray(), ObserverOptions{}, *m_sink);
        m_observer->start();
        QVERIFY(m_world->waitFor([this] { return m_observer->firstSnapshot().isComplete(); }));
        QCOMPARE(holder(), m_nodes[0]);
    }
    [[nodiscard]] ZPath holder() const
    {
        const auto *lock = m_sink->find(queue);
        return lock && !lock->contenders.empty() ? ZPath(lock->contenders.front().guard.znode().path) : ZPath();
    }
    [[nodiscard]] bool isReportedLate() const { return m_sink->says(u"they have not been read since"_s); }
    void leave(std::size_t which)
    {
        QVERIFY(m_world->await(m_clients[which]->remove(m_nodes[which], zk::anyVersion, Deadline::never())));
    }

private slots:
    void cleanup()
    {
        m_world->network.setWatcher({}, {});
        m_observer.reset();
        m_source.reset();
        m_watching.session.reset(); // before its process
        m_watching.process.reset();
        m_clients.clear();
        m_nodes.clear();
        m_world.reset();
        m_sink.reset();
    }

    void aLostReadIsRepeatedOnceTheConnectionIsBack_data()
    {
        QTest::addColumn<int>("seconds");
        for (const int seconds : {1, 3, 6})
            QTest::addRow("lost after %d s", seconds) << seconds;
    }
    void aLostReadIsRepeatedOnceTheConnectionIsBack()
    {
        QFETCH(const int, seconds);
        begin(10s);
        const auto number = m_watching.process->number();
        // The event comes through, and the read that it causes goes out; its answer does not come back.
        bool isOut = false;
        m_world->network.setWatcher(
            [&](const Message &sent, std::optional<Instant>) {
                if (sent.process != number || sent.direction != Direction::ToServer || std::exchange(isOut, true))
                    return;
                m_world->network.block(number, 0, Direction::ToClient);
            },
            [] {});
        leave(0);
        QVERIFY(m_world->waitFor([&] { return isOut; }));
        leave(1);
        const auto toldBefore = m_sink->told.size();
        m_world->loop.advance(std::chrono::seconds(seconds));
        QCOMPARE(holder(), m_nodes[0]);
        QCOMPARE(m_sink->told.size(), toldBefore);

        m_world->network.breakLinks(number);
        m_world->network.open(number, 0, Direction::ToClient);
        QVERIFY(m_world->waitFor([this] { return m_watching->state() != zk::SessionState::Connected; }));
        QVERIFY(m_world->waitFor([this] { return isReportedLate(); }));
        QVERIFY(m_world->waitFor([this] { return m_watching->state() == zk::SessionState::Connected; }));
        const auto back = m_world->loop.now();
        QVERIFY(m_world->waitFor([this] { return holder() == m_nodes[2]; }));
        QVERIFY(m_world->loop.now() - back < 1s);
        QVERIFY(m_world->waitFor([this] { return !isReportedLate(); }));
    }

    // A finding by age is no reason to call an old list a new one.
    void aSilentServerMakesNothingNewer()
    {
        begin(60s); // so long is silence no reason to connect again
        const auto number = m_watching.process->number();
        m_world->loop.advance(5s);
        QVERIFY(m_sink->looks > 0);
        m_world->network.block(number, 0, Direction::ToClient);
        const auto silentSince = wallTimeOf(*m_watching.process);
        leave(0);
        const auto toldBefore = m_sink->told.size();
        const auto looksBefore = m_sink->looks;
        m_world->loop.advance(35s);
        for (auto i = toldBefore; i < m_sink->told.size(); ++i)
            QVERIFY(m_sink->told[i].second.observed <= silentSince);
        QVERIFY(m_observer->snapshots().front().observed <= silentSince);
        QCOMPARE(m_sink->looks, looksBefore);
        m_world->network.open(number, 0, Direction::ToClient);
        QVERIFY(m_world->waitFor([this] { return holder() == m_nodes[1]; }));
        QVERIFY(m_sink->find(queue)->observed > silentSince);
    }

    // What the watches have not contradicted is as new as the last answer: ages go on, and findings by age come.
    void aQuietLockStaysUpToDate()
    {
        begin(10s);
        for (int i = 0; i < 45; ++i) { // past the threshold of long-held
            m_world->loop.advance(15s);
            const auto age = wallTimeOf(*m_watching.process) - m_observer->snapshots().front().observed;
            QVERIFY2(age < 12s, qPrintable(QString::number(age.count()))); // asked about each 10 s here
        }
        QVERIFY(m_observer->snapshots().front().find(FindingCode::LongHeld));
    }
};

LOCKSCOPE_TEST(TestZooKeeperObserved)
#include "tst_zookeeper_observed.moc"
