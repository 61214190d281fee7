// SPDX-License-Identifier: Apache-2.0
// Whose turn is it? The decision of every queue recipe as a pure function: children and me in, "mine"
// or "wait for whom" out. The recipes wait by it, the inspector draws by it, the checker judges by it.
#pragma once

#include "core/base/bytes.h"

#include <QByteArrayList>

#include <functional>
#include <optional>

namespace lockscope::recipes {

// A queue node's name, read: base name and the server's sequence number.
struct SequencedName {
    NodeName name;
    qsizetype prefixLength = 0;
    qint64 sequence = 0; // signed 32-bit on the wire; may be negative after 2^31 creates

    // Everything before the number. Made when asked for: who waits for its turn does not.
    [[nodiscard]] QByteArray prefix() const { return name.bytes().first(prefixLength); }
};
// How long a number is, with its sign.
inline constexpr qsizetype leastDigits = 10, mostDigits = 11;
// Reads the number at the end: ten digits, or a minus and nine or ten of them; empty if there is
// none. `base` ("lock-", "__lock__") must stand right before it when given; without it a single dash
// before ten digits counts as part of the prefix.
[[nodiscard]] std::optional<SequencedName> readSequence(const NodeName &name, const QByteArray &base = {});
// The number alone, by the same rule.
[[nodiscard]] std::optional<qint64> sequenceOf(const NodeName &name, const QByteArray &base = {});

// Earlier in the queue comes first: by number, then by name (numbers can be equal). Negative numbers
// come after the positive ones: the counter wraps from 2147483647 to -2147483648.
[[nodiscard]] bool comesBefore(const SequencedName &a, const SequencedName &b);

enum class Access { Exclusive, Shared };
struct Queued {
    SequencedName node;
    Access access = Access::Exclusive;
};

struct Turn {
    enum class Kind { Mine, WaitFor, Gone } kind = Kind::Gone; // Gone: we are not in the list
    std::optional<NodeName> predecessor;                       // WaitFor
    [[nodiscard]] bool isMine() const { return kind == Kind::Mine; }
};

// Sorts by comesBefore; of one number, the writer comes before the reader it made for itself.
void sortQueue(std::vector<Queued> &queue);

// The first `permits` of the queue hold it; each other waits for the one `permits` places before it.
// (1 = mutex.) `queue` sorted.
[[nodiscard]] Turn turnInQueue(const std::vector<Queued> &queue, const NodeName &me, int permits = 1);
// Which writer a blocked reader watches: kazoo and the textbook the nearest before it, Curator the lowest.
enum class ReaderWatches { NearestWriter, LowestWriter };
// Readers share, a writer is alone: a writer waits for the node before it, a reader for a writer before it.
[[nodiscard]] Turn turnInReadWriteQueue(const std::vector<Queued> &queue, const NodeName &me,
                                        ReaderWatches readerWatches = ReaderWatches::NearestWriter);

// --- on several independent nodes ----------------------------------------------------------------

// More than half: two quorums always share a node.
[[nodiscard]] constexpr int quorumOf(int nodes)
{
    return nodes / 2 + 1;
}

// Until when a quorum of `nodes` stands, if `ends` says for each node that stands at all when it ends:
// the quorum-th latest of them. Empty when fewer than a quorum stand.
template <class Moment>
[[nodiscard]] std::optional<Moment> quorumUntil(std::vector<Moment> ends, int nodes)
{
    const auto enough = static_cast<std::size_t>(quorumOf(nodes));
    if (ends.size() < enough)
        return std::nullopt;
    std::sort(ends.begin(), ends.end(), std::greater<Moment>());
    return ends[enough - 1];
}

// What a contender is called, so that its name never comes to mean another one: recipes say it when they
// have a lock, the inspector shows it, force-release takes it.

// Whether a node's name can be given only once: the server's number behind a client's own UUID. Numbers alone
// begin anew when their folder is made anew, and names without a number are there for everybody.
[[nodiscard]] bool isGivenOnce(const NodeName &name);
// NAME where that is given only once, else NAME@CZXID: the transaction that made the node.
[[nodiscard]] QByteArray nodeContenderId(const NodeName &name, qint64 czxid);
// VALUE@EXPIRY (milliseconds since 1970, by the server): for keys whose value is the same for every holder.
[[nodiscard]] QByteArray constantContenderId(const QByteArray &value, qint64 expiryMs);
// Whether `id` is `bare` with what makes it unmistakable behind it.
[[nodiscard]] bool isFullFormOf(const QByteArray &id, const QByteArray &bare);

// What clients that wait for a Redis key wait for, where its name says whose clients they may be: those that
// sleep until the holder's own release wakes them, and would sleep on after a bare DEL.
//   - python-redis-lock: a lock is "lock:<name>"; its waiters BLPOP the list "lock-signal:<name>". Its release
//     leaves one entry there for a second (redis_lock/__init__.py, UNLOCK_SCRIPT).
//   - Spring Integration's RedisLockRegistry in pub/sub mode: a lock is "<registry>:<path>"; its waiters
//     subscribe to "<registry>-channel", from 6.5.3 on to the pattern "<registry>-channel:*". Its release
//     publishes the key there, as "<registry>-channel:<key>" from then on (RedisLockRegistry, RedisPubSubLock).
// Whoever does not wait there is not disturbed.

struct KeySignals {
    QByteArray list;         // empty: none
    QByteArrayList channels; // a registry's name may have colons: each is tried, up to a few
    QByteArrayList topics;   // the same for those who listen by pattern, who cannot be counted

