// SPDX-License-Identifier: Apache-2.0
// From Redis keys to the locks among them. Pure: views in, snapshots out. The rules are those of
// docs/layouts.md, "Rules for Redis", in the order given there; companion keys are attached to their lock.
#pragma once

#include "core/inspect/coverage.h"
#include "core/inspect/knownclients.h"
#include "core/rules/turn.h"

#include <map>

namespace lockscope::inspect {

enum class KeyType { None, String, Hash, List, Set, SortedSet, Stream, Other };

struct KeyView {
    RedisKey key;
    KeyType type = KeyType::None;
    std::optional<std::chrono::milliseconds> ttl; // empty: never expires
    std::optional<ServerTime> expiresAt;          // the same as the server's own moment; strings only, Redis 7
    std::optional<std::chrono::seconds> idle;     // strings: since when nobody, we included, had read or written it
    // Read only when the key is a suspect, and capped.
    std::optional<QByteArray> value;
    std::vector<std::pair<QByteArray, QByteArray>> fields; // hash
    std::vector<QByteArray> items;                         // list, in order; set
    std::vector<std::pair<QByteArray, double>> scored;     // sorted set
    qint64 size = 0;                                       // of a list or a set, as the server counts

    // Of a list that is too large only the head is read, of a sorted set nothing.
    [[nodiscard]] qint64 membersRead() const { return static_cast<qint64>(items.size() + scored.size()); }
    [[nodiscard]] qint64 memberCount() const { return std::max(size, membersRead()); }
    [[nodiscard]] bool isWhole() const { return memberCount() == membersRead(); }
};

// What a key was seen to do while it was watched.
struct Behaviour {
    bool renewed = false;    // its time to live went up, its value stayed: somebody keeps it alive
    bool handedOver = false; // one token after another stood in it
    bool signalled = false;  // python-redis-lock's list of wake-ups was seen beside it
    // A value that is a moment was no later than the time when it was written: it says since when.
    bool momentOfTaking = false;
    // How long it has lived with this value and is to live on: what it was given is no less.
    std::chrono::milliseconds lifetime{0};
};

struct RedisContext {
    ConnectionName connection;
    ServerTime observed{}; // TIME of the server
    std::chrono::milliseconds serverAhead{};
    std::map<QByteArray, qint64> subscribers; // PUBSUB NUMSUB of the channels asked for
    std::map<RedisKey, ServerTime> firstSeen; // own observation, with the value unchanged since
    std::map<RedisKey, Behaviour> behaviour;
    bool includeLowConfidence = false; // --all
    bool isAskedFor = false;           // somebody named this key
};

// By name and type alone: worth reading? Nothing is read with GET before this says yes.
[[nodiscard]] bool isSuspect(const RedisKey &key, KeyType type, std::optional<std::chrono::milliseconds> ttl,
                             bool includeLowConfidence);
// The same of a key whose type is not known, but for that it is no hash: whether it would be one of any type. Asked
// of every key of a large store.
[[nodiscard]] bool isSuspectUnlessHash(const RedisKey &key, bool includeLowConfidence);
// No suspect by its name, but it may be one by its size, which the server tells without counting it as use: a short
// string that ends soon, as token locks do, or a hash of a single small field, as Redisson's locks are.
[[nodiscard]] bool isWorthMeasuring(const RedisKey &key, KeyType type, std::optional<std::chrono::milliseconds> ttl);
[[nodiscard]] bool hasSizeOfLock(const RedisKey &key, KeyType type, qint64 bytes);
// The lock a companion key belongs to ("redisson_lock_queue:{orders}" → "orders"); empty if none.
[[nodiscard]] std::optional<RedisKey> companionOf(const RedisKey &key);
// Companion keys that may exist beside a main key and should be read with it; the pub/sub channels
// whose subscriber counts tell of waiters.
[[nodiscard]] std::vector<RedisKey> companionsToRead(const KeyView &main);
[[nodiscard]] std::vector<QByteArray> channelsToCount(const KeyView &main);
// The same, and that of the first waiter in a fair lock's queue.
[[nodiscard]] std::vector<QByteArray> channelsToCount(const KeyView &main, const std::vector<KeyView> &companions);

// One main key with its companions → its lock, if it is one.
[[nodiscard]] std::optional<LockSnapshot> recognise(const KeyView &main, const std::vector<KeyView> &companions,
                                                    const RedisContext &context);

// Why a key that is no lock by any rule may be one all the same; empty if nothing says so.
[[nodiscard]] QString notUnderstoodReason(const KeyView &main);

// What one key alone cannot tell: Spring's lock registry writes one UUID under all keys of its prefix.
void attributeToRegistries(std::vector<LockSnapshot> &locks);

// The pieces that all snapshots of Redis locks share.

// One main key, what was read beside it, and the context: what every rule is asked about.
struct Case {
    const KeyView &main;
    const std::vector<KeyView> &companions;
    const RedisContext &context;

