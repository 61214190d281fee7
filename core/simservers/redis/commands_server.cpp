// SPDX-License-Identifier: Apache-2.0
// Commands on the server itself, its clients and its channels.
#include "core/simservers/redis/execution.h"
#include "core/simservers/redis/server.h"

namespace lockscope::sim {

using redis::Command;
using redis::Value;
using ChannelKind = Publisher::Kind;

namespace {

Value ping(Execution &run, const Command &command)
{
    if (command.size() > 2)
        return run.refuse(wrongCount(command[0]));
    if (run.session && run.session->subscriptions() > 0)
        return replies::array({replies::bulk("pong"), replies::bulk(command.value(1))});
    return command.size() == 2 ? replies::bulk(command[1]) : replies::status("PONG");
}

Value time(Execution &run, const Command &)
{
    const auto micros = run.now.count();
    return replies::array({replies::bulk(QByteArray::number(qint64(micros / 1'000'000))),
                           replies::bulk(QByteArray::number(qint64(micros % 1'000'000)))});
}

Value select(Execution &run, const Command &command)
{
    const auto database = run.integer(command[1]);
    if (!run.isRefused() && database != 0)
        run.refuse("ERR DB index is out of range");
    return replies::ok();
}

QByteArray wrongSubcommandCount(const Command &command)
{
    return wrongCount(command[0] + '|' + command[1]);
}

Value client(Execution &run, const Command &command)
{
    const auto what = command[1].toUpper();
    const bool isKnown = what == "ID" || what == "GETNAME" || what == "SETNAME";
    if (!isKnown || !run.session)
        return run.refuse(unknownSubcommand(command));
    if (command.size() != (what == "SETNAME" ? 3 : 2))
        return run.refuse(wrongSubcommandCount(command));
    if (what == "ID")
        return replies::integer(run.session->id);
    if (what == "GETNAME")
        return run.session->name.isEmpty() ? replies::nil() : replies::bulk(run.session->name);
    for (const char c : command[2]) {
        if (c < '!' || c > '~')
            return run.refuse("ERR Client names cannot contain spaces, newlines or special characters.");
    }
    run.session->name = command[2];
    return replies::ok();
}

// --- Channels --------------------------------------------------------------------------------------

Value publish(Execution &run, const Command &command)
{
    return replies::integer(run.server.publish(command[1], command[2]));
}

Value pubSub(Execution &run, const Command &command)
{
    if (command[1].toUpper() != "NUMSUB")
        return run.refuse(run.session ? unknownSubcommand(command) : unknownInScript());
    std::vector<Value> counts;
    const auto &topics = run.server.publisher().topics(ChannelKind::Channel);
    for (const auto &channel : command.sliced(2)) {
        const auto at = topics.find(channel);
        counts.push_back(replies::bulk(channel));
        counts.push_back(replies::integer(at == topics.end() ? 0 : std::ssize(at->second)));
    }
    return replies::array(std::move(counts));
}

Value confirmation(const Execution &run, const QByteArray &what, const Value &name)
{
    return replies::array(
        {replies::bulk(what), name, replies::integer(static_cast<qint64>(run.session->subscriptions()))});
}

// One reply for each name.
Value lastOf(Execution &run, std::vector<Value> confirmations)
{
    auto last = std::move(confirmations.back());
    confirmations.pop_back();
    run.before = std::move(confirmations);
    return last;
}

template <ChannelKind kind>
Value subscribe(Execution &run, const Command &command)
{
    if (!run.session)
        return run.refuse("ERR only a client can subscribe");
    std::vector<Value> confirmations;
    for (const auto &name : command.sliced(1)) {
        run.server.publisher().add(*run.session, kind, name);
        confirmations.push_back(
            confirmation(run, kind == ChannelKind::Channel ? "subscribe" : "psubscribe", replies::bulk(name)));
    }
    return lastOf(run, std::move(confirmations));
}

template <ChannelKind kind>
Value unsubscribe(Execution &run, const Command &command)
{
    if (!run.session)
        return run.refuse("ERR only a client can unsubscribe");
    const QByteArray what = kind == ChannelKind::Channel ? "unsubscribe" : "punsubscribe";
    const auto own = kind == ChannelKind::Channel ? run.session->channels : run.session->patterns;
    const QByteArrayList names = command.size() > 1 ? command.sliced(1) : QByteArrayList(own.begin(), own.end());
    if (names.isEmpty())
        return confirmation(run, what, replies::nil());
    std::vector<Value> confirmations;
    for (const auto &name : names) {
        run.server.publisher().remove(*run.session, kind, name);
        confirmations.push_back(confirmation(run, what, replies::bulk(name)));
    }
    return lastOf(run, std::move(confirmations));
}

} // namespace

RedisCommands serverCommands()
{
    return {{"PING", {-1, ping}},
            {"TIME", {1, time}},
            {"SELECT", {2, select}},
            {"CLIENT", {-2, client, RedisCommand::Where::NotInScripts}},
            {"PUBLISH", {3, publish}},
            {"PUBSUB", {-2, pubSub}},
            {"SUBSCRIBE", {-2, subscribe<ChannelKind::Channel>, RedisCommand::Where::NotInScripts}},
            {"PSUBSCRIBE", {-2, subscribe<ChannelKind::Pattern>, RedisCommand::Where::NotInScripts}},
            {"UNSUBSCRIBE", {-1, unsubscribe<ChannelKind::Channel>, RedisCommand::Where::NotInScripts}},
            {"PUNSUBSCRIBE", {-1, unsubscribe<ChannelKind::Pattern>, RedisCommand::Where::NotInScripts}}};
}

} // namespace lockscope::sim
