// SPDX-License-Identifier: Apache-2.0
// Contenders for a lock on a real Redis: processes that count and fail, each with a connection of its
// own, their locks, and what came of what was asked of them.
#pragma once

#include "core/recipes/make.h"
#include "tests/support/redisfixture.h"
#include "tests/support/contender.h"
#include "tests/support/countingredis.h"

#include <algorithm>

namespace lockscope::testing {

using RedisContender = testing::Contender;

class RedisRecipeFixture : public QObject {
    Q_OBJECT

protected:
    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_admin;
    std::vector<std::unique_ptr<redis::Connection>> m_connections;
    std::vector<std::unique_ptr<CountingRedis>> m_processes;
    std::vector<std::unique_ptr<RedisContender>> m_contenders;
    QByteArray m_recipe;
    QByteArray m_key = "orders";

    redis::Value ask(redis::Command command)
    {
        return valueOf(m_admin->command(std::move(command), Deadline::after(m_loop, 10s)));
    }
    bool exists(const QByteArray &key) { return ask({"EXISTS", key}).integer == 1; }
    // Keys and values one after the other, as the server tells them; a hash's in the order of its fields.
    QByteArrayList list(redis::Command command)
    {
        QByteArrayList texts;
        for (const auto &item : ask(std::move(command)).items)
            texts << item.text;
        return texts;
    }
    QByteArrayList keys()
    {
        auto all = list({"KEYS", "*"});
        std::sort(all.begin(), all.end());
        return all;
    }
    qint64 listeners(const QByteArray &channel) { return ask({"PUBSUB", "NUMSUB", channel}).items.back().integer; }

    // A process of its own.
    CountingRedis &process()
    {
        m_connections.push_back(redis::openConnection(m_loop, optionsFor(m_server->address())));
        if (!becomes(*m_connections.back(), redis::ConnectionState::Connected))
            qFatal("the server does not answer");
        m_processes.push_back(std::make_unique<CountingRedis>(*m_connections.back()));
        return *m_processes.back();
    }
    RedisContender &add(CountingRedis &redis, const recipes::AcquireOptions &options = {})
    {
        auto made = recipes::makeLock(m_recipe, redis, RedisKey(m_key), options, Random(1000 + m_contenders.size()));
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        return add(std::move(*made));
    }
    RedisContender &add(std::unique_ptr<recipes::Lock> lock)
    {
        m_contenders.push_back(std::make_unique<RedisContender>(m_loop, std::move(lock)));
        return *m_contenders.back();
    }
    // It has tried with this script, listened, and tried again.
    static bool waitsNow(RedisContender &one, CountingRedis &redis, const QByteArray &enter,
                         Deadline deadline = Deadline::never())
    {
        const int before = redis.count(enter);
        one.acquire(deadline);
        return eventually([&] { return redis.count(enter) == before + 2; });
    }
    static recipes::AcquireOptions withTtl(std::chrono::milliseconds ttl)
    {
        return recipes::AcquireOptions{.ttl = ttl};
    }
    // What went wrong; empty if it answers. Without a server to start there is no m_server afterwards.
    QString startServer()
    {
        if (const auto problem = startInto(m_server, sandbox::makeRedis()); !problem.isEmpty())
            return problem;
        m_admin = redis::openConnection(m_loop, optionsFor(m_server->address()));
        return becomes(*m_admin, redis::ConnectionState::Connected) ? QString() : QStringLiteral("no connection");
    }
    void forgetContenders()
    {
        m_contenders.clear();
        m_processes.clear();
        m_connections.clear();
        ask({"FLUSHALL"});
    }

private slots:
    void initTestCase() { OK_OR_SKIP(m_server, startServer()); }
    void cleanup() { forgetContenders(); }
};

} // namespace lockscope::testing
