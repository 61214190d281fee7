// SPDX-License-Identifier: Apache-2.0
// The window hears of a deadlock, on every lock that is part of it, and that it is over.
#include "core/inspect/findings.h"
#include "core/workspace/livebackend.h"
#include "tests/support/testmain.h"
#include "tests/support/zookeeperfixture.h"

class TestBackendDeadlock : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_server;
    std::map<inspect::LockName, inspect::LockSnapshot> m_locks;

    using Session = std::unique_ptr<zk::Session>;
    Session openSession()
    {
        auto session = zk::openSession(m_loop, {.hosts = {m_server->address()}});
        return waitForState(*session, zk::SessionState::Connected) ? std::move(session) : nullptr;
    }
    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, patience); }
    bool put(zk::Session &session, const QByteArray &path, zk::CreateMode mode = zk::CreateMode::EphemeralSequential)
    {
        return bool(await(session.create(ZPath(path), "app", mode, zk::openAcl(), soon())));
    }
    void take(const Batch &batch)
    {
        for (const auto &change : batch.locks) {
            if (change.kind == inspect::ChangeKind::Removed)
                m_locks.erase(change.lock.lock);
            else
                m_locks.insert_or_assign(change.lock.lock, change.lock);
        }
    }
    [[nodiscard]] bool isInDeadlock(const QByteArray &lock) const
    {
        const auto at = m_locks.find({ConnectionName("zk"), lock});
        return at != m_locks.end() && at->second.find(inspect::FindingCode::Deadlock);
    }

private slots:
    void initTestCase() { START_OR_SKIP(m_server, sandbox::makeZooKeeper()); }
    void cleanupTestCase()
    {
        zk::waitForClosingSessions(std::chrono::seconds(5));
        m_server.reset();
    }

    void itIsSaidAndTakenBack()
    {
        const QByteArray name = "/0123456789abcdef0123456789abcdef__lock__";
        Session first = openSession(), second = openSession(), third = openSession();
        QVERIFY(first && second && third);
        for (const char *folder : {"/a", "/b", "/c"})
            QVERIFY(put(*first, folder, zk::CreateMode::Persistent));
        LiveBackend backend({});
        connect(&backend, &Backend::updated, this, &TestBackendDeadlock::take);
        ConnectionSpec spec{
            .name = ConnectionName("zk"), .hosts = {m_server->address()}, .adminPort = m_server->adminPort()};
        backend.execute(Connect{spec});
        QVERIFY(put(*first, "/a" + name) && put(*second, "/b" + name) && put(*third, "/c" + name));
        QVERIFY(put(*third, "/a" + name) && put(*second, "/a" + name));
        QTRY_COMPARE(m_locks.size(), std::size_t(3));
        QVERIFY(!isInDeadlock("/a") && !isInDeadlock("/b"));
        QVERIFY(put(*first, "/b" + name)); // closes it
        QTRY_VERIFY(isInDeadlock("/a") && isInDeadlock("/b"));
        QVERIFY(!isInDeadlock("/c"));
        // What the user calls a client is told of locks that nothing happens to, and so is that it is not any more.
        const auto holder = [this] { return m_locks.at({ConnectionName("zk"), "/a"}).contenders.front().label; };
        QCOMPARE(holder(), QString());
        backend.execute(SetClientLabels{{{first->id().text().toUtf8(), u"till"_s}}});
        QTRY_COMPARE(holder(), u"till"_s);
        QString planned;
        const auto &held = m_locks.at({ConnectionName("zk"), "/a"});
        backend.ask(PlanRelease{held.lock, held.contenders.front().id}, &backend,
                    [&planned](const Result<operate::ForceReleasePlan> &plan) {
                        planned = plan ? plan->before.contenders.front().label : plan.error().message;
                    });
        QTRY_COMPARE(planned, u"till"_s);
        QVERIFY(isInDeadlock("/a"));
        backend.execute(SetClientLabels{{}});
        QTRY_COMPARE(holder(), QString());
        QVERIFY(isInDeadlock("/a"));
        first.reset();
        QTRY_VERIFY(!isInDeadlock("/a") && !isInDeadlock("/b"));
        second.reset();
        third.reset();
    }
};

LOCKSCOPE_TEST(TestBackendDeadlock)
#include "tst_backend_deadlock.moc"
