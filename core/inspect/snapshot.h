// SPDX-License-Identifier: Apache-2.0
// The snapshot of a lock: plain values, as the JSON (docs/json.md) and the window show them.
//
// Times are the server's clock (ServerTime); a snapshot carries how far that clock is from ours, so that ages keep
// counting between two looks. Facts a server said and things we conclude are kept apart: see Evidence.
#pragma once

#include "core/base/backendkind.h"
#include "core/base/bytes.h"

#include <QList>
#include <QMetaType>
#include <QStringList>

#include <memory>
#include <variant>

namespace lockscope::inspect {

// The identity of a hold: what tells it from every other, as its server keeps it. A force-release is guarded by it.
// Each backend has its own; what is asked in the words of another backend is empty, which no guard takes for an
// identity.

// ZooKeeper: the contender's node.
struct ZnodeIdentity {
    QByteArray path{};
    qint64 czxid = 0;   // 0: the node stays from hold to hold
    quint64 owner = 0;  // ephemeralOwner; 0: persistent
    qint32 version = 0; // of its data
    friend bool operator==(const ZnodeIdentity &, const ZnodeIdentity &) = default;
};

struct RedisIdentity {
    QByteArray value{}; // the token, the member, or the hash's field
    // The other half of a hash's entry that is a hold: of a lock on a group of values and of a lock by a rule the
    // field that says `value`, of a permit that is a field what that says.
    QByteArray counterpart{};
    std::optional<qint64> expiryMs{}; // where every holder writes the same value: when this one's ends
    bool comesAgain = false;          // nothing the server says tells this hold from a later one
    friend bool operator==(const RedisIdentity &, const RedisIdentity &) = default;
};

// MariaDB, PostgreSQL: whoever holds by being connected, or by its transaction.
struct SqlIdentity {
    QByteArray
        text; // "trx 4711 started 1700000000000", "connection 12 of app from 10.0.0.7", "pid=7 backend_start=…"
    friend bool operator==(const SqlIdentity &, const SqlIdentity &) = default;
};

// A row of a table of locks, which stays when its client is gone.
struct RowIdentity {
    QByteArray lockedBy{};
    QByteArray stamp{}; // when it was locked, as it stands there: each hold has another
    friend bool operator==(const RowIdentity &, const RowIdentity &) = default;
};

struct EtcdIdentity {
    QByteArray key{};
    qint64 createRevision = 0;
    qint64 lease = 0;
    friend bool operator==(const EtcdIdentity &, const EtcdIdentity &) = default;
};

class Identity {
public:
    Identity() = default;
    Identity(ZnodeIdentity of) : m_of(std::move(of)) {}
    Identity(RedisIdentity of) : m_of(std::move(of)) {}
    Identity(SqlIdentity of) : m_of(std::move(of)) {}
    Identity(RowIdentity of) : m_of(std::move(of)) {}
    Identity(EtcdIdentity of) : m_of(std::move(of)) {}

    [[nodiscard]] const ZnodeIdentity &znode() const { return as<ZnodeIdentity>(); }
    [[nodiscard]] const RedisIdentity &redis() const { return as<RedisIdentity>(); }
    [[nodiscard]] const SqlIdentity &sql() const { return as<SqlIdentity>(); }
    [[nodiscard]] const RowIdentity &row() const { return as<RowIdentity>(); }
    [[nodiscard]] const EtcdIdentity &etcd() const { return as<EtcdIdentity>(); }
    // To change it; it becomes one of that backend where it was another's.
    template <class Of>
    [[nodiscard]] Of &edit()
    {
        auto *found = std::get_if<Of>(&m_of);
        return found ? *found : m_of.template emplace<Of>();
    }

    // What of it is a text of the client's or the server's, on any backend: a token, a transaction, a key; empty
    // for a znode.
    [[nodiscard]] const QByteArray &text() const
    {
        return !sql().text.isNull()       ? sql().text
               : !row().lockedBy.isNull() ? row().lockedBy
               : !etcd().key.isNull()     ? etcd().key
                                          : redis().value;
    }
    // The server's number of the change that made it, which grows: czxid, create_revision; 0: there is none.
    [[nodiscard]] qint64 creation() const { return znode().czxid != 0 ? znode().czxid : etcd().createRevision; }