    [[nodiscard]] const QByteArray &name() const { return main.key.bytes(); }
    [[nodiscard]] redis::RedissonKeys redissonKeys() const { return redis::RedissonKeys(name()); }
    // Null if missing.
    [[nodiscard]] const KeyView *companion(const QByteArray &key) const
    {
        const auto found = std::ranges::find(companions, RedisKey(key), &KeyView::key);
        return found == companions.end() || found->type == KeyType::None ? nullptr : &*found;
    }
    [[nodiscard]] std::optional<qint64> subscribers(const QByteArray &channel) const
    {
        const auto found = context.subscribers.find(channel);
        return found == context.subscribers.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] Behaviour behaviour() const
    {
        const auto found = context.behaviour.find(main.key);
        return found == context.behaviour.end() ? Behaviour() : found->second;
    }
    [[nodiscard]] std::optional<ServerTime> expiry(const KeyView &key) const;
};

// `client` is null where several write the same.
[[nodiscard]] LockSnapshot snapshotOf(const Case &about, const QByteArray &recipe, const KnownClient *client,
                                      Confidence confidence, QString why);
// A holder whose id is `value`; expires with the key, held since we saw it come.
[[nodiscard]] Contender holderOf(const Case &about, const QByteArray &value);
// For a value that the next holder may write as well: it names this hold only with the moment at which it ends.
void distinguishByExpiry(Contender &holder, const KeyView &main);
// "subscriber 1" …: known to wait, not known by name.
void addSubscribers(LockSnapshot &lock, const Case &about, const QByteArray &channel, Mode mode);
void addNoTtl(LockSnapshot &lock, const Case &about, Severity severity = Severity::Critical);
void addNoTtlOf(LockSnapshot &lock, const KeyView &key, Severity severity = Severity::Critical);
// Decades: a time since 1970 that was given to EXPIRE as a number of seconds. As good as no time to live.
[[nodiscard]] bool isMistakenTtl(std::chrono::milliseconds ttl);
// By its name, and a lease without a word more by its end, too: what is let to a tenant is called so, and stays.
[[nodiscard]] bool isCalledLock(const KeyView &view);
[[nodiscard]] bool isLeaseWithoutEnd(const KeyView &view);
// "1700000000", "1700000000.25" or "1700000000123", as core/rules/turn.h reads them.
[[nodiscard]] std::optional<ServerTime> momentIn(const QByteArray &value, ServerTime now);
// A hash that is a session and, if its field `lock` is above zero, the lock of it.
[[nodiscard]] bool isSessionWithLock(const KeyView &view);

// Keys that look like a client's claim and that no rule makes a lock: "not understood" is said of them, by groups, so
// that an empty answer does not say more than was looked at. Loop thread only.

// A random token, in whatever wrapping, or a process on its host: what is written to say "mine".
[[nodiscard]] bool looksLikeClaim(const QByteArray &value, ServerTime now);
// What was read of a key, whatever its type, and no rule reads: such a value; members of such names in a key that
// ends as soon as a lock does; or a name that says lock. Not what the name, or what its client is known to write
// there, explains.
[[nodiscard]] bool looksLikeClaim(const KeyView &view, ServerTime now);

// {"owner": …}: a small object that is about who has something.
[[nodiscard]] bool isObjectOfOwner(const QByteArray &value);

// A client is known to keep something else there, whatever its value says.
[[nodiscard]] bool isNoLockOfClient(const KeyView &view);

class Claims {
public:
    // A value that was read as one of a few of its kind of name, which says nothing.
    void noteSample(const KeyView &view, ServerTime now, int sweep)
    {
        ++m_samples;
        note(view, false, now, sweep);
    }
    // A key that was read for whatever reason. `isExplained`: it is a lock, if one of low confidence, or not there.
    void note(const KeyView &view, bool isExplained, ServerTime now, int sweep);
    // SCAN named this key: what was sampled there is still true, as far as is known.
    void met(const QByteArray &name, int sweep)
    {
        if (const auto at = m_sweeps.find(name); at != m_sweeps.end())
            at->second = sweep;
    }
    void sweepEnds(int sweep);
    // As of the end of the last sweep: what changes all the time would be news all the time.
    [[nodiscard]] const std::vector<Unexplained> &groups() const { return m_groups; }

private:
    std::map<QByteArray, int> m_sweeps; // the sweep that met them last
    qint64 m_samples = 0;
    std::vector<Unexplained> m_groups;
};

} // namespace lockscope::inspect
