// SPDX-License-Identifier: Apache-2.0
// Commands on texts and counters.
#include "core/simulate/redis/expiry.h"

namespace lockscope::simulate {

using redis::Command;
using redis::Value;

namespace {

Value textOrNil(const RedisText *text)
{
    return text ? replies::bulk(*text) : replies::nil();
}

Value get(Execution &run, const Command &command)
{
    return textOrNil(run.read<RedisText>(command[1]));
}

struct SetOptions {
    bool nx = false, xx = false, get = false, keepsTtl = false, persists = false;
    QByteArray unit; // EX, PX …; the same one again replaces it
    QByteArray time;
};

// From this place on; of SET, or of GETEX.
SetOptions setOptions(Execution &run, const Command &command, qsizetype first)
{
    const bool isSet = first == 3;
    SetOptions options;
    for (auto i = first; i < command.size() && !run.isRefused(); ++i) {
        const auto option = command[i].toUpper();
        const bool isUnit = expiryUnit(option).has_value() && (options.unit.isEmpty() || options.unit == option);
        if (isSet && option == "NX" && !options.xx) {
            options.nx = true;
        } else if (isSet && option == "XX" && !options.nx) {
            options.xx = true;
        } else if (isSet && option == "GET") {
            options.get = true;
        } else if (isSet && option == "KEEPTTL" && options.unit.isEmpty()) {
            options.keepsTtl = true;
        } else if (!isSet && option == "PERSIST" && options.unit.isEmpty()) {
            options.persists = true;
        } else if (isUnit && !options.keepsTtl && !options.persists && i + 1 < command.size()) {
            options.unit = option;
            options.time = command[++i];
        } else {
            run.refuseSyntax();
        }
    }
    return options;
}

Value set(Execution &run, const Command &command)
{
    const auto &key = command[1];
    const auto options = setOptions(run, command, 3);
    std::optional<Keyspace::Millis> when;
    if (!options.unit.isEmpty() && !run.isRefused())
        when = expiryOf(run, options.time, *expiryUnit(options.unit), command[0]);
    const auto old = options.get && !run.isRefused() ? textOrNil(run.read<RedisText>(key)) : Value();
    if (run.isRefused())
        return {};
    const auto *entry = run.keys.look(key);
    if ((options.nx && entry) || (options.xx && !entry))
        return options.get ? old : replies::nil();
    if (options.keepsTtl && entry)
        when = entry->expiresAt;
    run.keys.put(key, command[2]);
    if (when)
        run.keys.expireAt(key, when);
    return options.get ? old : replies::ok();
}

Value setNx(Execution &run, const Command &command)
{
    if (run.keys.look(command[1]))
        return replies::integer(0);
    run.keys.put(command[1], command[2]);
    return replies::integer(1);
}

template <qint64 millis>
Value setEx(Execution &run, const Command &command)
{
    const auto when = expiryOf(run, command[2], {millis, false}, command[0]);
    if (run.isRefused())
        return {};
    run.keys.put(command[1], command[3]);
    run.keys.expireAt(command[1], when);
    return replies::ok();
}

Value getSet(Execution &run, const Command &command)
{
    const auto old = get(run, command);
    if (run.isRefused())
        return {};
    run.keys.put(command[1], command[2]);
    return old;
}

Value getDel(Execution &run, const Command &command)
{
    const auto old = get(run, command);
    if (!run.isRefused())
        run.keys.remove(command[1]);
    return old;
}

Value getEx(Execution &run, const Command &command)
{
    const auto options = setOptions(run, command, 2);
    if (run.isRefused())
        return {};
    const auto text = get(run, command);
    if (run.isRefused() || text.isNil())
        return text;
    if (options.persists)
        run.keys.expireAt(command[1], std::nullopt);
    if (options.unit.isEmpty())
        return text;
    const auto when = expiryOf(run, options.time, *expiryUnit(options.unit), command[0]);
    if (!run.isRefused())
        expireAt(run, command[1], when);
    return text;
}

Value mGet(Execution &run, const Command &command)
{
    std::vector<Value> texts;
    for (qsizetype i = 1; i < command.size(); ++i) {
        const auto *entry = run.keys.look(command[i]);
        texts.push_back(textOrNil(entry ? std::get_if<RedisText>(&entry->content) : nullptr));
    }
    return replies::array(std::move(texts));
}

Value mSet(Execution &run, const Command &command)
{
    if (command.size() % 2 == 0)
        return run.refuse(wrongCount(command[0]));
    for (qsizetype i = 1; i < command.size(); i += 2)
        run.keys.put(command[i], command[i + 1]);
    return replies::ok();
}

Value append(Execution &run, const Command &command)
{
    auto *text = run.open<RedisText>(command[1]);
    if (!text)
        return {};
    *text += command[2];
    return replies::integer(text->size());
}

Value strLen(Execution &run, const Command &command)
{
    const auto *text = run.read<RedisText>(command[1]);
    return replies::integer(text ? text->size() : 0);
}

Value add(Execution &run, const QByteArray &key, qint64 by)
{
    const auto *text = run.read<RedisText>(key);
    const auto old = text ? run.integer(*text) : 0;
    if (run.isRefused())
        return {};
    qint64 sum = 0;
    if (__builtin_add_overflow(old, by, &sum))
        return run.refuse("ERR increment or decrement would overflow");
    // In place: it keeps its time to live.
    *run.open<RedisText>(key) = QByteArray::number(sum);
    return replies::integer(sum);
}

template <int by>
Value addOne(Execution &run, const Command &command)
{
    return add(run, command[1], by);
}

Value incrBy(Execution &run, const Command &command)
{
    const auto by = run.integer(command[2]);
    return run.isRefused() ? Value() : add(run, command[1], by);
}

Value decrBy(Execution &run, const Command &command)
{
    const auto by = run.integer(command[2]);
    if (by == std::numeric_limits<qint64>::min())
        return run.refuse("ERR decrement would overflow");
    return run.isRefused() ? Value() : add(run, command[1], -by);
}

} // namespace

RedisCommands textCommands()
{
    return {{"GET", {2, get}},         {"SET", {-3, set}},           {"SETNX", {3, setNx}},
            {"SETEX", {4, setEx<1000>}}, {"PSETEX", {4, setEx<1>}},  {"GETSET", {3, getSet}},
            {"GETDEL", {2, getDel}},   {"GETEX", {-2, getEx}},       {"MGET", {-2, mGet}},
            {"MSET", {-3, mSet}},      {"APPEND", {3, append}},      {"STRLEN", {2, strLen}},
            {"INCR", {2, addOne<1>}},  {"DECR", {2, addOne<-1>}},    {"INCRBY", {3, incrBy}},
            {"DECRBY", {3, decrBy}}};
}

} // namespace lockscope::simulate
