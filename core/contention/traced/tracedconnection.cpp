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
qint64 sizeOf(const redis::Value &value)
{
    return std::accumulate(value.items.begin(), value.items.end(), qint64(value.text.size() + 4),
                           [](qint64 sum, const redis::Value &item) { return sum + sizeOf(item); });
}
qint64 sizeOf(const std::vector<redis::Value> &values)
{
    return std::accumulate(values.begin(), values.end(), qint64(0),
                           [](qint64 sum, const redis::Value &value) { return sum + sizeOf(value); });
}

} // namespace

template <class T>
Reply<T> TracedConnection::heard(const QByteArray &verb, Reply<T> reply)
{
    reply.observe([verb, trace = m_trace, contender = m_contender,
                   alive = std::weak_ptr<bool>(m_alive)](const Result<T> &result) {
        if (!alive.expired())
            trace->answered(contender, verb, !result, result ? sizeOf(*result) : 0);
    });
    return reply;
}

std::function<void(const redis::Message &)> TracedConnection::observed(
    std::function<void(const redis::Message &)> listener)
{
    return [listener = std::move(listener), trace = m_trace, contender = m_contender,
            alive = std::weak_ptr<bool>(m_alive)](const redis::Message &message) {
        if (!alive.expired())
            trace->woken(contender, Mark::Message, message.payload, message.channel);
        listener(message);
    };
}

Subscription TracedConnection::kept(const QByteArray &channel, Subscription inner)
{
    m_trace->sent(m_contender, QByteArrayLiteral("SUBSCRIBE"), channel, sizeOf(QByteArrayList{"SUBSCRIBE", channel}));
    m_trace->answered(m_contender, QByteArrayLiteral("SUBSCRIBE"), false, 0);
    struct Both {
        Subscription inner;
        std::function<void()> end;
        ~Both() { end(); }
    };
    auto end = [channel, trace = m_trace, contender = m_contender, alive = std::weak_ptr<bool>(m_alive)] {
        if (alive.expired())
            return;
        trace->sent(contender, QByteArrayLiteral("UNSUBSCRIBE"), channel,
                    sizeOf(QByteArrayList{"UNSUBSCRIBE", channel}));
        trace->answered(contender, QByteArrayLiteral("UNSUBSCRIBE"), false, 0);
    };
    return Subscription(std::shared_ptr<Both>(new Both{std::move(inner), std::move(end)}));
}

Reply<redis::Value> TracedConnection::command(redis::Command command, Deadline deadline)
{
    const auto verb = command.value(0);
    m_trace->sent(m_contender, verb, command.value(1), sizeOf(command));
    return heard(verb, inner().command(std::move(command), deadline));
}

Reply<std::vector<redis::Value>> TracedConnection::pipeline(std::vector<redis::Command> commands, Deadline deadline)
{
    const auto verb = commands.empty() ? QByteArray() : commands.front().value(0);
    const auto where = commands.empty() ? QByteArray() : commands.front().value(1);
    const auto bytes = std::accumulate(commands.begin(), commands.end(), qint64(0),
                                       [](qint64 sum, const auto &command) { return sum + sizeOf(command); });
    m_trace->sent(m_contender, verb, where, bytes);
    return heard(verb, inner().pipeline(std::move(commands), deadline));
}

Reply<redis::Value> TracedConnection::script(redis::Script script, QByteArrayList keys, QByteArrayList args,
                                             Deadline deadline)
{
    const auto verb = script.name;
    m_trace->sent(m_contender, verb, keys.value(0), script.sha.size() + sizeOf(keys) + sizeOf(args));
    return heard(verb, inner().script(std::move(script), std::move(keys), std::move(args), deadline));
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
