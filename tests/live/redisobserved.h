// SPDX-License-Identifier: Apache-2.0
// A private Redis with an observer at it, and somebody else who takes locks there.
#pragma once

#include "core/inspect/redis/observer.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/redisfixture.h"

namespace lockscope::testing {

using namespace inspect;

class RedisObserved : public QObject {
    Q_OBJECT

protected:
    const QByteArray token{"0123456789abcdef0123456789abcdef"};
    const QByteArray holderField{"3f1c6a52-8d0e-4b5f-9f0a-0d6e5c4b3a21:1"};
    const QByteArray waiterField{"9b2f4c1d-1111-4222-8333-444455556666:7"};

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_other; // the locking clients' connection
    std::unique_ptr<redis::Connection> m_connection;
    KeepingSink m_sink;
    std::unique_ptr<RedisObserver> m_observer;

    Deadline soon() const { return Deadline::after(m_loop, 15s); }
    // What another client does.
    QByteArray act(redis::Command command)
    {
        const auto value = valueOf(m_other->command(std::move(command), soon()));
        return value.kind == redis::Value::Kind::Integer ? QByteArray::number(value.integer) : value.text;
    }
    bool serve(sandbox::RedisOptions options = {})
    {
        auto made = sandbox::makeRedis(std::move(options));
        if (!made || !(*made)->start(10s))
            return false;
        m_server = std::move(*made);
        m_other = redis::openConnection(m_loop, optionsFor(m_server->address()));
        return becomes(*m_other, redis::ConnectionState::Connected);
    }
    qint64 commandsProcessed()
    {
        const QByteArray word("total_commands_processed:");
        const auto stats = act({"INFO", "stats"});
        return stats.mid(stats.indexOf(word) + word.size()).split('\r').front().toLongLong();
    }
    void observe(ObserverOptions options = {}, const QByteArray &user = {})
    {
        auto to = optionsFor(m_server->address());
        to.user = user;
        to.password = user.isEmpty() ? QByteArray() : QByteArray("pw");
        m_connection = redis::openConnection(m_loop, to);
        m_sink = {};
        m_observer = std::make_unique<RedisObserver>(*m_connection, ConnectionName("redis"), options, m_sink);
        m_observer->start();
    }
    bool firstSnapshot()
    {
        const auto first = m_observer->firstSnapshot();
        return eventually([&] { return first.isComplete(); });
    }
    const LockSnapshot *lockNamed(const QByteArray &name)
    {
        m_snapshots = m_observer->snapshots();
        for (const auto &snapshot : m_snapshots) {
            if (snapshot.lock.name == name)
                return &snapshot;
        }
        return nullptr;
    }
    bool appears(const QByteArray &name)
    {
        return eventually([&] { return lockNamed(name) != nullptr; });
    }
    bool goes(const QByteArray &name)
    {
        return eventually([&] { return lockNamed(name) == nullptr; });
    }
    void end()
    {
        m_observer.reset();
        m_connection.reset();
        m_other.reset();
        m_server.reset();
    }

    std::vector<LockSnapshot> m_snapshots;

private slots:
    void init()
    {
        if (!serve())
            QSKIP("redis-server is not installed or does not start");
    }
    void cleanup() { end(); }
};

} // namespace lockscope::testing
