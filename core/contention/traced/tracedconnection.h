// SPDX-License-Identifier: Apache-2.0
// A Redis connection that tells the trace what is sent and heard over it, as one contender's: that of the
// process which has it, since a process shares its subscriptions.
#pragma once

#include "core/contention/traced/tracedport.h"
#include "core/redis/connection.h"

namespace lockscope::contention {

struct RedisMeasures {
    static constexpr qint64 errorBytes = 0;

    static QByteArray verb(const redis::CommandRequest &request) { return request.command.value(0); }
    static QByteArray verb(const redis::PipelineRequest &request) { return wordOf(request, 0); }
    static QByteArray verb(const redis::ScriptRequest &request) { return request.script.name; }

    static QByteArray where(const redis::CommandRequest &request) { return request.command.value(1); }
    static QByteArray where(const redis::PipelineRequest &request) { return wordOf(request, 1); }
    static QByteArray where(const redis::ScriptRequest &request) { return request.keys.value(0); }

    static qint64 bytes(const redis::CommandRequest &request);
    static qint64 bytes(const redis::PipelineRequest &request);
    static qint64 bytes(const redis::ScriptRequest &request);
    static qint64 answerBytes(const redis::Value &value);
    static qint64 answerBytes(const std::vector<redis::Value> &values);

private:
    // Of its first command.
    static QByteArray wordOf(const redis::PipelineRequest &request, qsizetype place)
    {
        return request.commands.empty() ? QByteArray() : request.commands.front().value(place);
    }
};

class TracedConnection : public TracedPort<redis::ForwardingConnection, RedisMeasures> {
public:
    using TracedPort::TracedPort;

    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override;
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override;

private:
    [[nodiscard]] std::function<void(const redis::Message &)> observed(
        std::function<void(const redis::Message &)> listener);
    // Tells of the SUBSCRIBE, and of the UNSUBSCRIBE when it is let go.
    [[nodiscard]] Subscription kept(const QByteArray &channel, Subscription inner);
};

} // namespace lockscope::contention
