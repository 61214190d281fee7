// SPDX-License-Identifier: Apache-2.0
#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/operate/gatedport.h"
#include "core/redis/connection.h"

#include <QSet>

namespace lockscope::operate {

namespace {

// What a Redis command is, said for the log: without secrets, escaped and cut.

// Commands of resources/rules/redis-read-only.txt: "GET"; or, of the families, "CLIENT LIST".
QSet<QByteArray> listedCommands(bool areSubcommands)
{
    QSet<QByteArray> all;
    for (const auto &line : readResource(u"rules/redis-read-only.txt"_s).split('\n')) {
        const auto colon = line.indexOf(':');
        if (line.isEmpty() || line.startsWith('#') || (colon >= 0) != areSubcommands)
            continue;
        for (const auto &word : line.mid(colon + 1).simplified().split(' '))
            all.insert(areSubcommands ? line.first(colon) + ' ' + word : word);
    }
    return all;
}

// The index from which the arguments are secret; the size where none is.
qsizetype firstSecret(const redis::Command &command)
{
    const auto name = command.value(0).toUpper();
    const auto sub = command.value(1).toUpper();
    if (name == "AUTH")
        return 1;
    if ((name == "CONFIG" && sub == "SET") || (name == "ACL" && sub == "SETUSER"))
        return 3;
    if (name == "HELLO" || name == "MIGRATE") {
        for (qsizetype i = 1; i < command.size(); ++i) {
            const auto word = command[i].toUpper();
            if (word == "AUTH" || word == "AUTH2")
                return i + 1;
        }
    }
    return command.size();
}

QString commandText(const redis::Command &command)
{
    constexpr int mostPerArgument = 60;
    constexpr qsizetype mostArguments = 12;
    const auto secret = firstSecret(command);
    QStringList words;
    for (qsizetype i = 0; i < std::min(command.size(), mostArguments); ++i) {
        if (i >= secret) {
            words << u"(not shown)"_s;
            break;
        }
        const auto word = label(command[i], mostPerArgument);
        words << (word.isEmpty() || word.contains(u' ') ? u'"' + word + u'"' : word);
    }
    if (command.size() > mostArguments && secret > mostArguments)
        words << u"… %1 more"_s.arg(command.size() - mostArguments);
    return words.join(u' ');
}

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

QString pipelineOutcome(const std::vector<redis::Value> &values)
{
    if (values.size() == 1)
        return outcomeOfValue(values.front());
    const auto errors = std::ranges::count_if(values, &redis::Value::isError);
    return errors == 0 ? u"ok, "_s + amountOf(qint64(values.size()), "answer"_L1, "answers"_L1)
                       : u"%1 answers, %2 of them errors"_s.arg(values.size()).arg(errors);
}

struct ConnectionWords {
    static constexpr bool repeatsStates = true;
    QString node; // "10.0.3.7:6379: " before everything in the log

    [[nodiscard]] QString text(const redis::CommandRequest &request) const
    {
        return node + commandText(request.command);
    }
    [[nodiscard]] QString text(const redis::PipelineRequest &request) const
    {
        return node + firstTexts(request.commands, 3, commandText);
    }
    [[nodiscard]] QString text(const redis::ScriptRequest &request) const
    {
        const redis::Command shown{"EVALSHA", request.script.name, QByteArray::number(request.keys.size())};
        return node + commandText(shown + request.keys + request.args);
    }
    [[nodiscard]] QString text(const redis::SubscriberIdRequest &) const
    {
        return node + u"CLIENT ID (subscriber)"_s;
    }

    static bool isWrite(const redis::CommandRequest &request) { return operate::isWrite(request.command); }
    static bool isWrite(const redis::PipelineRequest &request)
    {
        return std::ranges::any_of(request.commands, operate::isWrite);
    }
    // A script may do anything; nobody reads Lua here to find out.
    static bool isWrite(const redis::ScriptRequest &) { return true; }
    static bool isWrite(const redis::SubscriberIdRequest &) { return false; }

    static QString outcome(const redis::Value &value) { return outcomeOfValue(value); }
    static QString outcome(const std::vector<redis::Value> &values) { return pipelineOutcome(values); }
    static QString outcome(qint64 id) { return u"ok, %1"_s.arg(id); }

    [[nodiscard]] QString stateText(const redis::Connection &, redis::ConnectionState state) const
    {
        return node + u"connection: "_s + stateWord(state);
    }
};

class GatedConnection final : public GatedPort<redis::ForwardingConnection, ConnectionWords> {
public:
    using GatedPort::GatedPort;

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

private:
    void logSubscription(const redis::Command &command)
    {
        if (const auto entry = key()->gate->enter(words().node + commandText(command), false))
            key()->gate->leave(*entry, u"ok"_s, Duration::zero());
    }

    std::function<void(const redis::Message &)> noting(std::function<void(const redis::Message &)> listener) const
    {
        return [weak = std::weak_ptr(key()), node = words().node,
                listener = std::move(listener)](const redis::Message &message) {
            if (const auto alive = weak.lock())
                alive->gate->event(
                    node + u"message on %1: %2"_s.arg(label(message.channel, 80), label(message.payload, 80)));
            listener(message);
        };
    }
};

} // namespace

bool isWrite(const redis::Command &command)
{
    if (command.isEmpty())
        return true;
    static const auto readOnlyCommands = listedCommands(false);
    static const auto readOnlySubcommands = listedCommands(true);
    const auto name = command[0].toUpper();
    if (readOnlyCommands.contains(name))
        return false;
    if (command.size() == 1)
        return name != "COMMAND";
    return !readOnlySubcommands.contains(name + ' ' + command[1].toUpper());
}

std::unique_ptr<redis::Connection> gated(redis::Connection &connection, Gate &gate, const QString &node)
{
    return std::make_unique<GatedConnection>(connection, nullptr, gate,
                                             ConnectionWords{node.isEmpty() ? QString() : node + u": "_s});
}

} // namespace lockscope::operate
