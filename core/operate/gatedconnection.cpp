// SPDX-License-Identifier: Apache-2.0
#include "core/base/counting.h"
#include "core/base/text.h"
#include "core/operate/gateinterceptor.h"
#include "core/operate/rediscommands.h"
#include "core/redis/forwardingconnection.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

QString outcomeOfValue(const redis::Value &value)
{
    using Kind = redis::Value::Kind;
    switch (value.kind) {
    case Kind::Nil: return u"ok, nil"_s;
    case Kind::Status: return value.text == "OK" ? u"ok"_s : u"ok, "_s + label(value.text, 40);
    case Kind::Error: return label(value.text, 120);
    case Kind::Integer: return u"ok, %1"_s.arg(value.integer);
    // The value itself stays out: it may be anything, and long.
    case Kind::Bulk: return u"ok, "_s + amountOf(value.text.size(), "byte"_L1, "bytes"_L1);
    case Kind::Array: return u"ok, "_s + amountOf(qint64(value.items.size()), "item"_L1, "items"_L1);
    }
    return {};
}

QString pipelineText(const std::vector<redis::Command> &commands)
{
    constexpr std::size_t mostShown = 3;
    QStringList parts;
    for (std::size_t i = 0; i < std::min(commands.size(), mostShown); ++i)
        parts << commandText(commands[i]);
    if (commands.size() > mostShown)
        parts << u"… %1 more"_s.arg(commands.size() - mostShown);
    return parts.join(u"; "_s);
}

QString pipelineOutcome(const std::vector<redis::Value> &values)
{
    if (values.size() == 1)
        return outcomeOfValue(values.front());
    const auto errors =
        std::count_if(values.begin(), values.end(), [](const auto &value) { return value.isError(); });
    return errors == 0 ? u"ok, "_s + amountOf(qint64(values.size()), "answer"_L1, "answers"_L1)
                       : u"%1 answers, %2 of them errors"_s.arg(values.size()).arg(errors);
}

QString scriptText(const redis::Script &script, const QByteArrayList &keys, const QByteArrayList &args)
{
    redis::Command shown{"EVALSHA", script.name, QByteArray::number(keys.size())};
    return commandText(shown + keys + args);
}

QString word(redis::ConnectionState state)
{
    switch (state) {
    case redis::ConnectionState::Connecting: return u"connecting"_s;
    case redis::ConnectionState::Connected: return u"connected"_s;
    case redis::ConnectionState::AuthFailed: return u"authentication failed"_s;
    case redis::ConnectionState::Closed: return u"closed"_s;
    }
    return {};
}

class GatedConnection final : public redis::ForwardingConnection {
public:
    GatedConnection(redis::Connection &connection, Gate &gate, const QString &node)
        : ForwardingConnection(connection), m_key(std::make_shared<GateKey>(GateKey{&gate})),
          m_node(node.isEmpty() ? QString() : node + u": "_s)
    {
        m_states = connection.onState(
            [this](redis::ConnectionState state) { m_key->gate->state(m_node + u"connection: "_s + word(state)); });
    }

    Reply<redis::Value> command(redis::Command command, Deadline deadline) override
    {
        return pass<redis::Value>(
            commandText(command), isWrite(command), [&] { return inner().command(command, deadline); },
            outcomeOfValue);
    }
    Reply<std::vector<redis::Value>> pipeline(std::vector<redis::Command> commands, Deadline deadline) override
    {
        const bool write = std::any_of(commands.begin(), commands.end(), isWrite);
        return pass<std::vector<redis::Value>>(
            pipelineText(commands), write, [&] { return inner().pipeline(commands, deadline); }, pipelineOutcome);
    }
    Reply<redis::Value> script(redis::Script script, QByteArrayList keys, QByteArrayList args,
                               Deadline deadline) override
    {
        // A script may do anything; nobody reads Lua here to find out.
        return pass<redis::Value>(
            scriptText(script, keys, args), true, [&] { return inner().script(script, keys, args, deadline); },
            outcomeOfValue);
    }

    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override
    {
        logSubscription({"SUBSCRIBE", channel});
        return inner().subscribe(channel, noting(std::move(listener)));
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override
    {
        logSubscription({"PSUBSCRIBE", pattern});
        return inner().subscribePattern(pattern, noting(std::move(listener)));
    }
    Reply<qint64> subscriberId(Deadline deadline) override
    {
        return pass<qint64>(
            u"CLIENT ID (subscriber)"_s, false, [&] { return inner().subscriberId(deadline); },
            [](qint64 id) { return u"ok, %1"_s.arg(id); });
    }

private:
    template <class T, class Send, class Describe>
    Reply<T> pass(const QString &text, bool write, Send send, Describe describe)
    {
        return passThrough<T>(m_key, inner().loop(), m_node + text, write, send, describe);
    }

    void logSubscription(const redis::Command &command)
    {
        if (const auto entry = m_key->gate->enter(m_node + commandText(command), false))
            m_key->gate->leave(*entry, u"ok"_s, Duration::zero());
    }

    std::function<void(const redis::Message &)> noting(std::function<void(const redis::Message &)> listener) const
    {
        return [weak = std::weak_ptr(m_key), node = m_node,
                listener = std::move(listener)](const redis::Message &message) {
            if (const auto alive = weak.lock())
                alive->gate->event(
                    node + u"message on %1: %2"_s.arg(label(message.channel, 80), label(message.payload, 80)));
            listener(message);
        };
    }

    std::shared_ptr<GateKey> m_key;
    QString m_node; // "10.0.3.7:6379: " before everything in the log
    Subscription m_states;
};

} // namespace

std::unique_ptr<redis::Connection> gated(redis::Connection &connection, Gate &gate, const QString &node)
{
    return std::make_unique<GatedConnection>(connection, gate, node);
}

} // namespace lockscope::operate
