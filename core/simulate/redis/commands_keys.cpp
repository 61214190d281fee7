// SPDX-License-Identifier: Apache-2.0
// Commands on keys of any type.
#include "core/simulate/redis/execution.h"
#include "core/simulate/redis/glob.h"

namespace lockscope::simulate {

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

QByteArray typeOf(const RedisContent &content)
{
    static const std::array<QByteArray, std::variant_size_v<RedisContent>> names{"string", "list", "set", "zset", "hash"};
    return names[content.index()];
}

Value type(Execution &run, const Command &command)
{
    const auto *entry = run.keys.look(command[1]);
    return replies::status(entry ? typeOf(entry->content) : "none");
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

// All keys in one go: the cursor is at its end at once, which a server may do.
Value scan(Execution &run, const Command &command)
{
    bool isNumber = false;
    static_cast<void>(command[1].toULongLong(&isNumber));
    if (!isNumber)
        return run.refuse("ERR invalid cursor");
    QByteArray pattern("*"), wanted;
    for (qsizetype i = 2; i < command.size(); i += 2) {
        const auto option = command[i].toUpper();
        if (i + 1 >= command.size())
            return run.refuseSyntax();
        if (option == "COUNT") {
            const auto count = run.integer(command[i + 1]);
            if (run.isRefused() || count < 1)
                return run.refuseSyntax();
        } else if (option == "MATCH") {
            pattern = command[i + 1];
        } else if (option == "TYPE") {
            wanted = command[i + 1].toLower();
        } else {
            return run.refuseSyntax();
        }
    }
    std::vector<Value> names;
    for (const auto &key : run.keys.keys()) {
        if (matchesGlob(pattern, key) && (wanted.isEmpty() || typeOf(run.keys.look(key)->content) == wanted))
            names.push_back(replies::bulk(key));
    }
    return replies::array({replies::bulk("0"), replies::array(std::move(names))});
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
    return {{"DEL", {-2, del}},     {"UNLINK", {-2, del}},  {"EXISTS", {-2, exists}},  {"TYPE", {2, type}},
            {"KEYS", {2, keys}},    {"SCAN", {-2, scan}},   {"DBSIZE", {1, dbSize}},   {"FLUSHALL", {-1, flushKeys}},
            {"FLUSHDB", {-1, flushKeys}}};
}

} // namespace lockscope::simulate
