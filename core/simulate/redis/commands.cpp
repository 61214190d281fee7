// All commands in one table.
#include "core/simulate/redis/execution.h"

namespace lockscope::simulate {

const RedisCommand *findCommand(const QByteArray &name)
{
    static const RedisCommands all = [] {
        RedisCommands table;
        for (const auto group : {keyCommands, expiryCommands, textCommands, hashCommands, listCommands, setCommands,
                                 sortedSetCommands, serverCommands, scriptCommands})
            table.merge(group());
        return table;
    }();
    const auto at = all.find(name.toUpper());
    return at == all.end() ? nullptr : &at->second;
}

QByteArray wrongCount(const QByteArray &name)
{
    return "ERR wrong number of arguments for '" + name.toLower() + "' command";
}

} // namespace lockscope::simulate
