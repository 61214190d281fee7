// SPDX-License-Identifier: Apache-2.0
// Semaphores that are no Redisson's: permits as members of a sorted set, or as fields of a hash. Many things are
// sorted sets and hashes: each is told by what no other client writes, all of it, and not by its name.
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/redis/naming.h"
#include "core/inspect/redis/recognise.h"

#include <cmath>

namespace lockscope::inspect {

using std::chrono::milliseconds;

namespace {

using ScoredMember = std::pair<QByteArray, double>;

constexpr auto clocksDifferBy = std::chrono::minutes(1);

LockSnapshot semaphoreOf(const Case &about, const KnownClient &client, Confidence confidence, const QString &why)
{
    auto lock = snapshotOf(about, "redis-semaphore", &client, confidence, why);
    lock.waitersKnown = false; // they poll, or sleep in BLPOP, of which a server names no key
    return lock;
}

Contender permitOf(const QByteArray &id, Identity guard = {})
{
    return {.id = id, .role = Role::Holder, .mode = Mode::Permit, .guard = std::move(guard)};
}

std::optional<ServerTime> momentOfScore(double score)
{
    constexpr double least = 1e12;
    constexpr double most = 1e14;
    return score >= least && score < most && score == std::floor(score)
               ? std::optional(ServerTime(milliseconds(std::llround(score))))
               : std::nullopt;
}

// "<uuid>", perhaps with the application's suffix; of a MultiSemaphore with the number of the permit.
bool isNodePermit(const ScoredMember &member, ServerTime now)
{
    const auto &name = member.first;
    const auto at = momentOfScore(member.second);
    const bool isNamed = isUuid36(name.left(uuidLength))
                         && (name.size() == uuidLength || name[uuidLength] == '-' || name[uuidLength] == '_');
    return isNamed && at && *at <= now + clocksDifferBy && *at > now - std::chrono::hours(24);
}

// 32 random bytes in base64, as of Symfony's token.
bool isSymfonyToken(const QByteArray &name)
{
    constexpr qsizetype length = 44;
    return name.size() == length && name.endsWith('=') && std::ranges::all_of(name.chopped(1), [](char c) {
               return isDigit(c) || isAsciiLetter(c) || c == '+' || c == '/';
           });
}

bool isJobId(const QByteArray &field)
{
    constexpr qsizetype length = 24;
    return field.size() == length && isHex(field);
}

// A number of seconds, mostly with a fraction.
std::optional<ServerTime> momentInField(const QByteArray &value, ServerTime now)
{
    bool ok = false;
    const double seconds = value.toDouble(&ok);
    constexpr double least = 1e9;
    constexpr double most = 1e11;
    if (!ok || !(seconds >= least && seconds < most))
        return std::nullopt;
    const ServerTime moment{milliseconds(std::llround(seconds * 1000))};
    return moment <= now + clocksDifferBy ? std::optional(moment) : std::nullopt;
}

bool isSmallNumber(const Case &about)
{
    constexpr qsizetype mostDigits = 6;
    return about.main.value && about.main.value->size() <= mostDigits && isDigits(*about.main.value);
}

constexpr qint64 mostWaiters = 1000;

std::optional<QByteArray> fieldOf(const KeyView &view, const char *name)
{
    const auto at = std::ranges::find_if(view.fields, [name](const auto &field) { return field.first == name; });
    return at == view.fields.end() ? std::nullopt : std::optional(at->second);
}

const QByteArray waitingMark = "_WRITERWAITING";
constexpr QByteArrayView nextcloudFolder{"/lockfiles/"};
constexpr qint64 mostSharedHolds = 1000;

Contender dotNetContender(const QByteArray &id, Role role, Mode mode)
{
    return {.id = id, .role = role, .mode = mode, .identity = dotNetHolder(id), .guard = RedisIdentity{.value = id}};
}

void addReaders(LockSnapshot &lock, const Case &about, const KeyView &readers)
{
    for (const auto &reader : readers.items) {
        auto holder = dotNetContender(reader, Role::Holder, Mode::Read);
        if (readers.memberCount() == 1) // of several the set ends with the last
            holder.expiresAt = about.expiry(readers);
        lock.contenders.push_back(std::move(holder));
    }
}

void addWriter(LockSnapshot &lock, const Case &about, const KeyView &writer)
{
    auto id = *writer.value;
    const bool waits = id.endsWith(waitingMark);
    if (waits)
        id.chop(waitingMark.size());
    auto contender = dotNetContender(id, waits ? Role::Waiter : Role::Holder, Mode::Write);
    contender.guard = RedisIdentity{.value = *writer.value};
    contender.expiresAt = about.expiry(writer);
    lock.contenders.push_back(std::move(contender));
}

bool isWriter(const QByteArray &value)
{
    return dotNetHolder(value.endsWith(waitingMark) ? value.chopped(waitingMark.size()) : value).has_value();
}

Contender sharedHold(const Case &about, qint64 number)
{
    auto holder = holderOf(about, *about.main.value);
    holder.id = "shared hold " + QByteArray::number(number);
    holder.mode = Mode::Read;
    return holder;
}

} // namespace

bool isNamedAsSemaphore(const QByteArray &key)
{
    return key.startsWith("semaphore:") || key.endsWith(redis::GrabbedKeys::suffix) || key.endsWith(":LOCKED");
}

// redis-semaphore of npm: ZADD semaphore:<name> <now in ms> <uuid>, and PEXPIRE of the whole.
std::optional<LockSnapshot> nodeSemaphore(const Case &about)
{
    const auto &members = about.main.scored;
    const auto now = about.context.observed;
    if (!about.name().startsWith("semaphore:") || members.empty() || !about.main.ttl
        || !std::ranges::all_of(members, [now](const auto &one) { return isNodePermit(one, now); }))
        return std::nullopt;
    auto lock = semaphoreOf(about, knownClient("node-semaphore"), Confidence::High,
                            u"a sorted set semaphore:… of UUIDs by the moment of their last refresh, with a TTL"_s);
    const auto newest = std::ranges::max(members, {}, &ScoredMember::second).second;
    for (const auto &[name, score] : members) {
        auto holder = permitOf(name, RedisIdentity{.value = name});
        // The set ends with whoever refreshed it last; when the others' time is up is not written down.
        if (score == newest)
            holder.expiresAt = about.expiry(about.main);
        lock.contenders.push_back(std::move(holder));
    }
    judgeState(lock);
    return lock;
}

// Symfony's RedisStore from 5.2 on: token → end in ms; "__write__" beside the token of a lock that is not shared. The
// key ends with the last of them.
std::optional<LockSnapshot> symfonyLock(const Case &about)
{
    static const QByteArray writeMark = knownClient("symfony").traits.exclusiveMark;
    constexpr auto sameMoment = std::chrono::seconds(2);
    const auto &members = about.main.scored;
    const auto ends = about.expiry(about.main);
    if (members.empty() || !ends)
        return std::nullopt;
    const auto last = momentOfScore(std::ranges::max(members, {}, &ScoredMember::second).second);
    const bool isMember = std::ranges::all_of(members, [](const auto &one) {
        return momentOfScore(one.second) && (one.first == writeMark || isSymfonyToken(one.first));
    });
    if (!isMember || !last || std::chrono::abs(*last - *ends) > sameMoment)
        return std::nullopt;
    const bool writes = std::ranges::count(members, writeMark, &ScoredMember::first) > 0;
    auto lock = semaphoreOf(about, knownClient("symfony"), Confidence::High,
                            writes ? u"a sorted set of a token and __write__ by their end, with which the key ends"_s
                                   : u"a sorted set of tokens by their end, with the last of which the key ends"_s);
    for (const auto &[name, score] : members) {
        const auto until = *momentOfScore(score);
        if (name == writeMark || until <= about.context.observed)
            continue;
        auto holder = permitOf(name, RedisIdentity{.value = name});
        holder.mode = writes ? Mode::Exclusive : Mode::Read;
        holder.expiresAt = until;
        lock.contenders.push_back(std::move(holder));
    }
    judgeState(lock);
    return lock;
}

// DistributedLock for .NET: ZADD <name> <end in ms> <machine>_<process>_<hex32>. Ended members stay until the next
// client asks.
std::optional<LockSnapshot> dotNetSortedSetSemaphore(const Case &about)
{
    const auto &members = about.main.scored;
    const bool isMember = std::ranges::all_of(
        members, [](const auto &one) { return dotNetHolder(one.first) && momentOfScore(one.second); });
    if (members.empty() || !about.main.isWhole() || !isMember)
        return std::nullopt;
    auto lock = semaphoreOf(about, knownClient("dot-net"), Confidence::High,
                            u"a sorted set of <machine>_<process>_<32 hex digits> by their end"_s);
    int ended = 0;
    for (const auto &[name, score] : members) {
        const auto until = *momentOfScore(score);
        if (until <= about.context.observed) {
            ++ended;
            continue;
        }
        auto holder = permitOf(name, RedisIdentity{.value = name});
        holder.identity = dotNetHolder(name);
        holder.expiresAt = until;
        lock.contenders.push_back(std::move(holder));
    }
    if (ended > 0)
        addFinding(lock, FindingCode::LeftoverKeys,
                   ended == 1 ? u"1 member has ended and stays until the next client asks"_s
                              : u"%1 members have ended and stay until the next client asks"_s.arg(ended));
    judgeState(lock);
    return lock;
}

// redis-semaphore of PyPI, and Ruby's of that name: HSET <name>:GRABBED <permit> <since>, <name>:EXISTS beside it.
std::optional<LockSnapshot> grabbedSemaphore(const Case &about)
{
    const auto now = about.context.observed;
    if (!about.name().endsWith(redis::GrabbedKeys::suffix) || about.main.fields.empty())
        return std::nullopt;
    const redis::GrabbedKeys keys(about.name());
    const auto *exists = about.companion(keys.exists());
    const bool isMember = std::ranges::all_of(
        about.main.fields, [now](const auto &field) { return momentInField(field.second, now).has_value(); });
    if (!exists || exists->type != KeyType::String || !isMember)
        return std::nullopt;
    const auto *available = about.companion(keys.available());
    const auto left = available ? available->memberCount() : 0;
    auto lock =
        semaphoreOf(about, knownClient("grabbed-semaphore"), Confidence::High,
                    u"a hash …:GRABBED of permits and since when, beside …:EXISTS; %1 permits left"_s.arg(left));
    lock.companions = {keys.exists(), keys.available()};
    for (const auto &[permit, since] : about.main.fields) {
        // A permit's name comes again with the next who grabs it.
        const auto grabbed = *momentInField(since, now);
        auto holder = permitOf(recipes::constantContenderId(permit, grabbed.time_since_epoch().count()),
                               RedisIdentity{.value = permit, .counterpart = since});
        holder.heldSince = grabbed;
        lock.contenders.push_back(std::move(holder));
    }
    judgeState(lock);
    return lock;
}

// The same while no permit is out: the hash is gone, its list of free permits is not. Without either no client has a
// permit and none can get one.
std::optional<LockSnapshot> grabbedSemaphoreAtRest(const Case &about)
{
    if (!about.name().endsWith(redis::GrabbedKeys::suffix))
        return std::nullopt;
    const redis::GrabbedKeys keys(about.name());
    const auto *exists = about.companion(keys.exists());
    const auto *available = about.companion(keys.available());
    const bool isList = available && available->type == KeyType::List;
    const bool isRubys = about.companion(keys.version()) != nullptr;
    if (!exists || exists->type != KeyType::String || (!isList && !isRubys))
        return std::nullopt;
    const auto left = isList ? available->memberCount() : 0;
    auto lock = semaphoreOf(about, knownClient("grabbed-semaphore"), Confidence::High,
                            u"…:EXISTS without …:GRABBED: no permit is out; %1 permits left"_s.arg(left));
    lock.companions = {keys.exists(), keys.available(), keys.version()};
    if (left > 0)
        return lock;
    lock.state = LockState::Contended; // without a holder, and no client can have it
    addFinding(
        lock, FindingCode::LeftoverKeys, Severity::Warning,
        u"its permits are lost: none is free and no client has one. Delete %1, and the next client creates them again"_s
            .arg(label(keys.exists(), 80)));
    return lock;
}

// sidekiq-unique-jobs: HSET <digest>:LOCKED <job id> <since, or a JSON object>.
std::optional<LockSnapshot> uniqueJobsLock(const Case &about)
{
    static const QByteArray suffix = ":LOCKED";
    constexpr qsizetype leastDigest = 32;
    const auto &fields = about.main.fields;
    if (!about.name().endsWith(suffix) || fields.empty())
        return std::nullopt;
    auto digest = about.name().chopped(suffix.size());
    const bool isOwnName = digest.startsWith("uniquejobs:");
    if (digest.endsWith(":RUN"))
        digest.chop(4);
    digest = digest.mid(digest.lastIndexOf(':') + 1);
    const bool isMember = std::ranges::all_of(fields, [](const auto &field) { return isJobId(field.first); });
    if ((!isMember && !isOwnName) || digest.size() < leastDigest || !isHex(digest))
        return std::nullopt; // an application may give its jobs ids of its own
    auto lock =
        semaphoreOf(about, knownClient("unique-jobs"), isOwnName && isMember ? Confidence::High : Confidence::Medium,
                    isMember ? u"a hash <digest>:LOCKED of Sidekiq's job ids"_s
                             : u"a hash uniquejobs:<digest>:LOCKED whose fields are not in Sidekiq's form"_s);
    for (const auto &[job, since] : fields) {
        auto holder = permitOf(job);
        holder.mode = fields.size() == 1 ? Mode::Exclusive : Mode::Permit;
        holder.heldSince = momentInField(since, about.context.observed);
        holder.expiresAt = about.expiry(about.main);
        lock.contenders.push_back(std::move(holder));
    }
    judgeState(lock);
    return lock;
}

// Of versions 4 and 5: SET uniquejobs:<MD5> <job id> NX EX. Later ones have such a key of the job queued last, beside
// a list of those that are queued or the hash of those that hold.
std::optional<LockSnapshot> uniqueJobsKey(const Case &about)
{
    static const QByteArray prefix = "uniquejobs:";
    const auto &name = about.name();
    const bool isDigest = name.startsWith(prefix) && isHex32(name.mid(prefix.size()));
    if (!isDigest || !about.main.ttl || !about.main.value || !isJobId(*about.main.value)
        || about.companion(name + ":LOCKED") || about.companion(name + ":QUEUED"))
        return std::nullopt;
    auto lock =
        snapshotOf(about, "redis-set-nx", &knownClient("unique-jobs"), Confidence::Medium,
                   u"a key uniquejobs:<32 hex digits> that ends, with a job's id and no keys of later versions"_s);
    lock.waitersKnown = false;
    lock.contenders.push_back(holderOf(about, *about.main.value));
    judgeState(lock);
    return lock;
}

// A number in a key called semaphore: permits that are left, or a setting. A name alone does not say that it is free.
// Or gocraft/work's count of the jobs that run, beside a hash of how many each pool of workers has: redis.go.
bool isSemaphoreAtRest(const Case &about)
{
    const bool isNamed = isCalledLock(about.main) && about.name().toLower().contains("semaphore");
    const auto *pools = about.companion(about.name() + "_info");
    return isSmallNumber(about) && (isNamed || (pools && pools->type == KeyType::Hash));
}

// A session that is its own lock: Cm_RedisSession's, as of Magento. Source: php-redis-session-abstract,
// src/Cm/RedisSession/Handler.php (read, _writeRawSession).

bool isSessionWithLock(const KeyView &view)
{
    const auto lock = fieldOf(view, "lock");
    return view.type == KeyType::Hash && view.key.bytes().startsWith("sess_") && lock && readInteger(*lock)
           && (fieldOf(view, "pid") || fieldOf(view, "writes") || fieldOf(view, "wait"));
}

// HINCRBY lock 1 by whoever tries: who reads 1 has it and writes itself into `pid`; what is more are tries. Who waits
// is counted in `wait`. Its end writes 0.
std::optional<LockSnapshot> sessionLock(const Case &about)
{
    const auto &session = about.main;
    if (!isSessionWithLock(session) || readInteger(*fieldOf(session, "lock")).value_or(0) < 1)
        return std::nullopt; // a row for each visitor would be one for nobody
    auto lock =
        snapshotOf(about, "redis-session", &knownClient("cm-redis-session"), Confidence::High,
                   u"a hash sess_… whose field lock is above zero: pid says who has it, wait how many wait. The "
                   u"time to live is the session's; who waits breaks the lock after 30 s, if not set otherwise"_s);
    const auto pid = fieldOf(session, "pid").value_or("unknown");
    Contender holder{.id = pid, .role = Role::Holder, .guard = RedisIdentity{.value = pid}};
    if (const auto request = fieldOf(session, "req"); request && !request->isEmpty())
        holder.identity = holder.id + ' ' + request->left(200);
    lock.contenders.push_back(std::move(holder));
    const auto wait = fieldOf(session, "wait");
    const auto waiting = wait ? readInteger(*wait).value_or(0) : 0;
    lock.waitersKnown = waiting <= mostWaiters;
    for (qint64 n = 1; n <= std::min(waiting, mostWaiters); ++n) // nobody writes down who
        lock.contenders.push_back({.id = "request " + QByteArray::number(n)});
    judgeState(lock);
    return lock;
}

// Read/write locks that are no Redisson's: by the keys beside the lock's name, and by a count of readers.

std::optional<QByteArray> dotNetHolder(const QByteArray &text)
{
    constexpr qsizetype hexDigits = 32;
    const auto last = text.lastIndexOf('_');
    const auto first = last <= 0 ? -1 : text.lastIndexOf('_', last - 1);
    if (first <= 0 || text.size() - last - 1 != hexDigits || !isHex(text.mid(last + 1).toLower())
        || !isDigits(text.mid(first + 1, last - first - 1)))
        return std::nullopt;
    return text.left(last);
}

std::optional<QByteArray> DotNetKeys::lockOf(const QByteArray &key)
{
    for (const auto end : {readersSuffix, writerSuffix}) {
        if (key.size() > end.size() && key.endsWith(end))
            return key.chopped(end.size());
    }
    return std::nullopt;
}

bool isNextcloudLock(const QByteArray &key)
{
    constexpr qsizetype md5Digits = 32;
    const auto at = key.size() - md5Digits - nextcloudFolder.size();
    return at >= 0 && QByteArrayView(key).sliced(at).startsWith(nextcloudFolder)
           && isHex(QByteArrayView(key).last(md5Digits));
}

// A writer that waits keeps new readers out, and holds nothing.
std::optional<LockSnapshot> dotNetReadWriteLock(const Case &about)
{
    const auto *readers = about.companion(about.name() + DotNetKeys::readersSuffix.toByteArray());
    const auto *writer = about.companion(about.name() + DotNetKeys::writerSuffix.toByteArray());
    const bool hasReaders = readers && readers->type == KeyType::Set && !readers->items.empty();
    const bool hasWriter = writer && writer->type == KeyType::String && writer->value;
    const bool areReaders = !hasReaders || std::ranges::all_of(readers->items, [](const auto &one) {
        return dotNetHolder(one).has_value();
    });
    if ((!hasReaders && !hasWriter) || !areReaders || (hasWriter && !isWriter(*writer->value)))
        return std::nullopt;
    LockSnapshot lock = snapshotOf(about, "redis-rwlock", &knownClient("dot-net"), Confidence::High,
                                   u"a set ….readers or a key ….writer of <machine>_<process>_<32 hex digits>"_s);
    lock.waitersKnown = false; // readers poll, and so do all writers but the first
    if (hasWriter)
        addWriter(lock, about, *writer);
    if (hasReaders)
        addReaders(lock, about, *readers);
    std::ranges::stable_sort(lock.contenders, {}, [](const auto &one) { return one.role != Role::Holder; });
    for (const auto *key : {hasReaders ? readers : nullptr, hasWriter ? writer : nullptr}) {
        if (!key)
            continue;
        lock.companions.push_back(key->key.bytes());
        addNoTtlOf(lock, *key);
    }
    judgeState(lock);
    if (lock.holderCount() == 0)
        lock.state = LockState::Contended; // the waiting writer is about to have it
    return lock;
}

// `"exclusive"`, with its quotes, or how many share it. No client is written down.
std::optional<LockSnapshot> nextcloudLock(const Case &about)
{
    if (!about.main.value || !isNextcloudLock(about.name()))
        return std::nullopt;
    const bool isExclusive = *about.main.value == "\"exclusive\"";
    const auto count = readInteger(*about.main.value);
    if ((!isExclusive && !count) || (count == 0 && !about.context.isAskedFor))
        return std::nullopt; // a file that is free keeps its key for an hour
    LockSnapshot lock = snapshotOf(
        about, "redis-rwlock", &knownClient("nextcloud"), Confidence::High,
        isExclusive
            ? u"a key …/lockfiles/<32 hex digits> that says \"exclusive\"; who holds it is not written"_s
            : u"a key …/lockfiles/<32 hex digits> that counts %1 shared holds; who has them is not written"_s.arg(
                *count));
    lock.waitersKnown = false;
    if (isExclusive) {
        lock.contenders.push_back(holderOf(about, *about.main.value));
        lock.contenders.back().id = "exclusive hold";
    }
    for (qint64 n = 1; n <= std::min(count.value_or(0), mostSharedHolds); ++n)
        lock.contenders.push_back(sharedHold(about, n));
    addNoTtl(lock, about);
    judgeState(lock);
    if (count && *count < 0) {
        lock.state = LockState::Contended; // without a holder: exclusive locks are refused all the same
        addFinding(
            lock, FindingCode::LeftoverKeys, Severity::Warning,
            u"the count is below zero: no client holds the lock, but exclusive ones are refused. Delete the key"_s);
    }
    return lock;
}

} // namespace lockscope::inspect
