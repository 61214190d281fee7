// SPDX-License-Identifier: Apache-2.0
// All commands in one table.
#include "core/simservers/redis/execution.h"

namespace lockscope::sim {

namespace {

// In capitals or not is the same name.
struct HashOfName {
    std::size_t operator()(const QByteArray &name) const
    {
        std::size_t hash = 0;
        for (const auto byte : name)
            hash = 31 * hash + (static_cast<unsigned char>(byte) & 0xdf); // without the bit that tells them apart
        return hash;
    }
};
struct IsSameName {
    bool operator()(const QByteArray &a, const QByteArray &b) const
    {
        return a.size() == b.size() && a.compare(b, Qt::CaseInsensitive) == 0;
    }
};

} // namespace

const RedisCommand *findCommand(const QByteArray &name)
{
    static const auto all = [] {
        std::unordered_map<QByteArray, RedisCommand, HashOfName, IsSameName> table;
        for (const auto group : {keyCommands, expiryCommands, textCommands, hashCommands, listCommands,
                                 sortedSetCommands, serverCommands, scriptCommands}) {
            const auto commands = group();
            table.insert(commands.begin(), commands.end());
        }
        return table;
    }();
    const auto at = all.find(name);
    return at == all.end() ? nullptr : &at->second;
}

QByteArray wrongCount(const QByteArray &name)
{
    return "ERR wrong number of arguments for '" + name.toLower() + "' command";
}

QByteArray unknownSubcommand(const redis::Command &command)
{
    return "ERR unknown subcommand '" + beginning(command[1]) + "'. Try " + command[0].toUpper() + " HELP.";
}

QByteArray unknownInScript()
{
    return "ERR Unknown Redis command called from script";
}

QByteArray beginning(const QByteArray &text, qsizetype most)
{
    const auto size = std::min(text.size(), most);
    return text.left(static_cast<qsizetype>(qstrnlen(text.constData(), static_cast<size_t>(size))));
}

// Commands on keys of any type.
using redis::Command;
using redis::Value;

namespace {

Value del(Execution &run, const Command &command)
{
    qint64 removed = 0;
    for (qsizetype i = 1; i < command.size(); ++i)
        removed += run.keys.remove(command[i]) ? 1 : 0;
    return replies::integer(removed);
}

Value exists(Execution &run, const Command &command)
{
    qint64 found = 0;
    for (qsizetype i = 1; i < command.size(); ++i)
        found += run.keys.look(command[i]) ? 1 : 0;
    return replies::integer(found);
}

Value keys(Execution &run, const Command &command)
{
    std::vector<Value> names;
    for (const auto &key : run.keys.keys()) {
        if (matchesGlob(command[1], key))
            names.push_back(replies::bulk(key));
    }
    return replies::array(std::move(names));
}

Value dbSize(Execution &run, const Command &)
{
    return replies::integer(static_cast<qint64>(run.keys.size()));
}

Value flushKeys(Execution &run, const Command &command)
{
    const auto how = command.value(1).toUpper();
    if (command.size() > 2 || (command.size() == 2 && how != "ASYNC" && how != "SYNC"))
        return run.refuseSyntax();
    run.keys.clear();
    return replies::ok();
}

} // namespace

RedisCommands keyCommands()
{
    return {{"DEL", {-2, del}},
            {"EXISTS", {-2, exists}},
            {"KEYS", {2, keys}},
            {"DBSIZE", {1, dbSize}},
            {"FLUSHALL", {-1, flushKeys}}};
}

using Millis = Keyspace::Millis;

// Commands on how long a key lives.
Millis momentOf(Execution &run, qint64 number, qint64 each, const QByteArray &command)
{
    qint64 millis = 0;
    if (__builtin_mul_overflow(number, each, &millis)
        || __builtin_add_overflow(millis, run.nowMillis().count(), &millis))
        run.refuse("ERR invalid expire time in '" + command.toLower() + "' command");
    return Millis(millis);
}

Millis expiryOf(Execution &run, const QByteArray &text, const QByteArray &command)
{
    const auto number = run.integer(text);
    if (!run.isRefused() && number <= 0)
        run.refuse("ERR invalid expire time in '" + command.toLower() + "' command");
    return momentOf(run, number, 1, command);
}

void expireAt(Execution &run, const QByteArray &key, Millis when)
{
    if (when <= run.nowMillis())
        run.keys.remove(key);
    else
        run.keys.expireAt(key, when);
}

namespace {

template <qint64 millis>
Value expireBy(Execution &run, const Command &command)
{
    if (command.size() > 3) // recipes and scripts use none
        return run.refuse("ERR Unsupported option " + beginning(command[3]));
    const auto number = run.integer(command[2]);
    if (run.isRefused())
        return {};
    const auto when = momentOf(run, number, millis, command[0]);
    if (run.isRefused())
        return {};
    if (!run.keys.look(command[1]))
        return replies::integer(0);
    expireAt(run, command[1], when);
    return replies::integer(1);
}

// -2 no key, -1 no expiry.
template <qint64 millis, bool isMoment>
Value timeLeft(Execution &run, const Command &command)
{
    const auto *entry = run.keys.look(command[1]);
    if (!entry || !entry->expiresAt)
        return replies::integer(entry ? -1 : -2);
    const auto time = isMoment ? *entry->expiresAt : std::max(Millis(0), *entry->expiresAt - run.nowMillis());
    // Unsigned: half a second more than the last moment there is must not become the first.
    return replies::integer(static_cast<qint64>((static_cast<quint64>(time.count()) + millis / 2) / millis));
}

} // namespace

RedisCommands expiryCommands()
{
    return {{"EXPIRE", {-3, expireBy<1000>}},
            {"PEXPIRE", {-3, expireBy<1>}},
            {"TTL", {2, timeLeft<1000, false>}},
            {"PTTL", {2, timeLeft<1, false>}},
            {"PEXPIRETIME", {2, timeLeft<1, true>}}};
}

// EVAL and what belongs to it.

namespace {

// How many of the arguments are keys.
qint64 keyCount(Execution &run, const Command &command)
{
    const auto count = run.integer(command[2]);
    if (run.isRefused())
        return 0;
    if (count > command.size() - 3)
        run.refuse("ERR Number of keys can't be greater than number of args");
    else if (count < 0)
        run.refuse("ERR Number of keys can't be negative");
    return count;
}

Value runScript(Execution &run, const QByteArray &sha, const Command &command, qint64 keys)
{
    return run.server.scripts().run(sha, command.sliced(3, keys), command.sliced(3 + keys));
}

Value eval(Execution &run, const Command &command)
{
    const auto keys = keyCount(run, command);
    if (run.isRefused())
        return {};
    const auto sha = run.server.scripts().load(command[1]);
    return sha.isError() ? sha : runScript(run, sha.text, command, keys);
}

Value evalSha(Execution &run, const Command &command)
{
    const auto keys = keyCount(run, command);
    if (run.isRefused())
        return {};
    const auto sha = command[1].toLower();
    if (!run.server.scripts().knows(sha))
        return run.refuse("NOSCRIPT No matching script. Please use EVAL.");
    return runScript(run, sha, command, keys);
}

Value flushScripts(Execution &run, const Command &command)
{
    const auto how = command.value(2).toUpper();
    if (command.size() > 3)
        return run.refuse(wrongCount("script|flush"));
    if (command.size() == 3 && how != "ASYNC" && how != "SYNC")
        return run.refuse("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
    run.server.scripts().forgetAll();
    return replies::ok();
}

Value script(Execution &run, const Command &command)
{
    const auto what = command[1].toUpper();
    auto &scripts = run.server.scripts();
    if (what == "FLUSH")
        return flushScripts(run, command);
    if (what == "LOAD")
        return command.size() == 3 ? scripts.load(command[2]) : run.refuse(wrongCount("script|load"));
    if (what != "EXISTS")
        return run.refuse(unknownSubcommand(command));
    if (command.size() < 3)
        return run.refuse(wrongCount("script|exists"));
    std::vector<Value> known;
    for (const auto &sha : command.sliced(2))
        known.push_back(replies::integer(scripts.knows(sha.toLower()) ? 1 : 0));
    return replies::array(std::move(known));
}

} // namespace

RedisCommands scriptCommands()
{
    return {{"EVAL", {-3, eval, RedisCommand::Where::NotInScripts}},
            {"EVALSHA", {-3, evalSha, RedisCommand::Where::NotInScripts}},
            {"SCRIPT", {-2, script, RedisCommand::Where::NotInScripts}}};
}

// Commands on the server itself, its clients and its channels.
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
