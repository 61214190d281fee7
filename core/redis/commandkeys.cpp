// SPDX-License-Identifier: Apache-2.0
#include "core/redis/commandkeys.h"

#include "core/base/text.h"
#include "core/redis/hashslot.h"

#include <QSet>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace lockscope::redis {

namespace {

// Where the keys of a command stand.
enum class Keys { None, First, FirstTwo, Second, All, AllFromSecond, EveryOther, Counted, CountedAfterKey, ButLast };

const QHash<QByteArray, Keys> &knownKeys()
{
    static const QHash<QByteArray, Keys> table = [] {
        QHash<QByteArray, Keys> made;
        const auto put = [&made](Keys where, const QByteArrayList &names) {
            for (const auto &name : names)
                made.insert(name, where);
        };
        put(Keys::None,
            {"PING",    "ECHO",      "TIME",   "INFO",   "LASTSAVE", "ROLE",     "AUTH",     "HELLO",     "SELECT",
             "QUIT",    "RESET",     "WAIT",   "CLIENT", "CONFIG",   "COMMAND",  "CLUSTER",  "SCRIPT",    "FUNCTION",
             "SLOWLOG", "LATENCY",   "ACL",    "MODULE", "DBSIZE",   "KEYS",     "SCAN",     "RANDOMKEY", "FLUSHALL",
             "FLUSHDB", "PUBLISH",   "PUBSUB", "SAVE",   "BGSAVE",   "SHUTDOWN", "READONLY", "READWRITE", "ASKING",
             "SWAPDB",  "REPLICAOF", "MULTI",  "EXEC",   "DISCARD",  "UNWATCH",  "FAILOVER", "DEBUG"});
        put(Keys::FirstTwo, {"RENAME", "RENAMENX", "COPY", "SMOVE", "LMOVE", "RPOPLPUSH", "BLMOVE", "LCS"});
        put(Keys::Second, {"OBJECT", "MEMORY", "XINFO", "XGROUP"});
        put(Keys::All, {"DEL", "UNLINK", "EXISTS", "TOUCH", "MGET", "SDIFF", "SINTER", "SUNION", "SDIFFSTORE",
                        "SINTERSTORE", "SUNIONSTORE", "PFCOUNT", "PFMERGE", "WATCH"});
        put(Keys::AllFromSecond, {"BITOP"});
        put(Keys::EveryOther, {"MSET", "MSETNX"});
        put(Keys::Counted, {"SINTERCARD", "ZINTER", "ZUNION", "ZDIFF", "ZINTERCARD", "LMPOP", "ZMPOP"});
        put(Keys::CountedAfterKey, {"EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO", "ZUNIONSTORE",
                                    "ZINTERSTORE", "ZDIFFSTORE"});
        put(Keys::ButLast, {"BLPOP", "BRPOP", "BZPOPMIN", "BZPOPMAX"});
        return made;
    }();
    return table;
}

QByteArrayList counted(const Command &command, qsizetype at)
{
    bool isNumber = false;
    const auto count = command.value(at).toLongLong(&isNumber);
    return isNumber && count > 0 ? command.mid(at + 1, count) : QByteArrayList();
}

// XREAD … STREAMS key key id id
QByteArrayList streams(const Command &command)
{
    const auto at = std::ranges::find_if(command, [](const QByteArray &word) { return word.toUpper() == "STREAMS"; });
    const auto from = at - command.begin() + 1;
    return from >= command.size() ? QByteArrayList() : command.mid(from, (command.size() - from) / 2);
}

bool isForEveryone(const Command &command)
{
    static const QSet<QByteArray> whole{"PING", "INFO",   "CLIENT",   "DBSIZE", "KEYS",
                                        "SCAN", "PUBSUB", "FLUSHALL", "FLUSHDB"};
    const auto name = command.first().toUpper();
    const auto sub = command.value(1).toUpper();
    if (name == "CONFIG" || name == "SCRIPT")
        return sub != "HELP" && sub != "EXISTS";
    return whole.contains(name);
}

} // namespace

QByteArrayList keysOf(const Command &command)
{
    if (command.size() < 2)
        return {};
    const auto name = command.first().toUpper();
    if (name == "XREAD" || name == "XREADGROUP")
        return streams(command);
    switch (knownKeys().value(name, Keys::First)) {
    case Keys::None: return {};
    case Keys::First: return command.mid(1, 1);
    case Keys::FirstTwo: return command.mid(1, 2);
    case Keys::Second: return command.mid(2, 1);
    case Keys::All: return command.mid(1);
    case Keys::AllFromSecond: return command.mid(2);
    case Keys::EveryOther: break;
    case Keys::Counted: return counted(command, 1);
    case Keys::CountedAfterKey: {
        const bool isStored = name.startsWith('Z');
        return (isStored ? command.mid(1, 1) : QByteArrayList()) + counted(command, 2);
    }
    case Keys::ButLast: return command.mid(1, command.size() - 2);
    }
    QByteArrayList keys;
    for (qsizetype i = 1; i < command.size(); i += 2)
        keys << command[i];
    return keys;
}

Result<Destination> destinationOfKeys(const QByteArrayList &keys)
{
    if (keys.isEmpty())
        return Destination{};
    const int slot = hashSlot(keys.first());
    for (const auto &key : keys) {
        if (hashSlot(key) != slot)
            return Error{
                ErrorCode::BadInput,
                u"the keys %1 and %2 are in different slots of the Redis Cluster, and no node takes a command "
                u"over both; keys with the same {hash tag} share one"_s.arg(label(keys.first(), 80), label(key, 80)),
                false};
    }
    return Destination{Destination::Kind::Slot, slot};
}

Result<Destination> destinationOf(const Command &command)
{
    if (!command.isEmpty() && isForEveryone(command))
        return Destination{Destination::Kind::Everyone};
    return destinationOfKeys(keysOf(command));
}

} // namespace lockscope::redis
