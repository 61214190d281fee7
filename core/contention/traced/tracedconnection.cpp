// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedconnection.h"

#include <numeric>

namespace lockscope::contention {

namespace {

// RESP frames each word with its length and two line ends.
qint64 sizeOf(const QByteArrayList &words)
{
    return std::accumulate(words.begin(), words.end(), qint64(4),
                           [](qint64 sum, const QByteArray &word) { return sum + word.size() + 8; });
}

} // namespace

qint64 RedisMeasures::bytes(const redis::CommandRequest &request)
{
    return sizeOf(request.command);
}

qint64 RedisMeasures::bytes(const redis::PipelineRequest &request)
{
    return std::accumulate(request.commands.begin(), request.commands.end(), qint64(0),
                           [](qint64 sum, const auto &command) { return sum + sizeOf(command); });
}

qint64 RedisMeasures::bytes(const redis::ScriptRequest &request)
{
    return request.script.sha.size() + sizeOf(request.keys) + sizeOf(request.args);
}

qint64 RedisMeasures::answerBytes(const redis::Value &value)
{
    return std::accumulate(value.items.begin(), value.items.end(), qint64(value.text.size() + 4),
                           [](qint64 sum, const redis::Value &item) { return sum + answerBytes(item); });
}

qint64 RedisMeasures::answerBytes(const std::vector<redis::Value> &values)
{
    return std::accumulate(values.begin(), values.end(), qint64(0),
                           [](qint64 sum, const redis::Value &value) { return sum + answerBytes(value); });
}

std::function<void(const redis::Message &)> TracedConnection::observed(
    std::function<void(const redis::Message &)> listener)
{
    return [listener = std::move(listener), tracer = tracer()](const redis::Message &message) {
        tracer->woken(Mark::Message, message.payload, message.channel);
        listener(message);
    };
}

Subscription TracedConnection::kept(const QByteArray &channel, Subscription inner)
{
    const auto note = [channel, tracer = tracer()](const QByteArray &verb) {
        tracer->sent(verb, channel, sizeOf(QByteArrayList{verb, channel}));
        tracer->answered(verb, false, 0);
    };
    note(QByteArrayLiteral("SUBSCRIBE"));
    struct Both {
        Subscription inner;
        std::function<void()> end;
        ~Both() { end(); }
    };
    auto end = [note] { note(QByteArrayLiteral("UNSUBSCRIBE")); };
    return Subscription(std::shared_ptr<Both>(new Both{std::move(inner), std::move(end)}));
}

Subscription TracedConnection::subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener)
{
    auto subscription = inner().subscribe(channel, observed(std::move(listener)));
    return kept(channel, std::move(subscription));
}

Subscription TracedConnection::subscribePattern(QByteArray pattern,
                                                std::function<void(const redis::Message &)> listener)
{
    auto subscription = inner().subscribePattern(pattern, observed(std::move(listener)));
    return kept(pattern, std::move(subscription));
}

} // namespace lockscope::contention
