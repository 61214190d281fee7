// SPDX-License-Identifier: Apache-2.0
// Our mutex on etcd beside concurrency.Mutex of its Go client: they queue in one queue, each is woken by the other,
// and together they keep one number right. What the Go program holds is seen as held.
#include "core/async/qtloop.h"
#include "core/etcd/client.h"
#include "core/inspect/etcd/observer.h"
#include "core/operate/etcd.h"
#include "core/recipes/make.h"
#include "core/sandbox/server.h"
#include "tests/interop/counting.h"
#include "tests/interop/fetched.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/patience.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>

using namespace lockscope::interop;
using inspect::Role;

class TestInteropEtcd : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<etcd::Client> m_client;
    std::vector<std::unique_ptr<Ours>> m_ours;
    std::unique_ptr<ForeignClient> m_program;
    QTemporaryDir m_files;
    int m_locks = 0;

    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, 20s); }
    Ours &ours(const QByteArray &lock)
    {
        auto made = recipes::makeLock("etcd-mutex", *m_client, lock, {}, Random::fromSystem());
        m_ours.push_back(std::make_unique<Ours>(nullptr, *std::move(made), m_loop));
        return *m_ours.back();
    }
    QByteArray newLock() { return "interop/orders-" + QByteArray::number(++m_locks); }
    Result<inspect::LockSnapshot> look(const QByteArray &lock)
    {
        testing::KeepingSink sink;
        inspect::EtcdObserver observer(*m_client, ConnectionName("etcd"), {}, {}, sink);
        return testing::finish(m_loop, observer.readNow(lock, soon()));
    }
    bool isQueued(const QByteArray &lock, qsizetype count)
    {
        return testing::eventually([&] {
            const auto seen = look(lock);
            return seen && std::ssize(seen->contenders) == count;
        });
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(whyNotFetched("ETCD"));
        START_OR_SKIP(m_server, sandbox::makeEtcd());
        m_client = etcd::openClient(m_loop, {.hosts = {m_server->address()}});
        QVERIFY(testing::eventually([&] { return m_client->state() == etcd::ClientState::Connected; }));
        m_program = std::make_unique<ForeignClient>(fetched("ETCD"),
                                                    QStringList{u"127.0.0.1:%1"_s.arg(m_server->address().port)});
        QVERIFY2(m_program->says("ready"), m_program->everythingSaid());
    }
    void cleanup() { m_ours.clear(); }
    void cleanupTestCase()
    {
        m_program.reset();
        m_client.reset();
        m_server.reset();
    }

    void weWaitForThem()
    {
        const auto lock = newLock();
        m_program->tell("acquire w1 " + lock + " 60");
        QVERIFY2(m_program->says("held w1"), m_program->everythingSaid());
        auto &us = ours(lock);
        us.acquire();
        QVERIFY(isQueued(lock, 2));
        const auto seen = look(lock);
        QVERIFY(seen && seen->recipe == "etcd-mutex" && seen->contenders[0].role == Role::Holder);
        QVERIFY(m_program->hasSaid("held w1 " + seen->contenders[0].guard.etcd().key));
        QVERIFY(!us.holds());
        m_program->tell("release w1");
        QVERIFY(testing::eventually([&] { return us.holds(); }));
        QVERIFY(us.givesBack());
    }
    void theyWaitForUs()
    {
        const auto lock = newLock();
        auto &us = ours(lock);
        QVERIFY2(us.takes(), qPrintable(us.error()));
        m_program->tell("acquire t1 " + lock + " 60");
        QVERIFY(isQueued(lock, 2));
        QVERIFY(!m_program->hasSaid("held t1"));
        QVERIFY(us.givesBack());
        QVERIFY2(m_program->says("held t1"), m_program->everythingSaid());
        m_program->tell("release t1");
        QVERIFY2(m_program->says("released t1"), m_program->everythingSaid());
    }
    // First come, first served, whoever it is.
    void theyStandInOneQueue()
    {
        const auto lock = newLock();
        auto &first = ours(lock);
        QVERIFY(first.takes());
        m_program->tell("acquire q1 " + lock + " 60");
        QVERIFY(isQueued(lock, 2));
        auto &third = ours(lock);
        third.acquire();
        QVERIFY(isQueued(lock, 3));
        QVERIFY(first.givesBack());
        QVERIFY2(m_program->says("held q1"), m_program->everythingSaid());
        QVERIFY(!third.holds());
        m_program->tell("release q1");
        QVERIFY(testing::eventually([&] { return third.holds(); }));
        QVERIFY(third.givesBack());
    }
    void oneNumberStaysRight()
    {
        const auto lock = newLock();
        std::vector<std::unique_ptr<ForeignClient>> programs;
        programs.push_back(std::move(m_program));
        const std::vector<Ours *> us{&ours(lock), &ours(lock)};
        const auto wrong = countTogether(programs, lock, us, m_loop, m_files.filePath(u"number"_s));
        m_program = std::move(programs.front());
        QVERIFY2(wrong.isEmpty(), wrong);
    }
    // The read/write lock of the Go client's recipes, from its own keys.
    void theirReadersAndWritersAreSeen()
    {
        const auto lock = newLock();
        for (const auto *reader : {"r1", "r2"}) {
            m_program->tell(QByteArray("read ") + reader + ' ' + lock + " 60");
            QVERIFY2(m_program->says(QByteArray("held ") + reader), m_program->everythingSaid());
        }
        m_program->tell("write w1 " + lock + " 60");
        QVERIFY(isQueued(lock, 3));
        m_program->tell("read r3 " + lock + " 60");
        QVERIFY(isQueued(lock, 4));
        const auto seen = look(lock);
        QVERIFY(seen && seen->recipe == "etcd-rwmutex" && seen->holderCount() == 2);
        const auto &queue = seen->contenders;
        QVERIFY(queue[0].mode == inspect::Mode::Read && queue[1].mode == inspect::Mode::Read);
        QVERIFY(queue[2].mode == inspect::Mode::Write && queue[2].watches.front().target == queue[1].id);
        QVERIFY(queue[3].mode == inspect::Mode::Read && queue[3].watches.front().target == queue[2].id);
        QVERIFY(!m_program->hasSaid("held w1") && !m_program->hasSaid("held r3"));
        m_program->tell("release r1");
        QVERIFY2(m_program->says("released r1"), m_program->everythingSaid());
        QVERIFY(!m_program->hasSaid("held w1"));
        m_program->tell("release r2");
        QVERIFY2(m_program->says("held w1"), m_program->everythingSaid());
        const auto writing = look(lock);
        QVERIFY(writing && writing->contenders[0].role == Role::Holder && writing->holderCount() == 1);
        QCOMPARE(writing->contenders[0].id, queue[2].id);
        m_program->tell("release w1");
        QVERIFY2(m_program->says("held r3"), m_program->everythingSaid());
        m_program->tell("release r3");
        QVERIFY2(m_program->says("released r3"), m_program->everythingSaid());
    }
    // By its key alone the Go program does not notice; by its lease it does.
    void ownerOfAnEndedLeaseIsNotified()
    {
        const auto lock = newLock();
        m_program->tell("acquire l1 " + lock + " 6");
        QVERIFY2(m_program->says("held l1"), m_program->everythingSaid());
        const auto seen = look(lock);
        auto plan = operate::planWay(*seen, seen->contenders[0].id, operate::ReleaseAction::EndLease);
        QVERIFY(plan);
        plan->leaseKeys = {seen->contenders[0].guard.etcd().key};
        QVERIFY(testing::finish(m_loop, operate::sendRelease(*plan, m_client.get(), soon())));
        QVERIFY2(m_program->says("lost l1"), m_program->everythingSaid());
    }
};

LOCKSCOPE_TEST(TestInteropEtcd)
#include "tst_interop_etcd.moc"
