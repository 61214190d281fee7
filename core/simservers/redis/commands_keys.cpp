// SPDX-License-Identifier: Apache-2.0
// Commands on keys of any type.
#include "core/simservers/redis/execution.h"
#include "core/simservers/redis/keyspace.h"

namespace lockscope::sim {

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

using Millis = Keyspace::Millis;

// Commands on how long a key lives.
Millis momentOf(Execution &run, qint64 number, qint64 each, const QByteArray &command)
{
    qint64 millis = 0;
    if (__builtin_mul_overflow(number, each, &millis)
        || __builtin_add_overflow(millis, run.nowMillis().count(), &millis))
        run.refuse("ERR invalid expire time in '" + command.toLower() + "' command");
    return Millis(millis);
}

Millis expiryOf(Execution &run, const QByteArray &text, const QByteArray &command)
{
    const auto number = run.integer(text);
    if (!run.isRefused() && number <= 0)
        run.refuse("ERR invalid expire time in '" + command.toLower() + "' command");
    return momentOf(run, number, 1, command);
}

void expireAt(Execution &run, const QByteArray &key, Millis when)
{
    if (when <= run.nowMillis())
        run.keys.remove(key);
    else
        run.keys.expireAt(key, when);
}

namespace {

template <qint64 millis>
Value expireBy(Execution &run, const Command &command)
{
    if (command.size() > 3) // recipes and scripts use none
        return run.refuse("ERR Unsupported option " + beginning(command[3]));
    const auto number = run.integer(command[2]);
    if (run.isRefused())
        return {};
    const auto when = momentOf(run, number, millis, command[0]);
    if (run.isRefused())
        return {};
    if (!run.keys.look(command[1]))
        return replies::integer(0);
    expireAt(run, command[1], when);
    return replies::integer(1);
}

// -2 no key, -1 no expiry.
template <qint64 millis, bool isMoment>
Value timeLeft(Execution &run, const Command &command)
{
    const auto *entry = run.keys.look(command[1]);
    if (!entry || !entry->expiresAt)
        return replies::integer(entry ? -1 : -2);
    const auto time = isMoment ? *entry->expiresAt : std::max(Millis(0), *entry->expiresAt - run.nowMillis());
    // Unsigned: half a second more than the last moment there is must not become the first.
    return replies::integer(static_cast<qint64>((static_cast<quint64>(time.count()) + millis / 2) / millis));
}

} // namespace

RedisCommands expiryCommands()
{
    return {{"EXPIRE", {-3, expireBy<1000>}},
            {"PEXPIRE", {-3, expireBy<1>}},
            {"TTL", {2, timeLeft<1000, false>}},
            {"PTTL", {2, timeLeft<1, false>}},
            {"PEXPIRETIME", {2, timeLeft<1, true>}}};
}

} // namespace lockscope::sim
