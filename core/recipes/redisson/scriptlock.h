// SPDX-License-Identifier: Apache-2.0
// What all of Redisson's locks share: they enter by one script, wait for a message, renew a lease while
// they hold, and leave by one script. Which scripts those are is the recipe (ScriptSet).
#pragma once

#include "core/recipes/lockbase.h"
#include "core/redis/connection.h"

namespace lockscope::recipes {

// What Redisson calls a client: a UUID of its own, the numbers of its threads, and the rooms in which
// they wait. Here that is a connection, and each Lock is a thread. Loop thread only.

// Where those wait who hear of a release by a message: one per process and channel, with one subscription that all of
// its waiters share. A message lets as many of them try as it says, the one that waits longest first; a release costs
// one try per process, not one per waiter. Loop thread only; the connection outlives it.
class ReleaseSubscription {
public:
    // How many waiters a message with this payload wakes.
    using Wakes = int (*)(const QByteArray &payload);

    ReleaseSubscription(redis::Connection &connection, const QByteArray &channel, Wakes wakes);

    // Completes when no message can be missed any more.
    [[nodiscard]] Reply<qint64> hearing(Deadline deadline) const { return m_connection->subscriberId(deadline); }

    // One waiter. Subscribed before the try that may fail, so that no message falls in between.
    class Waiter {
    public:
        explicit Waiter(std::shared_ptr<ReleaseSubscription> subscription);
        Q_DISABLE_COPY(Waiter)
        // What it was told and made no use of goes to another one.
        ~Waiter();

        [[nodiscard]] ReleaseSubscription &subscription() const { return *m_subscription; }
        // True when it may try; false when that moment came first.
        [[nodiscard]] Completion<bool> wait(Instant until);
        // It has tried, and has its answer.
        void tried() { m_isTrying = false; }

    private:
        friend class ReleaseSubscription;
        [[nodiscard]] bool isWaiting() const { return m_waiting && !m_waiting->isComplete(); }

        std::shared_ptr<ReleaseSubscription> m_subscription;
        std::optional<Completion<bool>> m_waiting;
        bool m_isTold = false;   // while it did not wait
        bool m_isTrying = false; // told, and not tried yet
    };

private:
    void wake(int most);

    redis::Connection *m_connection;
    std::vector<Waiter *> m_waiters; // who came first is first
    Subscription m_states;
    Subscription m_messages;
};

class RedissonProcess {
public:
    // The connection's own, made with its first lock.
    static RedissonProcess &of(redis::Connection &connection, Random &random);

    RedissonProcess(redis::Connection &connection, Random &random);

