// SPDX-License-Identifier: Apache-2.0
// The locks on Redis that are not Redisson's; each one's rules stand in its own file.
#pragma once

#include "core/recipes/lockbase.h"
#include "core/redis/connection.h"
#include "core/rules/catalogue.h"

#include <QScopeGuard>

namespace lockscope::recipes {

// A key that holds a token of ours: asking, and taking away what is ours and nothing else. Loop thread
// only; the connection outlives it.

struct TokenKey {
    RedisKey key;
    LockValue token;
};

// Whether the key holds our token now. Keeps asking over broken connections until the deadline.
[[nodiscard]] Task<Result<bool>> holdsToken(redis::Connection *connection, TokenKey ours, Deadline deadline);

// Gives the key back, if it holds our token, and wakes other people's clients that may wait for one of its name
// (turn.h): -1 there is no key, 0 it holds something else, 1 or more it is free.
[[nodiscard]] Reply<redis::Value> deleteToken(redis::Connection &connection, const TokenKey &ours, Deadline deadline);

// Takes the key away in the background, if it holds our token: for when a SET's reply is still out, or a release got
// none. A SET that is still under way on a broken connection may land later; its TTL ends it.
void removeToken(redis::Connection &connection, const WaitGroup &waitGroup, TokenKey ours);

// A SET is out: unless somebody says that the key is not ours, or keeps it, it is taken away when this
// goes out of scope.
struct TokenRemoval {
    redis::Connection *connection;
    WaitGroup waitGroup;
    TokenKey ours;
    void operator()() const { removeToken(*connection, waitGroup, ours); }
};
using TokenGuard = QScopeGuard<TokenRemoval>;

// A lease: a key with our token that dies by itself, kept alive while we hold it, by a script that compares our token
// first. Loop thread only; the connection outlives it. Destroying it ends the prolonging.
class Lease {
public:
    // As for a KeepAlive.
    Lease(redis::Connection &connection, TokenKey ours, std::chrono::milliseconds ttl, Instant asked,
          std::function<void(Loss)> onEnd);

    [[nodiscard]] const TokenKey &key() const { return m_ours; }
    [[nodiscard]] bool isOver() const { return m_life.isOver(); }
    [[nodiscard]] Instant validUntil() const { return m_life.validUntil(); }

private:
    TokenKey m_ours;
    KeepAlive m_life;
};

// The waits that Redis recipes are made of. Loop thread only; the connection outlives them.

// Returns at once when connected. AuthFailed or NotConnected when it never will be, TimedOut.
[[nodiscard]] Task<Result<void>> untilConnected(redis::Connection *connection, Deadline deadline);

// Until when one command may take: what is out when a lock's deadline passes is given half a second
// more, because knowing what it did is worth more than being punctual; and no more than five.
[[nodiscard]] Deadline answerBy(const redis::Connection &connection, Deadline deadline);

// The answer of a script that says 1 for yes. It has been sent already.
[[nodiscard]] Task<Result<bool>> whetherOne(Reply<redis::Value> reply);

// Whether a hold is under keys beside the lock's own name, so that no recipe of ours meets it there.
[[nodiscard]] bool standsUnderOtherKeys(const SeenHold &hold);

using RedisNodes = std::vector<redis::Connection *>;

// One question put to all nodes of a set at once, and what has come back so far.
//
// Answers that come after the call is gone still reach whoever gave it `onVote`. Loop thread only; the
// connections outlive it.
enum class Vote {
    NotAsked, // nothing was sent: not wanted, or not connected
    Out,
    Yes,
    No,
    Failed,  // the server (or the gate) refused: nothing came of it
    Unknown, // no answer in time, or the connection broke
};

class QuorumCall {
public:
    // Sends the question to one node; empty if this one is not to be asked.
    using Ask = std::function<std::optional<Reply<redis::Value>>(int node)>;
    struct Reading {
        std::function<bool(const redis::Value &)> isYes;
        std::function<void(int node, Vote vote)> onVote = {};
    };
    // Asks every node that is connected.
    QuorumCall(const RedisNodes &nodes, const Ask &ask, Reading reading);

    // True when a quorum of all nodes says yes; false as soon as no quorum can any more.
    [[nodiscard]] Completion<bool> decided() const { return m_state->decided; }
    // When everyone asked has answered, or run out of time.
    [[nodiscard]] Completion<bool> counted() const { return m_state->counted; }
    [[nodiscard]] Vote vote(int node) const { return m_state->votes[static_cast<std::size_t>(node)]; }
    [[nodiscard]] int count(Vote vote) const;
    [[nodiscard]] int answered() const { return count(Vote::Yes) + count(Vote::No); }
    // What the first of those said that refused.
    [[nodiscard]] const std::optional<Error> &refusal() const { return m_state->refusal; }

private:
    struct State {
        std::vector<Vote> votes;
        Completion<bool> decided;
        Completion<bool> counted;
        std::optional<Error> refusal;
        Reading reading;
    };
    static void take(const std::shared_ptr<State> &state, int node, const Result<redis::Value> &answer);
    static void judge(const State &state);

