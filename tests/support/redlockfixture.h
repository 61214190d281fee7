// SPDX-License-Identifier: Apache-2.0
// What the tests of Redlock share: several private Redis servers, an onlooker on each, and clients that have
// a counting connection to all of them.
#pragma once

#include "core/recipes/redis/locks.h"
#include "tests/support/contender.h"
#include "tests/support/countingredis.h"
#include "tests/support/redisfixture.h"

namespace lockscope::testing {

// One Redis server with a connection to look at it.
struct Node {
    std::unique_ptr<sandbox::Server> server;
    std::unique_ptr<redis::Connection> admin;

    redis::Value ask(redis::Command command) const
    {
        return valueOf(admin->command(std::move(command), Deadline::after(admin->loop(), 10s)));
    }
    [[nodiscard]] QByteArray stored(const QByteArray &key) const { return ask({"GET", key}).text; }
    void connectTo(Loop &loop) { admin = redis::openConnection(loop, optionsFor(server->address())); }
};

// Empty when all of them answer; else why not.
inline QString startNodes(Loop &loop, int count, std::vector<Node> &nodes)
{
    for (int i = 0; i < count; ++i) {
        auto made = sandbox::makeRedis();
        if (!made)
            return made.error().message;
        nodes.push_back({std::move(*made), nullptr});
        const auto started = nodes.back().server->start(20s);
        if (!started)
            return started.error().message;
        nodes.back().connectTo(loop);
        if (!becomes(*nodes.back().admin, redis::ConnectionState::Connected))
            return QStringLiteral("no connection to a private Redis");
    }
    return {};
}

// One client of the set.
struct SetClient {
    SetClient(Loop &loop, const std::vector<Node> &nodes)
    {
        for (const auto &node : nodes) {
            real.push_back(redis::openConnection(loop, optionsFor(node.server->address())));
            counting.push_back(std::make_unique<CountingRedis>(*real.back()));
        }
    }
    // The first so many.
    [[nodiscard]] recipes::RedisNodes ports(int count) const
    {
        recipes::RedisNodes all;
        for (int i = 0; i < count; ++i)
            all.push_back(counting[static_cast<std::size_t>(i)].get());
        return all;
    }
    [[nodiscard]] bool isConnected() const
    {
        return std::all_of(real.begin(), real.end(),
                           [](const auto &one) { return one->state() == redis::ConnectionState::Connected; });
    }
    void plan(int first, int last, const QByteArray &word, RequestFault fault)
    {
        for (int i = first; i <= last; ++i)
            counting[static_cast<std::size_t>(i)]->plan(word, fault);
    }
    void letThrough()
    {
        for (const auto &one : counting)
            one->letThrough();
    }
    void reset()
    {
        for (const auto &one : counting)
            one->reset();
    }
    // Of each of the first so many nodes.
    [[nodiscard]] QList<int> counts(const QByteArray &word, int nodes) const
    {
        QList<int> all;
        for (int i = 0; i < nodes; ++i)
            all << counting[static_cast<std::size_t>(i)]->count(word);
        return all;
    }
    [[nodiscard]] int requests() const
    {
        int all = 0;
        for (const auto &one : counting)
            all += one->requests();
        return all;
    }

    std::vector<std::unique_ptr<redis::Connection>> real;
    std::vector<std::unique_ptr<CountingRedis>> counting;
};

class SetContender : public testing::Contender {
public:
    SetContender(Loop &loop, std::unique_ptr<recipes::RedlockLock> made)
        : Contender(loop, std::move(made)), redlock(static_cast<recipes::RedlockLock &>(*lock))
    {
    }

    recipes::RedlockLock &redlock; // as long as there is the lock
};

} // namespace lockscope::testing
