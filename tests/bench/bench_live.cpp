// SPDX-License-Identifier: Apache-2.0
// How long from a change on the server to the painted row: another client joins a queue (ZooKeeper), or
// takes and gives back a key (Redis); the window's table says so. Held against a plain client in the same
// process that waits for the same event.
#include "core/async/qtloop.h"
#include "core/redis/client.h"
#include "core/workspace/livebackend.h"
#include "core/zookeeper/client.h"
#include "tests/bench/report.h"
#include "tests/support/startedserver.h"
#include "ui/mainwindow.h"
#include "ui/models/locksmodel.h"
#include "ui/pages/page.h"

#include <QAbstractItemView>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QTest>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

constexpr int rounds = 40;
const inspect::LockName queueLock{ConnectionName("zk"), "/locks/orders"};
const inspect::LockName keyLock{ConnectionName("redis"), "orders-lock"};

// Whether the table has been painted since its model last changed.
class PaintWatch : public QObject {
public:
    explicit PaintWatch(QAbstractItemView &view)
    {
        view.viewport()->installEventFilter(this);
        const auto changed = [this] { isUpToDate = false; };
        connect(view.model(), &QAbstractItemModel::dataChanged, this, changed);
        connect(view.model(), &QAbstractItemModel::rowsInserted, this, changed);
        connect(view.model(), &QAbstractItemModel::rowsRemoved, this, changed);
        connect(view.model(), &QAbstractItemModel::layoutChanged, this, changed);
    }
    bool isUpToDate = false;

private:
    bool eventFilter(QObject *, QEvent *event) override
    {
        if (event->type() == QEvent::Paint)
            isUpToDate = true;
        return false;
    }
};

} // namespace

class BenchLive : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    std::unique_ptr<sandbox::Server> m_redis;
    QtLoop m_loop;
    std::unique_ptr<zk::Session> m_writer;
    std::unique_ptr<zk::Session> m_listener;
    std::unique_ptr<redis::Connection> m_keys;
    std::unique_ptr<LiveBackend> m_backend;
    std::unique_ptr<ui::MainWindow> m_window;
    ui::LocksModel *m_locks = nullptr;
    std::unique_ptr<PaintWatch> m_table;

    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, 10s); }
    [[nodiscard]] int contenders(const inspect::LockName &lock) const
    {
        const auto *snapshot = m_locks->snapshot(lock);
        return snapshot ? int(snapshot->contenders.size()) : 0;
    }
    // Runs the thread's events until it is so; QTRY would look only every few milliseconds.
    template <class F>
    static bool runUntil(F isSo)
    {
        QElapsedTimer timer;
        timer.start();
        while (!isSo() && timer.elapsed() < 20'000)
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 5);
        return isSo();
    }
    // From now until the table has been painted with so many contenders. The peer's event, if any, is
    // timed on the way.
    template <class F>
    bool timeUntilPainted(const inspect::LockName &lock, int count, bench::Medians &ours, F onTheWay)
    {
        QElapsedTimer timer;
        timer.start();
        const bool painted = runUntil([&] {
            onTheWay(timer);
            return contenders(lock) == count && m_table->isUpToDate;
        });
        ours.add(timer.nsecsElapsed());
        return painted;
    }

