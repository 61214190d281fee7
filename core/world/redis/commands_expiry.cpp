// SPDX-License-Identifier: Apache-2.0
// Commands on how long a key lives.
#include "core/world/redis/execution.h"

namespace lockscope::world {

using redis::Command;
using redis::Value;
using Millis = Keyspace::Millis;

std::optional<ExpiryUnit> expiryUnit(const QByteArray &option)
{
    if (option == "EX" || option == "EXAT")
        return ExpiryUnit{1000, option == "EXAT"};
    if (option == "PX" || option == "PXAT")
        return ExpiryUnit{1, option == "PXAT"};
    return std::nullopt;
}

Millis momentOf(Execution &run, qint64 number, ExpiryUnit unit, const QByteArray &command)
{
    qint64 millis = 0;
    const qint64 from = unit.isMoment ? 0 : run.nowMillis().count();
    if (__builtin_mul_overflow(number, unit.millis, &millis) || __builtin_add_overflow(millis, from, &millis))
        run.refuse("ERR invalid expire time in '" + command.toLower() + "' command");
    return Millis(millis);
}

Millis expiryOf(Execution &run, const QByteArray &text, ExpiryUnit unit, const QByteArray &command)
{
    const auto number = run.integer(text);
    if (!run.isRefused() && number <= 0)
        run.refuse("ERR invalid expire time in '" + command.toLower() + "' command");
    return momentOf(run, number, unit, command);
}

void expireAt(Execution &run, const QByteArray &key, Millis when)
{
    if (when <= run.nowMillis())
        run.keys.remove(key);
    else
        run.keys.expireAt(key, when);
}

namespace {

struct Conditions {
    bool nx = false, xx = false, gt = false, lt = false;
};

Conditions conditionsOf(Execution &run, const Command &command)
{
    Conditions only;
    for (qsizetype i = 3; i < command.size(); ++i) {
        const auto option = command[i].toUpper();
        if (option == "NX")
            only.nx = true;
        else if (option == "XX")
            only.xx = true;
        else if (option == "GT")
            only.gt = true;
        else if (option == "LT")
            only.lt = true;
        else
            run.refuse("ERR Unsupported option " + beginning(command[i]));
    }
    if (only.nx && (only.xx || only.gt || only.lt))
        run.refuse("ERR NX and XX, GT or LT options at the same time are not compatible");
    if (only.gt && only.lt)
        run.refuse("ERR GT and LT options at the same time are not compatible");
    return only;
}

bool allows(const Conditions &only, std::optional<Millis> current, Millis when)
{
    // No expiry at all is later than any.
    return !(only.nx && current) && !(only.xx && !current) && !(only.gt && (!current || when <= *current))
           && !(only.lt && current && when >= *current);
}

template <qint64 millis>
Value expireBy(Execution &run, const Command &command)
{
    const auto only = conditionsOf(run, command);
    const auto number = run.integer(command[2]);
    if (run.isRefused())
        return {};
    const auto when = momentOf(run, number, {millis, false}, command[0]);
    if (run.isRefused())
        return {};
    const auto *entry = run.keys.look(command[1]);
    if (!entry || !allows(only, entry->expiresAt, when))
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

} // namespace lockscope::world
