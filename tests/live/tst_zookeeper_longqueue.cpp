// SPDX-License-Identifier: Apache-2.0
// A lock of a real server that 10,000 wait for: what a look at it costs, and what each hand-over; and what a long
// queue costs at rest, on virtual time.
#include "zookeeperobserverfixture.h"
#include "tests/simulate/zookeeperworld.h"
#include "tests/support/countingsession.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

#ifdef LOCKSCOPE_SANITIZED
constexpr int waiters = 2'000; // more than are read again each minute
constexpr int handOvers = 5;
#else
constexpr int waiters = 10'000;
constexpr int handOvers = 20;
#endif
const QByteArray orders = "/long/orders";

} // namespace

class TestZooKeeperLongQueue : public ZooKeeperObserverFixture {
    Q_OBJECT

    std::unique_ptr<zk::Session> m_queued; // all of them are its

    [[nodiscard]] QByteArrayList joinMany(int count)
    {
        std::vector<Reply<std::vector<zk::OpResult>>> made;
        for (int at = 0; at < count; at += 100) {
            std::vector<zk::Op> ops;
            for (int i = at; i < std::min(at + 100, count); ++i) {
                zk::Op op{.kind = zk::Op::Kind::Create, .mode = zk::CreateMode::EphemeralSequential};
                const auto number = QByteArray::number(i).rightJustified(12, '0');
                op.path = ZPath(orders + "/_c_00000000-0000-4000-8000-" + number + "-lock-");
                op.data = "10.0.0.1";
                op.acls = zk::openAcl();
                ops.push_back(std::move(op));
            }
            made.push_back(m_queued->multi(std::move(ops), Deadline::never()));
        }
        QByteArrayList nodes;
        for (const auto &reply : made) {
            const auto results = await(reply);
            for (const auto &one : results ? *results : std::vector<zk::OpResult>())
                nodes << one.created.bytes();
        }
        return nodes;
    }
    [[nodiscard]] bool isHeldBy(const QByteArray &node) const
    {
        const auto *lock = m_sink.find(orders);
        return lock && !lock->contenders.empty() && lock->contenders.front().guard.znode().path == node
               && lock->contenders.front().role == Role::Holder;
    }

private slots:
    void handOverCostsFewRequests()
    {
        ensure(orders);
        m_queued = open(*m_open);
        QVERIFY(m_queued);
        const auto nodes = joinMany(waiters + handOvers + 1);
        QCOMPARE(nodes.size(), waiters + handOvers + 1);
        m_session = open(*m_open);
        QVERIFY(m_session);
        CountingSession counting(*m_session);
        m_source = std::make_unique<zk::EvidenceSource>(m_loop, std::vector{m_open->address()}, m_open->adminPort());
        m_observer = std::make_unique<ZooKeeperObserver>(counting, *m_source, ConnectionName("zk"), QByteArray(),
                                                         ObserverOptions{}, m_sink);
        m_observer->start();
        QVERIFY(await(m_observer->firstSnapshot(), false));
        QTRY_VERIFY(isHeldBy(nodes[0]));
        // Each is read once.
        const int read = counting.count(RequestKind::Get);
        QVERIFY2(read >= nodes.size() && read < nodes.size() + 100, counting.spoken());

        counting.reset();
        const auto questions = m_source->questions();
        const int looks = m_sink.looks;
        const auto begun = m_loop.now();
        for (int i = 0; i < handOvers; ++i) {
            QVERIFY(await(m_queued->remove(ZPath(nodes[i]), zk::anyVersion, Deadline::never())));
            QTRY_VERIFY(isHeldBy(nodes[i + 1]));
            QCOMPARE(m_sink.find(orders)->waiterCount(), int(nodes.size()) - i - 2);
        }
        // The list each time; of the others nothing is read again because of it.
        const int heard = m_sink.looks - looks + 2; // whether the server is heard is asked once a second
        QVERIFY2(counting.count(RequestKind::Children) <= 2 * handOvers + heard, counting.spoken());
        const auto minutes = std::chrono::floor<std::chrono::minutes>(m_loop.now() - begun).count();
        const int partReadAgain = 700 * (1 + int(minutes)); // of what may have changed, each minute
        QVERIFY2(counting.count(RequestKind::Get) <= heard + partReadAgain, counting.spoken());
        qInfo("%d hand-overs: %s; %lld questions to the server's commands; heard %d times", handOvers,
              counting.spoken().constData(), qlonglong(m_source->questions() - questions), heard);
        m_observer.reset(); // before what it asks
        m_queued.reset();
    }

    // What its clients wrote may change: who is near its turn is read again each minute, of the others a part.
    void atRestItIsAskedLittle()
    {
        constexpr int many = 1500;
        ZooKeeperWorld world;
        const auto waiting = world.open();
        const ZPath folder("/orders");
        QVERIFY(
            world.await(waiting->create(folder, {}, zk::CreateMode::Persistent, zk::openAcl(), Deadline::never())));
        std::vector<Reply<zk::Created>> made;
        for (int i = 0; i < many; ++i)
            made.push_back(waiting->create(folder.child(NodeName("_c_00000000-0000-4000-8000-000000000000-lock-")),
                                           "10.0.0.1", zk::CreateMode::EphemeralSequential, zk::openAcl(),
                                           Deadline::never()));
        QVERIFY(world.await(made.back()));
        const auto watching = world.open();
        CountingSession counting(*watching.session);
        zk::EvidenceSource nobodyAnswers(*watching.process, {}, 0);
        ZooKeeperObserver observer(counting, nobodyAnswers, ConnectionName("zk"), {}, {}, m_sink);
        observer.start();
        const auto identityOf = [this](int place) {
            const auto *lock = m_sink.find("/orders");
            const bool isWhole = lock && int(lock->contenders.size()) == many;
            return isWhole ? lock->contenders[std::size_t(place)].identity.value_or("none") : QByteArray();
        };
        QVERIFY(world.waitFor([&] { return identityOf(0) == "10.0.0.1" && identityOf(many - 1) == "10.0.0.1"; }));
        for (const int place : {0, many - 1}) {
            const auto path = made[std::size_t(place)].value()->path;
            QVERIFY(world.await(waiting->set(path, "10.0.0.2", zk::anyVersion, Deadline::never())));
        }
        world.loop.advance(90s);
        QCOMPARE(identityOf(0), QByteArray("10.0.0.2"));
        counting.reset();
        constexpr int minutes = 3;
        world.loop.advance(std::chrono::minutes(minutes));
        QVERIFY2(counting.count(RequestKind::Get) <= (minutes + 1) * 700, counting.spoken());
        QCOMPARE(identityOf(many - 1), QByteArray("10.0.0.2"));
    }
};

LOCKSCOPE_TEST(TestZooKeeperLongQueue)
#include "tst_zookeeper_longqueue.moc"
