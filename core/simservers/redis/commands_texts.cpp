// SPDX-License-Identifier: Apache-2.0
// Commands on texts and counters.
#include "core/simservers/redis/execution.h"

namespace lockscope::sim {

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

// With NX and PX: recipes and scripts use no other options.
Value set(Execution &run, const Command &command)
{
    bool onlyNew = false;
    std::optional<QByteArray> time;
    for (qsizetype i = 3; i < command.size() && !run.isRefused(); ++i) {
        const auto option = command[i].toUpper();
        if (option == "NX")
            onlyNew = true;
        else if (option == "PX" && i + 1 < command.size())
            time = command[++i];
        else
            run.refuseSyntax();
    }
    std::optional<Keyspace::Millis> when;
    if (time && !run.isRefused())
        when = expiryOf(run, *time, command[0]);
    if (run.isRefused())
        return {};
    if (onlyNew && run.keys.look(command[1]))
        return replies::nil();
    run.keys.put(command[1], command[2]);
    if (when)
        run.keys.expireAt(command[1], when);
    return replies::ok();
}

Value setNx(Execution &run, const Command &command)
{
    if (run.keys.look(command[1]))
        return replies::integer(0);
    run.keys.put(command[1], command[2]);
    return replies::integer(1);
}

Value getSet(Execution &run, const Command &command)
{
    const auto old = get(run, command);
    if (run.isRefused())
        return {};
    run.keys.put(command[1], command[2]);
    return old;
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

Value incr(Execution &run, const Command &command)
{
    return add(run, command[1], 1);
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
    return {{"GET", {2, get}},   {"SET", {-3, set}},      {"SETNX", {3, setNx}},  {"GETSET", {3, getSet}},
            {"INCR", {2, incr}}, {"INCRBY", {3, incrBy}}, {"DECRBY", {3, decrBy}}};
}

} // namespace lockscope::sim
