// SPDX-License-Identifier: Apache-2.0
// Whether the window stays fluid when 50,000 locks change ten times a second each: more than a server tells, so the
// changes are made here and given to the window as its backend does, the newest of each lock in batches, the next one
// when the last is taken. Prints how long the GUI thread was busy in a turn, how often a lock was told anew, and what
// the window keeps for a lock; then how long it is busy with one shown lock that 10,000 wait for. Asserts only that
// what should be on screen is there. LOCKSCOPE_BENCH_LOCKS (50000) and LOCKSCOPE_BENCH_SECONDS (60).
#include "tests/bench/metered.h"
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "ui/mainwindow.h"
#include "ui/models/locksmodel.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/page.h"
#include "ui/theme/theme.h"

#include <QFile>
#include <QTest>

#include <atomic>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

int sizeOf(const char *variable, int otherwise)
{
    const int given = qEnvironmentVariableIntValue(variable);
    return given > 0 ? given : otherwise;
}

qint64 residentBytes()
{
    QFile file(u"/proc/self/statm"_s);
    return file.open(QIODevice::ReadOnly) ? file.readAll().split(' ').value(1).toLongLong() * 4096 : 0;
}

inspect::LockSnapshot lockOf(int number, int turn)
{
    const auto now = testing::serverTime(std::chrono::system_clock::now());
    auto lock = testing::redisLock("redis", "order:" + QByteArray::number(number) + ":lock", 30s, now);
    lock.contenders.front().id = "client-" + QByteArray::number(turn);
    return lock;
}

} // namespace

class BenchFlood : public QObject {
    Q_OBJECT

    testing::FakeBackend m_backend;
    std::unique_ptr<ui::MainWindow> m_window;
    const int m_locks = sizeOf("LOCKSCOPE_BENCH_LOCKS", 50'000);
    const int m_seconds = sizeOf("LOCKSCOPE_BENCH_SECONDS", 60);

    // As the I/O thread does it: a frame later, the next batch, once the last one is taken. Returns how many changes
    // were told.
    qint64 flood(int inBatch, std::chrono::seconds duration)
    {
        std::atomic<bool> isTaken = true, isOver = false;
        std::atomic<qint64> told = 0;
        const auto feeding = [&] {
            int next = 0, turn = 1;
            while (!isOver) {
                Batch batch;
                for (int i = 0; i < inBatch; ++i) {
                    batch.locks.push_back(testing::change(inspect::ChangeKind::Changed, lockOf(next, turn)));
                    next = (next + 1) % m_locks;
                    turn += next == 0 ? 1 : 0;
                }
                QThread::msleep(16);
                while (!isTaken && !isOver)
                    QThread::msleep(1);
                isTaken = false;
                QMetaObject::invokeMethod(&m_backend, [&, batch = std::move(batch)] {
                    m_backend.tell(batch);
                    told += std::ssize(batch.locks);
                    isTaken = true;
                });
            }
        };
        const std::unique_ptr<QThread> feed(QThread::create(feeding));
        feed->start();
        bench::runFor(duration);
        isOver = true;
        feed->wait();
        QCoreApplication::sendPostedEvents(&m_backend); // what was on its way
        return told;
    }

private slots:
    void initTestCase()
    {
        m_window = std::make_unique<ui::MainWindow>(m_backend);
        m_window->resize(1440, 900);
        m_window->show();
        m_window->pages().all();
        m_backend.notifyConnection(
            testing::connectedStatus("redis", Scheme::Redis, false, std::chrono::system_clock::now()));
        const auto before = residentBytes();
        std::vector<inspect::SnapshotChange> all;
        for (int i = 0; i < m_locks; ++i)
            all.push_back(testing::change(inspect::ChangeKind::Added, lockOf(i, 0)));
        const auto turns = bench::metered().during([&] {
            m_backend.notifyLocks(std::exchange(all, {}));
            bench::runFor(2s);
        });
        QCOMPARE(m_window->locksPage().model().rowCount(), m_locks);
        bench::report(u"GUI thread, one turn, while %1 locks are shown first"_s.arg(m_locks), turns);
        bench::Medians bytes;
        bytes.addValue(double(residentBytes() - before) / m_locks);
        bench::Medians goal;
        goal.addValue(2048);
        bench::reportRatio(u"what the window keeps for a lock, of 2 KB"_s, bytes, goal, u"bytes"_s);
    }

    void changes_data()
    {
        QTest::addColumn<int>("inBatch");
        QTest::newRow("as they are told") << 1000;
        QTest::newRow("all at once, if they were") << m_locks;
    }
    void changes()
    {
        QFETCH(const int, inBatch);
        qint64 told = 0;
        const auto turns = bench::metered().during([&] { told = flood(inBatch, std::chrono::seconds(m_seconds)); });
        QVERIFY(told > 0);
        bench::report(u"GUI thread, one turn, %1 locks that change all the time, %2 in a batch, each told anew "
                      u"%3 times a second"_s.arg(m_locks)
                          .arg(inBatch)
                          .arg(double(told) / m_locks / m_seconds, 0, 'f', 2),
                      turns);
    }

    // Each change is told as the I/O thread does: an event of the window's, with the whole queue in it.
    void oneLongQueue()
    {
        constexpr int waiters = 10'000;
        constexpr int handOffs = 20;
        auto lock = testing::queueLock("zk", "/locks/orders", waiters + handOffs,
                                       testing::serverTime(std::chrono::system_clock::now()));
        m_backend.notifyConnection(
            testing::connectedStatus("zk", Scheme::ZooKeeper, false, std::chrono::system_clock::now()));
        m_backend.notifyLocks({testing::change(inspect::ChangeKind::Added, lock)});
        m_window->selectLock(lock.lock);
        bench::runFor(1s);
        const auto turns = bench::metered().during([&] {
            for (int i = 0; i < handOffs; ++i) {
                lock.contenders.erase(lock.contenders.begin());
                lock.contenders.front().role = inspect::Role::Holder;
                for (std::size_t place = 0; place < lock.contenders.size(); ++place)
                    lock.contenders[place].position = static_cast<int>(place);
                Batch news;
                news.locks.push_back(testing::change(inspect::ChangeKind::Changed, lock));
                QMetaObject::invokeMethod(
                    &m_backend, [this, news = std::move(news)] { m_backend.tell(news); }, Qt::QueuedConnection);
                bench::runFor(100ms);
            }
        });
        QCOMPARE(m_window->locksPage().model().snapshot(lock.lock)->waiterCount(), waiters);
        bench::report(
            u"GUI thread, one turn, a shown lock that %1 wait for, handed on %2 times"_s.arg(waiters).arg(handOffs),
            turns);
    }
};

int main(int argc, char **argv)
{
    bench::MeteredApplication application(argc, argv);
    const ui::Theme theme(application, ui::ThemeChoice::Light);
    BenchFlood bench;
    return QTest::qExec(&bench, argc, argv);
}

#include "bench_flood.moc"
