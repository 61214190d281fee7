// SPDX-License-Identifier: Apache-2.0
// A simulated world with one Redis or several, and processes that are connected to them.
#pragma once

#include "core/async/scope.h"
#include "core/simservers/redis/server.h"

#include <QTest>

namespace lockscope::testing {

using namespace std::chrono_literals;

struct RedisWorld {
    explicit RedisWorld(int howManyServers = 1, quint64 seed = 1) : network(world, Random(seed), {200us, 300us})
    {
        for (int i = 0; i < howManyServers; ++i)
            servers.push_back(std::make_unique<sim::RedisServer>(network, i));
    }
    ~RedisWorld()
    {
        connections.clear();
        processes.clear();
    }

    sim::RedisServer &server(int number = 0) { return *servers[static_cast<std::size_t>(number)]; }
    sim::Process &addProcess()
    {
        processes.push_back(std::make_unique<sim::Process>(world, static_cast<int>(processes.size())));
        return *processes.back();
    }
    redis::Connection &connect(sim::Process &process, int toServer = 0)
    {
        connections.push_back(sim::openRedis(process, server(toServer)));
        return *connections.back();
    }

    Deadline soon() const { return Deadline::after(world, 500ms); }
    // What comes back within a second of the world's time.
    Result<redis::Value> resultOf(const Reply<redis::Value> &reply)
    {
        world.advance(1s);
        if (!reply.isComplete())
            return Error{ErrorCode::TimedOut, QStringLiteral("no answer within a second"), false};
        return reply.value();
    }
    Result<redis::Value> ask(redis::Connection &connection, redis::Command command)
    {
        return resultOf(connection.command(std::move(command), soon()));
    }
    // As text: "(nil)", "7", "value", "-ERR …".
    QByteArray tell(redis::Connection &connection, redis::Command command)
    {
        const auto answer = ask(connection, std::move(command));
        return answer ? textOf(*answer) : '-' + answer.error().message.toUtf8();
    }
    static QByteArray textOf(const redis::Value &value)
    {
        switch (value.kind) {
        case redis::Value::Kind::Nil: return "(nil)";
        case redis::Value::Kind::Integer: return QByteArray::number(value.integer);
        case redis::Value::Kind::Array: {
            QByteArrayList items;
            for (const auto &item : value.items)
                items << textOf(item);
            return '[' + items.join(' ') + ']';
        }
        case redis::Value::Kind::Error: return '-' + value.text;
        case redis::Value::Kind::Status:
        case redis::Value::Kind::Bulk: break;
        }
        return value.text;
    }

    VirtualLoop world;
    sim::Network network;
    std::vector<std::unique_ptr<sim::RedisServer>> servers;
    std::vector<std::unique_ptr<sim::Process>> processes;
    std::vector<std::unique_ptr<redis::Connection>> connections;
};

} // namespace lockscope::testing
