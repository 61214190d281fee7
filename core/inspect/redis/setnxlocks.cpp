// SPDX-License-Identifier: Apache-2.0
// Locks without a token: SETNX with any value, and SETNX with a moment as the value.
#include "core/inspect/findings.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/redis/recognise.h"
#include "core/inspect/redis/naming.h"

#include "core/base/text.h"

namespace lockscope::inspect {

namespace {

// What a client writes to say "mine" is short; a document is something else.
constexpr qsizetype longestMark = 256;

// "web-7d9c|12", as PHP's session lock writes it.
bool isProcessOnHost(const QByteArray &value)
{
    const auto bar = value.indexOf('|');
    const auto host = value.left(bar);
    return bar > 0 && isDigits(value.mid(bar + 1)) && std::ranges::all_of(host, [](char c) {
               return isLetter(c) || isDigit(c) || c == '.' || c == '-' || c == '_';
           });
}

// Settings, documents and addresses are written down under names with "lock" in them, too.
bool isDocument(const QByteArray &value)
{
    return value.startsWith('/') || value.startsWith("http") || std::ranges::any_of(value, [](char c) {
               return QByteArrayView("{}[]<>\"'=,;| \n\t").contains(c) || static_cast<uchar>(c) < 0x20;
           });
}

// "10.0.3.7", "00:1a:2b:3c:4d:5e"
bool isAddressOrMac(const QByteArray &value)
{
    const bool ofDigits = std::ranges::all_of(value, [](char c) { return isDigit(c) || c == '.'; });
    const bool isMac = value.size() == 17 && value.count(':') == 5;
    return isMac || (ofDigits && value.count('.') == 3);
}

// What says "taken", whoever took it.
bool isConstantMark(const QByteArray &value)
{
    static const QByteArrayList words{"1",    "true", "yes",  "y",     "x",       "locked",
                                      "lock", "held", "busy", "taken", "running", "b:1;"}; // the last by PHP
    return words.contains(value.toLower());
}

// That, or who took it: a process, a host, a moment.
bool isMark(const QByteArray &value)
{
    return isConstantMark(value)
           || std::ranges::any_of(value, [](char c) { return QByteArrayView("0123456789-_:@#.").contains(c); });
}

// "2" may be how many hold it as well as who does. What is less than one is nobody's mark: a counter at rest says 0.
bool isCount(const QByteArray &value)
{
    constexpr qint64 mostCounted = 99;
    const auto number = readInteger(value);
    return number && *number != 1 && *number <= mostCounted;
}

constexpr auto leaseOfAMark = std::chrono::hours(1);

// Without a name that says so: what our own redis-setnx-expire and many a tutorial write, which always ends.
bool isMarkThatEnds(const Case &about)
{
    return about.context.includeLowConfidence && about.main.ttl && isConstantMark(*about.main.value)
           && (about.context.isAskedFor || *about.main.ttl <= leaseOfAMark);
}

// How sure one can be that the key is a lock, whose name says so and whose value is no token.
Confidence confidenceIn(const Case &about)
{
    const auto &value = *about.main.value;
    if (!isCalledLock(about.main) || isAddressOrMac(value) || isCount(value))
        return Confidence::Low;
    if (value.isEmpty() || isProcessOnHost(value) || isConstantMark(value))
        return Confidence::Medium;
    const bool endsSoon = about.main.ttl && *about.main.ttl <= leaseOfAMark;
    if (isDocument(value))
        return endsSoon && isObjectOfOwner(value) ? Confidence::Medium : Confidence::Low;
    return endsSoon || isMark(value) ? Confidence::Medium : Confidence::Low;
}

// The key lives on when its value's time is over: then the value says when the lock ends.
bool endsByItsValue(const Case &about, ServerTime moment)
{
    const auto ends = about.expiry(about.main);
    return !ends || (moment > about.context.observed && *ends >= moment);
}

} // namespace

std::optional<ServerTime> momentIn(const QByteArray &value, ServerTime now)
{
    const auto moment = recipes::readMoment(value, now);
    return moment ? std::optional(moment->at) : std::nullopt;
}

std::optional<LockSnapshot> timestampLock(const Case &about)
{
    if (!about.main.value)
        return std::nullopt;
    const auto moment = momentIn(*about.main.value, about.context.observed);
    const bool named = isCalledLock(about.main);
    if (!moment || !endsByItsValue(about, *moment) || (!named && !about.context.includeLowConfidence))
        return std::nullopt;
    const bool isOver = *moment <= about.context.observed;
    const bool saysSince = isOver && about.behaviour().momentOfTaking;
    const auto keyEnd = !about.main.ttl                  ? u"the key has no expiry"_s
                        : isMistakenTtl(*about.main.ttl) ? u"the key's time to live is a mistake"_s
                                                         : u"the key ends later"_s;
    LockSnapshot lock =
        snapshotOf(about, "redis-getset", nullptr, named ? Confidence::Medium : Confidence::Low,
                   u"the value is a moment, %1, and %2"_s.arg(saysSince ? u"that at which it was written"_s
                                                              : isOver  ? u"gone by"_s
                                                                        : u"to come"_s,
                                                              keyEnd));
    lock.waitersKnown = false;
    if (!isOver || saysSince) {
        Contender holder = holderOf(about, *about.main.value);
        (saysSince ? holder.heldSince : holder.expiresAt) = moment; // whatever the key's own end is
        // Whoever takes it over within the same millisecond, or second, writes the same.
        holder.guard.edit<RedisIdentity>().comesAgain = true;
        lock.contenders.push_back(std::move(holder));
    } else {
        Wording message = u"its moment was "_s;
        message.since(*moment)
            << u" ago"_s
            << clause(u"if it is an expiry, the lock has expired and the next client takes it over. If it is a "
                      u"start, a client holds the lock"_s);
        addFinding(lock, FindingCode::ExpiredValue, message);
    }
    if (saysSince)
        addNoTtl(lock, about, Severity::Warning);
    judgeState(lock);
    return lock;
}

std::optional<LockSnapshot> naiveLock(const Case &about)
{
    if (!about.main.value || about.main.value->size() > longestMark)
        return std::nullopt;
    const auto &value = *about.main.value;
    // celery-once writes a token, or a time.
    const bool isCalledSo = saysLock(about.name()) && !isLockFile(about.name()) && !isLeaseWithoutEnd(about.main);
    const bool isNamed = isCalledSo || (isNamedByClient(about.name()) && !about.name().startsWith("qo_"));
    const auto number = readInteger(value);
    if ((!isNamed && !isMarkThatEnds(about)) || (number && *number < 1))
        return std::nullopt;
    const auto confidence = confidenceIn(about);
    if (confidence == Confidence::Low && !about.context.includeLowConfidence)
        return std::nullopt;
    const auto why =
        !isNamed                 ? u"a mark that any client may write, in a key with an expiry"_s
        : value.isEmpty()        ? u"the key's name says lock; its value is empty, so nothing says who holds it"_s
        : isCount(value)         ? u"the key's name says lock; its value is a number, of holds or of who holds it"_s
        : isProcessOnHost(value) ? u"the key's name says lock; its value is a process and its host"_s
                                 : u"the key's name says lock; its value has the form of no client's token"_s;
    LockSnapshot lock = snapshotOf(about, "redis-setnx-expire", nullptr, confidence, why);
    lock.waitersKnown = false;
    if (value.isEmpty() && about.name().endsWith("~lock"))
        attribute(lock, knownClient("spring-cache"));
    if (value == "1" && about.name().startsWith("arq:in-progress:"))
        attribute(lock, knownClient("arq"));
    if (about.name().endsWith("resque_scheduler_master_lock")) // locking.rb; node-resque's, too
        attribute(lock, knownClient("resque-scheduler"));
    if (isOfLaravelsScheduler(about.name()))
        attribute(lock, knownClient("laravel-scheduler"));
    const bool isOfProcess = isProcessOnHost(value);
    if (isOfProcess && about.name().contains("PHPREDIS_SESSION:") && about.name().endsWith("_LOCK"))
        attribute(lock, knownClient("php-redis-session"));
    Contender holder = holderOf(about, value);
    // "1" says nothing about anybody, and neither does a time.
    if (!value.isEmpty() && !isConstantMark(value) && !isCount(value) && !momentIn(value, about.context.observed))
        holder.identity = value;
    distinguishByExpiry(holder, about.main);
    lock.contenders.push_back(std::move(holder));
    // A name is too little for an alarm. Whether a process lives can be checked on its host.
    if (confidence != Confidence::Low)
        addNoTtl(lock, about, lock.client && !isOfProcess ? Severity::Critical : Severity::Warning);
    // storage.py, RedisExpireStorage: its locks never end by themselves.
    if (about.name().startsWith("huey.r.") && about.name().contains(".lock.") && value == "1")
        attribute(lock, knownClient("huey"));
    judgeState(lock);
    return lock;
}

QString notUnderstoodReason(const KeyView &main)
{
    const bool hasLockField =
        std::ranges::any_of(main.fields, [](const auto &field) { return saysLock(field.first); });
    if (hasLockField) // as huey's results have
        return u"it is a hash with a field that says lock, and no rule reads such a hash"_s;
    const auto number = main.value ? readInteger(*main.value) : std::nullopt;
    if (!number)
        return {};
    if (*number < 1)
        return u"its value is the number %1: a counter has it when no client holds the lock, or when it is broken"_s
            .arg(*number);
    return u"its value is a number: a lock's mark, a counter or a semaphore's permits"_s;
}

} // namespace lockscope::inspect
