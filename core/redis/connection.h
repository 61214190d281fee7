// SPDX-License-Identifier: Apache-2.0
// The Redis port: what recipes, the inspector and the gate see of one Redis.
//
// Commands are sent when called and answered in order through the returned Reply. Errors: NotConnected when nothing
// was sent, UnknownOutcome when the connection broke or the deadline passed while the command was out, TimedOut when
// the deadline had passed before it was sent, BadInput for commands that change the protocol (SUBSCRIBE, MONITOR …),
// AuthFailed, NoPermission (NOPERM), TooLarge, Server for any other error reply. All members: loop thread only.
#pragma once

#include "core/async/port.h"
#include "core/base/bytes.h"

#include <QByteArrayList>

#include <typeindex>

namespace lockscope::redis {

struct Value {
    enum class Kind { Nil, Status, Error, Integer, Bulk, Array };
    Kind kind = Kind::Nil;
    qint64 integer = 0;
    QByteArray text; // Status, Error and Bulk
    std::vector<Value> items;

    [[nodiscard]] bool isNil() const { return kind == Kind::Nil; }
    [[nodiscard]] bool isError() const { return kind == Kind::Error; }
};

// One command with its arguments: {"SET", key, value, "NX"}.
using Command = QByteArrayList;

// A Lua script from resources, known to the server by the SHA-1 of its text.
struct Script {
    QByteArray name; // for the command log: "redis-set-nx/release"
    QByteArray text;
    QByteArray sha; // lower-case hex
};

struct Message {
    QByteArray channel;
    QByteArray pattern; // empty unless from a pattern subscription
    // On "__redis__:invalidate" one Message per key; an empty payload there means that every key may
    // have changed (FLUSHALL).
    QByteArray payload;
};

// Told on every change; Connecting also when another attempt failed (lastError says why); Connected also when only
// the pub/sub connection broke and is back: its subscriberId() is another one then, and messages may have been lost.
enum class ConnectionState { Connecting, Connected, AuthFailed, Closed };

// Every request there is, as a value.

struct CommandRequest {
    using Answer = Value;
    Command command;
};
struct PipelineRequest {
    using Answer = std::vector<Value>;
    std::vector<Command> commands;
};
struct ScriptRequest {
    using Answer = Value;
    Script script;
    QByteArrayList keys, args;
};
struct SubscriberIdRequest {
    using Answer = qint64;
};

class Connection : public Port<ConnectionState, CommandRequest, PipelineRequest, ScriptRequest, SubscriberIdRequest> {
public:
    [[nodiscard]] virtual QString lastError() const = 0;             // why it is not connected; empty when it is
    [[nodiscard]] virtual bool isExplained() const { return false; } // of that: Error::isExplained
    // A cluster can be connected while some of its nodes are away: the slots that nobody serves, and why. Empty:
    // none.
    [[nodiscard]] virtual QString missing() const { return {}; }
    [[nodiscard]] virtual bool isServed(const QByteArray & /*key*/) const { return true; }

    // An error reply of the server is an Error, never a Value.
    Reply<Value> command(Command command, Deadline deadline)
    {
        return ask(CommandRequest{std::move(command)}, deadline);
    }
    // One round trip; each part's own error reply stays a Value of kind Error in its place.
    Reply<std::vector<Value>> pipeline(std::vector<Command> commands, Deadline deadline)
    {
        return ask(PipelineRequest{std::move(commands)}, deadline);
    }
    // EVALSHA; on NOSCRIPT the text is sent once with EVAL.
    Reply<Value> script(Script script, QByteArrayList keys, QByteArrayList args, Deadline deadline)
    {
        return ask(ScriptRequest{std::move(script), std::move(keys), std::move(args)}, deadline);
    }
    // The client id of the pub/sub connection, for CLIENT TRACKING REDIRECT; opens it if needed and
    // waits for it. Completes when the server has confirmed the subscriptions made before, so nothing
    // sent to them from then on is missed; NoPermission when it refused one of them, Unsupported when
    // they stand but the server does not tell the id.
    Reply<qint64> subscriberId(Deadline deadline) { return ask(SubscriberIdRequest(), deadline); }

    // Pub/sub on a connection of its own, opened with the first subscription, restored after a
    // reconnect (messages in between are lost; onState tells of it).
    virtual Subscription subscribe(QByteArray channel, std::function<void(const Message &)> listener) = 0;
    virtual Subscription subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener) = 0;

    // What there is once per connection, one of each type: made when first asked for, gone with it.
    template <class T>
    [[nodiscard]] T &kept(const std::function<std::shared_ptr<T>()> &make)
    {
        auto &slot = m_kept[std::type_index(typeid(T))];
        if (!slot)
            slot = make();
        return *static_cast<T *>(slot.get());
    }

private:
    std::map<std::type_index, std::shared_ptr<void>> m_kept;
};

class ForwardingConnection : public Forwarding<Connection> {
public:
    using Forwarding::Forwarding;

    [[nodiscard]] QString lastError() const override { return inner().lastError(); }
    [[nodiscard]] bool isExplained() const override { return inner().isExplained(); }
    [[nodiscard]] QString missing() const override { return inner().missing(); }
    [[nodiscard]] bool isServed(const QByteArray &key) const override { return inner().isServed(key); }
    Subscription subscribe(QByteArray channel, std::function<void(const Message &)> listener) override
    {
        return inner().subscribe(std::move(channel), std::move(listener));
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener) override
    {
        return inner().subscribePattern(std::move(pattern), std::move(listener));
    }
};

// What a connection to one node of a Redis Cluster can besides: listen to a sharded channel (SSUBSCRIBE, Redis 7),
// which only the node that has its slot hears. Between such a connection and the cluster; all else subscribes to
// channels, and the cluster sees to both kinds.
class ShardedSubscriber {
public:
    virtual ~ShardedSubscriber() = default;
    // As Connection::subscribe(). Where the server has no such thing, or does not want it, nothing is heard.
    virtual Subscription subscribeSharded(QByteArray channel, std::function<void(const Message &)> listener) = 0;
};

} // namespace lockscope::redis
