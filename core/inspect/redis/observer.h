// SPDX-License-Identifier: Apache-2.0
// Keeps the snapshots of one Redis' locks up to date.
//
// Finding: SCAN, one page at a time; of what may be a lock by its name or type first type and time to live, of other
// keys the time to live where KeySieve asks for it; values only of what may be a lock. The first sweep runs at full
// pace, later ones rest nine times as long as they work. Where the server tells of every key that changes they only
// make sure, and send no more than so many commands a second.
// Following: see Follower. Whatever is due to be read goes through one ReadQueue.
//
// Survives reconnects: everything known is then read again. What the server refuses becomes coverage.
// Loop thread only; not to be destroyed from within a call to its sink.
#pragma once

#include "core/inspect/observer.h"
#include "core/inspect/redis/recognise.h"
#include "core/inspect/redis/keysweeper.h"
#include "core/inspect/redis/userrulelocks.h"

namespace lockscope::inspect {

// How a Redis observer learns of changes: client tracking where the server lets us, else keyspace
// events where they are switched on, else it has to poll.
//
// Tracking is by broadcast: the server keeps no table for us and tells of every key that changes, in
// whatever database. Where that is too much to hear, it is narrowed to prefixes: of the names of known locks, and
// of those that clients begin their locks' names with, as far as these are quiet; else to the locks themselves. Not
// from the start: the server can be told which names to tell of, not which not, and a lock may be called anything.
// Loop thread only.

class Follower {
public:
    enum class Mode { NotYet, Tracking, NarrowTracking, KeyspaceEvents, Polling };
    struct Callbacks {
        std::function<void(const RedisKey &)> changed;
        std::function<void()> everythingMayHaveChanged; // FLUSHALL, FLUSHDB
        std::function<void(const RedisKey &)> released; // somebody unlocked this lock of Redisson's
    };

    // All must outlive the follower and its tasks.
    Follower(redis::Connection &connection, KeyReader &reader, Refusals &refusals, Callbacks callbacks)
        : m_connection(connection), m_reader(reader), m_refusals(refusals), m_callbacks(std::move(callbacks))
    {
    }

    // Finds the best way this server allows and starts it; also after a reconnect. Whatever changed
    // before it completes may have been missed.
    Task<Result<Mode>> setUp();
    // Listens to these keys and to quiet names like theirs only (tracking); polls if they are too many to name.
    // Complete as setUp(). Sends nothing where that would change nothing.
    Task<Result<Mode>> narrowTo(std::vector<RedisKey> keys);
    // From now on also what Redisson's unlock publishes, where that may be listened to: for who lets go and takes it
    // again at once no key changes hands. Until setUp() or narrowTo().
    Task<void> hearReleases();
    [[nodiscard]] bool shouldHearReleases(const QByteArray &recipe) const;
    // Whether it is narrowed, but could be more.
    [[nodiscard]] bool hearsFamilies() const { return m_mode == Mode::NarrowTracking && m_hearsFamilies; }

    [[nodiscard]] Mode mode() const { return m_mode; }
    [[nodiscard]] QString how(std::chrono::milliseconds pollEvery) const; // in words
    // Whether a key that appears is heard of at once.
    [[nodiscard]] bool tellsOfNewKeys() const { return m_mode == Mode::Tracking || m_mode == Mode::KeyspaceEvents; }
    // Whether what happens to a lock that is known is.
    [[nodiscard]] bool tellsOfKnownKeys() const { return tellsOfNewKeys() || m_mode == Mode::NarrowTracking; }
    [[nodiscard]] const std::vector<QByteArray> &prefixes() const { return m_prefixes; } // empty: not narrowed
    // The client id of our own subscriber; empty when not known.
    [[nodiscard]] QByteArray subscriberId() const { return m_subscriberId; }
    // Changes heard since the last call, which was a second ago.
    [[nodiscard]] qint64 takeHeard()
    {
        m_lastHeardOf = std::exchange(m_heardOf, {});
        return std::exchange(m_heard, 0);
    }

private:
    Task<Result<bool>> tryTracking();
    Task<Result<bool>> tryKeyspaceEvents();
    void heard(const redis::Message &message, const RedisKey &key);
    void heardRelease(const redis::Message &message);
    [[nodiscard]] bool isQuiet(const QByteArray &family);
    [[nodiscard]] std::vector<QByteArray> prefixesFor(const std::vector<RedisKey> &keys);

