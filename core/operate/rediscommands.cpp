// SPDX-License-Identifier: Apache-2.0
#include "core/operate/rediscommands.h"

#include "core/base/text.h"
#include "core/operate/gate.h"

#include <QSet>

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

// Commands that change no data, no setting and no other client. What is not here counts as a write:
// a command of tomorrow is refused rather than let through. PFCOUNT and SORT are left out on purpose
// (the one may store its cache, the other takes STORE), and so is TOUCH, which resets idle times.
const QSet<QByteArray> &readOnlyCommands()
{
    static const QSet<QByteArray> table{
        // keys
        "EXISTS",
        "TYPE",
        "TTL",
        "PTTL",
        "EXPIRETIME",
        "PEXPIRETIME",
        "KEYS",
        "SCAN",
        "RANDOMKEY",
        "DBSIZE",
        "DUMP",
        "SORT_RO",
        // strings
        "GET",
        "MGET",
        "STRLEN",
        "GETRANGE",
        "SUBSTR",
        "GETBIT",
        "BITCOUNT",
        "BITPOS",
        "BITFIELD_RO",
        "LCS",
        // hashes
        "HGET",
        "HMGET",
        "HGETALL",
        "HKEYS",
        "HVALS",
        "HLEN",
        "HEXISTS",
        "HSTRLEN",
        "HSCAN",
        "HRANDFIELD",
        "HTTL",
        "HPTTL",
        "HEXPIRETIME",
        "HPEXPIRETIME",
        // lists
        "LLEN",
        "LRANGE",
        "LINDEX",
        "LPOS",
        // sets
        "SCARD",
        "SMEMBERS",
        "SISMEMBER",
        "SMISMEMBER",
        "SRANDMEMBER",
        "SSCAN",
        "SINTER",
        "SINTERCARD",
        "SUNION",
        "SDIFF",
        // sorted sets
        "ZCARD",
        "ZCOUNT",
        "ZLEXCOUNT",
        "ZRANGE",
        "ZRANGEBYLEX",
        "ZRANGEBYSCORE",
        "ZREVRANGE",
        "ZREVRANGEBYLEX",
        "ZREVRANGEBYSCORE",
        "ZRANK",
        "ZREVRANK",
        "ZSCORE",
        "ZMSCORE",
        "ZRANDMEMBER",
        "ZSCAN",
        "ZINTER",
        "ZINTERCARD",
        "ZUNION",
        "ZDIFF",
        // streams and places
        "XLEN",
        "XRANGE",
        "XREVRANGE",
        "XREAD",
        "XPENDING",
        "GEODIST",
        "GEOHASH",
        "GEOPOS",
        "GEOSEARCH",
        "GEORADIUS_RO",
        "GEORADIUSBYMEMBER_RO",
        // the server itself, and our own connection to it
        "PING",
        "ECHO",
        "TIME",
        "INFO",
        "LASTSAVE",
        "ROLE",
        "AUTH",
        "HELLO",
        "SELECT",
        "QUIT",
        "RESET",
        "READONLY",
        "READWRITE",
        "ASKING",
        "WAIT",
        "WATCH",
        "UNWATCH",
        "SUBSCRIBE",
        "PSUBSCRIBE",
        "SSUBSCRIBE",
        "UNSUBSCRIBE",
        "PUNSUBSCRIBE",
        "SUNSUBSCRIBE",
        // scripts that the server itself keeps from writing
        "EVAL_RO",
        "EVALSHA_RO",
        "FCALL_RO",
    };
    return table;
}

// The same for commands that are families: "COMMAND SUBCOMMAND".
const QSet<QByteArray> &readOnlySubcommands()
{
    static const QSet<QByteArray> table{
        "CLIENT LIST",
        "CLIENT ID",
        "CLIENT INFO",
        "CLIENT GETNAME",
        "CLIENT SETNAME",
        "CLIENT SETINFO",
        "CLIENT GETREDIR",
        "CLIENT TRACKING",
        "CLIENT TRACKINGINFO",
        "CLIENT CACHING",
        "CLIENT NO-EVICT",
        "CLIENT NO-TOUCH",
        "CLIENT HELP",
        "CONFIG GET",
        "CONFIG HELP",
        "PUBSUB CHANNELS",
        "PUBSUB NUMSUB",
        "PUBSUB NUMPAT",
        "PUBSUB SHARDCHANNELS",
        "PUBSUB SHARDNUMSUB",
        "OBJECT ENCODING",
        "OBJECT IDLETIME",
        "OBJECT FREQ",
        "OBJECT REFCOUNT",
        "MEMORY USAGE",
        "MEMORY STATS",
        "MEMORY DOCTOR",
        "COMMAND COUNT",
        "COMMAND INFO",
        "COMMAND DOCS",
        "COMMAND LIST",
        "COMMAND GETKEYS",
        "SCRIPT EXISTS",
        "FUNCTION LIST",
        "FUNCTION STATS",
        "SLOWLOG GET",
        "SLOWLOG LEN",
        "LATENCY LATEST",
        "LATENCY HISTORY",
        "LATENCY HISTOGRAM",
        "LATENCY DOCTOR",
        "XINFO STREAM",
        "XINFO GROUPS",
        "XINFO CONSUMERS",
        "ACL WHOAMI",
        "ACL GETUSER",
        "ACL CAT",
        "ACL DRYRUN",
        "CLUSTER INFO",
        "CLUSTER NODES",
        "CLUSTER SLOTS",
        "CLUSTER SHARDS",
        "CLUSTER MYID",
        "CLUSTER KEYSLOT",
        "CLUSTER COUNTKEYSINSLOT",
        "CLUSTER GETKEYSINSLOT",
        "CLUSTER REPLICAS",
        "CLUSTER LINKS",
        "MODULE LIST",
    };
    return table;
}

// The index from which the arguments are secret; the size where none is.
qsizetype firstSecret(const redis::Command &command)
{
    const auto name = command.value(0).toUpper();
    const auto sub = command.value(1).toUpper();
    if (name == "AUTH")
        return 1;
    if ((name == "CONFIG" && sub == "SET") || (name == "ACL" && sub == "SETUSER"))
        return 3;
    if (name == "HELLO" || name == "MIGRATE") {
        for (qsizetype i = 1; i < command.size(); ++i) {
            const auto word = command[i].toUpper();
            if (word == "AUTH" || word == "AUTH2")
                return i + 1;
        }
    }
    return command.size();
}

} // namespace

bool isWrite(const redis::Command &command)
{
    if (command.isEmpty())
        return true;
    const auto name = command[0].toUpper();
    if (readOnlyCommands().contains(name))
        return false;
    if (command.size() == 1)
        return name != "COMMAND";
    return !readOnlySubcommands().contains(name + ' ' + command[1].toUpper());
}

QString commandText(const redis::Command &command)
{
    constexpr int mostPerArgument = 60;
    constexpr qsizetype mostArguments = 12;
    const auto secret = firstSecret(command);
    QStringList words;
    for (qsizetype i = 0; i < std::min(command.size(), mostArguments); ++i) {
        if (i >= secret) {
            words << u"(not shown)"_s;
            break;
        }
        const auto word = label(command[i], mostPerArgument);
        words << (word.isEmpty() || word.contains(u' ') ? u'"' + word + u'"' : word);
    }
    if (command.size() > mostArguments && secret > mostArguments)
        words << u"… %1 more"_s.arg(command.size() - mostArguments);
    return words.join(u' ');
}

} // namespace lockscope::operate
