// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/recognise.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/redis/naming.h"
#include "core/inspect/redis/userrulelocks.h"
#include "core/rules/catalogue.h"

#include <string_view>

namespace lockscope::inspect {

// Which keys belong to which lock, which are worth reading, and where waiters listen.

bool isNamedAsSemaphore(const QByteArray &key);
using Rule = std::optional<LockSnapshot>(const Case &about);
Rule redissonLeftOver, redissonReadWriteLock, redissonLock, redissonMultiLock, redissonPermitSemaphore,
    redissonSemaphore, shedLockKey, tokenLock, timestampLock, naiveLock, nodeSemaphore, symfonyLock, grabbedSemaphore,
    uniqueJobsLock, uniqueJobsKey, grabbedSemaphoreAtRest, dotNetSortedSetSemaphore, dotNetReadWriteLock,
    nextcloudLock, sessionLock;
bool isCountDownLatch(const Case &about);
bool isSemaphoreAtRest(const Case &about);

namespace {

// Far more holds of one reader than anybody has; a hash from a stranger may say any number.
constexpr qint64 mostReadHolds = 64;

// Asked of every key of a large store: no call, nothing is measured.
inline bool beginsWith(const QByteArray &name, std::string_view word)
{
    return std::string_view(name.constData(), std::size_t(name.size())).starts_with(word);
}

// "{orders}:<uuid>:<thread>:rwlock_timeout:<n>" → "{orders}"
std::optional<QByteArray> ofReadHold(const QByteArray &key)
{
    constexpr std::string_view mark = ":rwlock_timeout:";
    std::string_view rest(key.constData(), std::size_t(key.size()));
    while (!rest.empty() && rest.back() >= '0' && rest.back() <= '9')
        rest.remove_suffix(1);
    if (!rest.ends_with(mark) || std::ssize(rest) == key.size())
        return std::nullopt;
    const auto at = std::ssize(rest) - std::ssize(mark);
    const auto thread = key.lastIndexOf(':', at - 1);
    const auto client = thread < 0 ? -1 : key.lastIndexOf(':', thread - 1);
    if (client <= 0 || !readHolder(key.mid(client + 1, at - client - 1)))
        return std::nullopt;
    return key.left(client);
}

// What Redisson would name so beside a lock: "redisson_lock_queue:{orders}", "{orders}:timeout",
// "redisson_unlock_latch:{orders}:<hex32>" → "orders"
std::optional<QByteArray> ofRedisson(const QByteArray &key)
{
    if (!beginsWith(key, "redisson_") && !beginsWith(key, "{"))
        return std::nullopt; // of millions of keys nearly all
    const auto first = key.indexOf(':');
    const auto last = key.lastIndexOf(':');
    const auto behind = withoutBraces(key.mid(first + 1));
    const redis::RedissonKeys keys(behind);
    if (!behind.isEmpty() && (key == keys.fairQueue() || key == keys.fairDeadlines() || key == keys.fencingToken()))
        return behind;
    const auto request = key.mid(last + 1);
    const auto latched = withoutBraces(key.mid(first + 1, last - first - 1));
    if (!latched.isEmpty() && isHex32(request) && key == redis::RedissonKeys(latched).unlockLatch(request))
        return latched;
    const auto before = withoutBraces(key.left(last));
    const bool isBraced = key.startsWith('{') && key.left(last).endsWith('}');
    return isBraced && key == redis::RedissonKeys(before).permitDeadlines() ? std::optional(before) : std::nullopt;
}

// A string of that name is one that a lock's client wrote, most likely.
bool isStringOfLock(const QByteArray &name)
{
    return saysLock(name) || beginsWith(name, "redlock:") || beginsWith(name, "uniquejobs:") || isNamedByClient(name)
           || isNextcloudLock(name);
}

bool isReadWrite(const KeyView &main)
{
    return std::ranges::any_of(main.fields, [](const auto &field) { return field.first == "mode"; });
}

// A channel with thousands of subscribers is shown as that many waiters up to here.
constexpr qint64 mostSubscribers = 1000;

// What such keys hold beyond what their clients' rules read is no lock of another client.
bool isOfClient(const Case &about)
{
    return isNoLockOfClient(about.main);
}

struct Recogniser {
    KeyType type; // of the main key; None: only its companions are left
    Rule *lockOf = nullptr;
    bool (*isNoLock)(const Case &about) = nullptr; // and no rule after it is asked
};

// In the order of docs/layouts.md, "Rules for Redis": what a client's own companions or fields prove comes before
// what a value looks like, and a value that anybody may have written comes last.
constexpr Recogniser recognisers[] = {
    {KeyType::None, redissonLeftOver},
    {KeyType::None, grabbedSemaphoreAtRest},
    {KeyType::None, dotNetReadWriteLock},
    {KeyType::Hash, redissonReadWriteLock},
    {KeyType::Hash, redissonLock},
    {KeyType::Hash, redissonMultiLock},
    {KeyType::Hash, grabbedSemaphore},
    {KeyType::Hash, uniqueJobsLock},
    {KeyType::Hash, sessionLock},
    {KeyType::SortedSet, nodeSemaphore},
    {KeyType::SortedSet, symfonyLock},
    {KeyType::SortedSet, dotNetSortedSetSemaphore},
    {KeyType::String, redissonPermitSemaphore},
    {KeyType::String, redissonSemaphore},
    {KeyType::String, nullptr, isCountDownLatch},
    {KeyType::String, nextcloudLock},
    {KeyType::String, nullptr, isOfClient},
    {KeyType::String, uniqueJobsKey},
    {KeyType::String, shedLockKey},
    {KeyType::String, tokenLock},
    {KeyType::String, nullptr, isSemaphoreAtRest},
    {KeyType::String, timestampLock},
    {KeyType::String, naiveLock},
};

} // namespace

bool isSuspectUnlessHash(const RedisKey &key, bool includeLowConfidence)
{
    const auto &name = key.bytes();
    const bool isNamed = includeLowConfidence || isStringOfLock(name) || beginsWith(name, "semaphore:");
    return (isNamed || isOfUserRuleUnlessHash(key)) && !companionOf(key);
}

bool isSuspect(const RedisKey &key, KeyType type, std::optional<std::chrono::milliseconds> ttl,
               bool includeLowConfidence)
{
    if (companionOf(key))
        return false;
    if (isOfUserRule(key, type))
        return true;
    const bool named = saysLock(key.bytes());
    switch (type) {
    case KeyType::Hash:
        // Redisson's locks may have any name, but hardly ever no expiry.
        return named || ttl.has_value() || includeLowConfidence || isNamedAsSemaphore(key.bytes())
               || beginsWith(key.bytes(), "huey.results."); // its locks are fields among the results
    case KeyType::String: return isStringOfLock(key.bytes()) || includeLowConfidence;
    case KeyType::SortedSet:
    case KeyType::Set:
    case KeyType::List: return named && (key.bytes().startsWith("semaphore:") || callsItselfLock(key.bytes()));
    case KeyType::None:
    case KeyType::Stream:
    case KeyType::Other: break;
    }
    return false;
}

bool isWorthMeasuring(const RedisKey &key, KeyType type, std::optional<std::chrono::milliseconds> ttl)
{
    // Who keeps a lock alive does so for minutes at a time, not hours.
    constexpr auto longestLease = std::chrono::minutes(15);
    constexpr auto longestOfSet = 3 * longestLease; // DistributedLock's lives three times as long as its members
    if (companionOf(key) || isSuspect(key, type, ttl, false))
        return false;
    const bool endsSoon = ttl && *ttl <= longestLease;
    if (type == KeyType::SortedSet)
        return ttl && *ttl <= longestOfSet;
    return type == KeyType::String || type == KeyType::Set ? endsSoon : type == KeyType::Hash;
}

// What MEMORY USAGE says of a key beyond its name differs between versions by some tens of bytes.
bool hasSizeOfLock(const RedisKey &key, KeyType type, qint64 bytes)
{
    constexpr qint64 leastToken = 16;
    constexpr qint64 mostOfString = 256;
    constexpr qint64 leastField = 40;
    constexpr qint64 mostOfHash = 224;
    constexpr qint64 mostOfSet = 600; // some tokens
    const auto beyondName = bytes - key.bytes().size();
    if (type == KeyType::SortedSet || type == KeyType::Set)
        return beyondName >= leastField && beyondName <= mostOfSet;
    return type == KeyType::String ? beyondName >= leastToken && beyondName <= mostOfString
                                   : beyondName >= leastField && beyondName <= mostOfHash;
}

std::optional<RedisKey> companionOf(const RedisKey &key)
{
    const QByteArray &bytes = key.bytes();
    if (const auto main = ofRedisson(bytes))
        return RedisKey(*main);
    if (const auto main = ofReadHold(bytes))
        return RedisKey(withoutBraces(*main));
    constexpr std::string_view signal = "lock-signal:";
    if (beginsWith(bytes, signal))
        return RedisKey("lock:" + bytes.mid(std::ssize(signal)));
    if (const auto main = redis::GrabbedKeys::grabbedOf(bytes))
        return RedisKey(*main);
    if (const auto main = DotNetKeys::lockOf(bytes))
        return RedisKey(*main);
    return std::nullopt;
}

std::vector<RedisKey> companionsToRead(const KeyView &main)
{
    const QByteArray &name = main.key.bytes();
    const redis::RedissonKeys redisson(name);
    auto keys = companionsByUserRules(main);
    const bool mayBeGrabbed = main.type == KeyType::Hash || main.type == KeyType::None;
    if (mayBeGrabbed && name.endsWith(redis::GrabbedKeys::suffix)) {
        const redis::GrabbedKeys grabbed(name);
        for (const auto &key : {grabbed.exists(), grabbed.available(), grabbed.version()})
            keys.emplace_back(key);
    }
    if (main.type == KeyType::None) {
        for (const auto suffix : {DotNetKeys::readersSuffix, DotNetKeys::writerSuffix})
            keys.emplace_back(name + suffix.toByteArray());
    }
    if (main.type == KeyType::String) {
        keys.emplace_back(redisson.permitDeadlines());
        if (const auto list = recipes::signalsOf(name).list; !list.isEmpty())
            keys.emplace_back(list);
        if (name.endsWith(":lock") && name.contains("jobs:"))
            keys.emplace_back(name + "_info");
        if (beginsWith(name, "uniquejobs:"))
            keys.insert(keys.end(), {RedisKey(name + ":LOCKED"), RedisKey(name + ":QUEUED")});
        return keys;
    }
    if (main.type != KeyType::Hash && main.type != KeyType::None)
        return keys;
    if (isReadWrite(main)) {
        for (const auto &[field, count] : main.fields) {
            const auto holder = readHolder(field);
            const qint64 holds = holder && !holder->writes ? readInteger(count).value_or(0) : 0;
            for (qint64 n = 1; n <= std::min(holds, mostReadHolds); ++n)
                keys.emplace_back(redisson.readerTimeout(field, n));
        }
        return keys;
    }
    for (const auto &key : {redisson.fairQueue(), redisson.fairDeadlines(), redisson.fencingToken()})
        keys.emplace_back(key);
    return keys;
}

std::vector<QByteArray> channelsToCount(const KeyView &main)
{
    const QByteArray &name = main.key.bytes();
    const redis::RedissonKeys redisson(name);
    if (main.type == KeyType::Hash)
        return {isReadWrite(main) ? redisson.readWriteChannel() : redisson.channel()};
    if (main.type == KeyType::String && main.value && readInteger(*main.value))
        return {redisson.semaphoreChannel(), redis::RedissonKeys::countDownChannel(name)};
    if (main.type == KeyType::String && main.value && isUuid36(*main.value)) {
        const auto channels = recipes::signalsOf(name).channels;
        return {channels.begin(), channels.end()};
    }
    return {};
}

std::vector<QByteArray> channelsToCount(const KeyView &main, const std::vector<KeyView> &companions)
{
    auto channels = channelsToCount(main);
    const redis::RedissonKeys redisson(main.key.bytes());
    const auto queue = std::ranges::find(companions, RedisKey(redisson.fairQueue()), &KeyView::key);
    if (queue != companions.end() && queue->type == KeyType::List && !queue->items.empty())
        channels.push_back(redisson.waiterChannel(queue->items.front()));
    return channels;
}

bool isMistakenTtl(std::chrono::milliseconds ttl)
{
    return ttl > std::chrono::years(10);
}

bool isLeaseWithoutEnd(const KeyView &view)
{
    const auto name = view.key.bytes().toLower();
    return !view.ttl && saysLock(name) && !saysLockBesideLease(name) && !name.endsWith("lease");
}

bool isCalledLock(const KeyView &view)
{
    return callsItselfLock(view.key.bytes()) && !isLeaseWithoutEnd(view);
}

std::optional<ServerTime> Case::expiry(const KeyView &key) const
{
    if (key.ttl && isMistakenTtl(*key.ttl))
        return std::nullopt;
    if (key.expiresAt)
        return key.expiresAt;
    return key.ttl ? std::optional(context.observed + *key.ttl) : std::nullopt;
}

LockSnapshot snapshotOf(const Case &about, const QByteArray &recipe, const KnownClient *client, Confidence confidence,
                        QString why)
{
    LockSnapshot lock;
    lock.lock = {about.context.connection, about.name()};
    lock.backend = BackendKind::Redis;
    lock.recipe = recipe;
    if (client)
        attribute(lock, *client);
    lock.confidence = confidence;
    lock.why = std::move(why);
    lock.observed = about.context.observed;
    lock.serverAhead = about.context.serverAhead;
    return lock;
}

Contender holderOf(const Case &about, const QByteArray &value)
{
    Contender holder;
    holder.id = value;
    holder.role = Role::Holder;
    holder.expiresAt = about.expiry(about.main);
    holder.guard = RedisIdentity{.value = value};
    const auto seen = about.context.firstSeen.find(about.main.key);
    if (seen != about.context.firstSeen.end())
        holder.heldSince = seen->second;
    return holder;
}

void distinguishByExpiry(Contender &holder, const KeyView &main)
{
    auto &guard = holder.guard.edit<RedisIdentity>();
    guard.comesAgain = !main.expiresAt;
    if (holder.id.isEmpty()) { // who holds it is not written; a command needs a name for it all the same
        holder.id = "unknown";
        guard.value = "";
    }
    if (!main.expiresAt)
        return;
    guard.expiryMs = main.expiresAt->time_since_epoch().count();
    holder.id = recipes::constantContenderId(holder.id, *guard.expiryMs);
}

void addSubscribers(LockSnapshot &lock, const Case &about, const QByteArray &channel, Mode mode)
{
    const auto count = about.subscribers(channel);
    lock.waitersKnown = count.has_value() && *count <= mostSubscribers;
    for (qint64 n = 1; n <= std::min(count.value_or(0), mostSubscribers); ++n) {
        lock.contenders.push_back({.id = "subscriber " + QByteArray::number(n), .mode = mode});
    }
}

void addNoTtl(LockSnapshot &lock, const Case &about, Severity severity)
{
    addNoTtlOf(lock, about.main, severity);
}

void addNoTtlOf(LockSnapshot &lock, const KeyView &key, Severity severity)
{
    if ((key.ttl && !isMistakenTtl(*key.ttl)) || lock.holderCount() == 0)
        return;
    const auto message =
        key.ttl ? u"the key's time to live is %1 years, most likely a time since 1970 that EXPIRE took for "
                  u"a span. If its holder dies, the lock stays"_s.arg(
                      std::chrono::floor<std::chrono::years>(*key.ttl).count())
                : u"the key has no expiry: if its holder dies, the lock stays held"_s;
    addFinding(lock, FindingCode::NoTtl, severity, message,
               idsOf(lock, [](const auto &one) { return one.role == Role::Holder; }));
}

std::optional<LockSnapshot> recognise(const KeyView &main, const std::vector<KeyView> &companions,
                                      const RedisContext &context)
{
    if (companionOf(main.key))
        return std::nullopt;
    // Who wrote a rule knows better.
    for (auto &trial : tryUserRules(main, companions, context)) {
        if (trial.lock)
            return std::move(trial.lock);
    }
    const Case about{main, companions, context};
    for (const auto &recogniser : recognisers) {
        if (recogniser.type != main.type)
            continue;
        if (recogniser.isNoLock && recogniser.isNoLock(about))
            return std::nullopt;
        if (auto lock = recogniser.lockOf ? recogniser.lockOf(about) : std::nullopt)
            return lock;
    }
    return std::nullopt;
}

void attributeToRegistries(std::vector<LockSnapshot> &locks)
{
    const auto registryOf = [](const LockSnapshot &lock) { return lock.lock.name.left(lock.lock.name.indexOf(':')); };
    const auto isCandidate = [](const LockSnapshot &lock) {
        const auto &recipe = recipes::recipeOf(lock.recipe);
        return recipe.release == recipes::ReleaseMechanism::CompareAndDelete && recipe.namesHolder && !lock.client
               && lock.lock.name.indexOf(':') > 0 && lock.contenders.size() == 1 && isUuid36(lock.contenders[0].id);
    };
    std::map<std::pair<QByteArray, QByteArray>, std::vector<LockSnapshot *>> groups;
    for (auto &lock : locks) {
        if (isCandidate(lock))
            groups[{registryOf(lock), lock.contenders[0].id}].push_back(&lock);
    }
    for (const auto &[group, members] : groups) {
        if (members.size() < 2)
            continue;
        for (auto *lock : members) {
            attribute(*lock, knownClient("spring-integration"));
            lock->confidence = Confidence::High;
            lock->why =
                u"the same UUID under %1 keys of one prefix, as Spring's lock registry writes"_s.arg(members.size());
        }
    }
}

} // namespace lockscope::inspect