    redis::Connection &m_connection;
    KeyReader &m_reader;
    Refusals &m_refusals;
    Callbacks m_callbacks;
    Mode m_mode = Mode::NotYet;
    qint64 m_heard = 0;
    std::map<QByteArray, qint64> m_heardOf, m_lastHeardOf; // by family, this second and the last
    std::set<QByteArray> m_loudFamilies;                   // they were once
    std::vector<QByteArray> m_prefixes;
    bool m_hearsFamilies = false;
    QByteArray m_subscriberId;
    Subscription m_subscription;
    std::vector<Subscription> m_releases;
    bool m_askedForReleases = false;
};

// The fewest prefixes that cover these keys and do not overlap (Redis refuses those).
[[nodiscard]] std::vector<QByteArray> prefixesOf(std::vector<RedisKey> keys);
// What a key's name has in common with others: all up to its last separator, that included. Empty: nothing.
[[nodiscard]] QByteArray familyOf(const QByteArray &key);

class RedisObserver : public KeepingObserver {
public:
    // `connection` (behind the gate) and `sink` must outlive the observer. `database`: the one that it selected.
    RedisObserver(redis::Connection &connection, ConnectionName name, ObserverOptions options, ObserverSink &sink,
                  int database = 0);

    void start() override
    {
        if (std::exchange(m_started, true))
            return;
        m_onState = m_connection.onState([this](redis::ConnectionState state) { stateChanged(state); });
        stateChanged(m_connection.state());
    }
    // The task must not outlive the observer.
    Task<Result<LockSnapshot>> readNow(QByteArray name, Deadline deadline) override;
    [[nodiscard]] const SnapshotStore &known() const { return m_snapshots; }
    [[nodiscard]] std::vector<Coverage> coverage() const override;
    void reconsider() override { enqueueKnown(); } // reads all that is known again

private:
    struct Known {
        std::map<QByteArray, qint64> subscribers;
        Timer nextLook; // when it expires, or becomes long-held
        int readInSweep = 0;
    };

    // The state of the connection, and the work of one connected spell.
    void stateChanged(redis::ConnectionState state);
    void connected();
    void startFollowing();
    Task<void> follow();
    Task<void> findForEver();
    Task<void> work();
    Task<void> pulse();
    Task<void> housekeeping();
    Task<void> takePulse();
    // All keys may be others.
    void lookAnew()
    {
        m_rest.cutShort();
        m_mayHaveMissed = m_sweep.isOutdated = true;
        m_plainHashes.clear();
        reconsider();
    }

    // Finding (observersweep.cpp).
    Task<Result<void>> sweep();
    // Nothing can have changed that was not told. Keyspace events anybody can switch off without a word.
    [[nodiscard]] bool isVerificationSweep() const
    {
        return m_firstSnapshot.isComplete() && m_follower.mode() != Follower::Mode::KeyspaceEvents
               && m_follower.tellsOfNewKeys() && !isCatchingUp();
    }
    [[nodiscard]] bool isCatchingUp() const { return m_mayHaveMissed || (m_sweep.running && m_sweep.catchesUp); }
    void attributeClients() { m_sink.takeAll(attributed(m_snapshots)); }
    Task<void> narrow();
    Task<void> readSessions();
    Task<Result<void>> recount();

