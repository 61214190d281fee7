// SPDX-License-Identifier: Apache-2.0
// Our contenders beside other people's for one lock: what the tests across clients share. A pair is a
// recipe of ours and what it goes together with; further pairs are further rows.
#pragma once

#include "tests/interop/foreignclients.h"
#include "tests/interop/ours.h"
#include "tests/support/zookeeperfixture.h"

#include "core/recipes/make.h"
#include "core/redis/client.h"
#include "core/rules/turn.h"
#include "tests/support/patience.h"

#include <QTemporaryDir>

#include <algorithm>

namespace lockscope::interop {

using testing::await;

using testing::patienceMs;

enum class Client { Kazoo, Curator, RedisPy };

struct Pair {
    const char *name;
    QByteArray recipe; // ours
    bool read;         // ours is a reader
    Client client;
    QByteArray kind; // how their program calls theirs
    bool alone;      // nobody shares, on either side
};

inline const std::vector<Pair> &pairs()
{
    static const std::vector<Pair> all{
        {"zk-mutex, Curator's mutex", "zk-mutex", false, Client::Curator, "mutex", true},
        {"zk-mutex, kazoo's lock", "zk-mutex", false, Client::Kazoo, "lock-among-others", true},
        {"kazoo-lock, kazoo's lock", "kazoo-lock", false, Client::Kazoo, "lock", true},
        {"kazoo-rwlock, kazoo's write lock", "kazoo-rwlock", false, Client::Kazoo, "write", true},
        {"kazoo-rwlock reading, kazoo's write lock", "kazoo-rwlock", true, Client::Kazoo, "write", false},
        {"kazoo-rwlock, kazoo's read lock", "kazoo-rwlock", false, Client::Kazoo, "read", false},
        {"kazoo-semaphore, kazoo's semaphore", "kazoo-semaphore", false, Client::Kazoo, "semaphore", true},
        {"redis-set-nx, redis-py's lock", "redis-set-nx", false, Client::RedisPy, "lock", true},
    };
    return all;
}

class CrossFixture : public QObject {
protected:
    QtLoop m_loop;
    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    std::unique_ptr<sandbox::Server> m_redis;
    std::unique_ptr<zk::Session> m_session; // the onlooker's
    std::unique_ptr<redis::Connection> m_connection;
    std::vector<std::unique_ptr<Ours>> m_ours;
    QTemporaryDir m_files;
    Pair m_pair{};
    QByteArray m_lock; // path or key
    int m_count = 0;

    // What went wrong; empty if all is ready.
    QString startServers()
    {
        qputenv("XDG_STATE_HOME", m_files.path().toUtf8());
        for (const auto &problem : {testing::startInto(m_zooKeeper, sandbox::makeZooKeeper()),
                                    testing::startInto(m_redis, sandbox::makeRedis())}) {
            if (!problem.isEmpty())
                return problem;
        }
        m_session = newSession();
        m_connection = redis::openConnection(m_loop, {.host = m_redis->address()});
        const bool ready = QTest::qWaitFor(
            [&] {
                return m_session->state() == zk::SessionState::Connected
                       && m_connection->state() == redis::ConnectionState::Connected;
            },
            patienceMs);
        return ready ? QString() : QStringLiteral("no connection");
    }
    void stopServers()
    {
        m_session.reset();
        m_connection.reset();
        zk::waitForClosingSessions(10s);
    }

    static void pairsAsRows(bool (*wanted)(const Pair &))
    {
        QTest::addColumn<int>("pair");
        for (size_t i = 0; i < pairs().size(); ++i) {
            if (wanted(pairs()[i]))
                QTest::newRow(pairs()[i].name) << int(i);
        }
    }
    static bool any(const Pair &) { return true; }
    static bool queues(const Pair &pair) { return pair.client != Client::RedisPy; }

    // A fresh lock for the pair of the row.
    void begin()
    {
        const int row = *static_cast<int *>(QTest::qData("pair", qMetaTypeId<int>()));
        begin(pairs()[size_t(row)]);
    }
    void begin(const Pair &pair)
    {
        m_pair = pair;
        const auto number = QByteArray::number(++m_count);
        m_lock = pair.client == Client::RedisPy ? "cross-lock-" + number : "/cross/lock" + number;
    }
    Ours &ours(int limit = 1)
    {
        recipes::AcquireOptions options{.readMode = m_pair.read, .limit = limit};
        Random random(1000 + m_ours.size());
        auto session = m_pair.client == Client::RedisPy ? nullptr : newSession();
        auto made =
            session ? recipes::makeLock(m_pair.recipe, *session, ZPath(m_lock), options, std::move(random))
                    : recipes::makeLock(m_pair.recipe, *m_connection, RedisKey(m_lock), options, std::move(random));
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        m_ours.push_back(std::make_unique<Ours>(std::move(session), std::move(*made), m_loop));
        return *m_ours.back();
    }
    [[nodiscard]] QStringList theirServer() const
    {
        const auto &address = m_pair.client == Client::RedisPy ? m_redis->address() : m_zooKeeper->address();
        if (m_pair.client == Client::RedisPy)
            return {address.host, QString::number(address.port)};
        return {QStringLiteral("%1:%2").arg(address.host).arg(address.port)};
    }

    // Contenders that have come: nodes on ZooKeeper. The token lock leaves no trace of waiters, but each
    // try is a command.
    int come()
    {
        if (m_pair.client == Client::RedisPy) {
            const auto info = await(m_connection->command({"INFO", "commandstats"}, soon()));
            const QByteArray text = info ? info->text : QByteArray();
            const auto at = text.indexOf("cmdstat_set:calls=");
            return at < 0 ? 0 : text.mid(at + 18, text.indexOf(',', at) - at - 18).toInt();
        }
        return int(nodesIn(ZPath(m_lock)).size() + nodesIn(ZPath(m_lock + "-__lock__")).size());
    }
    bool comesBeyond(int before)
    {
        return QTest::qWaitFor([&] { return come() > before; }, patienceMs);
    }
    // The id of the one that holds, where there is one.
    QByteArray holder()
    {
        if (m_pair.client == Client::RedisPy) {
            const auto value = await(m_connection->command({"GET", m_lock}, soon()));
            return value ? value->text : QByteArray();
        }
        const auto names = nodesIn(ZPath(m_lock));
        if (names.isEmpty())
            return {};
        const NodeName name(names.first());
        const auto stat = await(m_session->exists(ZPath(m_lock).child(name), std::nullopt, soon()));
        return stat ? recipes::nodeContenderId(name, stat->czxid) : QByteArray();
    }
    QByteArrayList nodesIn(const ZPath &directory)
    {
        const auto listed = await(m_session->children(directory, std::nullopt, soon()));
        QByteArrayList names;
        for (const auto &name : listed ? listed->names : std::vector<NodeName>())
            names << name.bytes();
        std::ranges::sort(names, {}, [](const QByteArray &name) { return name.last(10); });
        return names;
    }
    bool isHeldBy(const Ours &one)
    {
        return QTest::qWaitFor([&] { return one.holds(); }, patienceMs);
    }

    [[nodiscard]] Deadline soon() const { return Deadline::after(m_loop, 20s); }
    [[nodiscard]] std::unique_ptr<zk::Session> newSession()
    {
        return zk::openSession(m_loop, {.hosts = {m_zooKeeper->address()}});
    }
};

} // namespace lockscope::interop