    friend bool operator==(const Identity &, const Identity &) = default;

private:
    template <class Of>
    [[nodiscard]] const Of &as() const
    {
        static const Of nothing;
        const auto *found = std::get_if<Of>(&m_of);
        return found ? *found : nothing;
    }

    std::variant<std::monostate, ZnodeIdentity, RedisIdentity, SqlIdentity, RowIdentity, EtcdIdentity> m_of;
};

using ServerTime = std::chrono::sys_time<std::chrono::milliseconds>;

// LOCK of docs/names-and-ids.md: CONNECTION:NAME.
struct LockName {
    ConnectionName connection;
    QByteArray name;
    friend bool operator==(const LockName &a, const LockName &b)
    {
        return a.connection == b.connection && a.name == b.name;
    }
    friend std::strong_ordering operator<=>(const LockName &a, const LockName &b)
    {
        const auto order = a.connection <=> b.connection;
        return order != 0 ? order : a.name.compare(b.name) <=> 0;
    }
    friend size_t qHash(const LockName &lock, size_t seed = 0)
    {
        return qHashMulti(seed, lock.connection, lock.name);
    }
    [[nodiscard]] QByteArray text() const { return connection.bytes() + ':' + name; }
};

// In one byte each: there may be many thousands of locks, and of contenders in one.
enum class Confidence : quint8 { Low, Medium, High };
enum class LockState : quint8 { Free, Held, Contended };
enum class Role : quint8 { Holder, Waiter };
enum class Mode : quint8 { Exclusive, Read, Write, Permit };
enum class Evidence : quint8 { Server, Inferred };
enum class Severity : quint8 { Info, Warning, Critical };

// What a waiter watches: a contender's id, or the children of the queue's directory.
struct WatchEdge {
    QByteArray target; // empty when it is the children
    bool children = false;
    Evidence evidence = Evidence::Inferred;
    friend bool operator==(const WatchEdge &, const WatchEdge &) = default;
};

// What a setting of the server's puts an end to: a waiter's wait (innodb_lock_wait_timeout), or a deadlock it is in
// (deadlock_timeout). It is the waiter's own, or what holds for whoever has set none: which of them, isOwn says.
struct WaitLimit {
    QByteArray setting;
    std::chrono::milliseconds longest{};
    bool isOwn = false;
    friend bool operator==(const WaitLimit &, const WaitLimit &) = default;
};

// SQL: what the connection of a contender does, as far as its server reports it. Only while its lock is
// contended; not recorded.
struct SqlWork {
    QByteArray statement{}; // that it runs, or ran last; without its texts; empty: not known
    bool isRunning = false;
    std::optional<ServerTime> since{}; // it runs the statement, or has been idle
    std::optional<ServerTime> transactionSince{};
    QByteArray application{}; // what it calls itself; other clients may have the same name
    qint64 rowsModified = 0;  // by its transaction, as far as the server counts them
    friend bool operator==(const SqlWork &, const SqlWork &) = default;
};

// In one pointer, as most contenders have none.
class SqlWorkOf {
public:
    void set(SqlWork work) { m_work = std::make_shared<const SqlWork>(std::move(work)); }
    [[nodiscard]] const SqlWork *operator->() const { return m_work.get(); }
    [[nodiscard]] const SqlWork &operator*() const { return *m_work; }
    explicit operator bool() const { return m_work != nullptr; }
    friend bool operator==(const SqlWorkOf &a, const SqlWorkOf &b)
    {
        return a.m_work == b.m_work || (a && b && *a == *b);
    }

private:
    std::shared_ptr<const SqlWork> m_work;
};

struct Contender {
    QByteArray id{};
    Role role = Role::Waiter;
    Mode mode = Mode::Exclusive;
    bool heldAtMost = false;  // heldSince is only the earliest possible moment
    bool runsNothing = false; // SQL, of a holder: no statement that could be ended runs; not recorded
    int reentry = 1;
    std::optional<int> position{};
    std::optional<QString> session{};     // "0x1000009b4890001", a Redis client id …
    std::optional<QString> endpoint{};    // "10.0.3.7:56332"
    std::optional<QByteArray> identity{}; // what the client wrote about itself
    // What its connection calls itself (SQL: program_name), where no other process there does; and that process.
    std::optional<QByteArray> program{};
    std::optional<qint64> pid{};
    std::optional<ServerTime> heldSince{}, waitingSince{}, expiresAt{};
    QList<WatchEdge> watches{}; // shared by all copies of a queue of 10,000
    Identity guard{};
    std::vector<WaitLimit> limits{}; // of a waiter, as far as the server tells
    QString label{};                 // what the user calls its client; empty: nothing. Not recorded
    // SQL, of a holder: the server's word for this hold, which the next one by the same id has not; empty: it has
    // none. Not recorded.
    QByteArray hold{};
    SqlWorkOf work{};
    // "subscriber 1": that so many listen is all that a server says of them; every lock counts its own from 1.
    [[nodiscard]] bool isOnlyCounted() const { return role == Role::Waiter && !session && !identity && !endpoint; }
    friend bool operator==(const Contender &, const Contender &) = default;
};

// Of two words for holds (Contender::hold): whether they are of two. What a server does not tell says nothing.
[[nodiscard]] inline bool isDifferentHold(const QByteArray &one, const QByteArray &other)
{
    return !one.isEmpty() && !other.isEmpty() && one != other;
}

enum class FindingCode : quint8; // core/inspect/findings.h, not all of which every snapshot has to know

// A span of time that a message speaks of: its words are those of when the lock was looked at, and go on counting.
struct TimeInMessage {
    qsizetype at = 0; // where its words stand in the message, and how long they are
    qsizetype length = 0;
    ServerTime moment{};
    bool isAhead = false; // counted down to, not up from
    friend bool operator==(const TimeInMessage &, const TimeInMessage &) = default;
};

struct FindingPlace {
    LockName lock;
    QByteArray contender;
    std::optional<QString> session;
    friend bool operator==(const FindingPlace &, const FindingPlace &) = default;
};

struct Finding {
    FindingCode code{};
    Severity severity = Severity::Info;
    QString message; // as of the snapshot; messageAt() words it anew
    std::vector<QByteArray> contenders;
    std::vector<TimeInMessage> moments{}; // in the message, in order
    std::vector<LockName> also{};         // of a deadlock: the other locks in it, each of which has this finding
    std::vector<FindingPlace> victim{}; // and the client whose end costs least: what it holds, then what it waits for
    friend bool operator==(const Finding &, const Finding &) = default;
};

// Redlock: what one node of the set says of the key.
struct NodeSaid {
    QString node; // "10.0.3.7:6379"
    bool answered = false;
    std::optional<QByteArray> value; // the token (or Redisson field) there; empty when there is no such lock
    std::optional<ServerTime> expiresAt;
    friend bool operator==(const NodeSaid &, const NodeSaid &) = default;
};

// What a lock's client is known to do (core/inspect/knownclients.h). Code asks these, never the client's name.
struct ClientTraits {
    const char16_t *notices = nullptr;        // when a holder notices that its lock was taken away; null: not known
    const char16_t *deletesBlindly = nullptr; // who deletes without comparing whose it is; null: not known to
    bool isOfOneNode = false;                 // it knows one Redis only, so its value is no vote of a Redlock
    bool waitsOnList = false;                 // its waiters wait for an item of the lock's list
    bool waitsOnChannel = false;              // they may listen on the lock's channel
    bool putsKeyBack = false;                 // its renewal sets a key that is gone anew, with the token of before
    const char *exclusiveMark = nullptr; // its holders are members by their end, and beside an exclusive one this
    friend bool operator==(const ClientTraits &, const ClientTraits &) = default;
};

struct LockSnapshot {
    LockName lock;
    BackendKind backend = BackendKind::ZooKeeper;
    Confidence confidence = Confidence::Low;
    LockState state = LockState::Free;
    // Waiters known to exist without an identity of their own are contenders too; this says whether
    // the count of waiters is complete (a plain SET NX lock cannot tell who polls).
    bool waitersKnown = true;
    bool mayBeOld = false;   // the server answered from a copy that it made at `observed` or later
    bool byUserRule = false; // a rule of the user's, or a form of tokens, made it a lock; not recorded
    QByteArray recipe;       // docs/names-and-ids.md, "Recipe IDs"
    std::optional<QString> client;
    ClientTraits clientTraits;
    QString why;
    std::vector<Contender> contenders; // queue order, holders first
    std::vector<Finding> findings;
    std::vector<QByteArray> companions; // other nodes or keys that belong to this lock
    std::vector<NodeSaid> nodes;        // of a set of Redis nodes: all of them, in the order of the set
    ServerTime observed{};
    std::chrono::milliseconds serverAhead{}; // server's clock minus ours
    friend bool operator==(const LockSnapshot &, const LockSnapshot &) = default;