    // Keys to read.
    void enqueue(const RedisKey &key);
    // What is no string may be the members of a semaphore: of some kinds they outlive what looks like a lock's lease.
    void noteSample(const KeyView &view)
    {
        if (view.type == KeyType::String)
            m_claims.noteSample(view, m_reader.clock().now, m_sweep.number);
        else
            m_forced.insert(view.key);
    }
    void noteCompanion(const RedisKey &companion, const RedisKey &main)
    {
        m_forced.insert(main);
        if (companion.bytes().startsWith("lock-signal:"))
            m_seen.noteSignal(main);
    }
    // But for those that this sweep read.
    void enqueueKnown(int exceptSweep = -1)
    {
        std::vector<RedisKey> keys;
        for (const auto &[key, known] : m_known) {
            if (known.readInSweep != exceptSweep)
                keys.push_back(key);
        }
        m_queue.add(keys);
    }
    [[nodiscard]] bool isWorthReading(const KeyView &view) const
    {
        // A main key that is gone may have left its queue behind, so what was known is read in any case.
        if (m_known.contains(view.key) || m_forced.contains(view.key))
            return true;
        if (view.type == KeyType::None || (view.type == KeyType::Hash && m_plainHashes.contains(view.key)))
            return false;
        return isSuspect(view.key, view.type, view.ttl, m_options.includeLowConfidence);
    }
    Task<Result<void>> readBatch(std::vector<RedisKey> keys);

    // From what was read to snapshots.
    [[nodiscard]] std::optional<LockSnapshot> snapshotOf(const KeyReader::Gathered &gathered, KeyReader::Clock clock,
                                                         bool isAskedFor) const;
    void settle(const KeyReader::Gathered &gathered, KeyReader::Clock clock, std::vector<SnapshotChange> &changes);
    void planNextLook(const KeyReader::Gathered &gathered, Known &known, LockSnapshot snapshot);

    void notifyProgress(bool atOnce);

    redis::Connection &m_connection;
    Refusals m_refusals;
    OtherDatabases m_databases;
    KeyReader m_reader;
    ServerPulse m_pulse;
    Follower m_follower;

    std::map<RedisKey, Known> m_known; // what else is known of their locks
    SeenSince m_seen;
    ConnectedClients m_clients;
    bool m_clientsDue = false; // others wait than did when they were listed
    Instant m_progressToldAt{};
    ReadQueue m_queue;
    std::set<RedisKey> m_forced;      // to be read even if nothing is there but companions
    std::set<RedisKey> m_plainHashes; // looked into and no locks; not again before the next sweep
    Completion<bool> m_followed;      // set up how to follow, or failed to
    bool m_started = false;
    bool m_wasConnected = false;
    bool m_isReadAgain = false; // all that was known when following was set up last
    WorkMeter m_pulses;
    bool m_reorderPrefixes = false;
    bool m_mayHaveMissed = true; // changes, since the last sweep that began after it
    int m_loudSeconds = 0;
    RuleCompanions m_rules;
    Claims m_claims;
    SweepRest m_rest;
    KeySweep m_sweep;
    KeySweeper m_sweeper;

    Subscription m_onState;
    Scope m_work;   // of one connected spell
    Scope m_follow; // setting up how to follow; again when only the subscriber's connection broke
};

// What a Redis is, and what the user of a connection may do there, by the server's own word.

// "Redis 7.0.15, primary with 2 replicas", "Redis 7.0.15 on 6 nodes, 3 of them primaries": by what INFO says, of one
// server or of all nodes of a cluster. Empty where that says no version.
[[nodiscard]] QString redisServerOf(const QByteArray &info);
// The same, asked. Empty where INFO is refused. `connection` outlives the task.
[[nodiscard]] Task<QString> redisServer(redis::Connection *connection, Deadline deadline);

// Of ACL GETUSER's answer: the patterns of keys, each once, of its selectors, too. How far each goes is not told.
[[nodiscard]] QByteArrayList redisKeyPatterns(const redis::Value &user);
// A key that such a pattern matches.
[[nodiscard]] QByteArray redisKeyLike(const QByteArray &pattern);
// A sentence each. Asked by ACL WHOAMI, GETUSER and DRYRUN (Redis 7), which do nothing; where those are refused,
// that. A replica does not take writes. `connection` outlives the task.
[[nodiscard]] Task<QStringList> redisRights(redis::Connection *connection, bool takesWrites, Deadline deadline);

} // namespace lockscope::inspect
