// SPDX-License-Identifier: Apache-2.0
// Redis servers that answer at once what a test wrote down for them, and connections to them.
#pragma once

#include "core/async/port.h"
#include "core/async/virtualloop.h"
#include "core/redis/clusternodes.h"
#include "core/redis/connection.h"

#include <QTest>

namespace lockscope::testing {

inline redis::Value redisBulk(const QByteArray &text)
{
    return {redis::Value::Kind::Bulk, 0, text, {}};
}
inline redis::Value redisError(const QByteArray &text)
{
    return {redis::Value::Kind::Error, 0, text, {}};
}
inline redis::Value redisNumber(qint64 number)
{
    return {redis::Value::Kind::Integer, number, {}, {}};
}
inline redis::Value redisList(std::vector<redis::Value> items)
{
    return {redis::Value::Kind::Array, 0, {}, std::move(items)};
}

// What a fake server is and was asked.
struct FakeRedisServer {
    std::function<redis::Value(const redis::Command &)> answer;
    bool isDown = false;
    qint64 subscriberId = 1;
    QByteArrayList asked; // words joined by blanks, CLUSTER SLOTS left out
    std::vector<std::weak_ptr<std::function<void(const redis::Message &)>>> listeners;
    QByteArrayList topics, shards;
    StateListeners<redis::ConnectionState> states;
};

class FakeRedisConnection final : public redis::Connection, public redis::ShardedSubscriber {
public:
    FakeRedisConnection(VirtualLoop &onLoop, std::shared_ptr<FakeRedisServer> server)
        : m_loop(onLoop), m_server(std::move(server))
    {
    }
    [[nodiscard]] Loop &loop() const override { return m_loop; }
    [[nodiscard]] redis::ConnectionState state() const override
    {
        return m_server->isDown ? redis::ConnectionState::Connecting : redis::ConnectionState::Connected;
    }
    [[nodiscard]] QString lastError() const override
    {
        return m_server->isDown ? QStringLiteral("connection refused") : QString();
    }
    Subscription onState(std::function<void(redis::ConnectionState)> listener) override
    {
        return m_server->states.add(std::move(listener));
    }
    void send(Request &&request) override
    {
        std::visit(
            [this](const auto &asked) {
                auto result = resultOf(asked.request);
                if (m_server->isDown)
                    asked.reply.complete(Error{ErrorCode::NotConnected, lastError(), true});
                else
                    asked.reply.complete(std::move(result));
            },
            request);
    }
    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override
    {
        m_server->topics << channel;
        auto kept = std::make_shared<std::function<void(const redis::Message &)>>(std::move(listener));
        m_server->listeners.push_back(kept);
        return Subscription(std::move(kept));
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override
    {
        return subscribe(pattern, std::move(listener));
    }
    Subscription subscribeSharded(QByteArray channel, std::function<void(const redis::Message &)>) override
    {
        m_server->shards << channel;
        return Subscription(std::make_shared<int>(0));
    }

private:
    Result<redis::Value> resultOf(const redis::CommandRequest &request)
    {
        auto answer = answerTo(request.command);
        if (answer.isError())
            return Error{ErrorCode::Server, QString::fromLatin1(answer.text), false};
        return answer;
    }
    Result<std::vector<redis::Value>> resultOf(const redis::PipelineRequest &request)
    {
        std::vector<redis::Value> answers;
        for (const auto &command : request.commands)
            answers.push_back(answerTo(command));
        return answers;
    }
    Result<redis::Value> resultOf(const redis::ScriptRequest &request)
    {
        return resultOf(redis::CommandRequest{{"EVALSHA", request.script.name}});
    }
    [[nodiscard]] Result<qint64> resultOf(const redis::SubscriberIdRequest &) const { return m_server->subscriberId; }

    redis::Value answerTo(const redis::Command &command)
    {
        if (m_server->isDown)
            return {};
        if (command.first() != "CLUSTER")
            m_server->asked << command.join(' ');
        return m_server->answer(command);
    }

    VirtualLoop &m_loop;
    std::shared_ptr<FakeRedisServer> m_server;
};

} // namespace lockscope::testing