    [[nodiscard]] int holderCount() const;
    [[nodiscard]] int waiterCount() const;
    [[nodiscard]] Severity worst() const; // Info when there is no finding
    [[nodiscard]] const Contender *find(const QByteArray &id) const;
    [[nodiscard]] const Finding *find(FindingCode code) const; // the first of that code
    // The contender that gets the lock when `id` lets go; null if nobody waits or order is unknown.
    [[nodiscard]] const Contender *nextAfter(const QByteArray &id) const;
    // Who gets in when this waiter gives up: the readers right behind it, where readers hold and it alone is in the
    // way. In their order.
    [[nodiscard]] std::vector<const Contender *> waitersGrantedWithout(const QByteArray &waiter) const;
};

// "leader@4294967305" and "1@1763780400000" without what makes them unmistakable: "leader", "1". For where there is
// room for a name only.
[[nodiscard]] QByteArray nameInId(const QByteArray &contenderId);

// Entries or waits that a server shows and that no lock accounts for: a clause without a full stop.
struct Unexplained {
    qint64 count = 0;
    QString text;        // "1 key has a lease and belongs to no lock"
    QByteArray example;  // one of them as the server names it; may be empty
    bool isWait = false; // clients that the server says wait: findings lists it as "unexplained-wait"
    friend bool operator==(const Unexplained &, const Unexplained &) = default;
};

// Locks of low confidence that were read and are not shown (ObserverOptions::includeLowConfidence).
struct HiddenLocks {
    qint64 count = 0;
    qint64 withFindings = 0;
    Severity worst = Severity::Info; // of their findings
    QString code;                    // of the worst; empty: they have none
    QByteArray example;              // a lock with the worst finding, else any
    friend bool operator==(const HiddenLocks &, const HiddenLocks &) = default;
};

// A deadlock that the server ended itself, by the rollback of a client.
struct EndedDeadlock {
    struct Party {
        QString session;      // the connection's number
        QByteArray client;    // the server's words for it: host, address, user and state
        QByteArray statement; // as far as the server's log has it
        QByteArray awaited;   // LOCK without the connection; "#PRIMARY:?5:4:2" where the row's values are not known
        bool isRolledBack = false;
        friend bool operator==(const Party &, const Party &) = default;
    };
    ServerTime at{};
    bool isAtLatest = false;      // it was counted between the poll before this time and this time
    qint64 count = 1;             // deadlocks counted since the poll before: `parties` are those of the last
    std::vector<Party> parties{}; // in the server's order; empty: not known, see `unknown`
    QString unknown{};            // a sentence without a full stop; empty: everything is known
    friend bool operator==(const EndedDeadlock &, const EndedDeadlock &) = default;
};

// `complete`: everything was read. What of that is not understood is in `unexplained` and `hidden`.
struct Coverage {
    ConnectionName connection;
    bool complete = false;
    QString message; // "watches: 1 of 3 members answered"
    std::vector<Unexplained> unexplained{};
    HiddenLocks hidden{};
    std::vector<EndedDeadlock> endedDeadlocks{}; // of the last 10 minutes, oldest first
    friend bool operator==(const Coverage &, const Coverage &) = default;
};

// How finding is going, for the status bar: "dump every 1 s", "scanned 40,000 of 2,004,112 keys".
struct Progress {
    ConnectionName connection;
    QString how;          // "dump every 1 s", "crawl", "SCAN", "tracking", "keyspace events", "polling every 250 ms"
    qint64 done = 0;      // znodes or keys looked at
    qint64 total = 0;     // 0: unknown
    bool running = false; // a sweep is under way
    bool firstSnapshotComplete = false;
    friend bool operator==(const Progress &, const Progress &) = default;
};

// What watching costs, for the status bar.
struct Cost {
    int watches = 0;
    qint64 watchedBytes = 0;
    qint64 watchBudgetBytes = 0;
    double requestsPerSecond = 0;
    // What all clients together asked the servers in the same span, by their own count; empty: they do not tell.
    std::optional<double> servedPerSecond{};
    ConnectionName connection{};
    friend bool operator==(const Cost &, const Cost &) = default;
};

// A client as the servers know it.
struct SessionSnapshot {
    ConnectionName connection;
    QString session;
    std::optional<QString> endpoint;
    std::optional<QString> client;
    std::vector<QByteArray> holds; // LOCK names without the connection
    std::vector<QByteArray> waits;
    std::optional<ServerTime> expiresAt;
    std::chrono::milliseconds serverAhead{}; // server's clock minus ours
    // What ends with it and is no lock's: of a lease of etcd its other keys, some of so many.
    std::vector<QByteArray> alsoEnds{};
    qint64 alsoEndsCount = 0;
    friend bool operator==(const SessionSnapshot &, const SessionSnapshot &) = default;
};

// What a client is doing, where its server says that: of MariaDB and MySQL. Read on demand.
struct SessionActivity {
    QByteArray statement; // that it runs, or ran last; empty where that is not known
    bool isRunning = false;
    QByteArray state;                                        // the server's word for what it is at
    std::optional<std::chrono::milliseconds> inState;        // how long it has run, or slept
    std::optional<std::chrono::milliseconds> transactionAge; // empty: none is open, or that cannot be seen
    qint64 rowsLocked = 0;
    qint64 rowsModified = 0;
    QStringList gaps; // what the server did not tell, and why
};

enum class ChangeKind { Added, Changed, Removed };
struct SnapshotChange {
    ChangeKind kind = ChangeKind::Changed;
    LockSnapshot lock; // Removed: the last snapshot
};

} // namespace lockscope::inspect

