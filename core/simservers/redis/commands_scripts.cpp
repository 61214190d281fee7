// SPDX-License-Identifier: Apache-2.0
// EVAL and what belongs to it.
#include "core/simservers/redis/execution.h"
#include "core/simservers/redis/server.h"

namespace lockscope::sim {

using redis::Command;
using redis::Value;

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

} // namespace lockscope::sim
