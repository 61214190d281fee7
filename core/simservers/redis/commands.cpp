// SPDX-License-Identifier: Apache-2.0
// All commands in one table.
#include "core/simservers/redis/execution.h"

#include <unordered_map>

namespace lockscope::sim {

namespace {

// In capitals or not is the same name.
struct HashOfName {
    std::size_t operator()(const QByteArray &name) const
    {
        std::size_t hash = 0;
        for (const auto byte : name)
            hash = 31 * hash + (static_cast<unsigned char>(byte) & 0xdf); // without the bit that tells them apart
        return hash;
    }
};
struct IsSameName {
    bool operator()(const QByteArray &a, const QByteArray &b) const
    {
        return a.size() == b.size() && a.compare(b, Qt::CaseInsensitive) == 0;
    }
};

} // namespace

const RedisCommand *findCommand(const QByteArray &name)
{
    static const auto all = [] {
        std::unordered_map<QByteArray, RedisCommand, HashOfName, IsSameName> table;
        for (const auto group : {keyCommands, expiryCommands, textCommands, hashCommands, listCommands,
                                 sortedSetCommands, serverCommands, scriptCommands}) {
            const auto commands = group();
            table.insert(commands.begin(), commands.end());
        }
        return table;
    }();
    const auto at = all.find(name);
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

QByteArray unknownInScript()
{
    return "ERR Unknown Redis command called from script";
}

QByteArray beginning(const QByteArray &text, qsizetype most)
{
    const auto size = std::min(text.size(), most);
    return text.left(static_cast<qsizetype>(qstrnlen(text.constData(), static_cast<size_t>(size))));
}

} // namespace lockscope::sim
