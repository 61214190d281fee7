// SPDX-License-Identifier: Apache-2.0
// Commands on sets.
#include "core/simulate/redis/execution.h"

namespace lockscope::simulate {

using redis::Command;
using redis::Value;

namespace {

Value sAdd(Execution &run, const Command &command)
{
    auto *set = run.open<RedisSet>(command[1]);
    qint64 added = 0;
    for (qsizetype i = 2; set && i < command.size(); ++i)
        added += set->insert(command[i]).second ? 1 : 0;
    return replies::integer(added);
}

Value sRem(Execution &run, const Command &command)
{
    auto *set = run.write<RedisSet>(command[1]);
    qint64 removed = 0;
    for (qsizetype i = 2; set && i < command.size(); ++i)
        removed += static_cast<qint64>(set->erase(command[i]));
    run.dropIfEmpty(command[1]);
    return replies::integer(removed);
}

Value sIsMember(Execution &run, const Command &command)
{
    const auto *set = run.read<RedisSet>(command[1]);
    return replies::integer(set && set->contains(command[2]) ? 1 : 0);
}

Value sMembers(Execution &run, const Command &command)
{
    std::vector<Value> members;
    const auto *set = run.read<RedisSet>(command[1]);
    for (const auto &member : set ? *set : RedisSet())
        members.push_back(replies::bulk(member));
    return replies::array(std::move(members));
}

Value sCard(Execution &run, const Command &command)
{
    const auto *set = run.read<RedisSet>(command[1]);
    return replies::integer(set ? static_cast<qint64>(set->size()) : 0);
}

} // namespace

RedisCommands setCommands()
{
    return {{"SADD", {-3, sAdd}},
            {"SREM", {-3, sRem}},
            {"SISMEMBER", {3, sIsMember}},
            {"SMEMBERS", {2, sMembers}},
            {"SCARD", {2, sCard}}};
}

} // namespace lockscope::simulate
