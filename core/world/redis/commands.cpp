// SPDX-License-Identifier: Apache-2.0
// All commands in one table.
#include "core/world/redis/execution.h"

namespace lockscope::world {

const RedisCommand *findCommand(const QByteArray &name)
{
    static const RedisCommands all = [] {
        RedisCommands table;
        for (const auto group : {keyCommands, expiryCommands, textCommands, hashCommands, listCommands,
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

QByteArray unknownSubcommand(const redis::Command &command)
{
    return "ERR unknown subcommand '" + beginning(command[1]) + "'. Try " + command[0].toUpper() + " HELP.";
}

QByteArray beginning(const QByteArray &text, qsizetype most)
{
    const auto size = std::min(text.size(), most);
    return text.left(static_cast<qsizetype>(qstrnlen(text.constData(), static_cast<size_t>(size))));
}

} // namespace lockscope::world
