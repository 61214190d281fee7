// SPDX-License-Identifier: Apache-2.0
#include "rediscommands.h"

namespace lockscope::testing {

namespace {

// The command, and a message for each argument; what stands after a bar is options, of which some are taken.
struct Pattern {
    QByteArray name;
    QByteArray arguments;
    QByteArrayList options = {};
};

const std::vector<Pattern> &patterns()
{
    static const std::vector<Pattern> all{{"SET", "kv", {"NX", "PX m"}},
                                          {"SETNX", "kv"},
                                          {"GET", "k"},
                                          {"GETSET", "kv"},
                                          {"INCR", "k"},
                                          {"INCRBY", "kn"},
                                          {"DECRBY", "kn"},
                                          {"DEL", "kk"},
                                          {"EXISTS", "kk"},
                                          {"KEYS", "g"},
                                          {"DBSIZE", ""},
                                          {"EXPIRE", "km"},
                                          {"PEXPIRE", "km"},
                                          {"TTL", "k"},
                                          {"PTTL", "k"},
                                          {"PEXPIRETIME", "k"},
                                          {"HSET", "Hhw"},
                                          {"HSET", "Hhwhw"},
                                          {"HGET", "Hh"},
                                          {"HDEL", "Hhh"},
                                          {"HEXISTS", "Hh"},
                                          {"HINCRBY", "Hhw"},
                                          {"HGETALL", "H"},
                                          {"HLEN", "H"},
                                          {"RPUSH", "Lh"},
                                          {"LPOP", "L"},
                                          {"LPOP", "Ln"},
                                          {"LINDEX", "Li"},
                                          {"LRANGE", "Lii"},
                                          {"LREM", "Lih"},
                                          {"ZADD", "Zsh"},
                                          {"ZADD", "Zshsh"},
                                          {"ZINCRBY", "ZSh"},
                                          {"ZREM", "Zh"},
                                          {"ZSCORE", "Zh"},
                                          {"ZCARD", "Z"},
                                          {"ZRANGE", "Zii", {"WITHSCORES"}},
                                          {"ZRANGEBYSCORE", "Zbb", {"WITHSCORES", "LIMIT i i"}},
                                          {"PING", ""},
                                          {"TIME", ""},
                                          {"SELECT", "0"},
                                          {"PUBLISH", "cv"},
                                          {"PUBLISH", "cv"},
                                          {"CLIENT", "", {"GETNAME", "NOPE"}},
                                          {"SCRIPT", "", {"FLUSH", "EXISTS e", "LOAD x", "NOPE"}},
                                          {"NOSUCH", "kv"},
                                          {"FLUSHALL", ""}};
    return all;
}

struct ScriptPattern {
    QByteArray name, keys, arguments;
};

const std::vector<ScriptPattern> &scripts()
{
    static const std::vector<ScriptPattern> all{
        {"compare-and-delete", "k", "v"},          {"compare-and-expire", "k", "vm"},
        {"redisson-acquire", "H", "om"},           {"redisson-acquire", "Hk", "om"},
        {"redisson-fair-acquire", "HLZ", "omm1"},  {"redisson-fair-acquire", "HLZ", "omm1"},
        {"redisson-fair-leave", "HLZ", "omc"},     {"redisson-fair-release", "HkLZ", "omcm"},
        {"redisson-force-release", "HccLZ", "op"}, {"redisson-permit-acquire", "kZ", "ommc"},
        {"redisson-permit-acquire", "kZ", "om3c"}, {"redisson-permit-release", "kZ", "oc"},
        {"redisson-permit-renew", "Z", "om"},      {"redisson-read-acquire", "H", "omp"},
        {"redisson-read-release", "Hk", "opcm"},   {"redisson-read-renew", "H", "omp"},
        {"redisson-release", "Hk", "omcm"},        {"redisson-renew", "H", "om"},
        {"redisson-write-acquire", "H", "om"},     {"redisson-write-release", "Hk", "omcm"}};
    return all;
}

} // namespace

redis::Command RandomCommands::next()
{
    auto command = chance(35) ? script() : plain();
    if (chance(4) && command.size() > 1)
        command.removeLast();
    else if (chance(4) && command.first() != "FLUSHALL")
        command << argument('v');
    return command;
}

redis::Command RandomCommands::plain()
{
    // Everything gone is worth a look now and then.
    auto pattern = patterns()[m_random.below(patterns().size())];
    while (pattern.name == "FLUSHALL" && !chance(20))
        pattern = patterns()[m_random.below(patterns().size())];
    redis::Command command{chance(10) ? pattern.name.toLower() : pattern.name};
    for (const char kind : pattern.arguments)
        command << argument(kind);
    const bool isSubcommand = pattern.arguments.isEmpty();
    while (!pattern.options.isEmpty() && (chance(40) || (isSubcommand && command.size() == 1))) {
        const auto option = one(pattern.options).split(' ');
        command << option.first();
        for (const auto &argumentOf : option.sliced(1))
            command << (argumentOf.size() == 1 ? argument(argumentOf.front()) : argumentOf);
        if (isSubcommand)
            break;
    }
    return command;
}

redis::Command RandomCommands::script()
{
    const auto &pattern = scripts()[m_random.below(scripts().size())];
    const auto script = redis::loadScript(pattern.name);
    const bool bySha = chance(50);
    redis::Command command{bySha ? "EVALSHA" : "EVAL", bySha ? script.sha : script.text,
                           QByteArray::number(pattern.keys.size())};
    for (const char kind : pattern.keys + pattern.arguments)
        command << argument(kind);
    return command;
}

QByteArray RandomCommands::argument(char kind)
{
    static const QByteArrayList keys{"text", "number", "latch", "hash", "list", "scores"};
    static const QByteArrayList holders{"me:1", "you:2", "me:1:write", "third:3"};
    if (QByteArray("HLZ").contains(kind) && chance(8))
        return one(keys);
    switch (kind) {
    case 'H': return "hash";
    case 'L': return "list";
    case 'Z': return "scores";
    case 'k': return one(keys.first(chance(85) ? 3 : keys.size()));
    case 'o': return one(holders);
    case 'h': // a field or a member
        return one(holders + QByteArrayList{"mode", "a", ""});
    case 'w': // never large: scripts count up to what stands in a hash
        return one({"1", "2", "3", "0", "-1", "read", "write", "abc", ""});
    case 'm': return milliseconds();
    case 'n':
        return one({"1", "0", "-1", "7", "abc", "", "3.5", " 1", "01", "-0", "+1", "9223372036854775807",
                    "-9223372036854775808", "9223372036854775808"});
    case 'i': return one({"0", "1", "2", "-1", "-2", "-100", "100", "abc"});
    case 's': return one({"1", "2", "-3", "2.5", "0.1", "1e3", "inf", "-inf", "nan", "abc", "", " 1", "0x10"});
    case 'S': // what is added to a score that may be a moment: it comes near no other, whose order would be chance
        return one({"30e3", "-70e3", "2.5e4", "0x7530", "inf", "-inf", "nan", "abc", "", " 1"});
    case 'b': return one({"0", "1", "(1", "2.5", "-inf", "+inf", "(inf", "(", "", "abc", "nan"});
    case 'g': return one({"*", "*s*", "[a-l]*", "[^h]*", "?ext", "nothing", "h\\ash", "t*t", "lat[c]h"});
    case 'c': return one({"news", "other", "news:me:1"});
    case 'p': return "{hash}:";
    case 'e': return redis::loadScript("compare-and-delete").sha;
    case 'x': return one({redis::loadScript("compare-and-delete").text, "return 7", "return ("});
    case '0':
    case '1':
    case '3': return QByteArray(1, kind);
    default:
        return one(
            {"1", "2", "me:1", "token", "", "abc", QByteArray("\0\r\n\xff", 4), "9223372036854775807", "10.5"});
    }
}

// No two are near each other, so that the order of what expires is not that of execution.
QByteArray RandomCommands::milliseconds()
{
    if (chance(12))
        return one({"0", "-1", "-100000000", "abc", "", "1500000.5", "9223372036854775807"});
    return QByteArray::number(1'000'000 + 100'000 * ++m_times);
}

} // namespace lockscope::testing