    std::shared_ptr<State> m_state;
};

// Until when the key is ours on each node; empty where it is not, or nobody knows. Shared with the answers
// that are still out: a late yes counts, too.
struct NodeLeases {
    std::vector<std::optional<Instant>> until;

    [[nodiscard]] std::optional<Instant> validUntil() const;
    [[nodiscard]] bool isOn(int node) const { return until[static_cast<std::size_t>(node)].has_value(); }
    void note(int node, Vote vote, Instant ends);
};

// How long one node may take to answer: little beside the TTL, so that a mute node does not eat the
// validity of the others.
[[nodiscard]] Deadline nodeDeadline(const Loop &loop, std::chrono::milliseconds ttl);

// A lease on several nodes: one token under one key on a quorum of them, each key dying by itself, all
// prolonged at every third of the TTL. Valid for as long as a quorum of the keys may be believed in.
// Loop thread only; the connections outlive it. Destroying it ends the prolonging.
class QuorumLease {
public:
    // As Lease: `asked` is when the requests that began it were sent, `onEnd` is called at most once, from
    // the loop, and must not destroy the lease.
    QuorumLease(RedisNodes nodes, TokenKey ours, std::chrono::milliseconds ttl, std::shared_ptr<NodeLeases> standing,
                Instant asked, std::function<void(Loss)> onEnd);

    [[nodiscard]] const TokenKey &key() const { return m_ours; }
    [[nodiscard]] const std::shared_ptr<NodeLeases> &standing() const { return m_standing; }
    [[nodiscard]] bool isOver() const { return m_isEnded || validity() == Duration::zero(); }
    [[nodiscard]] Duration validity() const;
    // The full TTL again, on every node where the key is still ours. Yes when that was a quorum.
    // The call may outlive the lease.
    [[nodiscard]] QuorumCall prolong() const;

private:
    Task<void> keep(Instant asked);
    void end(Loss loss);

    RedisNodes m_nodes;
    Loop *m_loop;
    TokenKey m_ours;
    std::chrono::milliseconds m_ttl;
    std::shared_ptr<NodeLeases> m_standing;
    std::function<void(Loss)> m_onEnd;
    bool m_isEnded = false;
    Scope m_keeping;
};

// What the locks by one key of one Redis share.
class KeyLock : public LockBase {
public:
    // `ttl` at least 1 ms.
    KeyLock(redis::Connection &connection, RedisKey key, std::chrono::milliseconds ttl, Random random)
        : LockBase(connection.loop(), key.bytes()), m_connection(&connection), m_key(std::move(key)), m_ttl(ttl),
          m_random(std::move(random)), m_waitGroup(connection.loop())
    {
    }
    [[nodiscard]] std::function<bool(const SeenHold &)> overlooks() const override { return standsUnderOtherKeys; }

protected:
    redis::Connection *m_connection;
    RedisKey m_key;
    std::chrono::milliseconds m_ttl;
    Random m_random;
    WaitGroup m_waitGroup;
};

// redis-setnx-expire: the lock that most people write first, for teaching what is wrong with it.
[[nodiscard]] std::unique_ptr<Lock> makeSetNxExpireLock(redis::Connection &connection, const RedisKey &lock,
                                                        const AcquireOptions &options, Random random);
// redis-getset: a lock whose value says until when, for teaching what is wrong with it.
[[nodiscard]] std::unique_ptr<Lock> makeGetSetLock(redis::Connection &connection, const RedisKey &lock,
                                                   const AcquireOptions &options, Random random);

// redlock: the token lock on a majority of several independent Redis nodes.
class RedlockLock final : public LockBase, public Leased {
public:
    // At least one node; `ttl` at least 1 ms.
    RedlockLock(RedisNodes nodes, RedisKey key, std::chrono::milliseconds ttl, Random random);
    ~RedlockLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    [[nodiscard]] Instant validUntil() const override
    {
        return m_lease ? m_lease->standing()->validUntil().value_or(Instant()) : Instant();
    }
    // For how long the lock may still be believed in; zero when it is not held.
    [[nodiscard]] Duration validity() const { return m_lease ? m_lease->validity() : Duration::zero(); }

private:
    Task<Result<Grant>> take(Deadline deadline) override;
    Task<Result<Grant>> rounds(Deadline deadline);
    Task<Result<bool>> round();
    [[nodiscard]] std::optional<Error> hopeless() const;
    [[nodiscard]] Error tooLate() const;
    [[nodiscard]] bool isHeld() const override { return m_lease && !m_lease->isOver(); }
    void letGo() override;
    [[nodiscard]] int quorum() const;
    [[nodiscard]] int spare() const; // how many nodes may be missing

    RedisNodes m_nodes;
    Loop *m_loop;
    RedisKey m_key;
    std::chrono::milliseconds m_ttl;
    Random m_random;
    std::vector<WaitGroup> m_waitGroups; // what is being taken away, per node
    int m_silent = 0;                    // nodes that did not answer in the last round
    bool m_wasRefused = false;           // in some round enough of them answered, and it was another's
    std::optional<QuorumLease> m_lease;
};

} // namespace lockscope::recipes
