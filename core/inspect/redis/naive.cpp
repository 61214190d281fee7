// SPDX-License-Identifier: Apache-2.0
// Locks without a token: SETNX with any value, and SETNX with a moment as the value.
#include "core/inspect/findings.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/redis/nameevidence.h"
#include "core/inspect/redis/naming.h"
#include "core/inspect/redis/pieces.h"

#include "core/base/identifiers.h"

#include <QByteArrayList>

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using std::chrono::milliseconds;

namespace {

// What a client writes to say "mine" is short; a document is something else.
constexpr qsizetype longestMark = 256;

// Settings, documents and addresses are written down under names with "lock" in them, too.
bool isDocument(const QByteArray &value)
{
    return value.isEmpty() || value.startsWith('/') || value.startsWith("http")
           || std::ranges::any_of(value, [](char c) {
                  return QByteArrayView("{}[]<>\"'=,;| \n\t").contains(c) || static_cast<uchar>(c) < 0x20;
              });
}

// "10.0.3.7", "00:1a:2b:3c:4d:5e"
bool isAddressOrMac(const QByteArray &value)
{
    const bool ofDigits = std::ranges::all_of(value, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    const bool isMac = value.size() == 17 && value.count(':') == 5;
    return isMac || (ofDigits && value.count('.') == 3);
}

// What says "taken", or who took it: "1", "true", a process, a host, a moment.
bool isMark(const QByteArray &value)
{
    static const QByteArrayList words{"1",    "true", "yes",  "y",     "x",      "locked",
                                      "lock", "held", "busy", "taken", "running"};
    if (words.contains(value.toLower()) || isDigits(value))
        return true;
    return std::ranges::any_of(value, [](char c) { return QByteArrayView("0123456789-_:@#.").contains(c); });
}

// How sure one can be that the key is a lock, whose name says so and whose value is no token.
Confidence confidenceIn(const Case &about)
{
    constexpr auto leaseOfALock = std::chrono::hours(1);
    const auto &value = *about.main.value;
    if (!callsItselfLock(about.name()) || isDocument(value) || isAddressOrMac(value))
        return Confidence::Low;
    const bool endsSoon = about.main.ttl && *about.main.ttl <= leaseOfALock;
    return endsSoon || isMark(value) ? Confidence::Medium : Confidence::Low;
}

} // namespace

std::optional<ServerTime> momentIn(const QByteArray &value, ServerTime now)
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

std::optional<LockSnapshot> timestampLock(const Case &about)
{
    if (!about.main.value || about.main.ttl)
        return std::nullopt;
    const auto moment = momentIn(*about.main.value, about.context.observed);
    const bool named = callsItselfLock(about.name());
    if (!moment || (!named && !about.context.includeLowConfidence))
        return std::nullopt;
    const bool isOver = *moment <= about.context.observed;
    const bool saysSince = isOver && about.behaviour().momentOfTaking;
    LockSnapshot lock = snapshotOf(
        about, "redis-getset", nullptr, named ? Confidence::Medium : Confidence::Low,
        u"the value is a moment, %1, and the key has no expiry"_s.arg(saysSince ? u"that at which it was written"_s
                                                                      : isOver  ? u"gone by"_s
                                                                                : u"to come"_s));
    lock.waitersKnown = false;
    if (!isOver || saysSince) {
        Contender holder = holderOf(about, *about.main.value);
        (saysSince ? holder.heldSince : holder.expiresAt) = moment;
        // Whoever takes it over within the same millisecond, or second, writes the same.
        holder.guard.comesAgain = true;
        lock.contenders.push_back(std::move(holder));
    } else {
        Wording message = u"its moment was "_s;
        message.since(*moment) << u" ago: if that says until when, its time is over and whoever tries next takes it "
                                  u"over; if it says since when, somebody holds it"_s;
        addFinding(lock, FindingCode::ExpiredValue, message);
    }
    if (saysSince)
        addNoTtl(lock, about, Severity::Warning);
    judgeState(lock);
    return lock;
}

std::optional<LockSnapshot> naiveLock(const Case &about)
{
    if (!about.main.value || about.main.value->size() > longestMark || !saysLock(about.name()))
        return std::nullopt;
    const auto confidence = confidenceIn(about);
    if (confidence == Confidence::Low && !about.context.includeLowConfidence)
        return std::nullopt;
    LockSnapshot lock = snapshotOf(about, "redis-setnx-expire", nullptr, confidence,
                                   u"the key's name says lock; its value has the form of no client's token"_s);
    lock.waitersKnown = false;
    Contender holder = holderOf(about, *about.main.value);
    // "1" says nothing about anybody.
    if (about.main.value->size() > 1)
        holder.identity = about.main.value;
    tellApartByExpiry(holder, about.main);
    lock.contenders.push_back(std::move(holder));
    // A name is too little for an alarm.
    if (confidence != Confidence::Low)
        addNoTtl(lock, about, Severity::Warning);
    judgeState(lock);
    return lock;
}

} // namespace lockscope::inspect
