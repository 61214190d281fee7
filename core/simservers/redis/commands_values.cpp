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

// Commands on hashes.

namespace {

Value fieldOf(const RedisHash *hash, const QByteArray &field)
{
    if (!hash)
        return replies::nil();
    const auto at = hash->find(field);
    return at == hash->end() ? replies::nil() : replies::bulk(at->second);
}

Value hSet(Execution &run, const Command &command)
{
    if (command.size() % 2 != 0)
        return run.refuse(wrongCount(command[0]));
    auto *hash = run.open<RedisHash>(command[1]);
    if (!hash)
        return {};
    qint64 added = 0;
    for (qsizetype i = 2; i < command.size(); i += 2)
        added += hash->insert_or_assign(command[i], command[i + 1]).second ? 1 : 0;
    return replies::integer(added);
}

Value hGet(Execution &run, const Command &command)
{
    return fieldOf(run.read<RedisHash>(command[1]), command[2]);
}

Value hDel(Execution &run, const Command &command)
{
    auto *hash = run.write<RedisHash>(command[1]);
    if (!hash)
        return replies::integer(0);
    qint64 removed = 0;
    for (qsizetype i = 2; i < command.size(); ++i)
        removed += static_cast<qint64>(hash->erase(command[i]));
    run.dropIfEmpty(command[1]);
    return replies::integer(removed);
}

Value hExists(Execution &run, const Command &command)
{
    const auto *hash = run.read<RedisHash>(command[1]);
    return replies::integer(hash && hash->contains(command[2]) ? 1 : 0);
}

Value hIncrBy(Execution &run, const Command &command)
{
    const auto by = run.integer(command[3]);
    if (run.isRefused())
        return {};
    const auto *hash = run.read<RedisHash>(command[1]);
    const auto old = fieldOf(hash, command[2]);
    const auto number = old.isNil() ? 0 : run.integer(old.text, "ERR hash value is not an integer");
    if (run.isRefused())
        return {};
    qint64 sum = 0;
    if (__builtin_add_overflow(number, by, &sum))
        return run.refuse("ERR increment or decrement would overflow");
    run.open<RedisHash>(command[1])->insert_or_assign(command[2], QByteArray::number(sum));
    return replies::integer(sum);
}

Value hLen(Execution &run, const Command &command)
{
    const auto *hash = run.read<RedisHash>(command[1]);
    return replies::integer(hash ? static_cast<qint64>(hash->size()) : 0);
}

Value hGetAll(Execution &run, const Command &command)
{
    std::vector<Value> texts;
    const auto *hash = run.read<RedisHash>(command[1]);
    for (const auto &[field, value] : hash ? *hash : RedisHash()) {
        texts.push_back(replies::bulk(field));
        texts.push_back(replies::bulk(value));
    }
    return replies::array(std::move(texts));
}

} // namespace

RedisCommands hashCommands()
{
    return {{"HSET", {-4, hSet}},      {"HGET", {3, hGet}},       {"HDEL", {-3, hDel}}, {"HEXISTS", {3, hExists}},
            {"HINCRBY", {4, hIncrBy}}, {"HGETALL", {2, hGetAll}}, {"HLEN", {2, hLen}}};
}

// Commands on lists.

namespace {

qint64 sizeOf(const RedisList *list)
{
    return list ? static_cast<qint64>(list->size()) : 0;
}

Value rPush(Execution &run, const Command &command)
{
    auto *list = run.open<RedisList>(command[1]);
    if (!list)
        return {};
    for (qsizetype i = 2; i < command.size(); ++i)
        list->push_back(command[i]);
    return replies::integer(sizeOf(list));
}

Value lPop(Execution &run, const Command &command)
{
    if (command.size() > 3)
        return run.refuse(wrongCount(command[0]));
    const bool isMany = command.size() == 3;
    const auto count = isMany ? run.integer(command[2], "ERR value is out of range, must be positive") : 1;
    if (count < 0)
        run.refuse("ERR value is out of range, must be positive");
    if (run.isRefused())
        return {};
    auto *list = run.write<RedisList>(command[1]);
    if (!list)
        return replies::nil();
    std::vector<Value> taken;
    while (!list->empty() && static_cast<qint64>(taken.size()) < count) {
        taken.push_back(replies::bulk(list->front()));
        list->pop_front();
    }
    run.dropIfEmpty(command[1]);
    return isMany ? replies::array(std::move(taken)) : taken.front();
}

Value lIndex(Execution &run, const Command &command)
{
    const auto *list = run.read<RedisList>(command[1]);
    if (!list)
        return replies::nil();
    auto place = run.integer(command[2]);
    if (place < 0)
        place += sizeOf(list);
    if (place < 0 || place >= sizeOf(list))
        return replies::nil();
    return replies::bulk((*list)[static_cast<std::size_t>(place)]);
}

Value lRange(Execution &run, const Command &command)
{
    const auto first = run.integer(command[2]);
    const auto last = run.integer(command[3]);
    if (run.isRefused())
        return {};
    const auto *list = run.read<RedisList>(command[1]);
    std::vector<Value> found;
    const auto range = rangeOf(first, last, sizeOf(list));
    for (auto i = range.first; i < range.end; ++i)
        found.push_back(replies::bulk((*list)[static_cast<std::size_t>(i)]));
    return replies::array(std::move(found));
}

Value lRem(Execution &run, const Command &command)
{
    const auto count = run.integer(command[2]);
    if (run.isRefused())
        return {};
    auto *list = run.write<RedisList>(command[1]);
    if (!list)
        return replies::integer(0);
    const auto most = count == 0 ? sizeOf(list) : std::abs(count);
    qint64 removed = 0;
    if (count < 0)
        std::reverse(list->begin(), list->end());
    std::erase_if(*list, [&](const QByteArray &element) {
        const bool goes = removed < most && element == command[3];
        removed += goes ? 1 : 0;
        return goes;
    });
    if (count < 0)
        std::reverse(list->begin(), list->end());
    run.dropIfEmpty(command[1]);
    return replies::integer(removed);
}

} // namespace

RedisCommands listCommands()
{
    return {{"RPUSH", {-3, rPush}},
            {"LPOP", {-2, lPop}},
            {"LINDEX", {3, lIndex}},
            {"LRANGE", {4, lRange}},
            {"LREM", {4, lRem}}};
}

} // namespace lockscope::sim
