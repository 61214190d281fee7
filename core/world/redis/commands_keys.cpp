// SPDX-License-Identifier: Apache-2.0
// Commands on keys of any type.
#include "core/world/redis/execution.h"
#include "core/world/redis/glob.h"

namespace lockscope::world {

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

} // namespace lockscope::world
