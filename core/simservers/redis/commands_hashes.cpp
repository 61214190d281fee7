// SPDX-License-Identifier: Apache-2.0
// Commands on hashes.
#include "core/simservers/redis/execution.h"

namespace lockscope::sim {

using redis::Command;
using redis::Value;

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

} // namespace lockscope::sim
