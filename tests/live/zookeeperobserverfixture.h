// SPDX-License-Identifier: Apache-2.0
// What the tests of ZooKeeper's observer share: a server that allows everything and one that answers little, clients
// that queue as Curator's mutex does, and an observer with what it told.
#pragma once

#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/zookeeperfixture.h"

#include "core/inspect/zookeeper/observer.h"

#include <QTest>

namespace lockscope::testing {

using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

class ZooKeeperObserverFixture : public QObject {
    Q_OBJECT

protected:
    // One client with one node in one queue.
    struct Client {
        std::unique_ptr<zk::Session> session;
        ZPath node;
    };

    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_open;   // allows everything
    std::unique_ptr<sandbox::ZooKeeperServer> m_strict; // answers srvr only, no AdminServer
    sandbox::ZooKeeperServer *m_server = nullptr;       // where clients() go
    std::unique_ptr<zk::Session> m_maker;               // makes directories
    int m_uuid = 0;
    QByteArrayList m_queue; // nodes in the order joined

    KeepingSink m_sink;
    std::unique_ptr<zk::Session> m_session;
    std::unique_ptr<zk::EvidenceSource> m_source;
    std::unique_ptr<inspect::ZooKeeperObserver> m_observer;

    // Why it cannot be tried here; empty: the servers run.
    QString startServers()
    {
        auto server = sandbox::makeZooKeeper();
        if (!server)
            return server.error().message;
        m_open = std::move(*server);
        m_strict = std::move(*sandbox::makeZooKeeper({.adminServer = false, .fourLetterWords = "srvr"}));
        if (!m_open->start(30s) || !m_strict->start(30s))
            qFatal("a private ZooKeeper did not start");
        m_server = m_open.get();
        m_maker = open(*m_open);
        if (!m_maker)
            qFatal("no session on a private ZooKeeper");
        return {};
    }

    std::unique_ptr<zk::Session> open(const sandbox::ZooKeeperServer &server, zk::SessionOptions options = {})
    {
        if (options.hosts.empty())
            options.hosts = {server.address()};
        auto session = zk::openSession(m_loop, std::move(options));
        return waitForState(*session, zk::SessionState::Connected) ? std::move(session) : nullptr;
    }

    // One to which that folder is all there is.
    std::unique_ptr<zk::Session> openBelow(const QByteArray &chroot)
    {
        zk::SessionOptions below{.hosts = {m_open->address()}, .chroot = chroot};
        return open(*m_open, std::move(below));
    }
    void ensure(const QByteArray &path)
    {
        for (auto slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1))
            m_maker->create(ZPath(path.left(slash)), {}, zk::CreateMode::Persistent, zk::openAcl(),
                            Deadline::never());
        m_maker->create(ZPath(path), {}, zk::CreateMode::Persistent, zk::openAcl(), Deadline::never());
        QVERIFY(await(m_maker->exists(ZPath(path), {}, Deadline::never())));
    }

    // Joins a queue; waiters watch the node before theirs.
    Client join(const QByteArray &directory, const QByteArray &base = "-lock-")
    {
        Client client{open(*m_server), {}};
        if (!client.session)
            return client;
        const auto uuid = "_c_00000000-0000-4000-8000-" + QByteArray::number(++m_uuid).rightJustified(12, '0');
        const auto made =
            await(client.session->create(ZPath(directory + '/' + uuid + base), "10.0.0.1",
                                         zk::CreateMode::EphemeralSequential, zk::openAcl(), Deadline::never()));
        if (!made)
            return client;
        client.node = made->path;
        if (!m_queue.isEmpty()
            && !await(client.session->get(ZPath(m_queue.back()), zk::Watch(m_loop), Deadline::never())))
            qWarning("the node before is gone");
        m_queue.append(client.node.bytes());
        return client;
    }

    void look(const sandbox::ZooKeeperServer &server, inspect::ObserverOptions options = {},
              zk::SessionOptions how = {})
    {
        const auto chroot = how.chroot;
        m_session = open(server, std::move(how));
        QVERIFY(m_session);
        m_source = std::make_unique<zk::EvidenceSource>(m_loop, std::vector{server.address()}, server.adminPort());
        m_observer = std::make_unique<inspect::ZooKeeperObserver>(*m_session, *m_source, ConnectionName("zk"), chroot,
                                                                  options, m_sink);
        m_observer->start();
        QVERIFY(await(m_observer->firstSnapshot(), false));
    }

    Result<inspect::LockSnapshot> readNow(const QByteArray &name)
    {
        return finish(m_loop, m_observer->readNow(name, Deadline::after(m_loop, 10s)));
    }

private slots:
    void initTestCase() { SKIP_FOR(startServers()); }
    void cleanup()
    {
        QVERIFY(m_sink.isConsistent);
        m_observer.reset();
        m_source.reset();
        m_session.reset();
        m_sink = {};
        m_queue.clear();
        if (m_server != m_open.get()) {
            m_server = m_open.get();
            m_maker = open(*m_open);
        }
    }

    void cleanupTestCase()
    {
        m_maker.reset();
        zk::waitForClosingSessions(10s);
        m_open.reset();
        m_strict.reset();
    }
};

} // namespace lockscope::testing