private slots:
    void initTestCase()
    {
        START_OR_SKIP(m_zooKeeper, sandbox::makeZooKeeper());
        START_OR_SKIP(m_redis, sandbox::makeRedis());
        zk::SessionOptions session{.hosts = {m_zooKeeper->address()}};
        m_writer = zk::openSession(m_loop, session);
        m_listener = zk::openSession(m_loop, session);
        redis::ConnectionOptions connection{.host = m_redis->address()};
        m_keys = redis::openConnection(m_loop, connection);
        QVERIFY(runUntil([&] {
            return m_writer->state() == zk::SessionState::Connected
                   && m_listener->state() == zk::SessionState::Connected
                   && m_keys->state() == redis::ConnectionState::Connected;
        }));
        for (const char *path : {"/locks", "/locks/orders", "/locks/orders/lock-"}) {
            const auto mode =
                QByteArray(path).endsWith('-') ? zk::CreateMode::EphemeralSequential : zk::CreateMode::Persistent;
            const auto made = m_writer->create(ZPath(path), {}, mode, zk::openAcl(), soon());
            QVERIFY(runUntil([&] { return made.isComplete(); }) && made.value());
        }

        m_backend = std::make_unique<LiveBackend>(WorkspaceOptions{});
        m_window = std::make_unique<ui::MainWindow>(*m_backend);
        m_window->resize(1440, 900);
        m_window->show();
        m_window->pages().all();
        ConnectionSpec spec{
            .name = queueLock.connection, .hosts = {m_zooKeeper->address()}, .adminPort = m_zooKeeper->adminPort()};
        m_backend->execute(Connect{spec});
        ConnectionSpec keys{.name = keyLock.connection, .scheme = Scheme::Redis, .hosts = {m_redis->address()}};
        m_backend->execute(Connect{keys});
        QVERIFY(runUntil([&] { return m_window->isFirstSnapshotComplete(); }));
        for (auto *view : m_window->findChildren<QAbstractItemView *>()) {
            auto *model = qobject_cast<ui::LocksModel *>(view->model());
            if (model && !qobject_cast<QHeaderView *>(view)) {
                m_locks = model;
                m_table = std::make_unique<PaintWatch>(*view);
            }
        }
        QVERIFY(m_locks);
        QVERIFY(runUntil([&] { return contenders(queueLock) == 1; }));
    }

    void aWaiterJoins()
    {
        bench::Medians ours;
        bench::Medians plain;
        for (int round = 0; round < rounds; ++round) {
            const zk::Watch watch(m_loop);
            const auto listed = m_listener->children(ZPath(queueLock.name), watch, soon());
            QVERIFY(runUntil([&] { return listed.isComplete(); }));
            bench::runFor(30ms); // between two changes all is quiet
            const auto made = m_writer->create(ZPath(queueLock.name).child(NodeName("lock-")), {},
                                               zk::CreateMode::EphemeralSequential, zk::openAcl(), soon());
            bool heard = false;
            QVERIFY(timeUntilPainted(queueLock, round + 2, ours, [&](const QElapsedTimer &timer) {
                if (!heard && watch.event().isComplete()) {
                    heard = true;
                    plain.add(timer.nsecsElapsed());
                }
            }));
            QVERIFY(made.isComplete() && made.value());
        }
        bench::report(u"ZooKeeper: a waiter joins a shown lock, until its row is painted (limit 50 ms at p99)"_s,
                      ours);
        bench::report(u"ZooKeeper: … ÷ the watch event at a plain client"_s, ours, plain);
    }

    void aKeyComesAndGoes()
    {
        const auto command = [&](const redis::Command &words) {
            const auto reply = m_keys->command(words, soon());
            return runUntil([&] { return reply.isComplete(); }) && reply.value();
        };
        const redis::Command take{"SET", keyLock.name, "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11", "NX", "PX", "60000"};
        // Found by the sweep; from then on it is a shown lock.
        QVERIFY(command(take));
        QVERIFY(runUntil([&] { return contenders(keyLock) == 1; }));
        bench::Medians ours;
        bench::Medians plain;
        for (int round = 0; round < rounds; ++round) {
            bench::runFor(30ms);
            QElapsedTimer trip;
            trip.start();
            QVERIFY(command({"PING"}));
            plain.add(trip.nsecsElapsed());
            const bool taking = round % 2 == 1;
            const auto reply = m_keys->command(taking ? take : redis::Command{"DEL", keyLock.name}, soon());
            QVERIFY(timeUntilPainted(keyLock, taking ? 1 : 0, ours, [](const QElapsedTimer &) {}));
            QVERIFY(reply.isComplete() && reply.value());
        }
        bench::report(u"Redis: a shown key is deleted or set, until the table is painted (limit 50 ms at p99)"_s,
                      ours);
        bench::report(u"Redis: … ÷ one PING of a plain client"_s, ours, plain);
    }

    void cleanupTestCase()
    {
        m_window.reset();
        m_backend.reset();
        m_keys.reset();
        m_writer.reset();
        m_listener.reset();
        zk::waitForClosingSessions(5s);
    }
};

QTEST_MAIN(BenchLive)
#include "bench_live.moc"