    // "<uuid>:<number>", as a holder stands in the lock.
    [[nodiscard]] QByteArray newThread() { return m_uuid + ':' + QByteArray::number(++m_threads); }
    [[nodiscard]] std::shared_ptr<ReleaseSubscription> subscription(const QByteArray &channel,
                                                                    ReleaseSubscription::Wakes wakes);

private:
    redis::Connection *m_connection;
    QByteArray m_uuid;
    qint64 m_threads = 0;
    std::map<QByteArray, std::weak_ptr<ReleaseSubscription>> m_subscriptions;
};

// One Redisson recipe as plain values: which script does what, for one holder. What waits, retries and
// cleans up is the same for all of them (scriptlock.h), also when the lock object is gone.
struct ScriptCall {
    const char *script;
    QByteArrayList keys;
    QByteArrayList args;
};

struct ScriptSet {
    QByteArray id; // what stands for our hold: a hash's field, a permit
    // Answers {1, times held, fencing token if there is one} when it is ours, {0, milliseconds to wait
    // at most} when not, {-1, its own limit} when it has another limit than we think.
    ScriptCall enter;
    ScriptCall tryEnter; // leaves nothing when it fails
    // How many times we hold it: nil when we do not.
    redis::Command count;
    QByteArray tokenKey; // where the last fencing token stands; empty when there are none
    // Answers 1 when this was our last hold, 0 when it was not, -1 when we had none.
    ScriptCall leave;
    QByteArray latchPrefix; // of keys[1] of `leave`; empty when it needs none
    ScriptCall renew;       // answers 1 as long as it is ours
    std::optional<ScriptCall> leaveQueue;
    // Where the others are told how long we will wait; empty: for ever. Null where they are not.
    void (*setWait)(ScriptSet &scripts, std::optional<Duration> wait) = nullptr;
    ScriptCall takeAway; // all of our holds at once, if any
    QByteArray channel;
    ReleaseSubscription::Wakes wakes;
    bool isReentrant = true;
    bool isForOneHold = false; // another id every time
    bool isCounter = false;    // its key is a number, and it takes any number there for its own
};

[[nodiscard]] inline QByteArray inMilliseconds(std::chrono::milliseconds span)
{
    return QByteArray::number(qint64(span.count()));
}

// As long as Redisson's own request with its retries may take: so long is an unlock's answer kept.
inline constexpr std::chrono::milliseconds latchIsKept{13'500};

// Takes the hold of one field away at once, however often it counts.
[[nodiscard]] ScriptCall takeAwayField(const RedisKey &lock, const QByteArray &field);

// The recipes. `owner`: "<uuid>:<thread>". The algorithm of each stands in its .cpp.
[[nodiscard]] ScriptSet redissonLock(const RedisKey &lock, const QByteArray &owner, std::chrono::milliseconds lease);
[[nodiscard]] ScriptSet redissonFencedLock(const RedisKey &lock, const QByteArray &owner,
                                           std::chrono::milliseconds lease);
[[nodiscard]] ScriptSet redissonFairLock(const RedisKey &lock, const QByteArray &owner,
                                         std::chrono::milliseconds lease);
[[nodiscard]] ScriptSet redissonReadLock(const RedisKey &lock, const QByteArray &owner,
                                         std::chrono::milliseconds lease);
[[nodiscard]] ScriptSet redissonWriteLock(const RedisKey &lock, const QByteArray &owner,
                                          std::chrono::milliseconds lease);
// `permit`: 16 bytes.
// How many permits a semaphore has, and whether one that is missing is made with as many.
struct Permits {
    int limit = 1;
    bool mayMake = true;
};
[[nodiscard]] ScriptSet redissonPermit(const RedisKey &semaphore, const QByteArray &permit, Permits permits,
                                       std::chrono::milliseconds lease);

// The single script calls that a Redisson lock is made of, without a lock object: they go on, if need be, in
// the background of the connection. Loop thread only; the connection outlives them.

// What came of one try to enter.
struct Entered {
    enum class Kind { Ours, Taken, OtherLimit, Unsent } kind = Kind::Taken; // Unsent: it did not reach the server
    qint64 count = 0;                  // Ours: how many times; OtherLimit: its limit
    std::optional<qint64> token;       // Ours
    std::chrono::milliseconds wait{0}; // Taken: how long at most; negative when nobody knows
};

// Sends one of the two scripts. The reply lost: looks whether we hold it more often than `before`, over
// broken connections until the deadline.
[[nodiscard]] Task<Result<Entered>> enterOnce(redis::Connection *connection, ScriptSet scripts, ScriptCall call,
                                              qint64 before, Deadline deadline);

// Gives one hold back; the reply lost: sends it again until the deadline. 1, 0 or -1 as scripts.leave says.
[[nodiscard]] Task<Result<qint64>> leaveOnce(redis::Connection *connection, ScriptSet scripts, QByteArray request,
                                             Deadline deadline);

// Takes away what may be left of us: the place in the queue, and with `mayHold` all holds. Over broken
// connections, for as long as it takes; false when the server refuses.
[[nodiscard]] Task<bool> clearUp(redis::Connection *connection, ScriptSet scripts, bool mayHold);

// Something of ours may be on the server: unless somebody says that it is not, or keeps it, it is taken
// away in the background when this goes out of scope.
class CleanupGuard {
public:
    CleanupGuard(redis::Connection &connection, WaitGroup waitGroup, ScriptSet scripts)
        : m_connection(&connection), m_waitGroup(std::move(waitGroup)), m_scripts(std::move(scripts))
    {
    }
    Q_DISABLE_COPY(CleanupGuard)
    ~CleanupGuard()
    {
        if (m_mayHold || (m_mayQueue && m_scripts.leaveQueue))
            m_waitGroup.add(m_connection->background(), clearUp(m_connection, m_scripts, m_mayHold));
    }
    void mayBe(bool holding, bool queued)
    {
        m_mayHold = holding;
        m_mayQueue = queued;
    }
    void forget() { mayBe(false, false); }

private:
    redis::Connection *m_connection;
    WaitGroup m_waitGroup;
    ScriptSet m_scripts;
    bool m_mayHold = false;
    bool m_mayQueue = false;
};

class ScriptLock final : public LockBase, public Leased {
public:
    // Makes the scripts of one holder; called again when another id is needed: for a permit with every
    // hold, for the others after something of the last hold may still be under way.
    using Recipe = std::function<ScriptSet()>;

    ScriptLock(redis::Connection &connection, const RedisKey &key, std::chrono::milliseconds ttl, Random random,
               Recipe recipe);
    ~ScriptLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    [[nodiscard]] std::function<bool(const SeenHold &)> overlooks() const override;
    [[nodiscard]] int holdCount() const override { return isHeld() ? static_cast<int>(m_held->count) : 0; }
    [[nodiscard]] Instant validUntil() const override { return m_held ? m_held->life.validUntil() : Instant(); }

private:
    struct Held {
        Held(Grant what, qint64 times, Loop &loop, std::chrono::milliseconds ttl, Instant asked,
             KeepAlive::Prolong prolong, std::function<void(Loss)> onEnd)
            : grant(std::move(what)), count(times), life(loop, ttl, asked, std::move(prolong), std::move(onEnd))
        {
        }
        Grant grant;
        qint64 count;
        KeepAlive life;
    };

    Task<Result<Grant>> take(Deadline deadline) override;
    Task<Result<Grant>> enter(Deadline deadline);
    Task<Result<Grant>> reenter(Deadline deadline) override;
    Grant hold(const Entered &entered, Instant asked);
    // It is not ours any more, and we learn of it.
    void forfeit();
    [[nodiscard]] bool isHeld() const override { return m_held && !m_held->life.isOver(); }
    void letGo() override;

    redis::Connection *m_connection;
    std::chrono::milliseconds m_ttl;
    Random m_random;
    Recipe m_recipe;
    ScriptSet m_scripts;
    bool m_needsNewId = false;
    WaitGroup m_waitGroup;
    std::optional<Held> m_held;
};

} // namespace lockscope::recipes
