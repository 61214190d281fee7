// SPDX-License-Identifier: Apache-2.0
// Locks without a token: SETNX with any value, and SETNX with a moment as the value.
#include "core/inspect/findings.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/redis/naming.h"
#include "core/inspect/redis/pieces.h"

#include "core/base/duration.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using std::chrono::milliseconds;

namespace {

// What a client writes to say "mine" is short; a document is something else.
constexpr qsizetype longestMark = 256;

// "1700000000", "1700000000.25" or "1700000000123", within a day of now.
std::optional<ServerTime> readMoment(const QByteArray &value, ServerTime now)
{
    const auto dot = value.indexOf('.');
    const auto whole = readInteger(dot < 0 ? value : value.left(dot));
    const QByteArray fraction = dot < 0 ? QByteArray() : value.mid(dot + 1);
    if (!whole || (dot >= 0 && !readInteger(fraction)))
        return std::nullopt;
    const auto digits = dot < 0 ? value.size() : dot;
    if (digits != 10 && digits != 13)
        return std::nullopt;
    const qint64 ms = digits == 13 ? *whole : *whole * 1000 + fraction.leftJustified(3, '0').left(3).toLongLong();
    const ServerTime moment{milliseconds(ms)};
    constexpr auto day = std::chrono::hours(24);
    return moment > now - day && moment < now + day ? std::optional(moment) : std::nullopt;
}

} // namespace

std::optional<LockSnapshot> timestampLock(const Case &about)
{
    if (!about.main.value || about.main.ttl)
        return std::nullopt;
    const auto moment = readMoment(*about.main.value, about.context.observed);
    const bool named = saysLock(about.name());
    if (!moment || (!named && !about.context.includeLowConfidence))
        return std::nullopt;
    LockSnapshot lock = snapshotOf(about, "redis-getset", std::nullopt, named ? Confidence::Medium : Confidence::Low,
                                   u"the value is a moment, %1, and the key has no expiry"_s.arg(
                                       *moment > about.context.observed ? u"to come"_s : u"gone by"_s));
    lock.waitersKnown = false;
    if (*moment > about.context.observed) {
        Contender holder = holderOf(about, *about.main.value);
        holder.expiresAt = moment;
        // Whoever takes it over within the same millisecond, or second, writes the same.
        holder.guard.comesAgain = true;
        lock.contenders.push_back(std::move(holder));
    } else {
        const QString ago = spokenDuration(about.context.observed - *moment);
        addFinding(lock, FindingCode::ExpiredValue,
                   u"its time was over %1 ago; whoever tries next takes it over"_s.arg(ago));
    }
    judgeState(lock);
    return lock;
}

std::optional<LockSnapshot> naiveLock(const Case &about)
{
    if (!about.main.value || about.main.value->size() > longestMark || !saysLock(about.name()))
        return std::nullopt;
    LockSnapshot lock = snapshotOf(about, "redis-setnx-expire", std::nullopt, Confidence::Medium,
                                   u"the key's name says lock, and its value is no random token"_s);
    lock.waitersKnown = false;
    Contender holder = holderOf(about, *about.main.value);
    // "1" says nothing about anybody.
    if (about.main.value->size() > 1)
        holder.identity = about.main.value;
    tellApartByExpiry(holder, about.main);
    lock.contenders.push_back(std::move(holder));
    addNoTtl(lock, about);
    judgeState(lock);
    return lock;
}

} // namespace lockscope::inspect