Q_DECLARE_METATYPE(lockscope::inspect::LockName)

namespace lockscope::inspect {

// What a waiter waits for where that is no contender of its lock: a node or key of another kind, which no release of
// the lock takes away.

// Empty where it waits for a contender, for the children of its directory, or nothing is known.
[[nodiscard]] std::optional<QByteArray> awaitedElsewhere(const LockSnapshot &lock, const Contender &waiter);
// The same of the waiter that is first in the queue.
[[nodiscard]] std::optional<QByteArray> firstAwaitsElsewhere(const LockSnapshot &lock);
// Sets the state from who holds and who waits.
void judgeState(LockSnapshot &lock);
// The ids of those of its contenders of which that is true.
template <class Predicate>
[[nodiscard]] std::vector<QByteArray> idsOf(const LockSnapshot &lock, Predicate is)
{
    std::vector<QByteArray> ids;
    for (const auto &contender : lock.contenders) {
        if (is(contender))
            ids.push_back(contender.id);
    }
    return ids;
}
// What the lock's findings say of clients of other locks that a release of this hold wakes.
[[nodiscard]] QStringList wakesBeside(const LockSnapshot &lock, const QByteArray &holder);
// Of the first that waits (nextAfter): whether all that wait are known, and their order, and no finding says that it
// may not hear of a release.
[[nodiscard]] bool isFirstInLine(const LockSnapshot &lock, const Contender &next);
// And its recipe hands the lock over in that order.
[[nodiscard]] bool isSureToAcquire(const LockSnapshot &lock, const Contender &next);
// "idle for 4 m 38 s, transaction open for 4 m 39 s, 1 row modified", then "last statement: UPDATE …".
[[nodiscard]] QStringList workLines(const SqlWork &work, ServerTime now);

} // namespace lockscope::inspect