    [[nodiscard]] bool isEmpty() const { return list.isEmpty() && channels.isEmpty(); }
    [[nodiscard]] QByteArrayList published() const { return channels + topics; }
};

[[nodiscard]] KeySignals signalsOf(const QByteArray &key);

// For the script compare-and-delete-and-wake, behind the value. `expiry`: empty, or when the key must end.
[[nodiscard]] QByteArrayList signalArguments(const KeySignals &wakes, const QByteArray &expiry = {});

// How the clients of a key are woken: as a rule of the user's says (none, if it says nothing), else as the key's name
// says (signalsOf()).
[[nodiscard]] KeySignals wakeSignalsOf(const QByteArray &key);

} // namespace lockscope::recipes

namespace lockscope::redis {

// The keys of redis-semaphore of PyPI, and of Ruby's: who has which permit, which are free, and that there are any.
// Source: redis_semaphore/__init__.py 0.2.2; Ruby's semaphore.rb, which also writes its version.
class GrabbedKeys {
public:
    static constexpr QByteArrayView suffix{":GRABBED"};

    // `grabbed`: "<name>:GRABBED", or it is none of theirs.
    explicit GrabbedKeys(const QByteArray &grabbed) : m_name(grabbed.chopped(suffix.size())) {}
    [[nodiscard]] QByteArray exists() const { return m_name + ":EXISTS"; }
    [[nodiscard]] QByteArray available() const { return m_name + ":AVAILABLE"; }
    [[nodiscard]] QByteArray version() const { return m_name + ":VERSION"; }

    // The hash that such a key belongs to; empty if its name is another's.
    [[nodiscard]] static std::optional<QByteArray> grabbedOf(const QByteArray &key)
    {
        for (const QByteArrayView end : {":EXISTS", ":AVAILABLE", ":VERSION"}) {
            if (key.size() > end.size() && key.endsWith(end))
                return key.chopped(end.size()) + suffix.toByteArray();
        }
        return std::nullopt;
    }

private:
    QByteArray m_name;
};

} // namespace lockscope::redis

namespace lockscope::recipes {

// A time that a client wrote as the value of a Redis key. Whoever shows such a lock and whoever takes it read the
// value with this one function, so that neither takes for long past what the other takes for ahead. Any thread.
struct WrittenMoment {
    enum class Form { Milliseconds, Seconds, Fraction };
    std::chrono::sys_time<std::chrono::milliseconds> at{};
    Form form = Form::Milliseconds;
};

// Reads a number of milliseconds or seconds since 1970, perhaps with a fraction, that is a time of the last day or of
// the year ahead. The unit is the one by which it is such a time; every other number (a count, a process) is none.
[[nodiscard]] std::optional<WrittenMoment> readMoment(const QByteArray &value,
                                                      std::chrono::sys_time<std::chrono::milliseconds> now);

// What Curator's Revoker writes into a holder's node to ask it to let go.

inline constexpr char revocationMark[] = "__REVOKE__";

} // namespace lockscope::recipes

namespace lockscope::redis {

// The keys and channels that stand beside a Redisson lock, by Redisson's own naming rule: the lock's name in braces,
// so that all of them share a cluster slot; a name that has a brace already is left as it is.
class RedissonKeys {
public:
    explicit RedissonKeys(const QByteArray &lock) : m_slot(lock.contains('{') ? lock : '{' + lock + '}') {}

    [[nodiscard]] QByteArray channel() const { return "redisson_lock__channel:" + m_slot; }
    // Of one waiter of a fair lock.
    [[nodiscard]] QByteArray waiterChannel(const QByteArray &waiter) const { return channel() + ':' + waiter; }
    [[nodiscard]] QByteArray readWriteChannel() const { return "redisson_rwlock:" + m_slot; }
    [[nodiscard]] QByteArray semaphoreChannel() const { return "redisson_sc:" + m_slot; }
    [[nodiscard]] QByteArray fairQueue() const { return "redisson_lock_queue:" + m_slot; }
    [[nodiscard]] QByteArray fairDeadlines() const { return "redisson_lock_timeout:" + m_slot; }
    [[nodiscard]] QByteArray fencingToken() const { return "redisson_lock_token:" + m_slot; }
    // When each permit of a semaphore runs out.
    [[nodiscard]] QByteArray permitDeadlines() const { return m_slot + ":timeout"; }
    // A reader's timeout keys: this, its hash field, ":rwlock_timeout:" and a number.
    [[nodiscard]] QByteArray readerTimeoutPrefix() const { return m_slot + ':'; }
    [[nodiscard]] QByteArray readerTimeout(const QByteArray &field, qint64 n) const
    {
        return readerTimeoutPrefix() + field + ":rwlock_timeout:" + QByteArray::number(n);
    }
    // Its braces are unconditional.
    [[nodiscard]] static QByteArray countDownChannel(const QByteArray &latch)
    {
        return "redisson_countdownlatch__channel__{" + latch + '}';
    }
    // What one unlock came to, kept for as long as it may be asked again.
    [[nodiscard]] QByteArray unlockLatch(const QByteArray &request) const
    {
        return "redisson_unlock_latch:" + m_slot + ':' + request;
    }

private:
    QByteArray m_slot;
};

} // namespace lockscope::redis
