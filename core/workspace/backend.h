// SPDX-License-Identifier: Apache-2.0
// What the window sees of the core, beside the values: it posts queries and commands and receives news.
//
// The Backend lives in the GUI thread; it never blocks. Its implementation (LiveBackend) hands every
// query to the I/O thread and the answer comes back as a call in the GUI thread, or never if the
// context object died meanwhile. What changes is told in batches, at most one per frame.
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/workspace/values.h"

#include <QPointer>

#include <limits>

namespace lockscope {

// What the window is told of connections and their locks.
struct ConnectionStatus {
    enum class State { Connecting, Connected, Broken, AuthFailed };
    ConnectionName name;
    Scheme scheme = Scheme::ZooKeeper;
    QString uri; // without credentials
    State state = State::Connecting;
    QString message;                                  // why it is not connected, one line
    std::chrono::system_clock::time_point asOf;       // the last moment its snapshots were true
    std::optional<std::chrono::microseconds> latency; // of a recent request
    bool production = false;
    bool readOnly = false;
    bool readOnlyForGood = false;
    bool isRecorded = true; // false: nothing is recorded of it at the past time that is shown
    qint64 writesSent = 0;
    inspect::Progress progress;
    inspect::Cost cost;
    friend bool operator==(const ConnectionStatus &, const ConnectionStatus &) = default;
};

// One frame's worth of news.
struct Batch {
    std::vector<inspect::SnapshotChange> locks{}; // each lock once
    std::vector<ConnectionStatus> connections{};  // those that changed
    std::vector<inspect::SessionsSeen> sessions{};
    std::vector<inspect::CoverageSeen> coverage{};
    std::vector<operate::LogEntry> log{}; // new or finished entries
    bool isJump = false;                  // to another moment: what comes with it did not begin just now
};

// News that waits to be shown: of each lock, connection and log entry the newest. The I/O side collects a frame's
// worth in one; the window keeps in another what comes while it shows something else. Any one thread.
class News {
public:
    // `now`: since when it waits, for oldestOf().
    void add(inspect::SnapshotChange change, WallTime now = {});
    void add(const inspect::SessionsSeen &seen) { m_sessions.insert_or_assign(seen.connection, seen); }
    void add(const inspect::CoverageSeen &seen) { m_coverage.insert_or_assign(seen.connection, seen); }
    void add(const ConnectionStatus &status) { m_statuses.insert_or_assign(status.name, status); }
    void add(operate::LogEntry entry);
    void add(const Batch &batch);

    // Locks in the order in which they came to wait, at most so many, so that no frame waits for all of a flood; and
    // all of the rest.
    [[nodiscard]] Batch take(std::size_t mostLocks = std::numeric_limits<std::size_t>::max());
    // Drops what waits of a connection that was closed.
    void forget(const ConnectionName &name);

    [[nodiscard]] bool isEmpty() const;
    [[nodiscard]] std::size_t lockCount() const { return m_locks.size(); }
    [[nodiscard]] const std::map<ConnectionName, ConnectionStatus> &statuses() const { return m_statuses; }
    // Since when something of that connection is not told: what its locks look like in the window is of then.
    [[nodiscard]] std::optional<WallTime> oldestOf(const ConnectionName &name) const;
    // A lock that comes to wait from now on has this number or a higher one.
    [[nodiscard]] quint64 next() const { return m_next; }
    // Whether all that had a lower one is taken.
    [[nodiscard]] bool isTakenBefore(quint64 number) const;

private:
    struct Waiting {
        inspect::LockName lock;
        WallTime since;
        quint64 number = 0;
    };
    std::map<inspect::LockName, inspect::SnapshotChange> m_locks;
    std::deque<Waiting> m_order;
    quint64 m_next = 0;
    std::map<ConnectionName, inspect::SessionsSeen> m_sessions;
    std::map<ConnectionName, inspect::CoverageSeen> m_coverage;
    std::map<ConnectionName, ConnectionStatus> m_statuses;
    std::map<std::pair<quint64, ConnectionName>, operate::LogEntry> m_log; // the oldest first
};

// The window's queries and commands as values. A query names the type of its answer; a command has none. Backend
// takes both, the I/O thread handles them in livebackend.cpp.

// --- answers -----------------------------------------------------------------------------------

struct ZnodeRow {
    NodeName name;
    zk::Stat stat;
    bool statKnown = true;      // false in a list too long to ask about each child
    std::optional<Error> error; // this node could not be read; the rest is fine
};
struct ZnodeDetail {
    zk::Stat stat;
    QByteArray data; // capped at 1 MiB; dataLength says the whole
    zk::Acls acls;
};
struct KeyRow {
    RedisKey key;
    QByteArray type; // "string", "hash" …
    std::optional<std::chrono::milliseconds> ttl;
    std::optional<qint64> bytes;
};
struct KeyDetail {
    KeyRow row;
    // A string's value as one item; a hash's as field, value pairs; lists and sets as items. Capped.
    std::vector<QByteArray> items;
    bool cut = false;
};
struct KeyPage {
    std::vector<KeyRow> rows;
    quint64 cursor = 0; // 0: the scan is done
    qint64 scanned = 0; // keys looked at for this page
    qint64 total = 0;   // DBSIZE
    QString missing;    // of a set: which node did not answer, and why
};

using SessionDoing = inspect::SessionActivity;

struct AcquireRequest {
    inspect::LockName lock;
    QByteArray recipe;
    bool readMode = false;
    int limit = 1;
    std::chrono::milliseconds ttl{30'000};
    std::optional<std::chrono::milliseconds> wait; // without limit when empty
    bool isLimitGiven = true;                      // see recipes::AcquireOptions
};
// A lock the window itself acquires or holds.
struct Hold {
    enum class State { Waiting, Held, Released, Lost, Failed };
    quint64 id = 0;
    AcquireRequest request;
    State state = State::Waiting;
    QByteArray contender; // once known
    std::optional<qint64> fencingToken;
    std::chrono::system_clock::time_point since;
    QString message; // why it failed or was lost
};

// Numbers holds and runs: each number is used once in a process, whatever backend it is given to. GUI thread only.
inline quint64 newNumber()
{
    static quint64 last = 0;
    return ++last;
}

// --- queries -----------------------------------------------------------------------------------

// A value with `isAllowedInPast` asks no server and changes nothing there. The window refuses every other one while
// it shows the past.
template <class T>
concept AllowedInPast = requires
{
    requires T::isAllowedInPast;
};

struct ListZnodes {
    using Answer = std::vector<ZnodeRow>;
    ConnectionName connection;
    ZPath path;
};
struct ReadZnode {
    using Answer = ZnodeDetail;
    ConnectionName connection;
    ZPath path;
};
struct ScanKeys {
    using Answer = KeyPage;
    ConnectionName connection;
    QByteArray pattern;
    quint64 cursor = 0;
};
struct ReadKey {
    using Answer = KeyDetail;
    ConnectionName connection;
    RedisKey key;
};
// Asks for the current work of a client (SessionSnapshot::session). Unsupported where servers do not report it.
struct ReadSession {
    using Answer = SessionDoing;
    ConnectionName connection;
    QString session;
};
// Opens a connection, reads what it reaches and may do, and closes it. This takes a few seconds.
struct TryConnection {
    using Answer = std::vector<TrialCheck>;
    ConnectionSpec spec;
};
// Reads the lock again and plans its release, or a less disruptive action; ForceRelease carries it out.
struct PlanRelease {
    using Answer = operate::ForceReleasePlan;
    inspect::LockName lock;
    QByteArray contender;
    operate::ReleaseAction way = operate::ReleaseAction::Release;
};
// Plays that release in the simulator.
struct Rehearse {
    using Answer = rehearse::Rehearsal;
    static constexpr bool isAllowedInPast = true;
    operate::ForceReleasePlan plan;
};
struct ForceRelease {
    using Answer = operate::ForceReleaseOutcome;
    operate::ForceReleasePlan plan;
    QString reason;
};
// Releases one target after the other and stops at the first unexpected result (core/operate/forcerelease.h).
// `progressed` receives the number of finished targets in the GUI thread.
struct BulkRelease {
    using Answer = operate::BulkReport;
    std::vector<operate::BulkTarget> targets;
    QString reason;
    std::function<void(int)> progressed;
};
// Reads the audit file unless it is unchanged since that stamp (AuditReport).
struct ReadAudit {
    using Answer = operate::AuditReport;
    static constexpr bool isAllowedInPast = true;
    QString knownStamp;
};
// Reads the node or key and plans; the plan's request may receive the new value later.
struct PlanEdit {
    using Answer = operate::EditPlan;
    operate::EditRequest request;
};
struct ApplyEdit {
    using Answer = operate::EditOutcome;
    operate::EditPlan plan;
    QString reason;
};
// Plays a scenario on the servers of a connection (realrun.h). Backend::runProgressed reports its progress.
struct PlayOnServers {
    using Answer = contention::Recording;
    RealRunOptions options;
    quint64 run = newNumber();
};

template <class Q>
using AnswerTo = std::function<void(Result<typename Q::Answer>)>;

// A query on its way. Its answer is dropped once `context` no longer exists.
template <class Q>
struct Posted {
    Q query;
    QPointer<QObject> context;
    AnswerTo<Q> answer;
};
template <class... Q>
using PostedOneOf = std::variant<Posted<Q>...>;
using PostedQuery = PostedOneOf<ListZnodes, ReadZnode, ScanKeys, ReadKey, ReadSession, TryConnection, PlanRelease,
                                Rehearse, ForceRelease, BulkRelease, ReadAudit, PlanEdit, ApplyEdit, PlayOnServers>;

// --- commands ----------------------------------------------------------------------------------

struct Connect {
    static constexpr bool isAllowedInPast = true;
    ConnectionSpec spec;
};
struct Disconnect {
    ConnectionName connection;
};
// Connects again unless it is connected. What was seen stays visible meanwhile.
struct Reconnect {
    ConnectionName connection;
};
// Allows writes on a production connection, or makes any connection read-only again.
struct SetReadOnly {
    ConnectionName connection;
    bool readOnly = true;
};
// Sets the ages from which on something is a finding.
struct SetThresholds {
    static constexpr bool isAllowedInPast = true;
    inspect::ThresholdRules rules;
};
// Sets the user's names of clients, at whatever time these were seen.
struct SetClientLabels {
    static constexpr bool isAllowedInPast = true;
    std::vector<inspect::ClientLabel> labels;
};
// Backend::znodesChanged reports changed children of these paths, which are expanded and on screen.
struct WatchZnodes {
    ConnectionName connection;
    std::vector<ZPath> paths;
};
// Backend::holdChanged reports the progress of the hold.
struct AcquireLock {
    AcquireRequest request;
    quint64 hold = newNumber();
};
// Releases a hold, or cancels one that still waits.
struct ReleaseHold {
    quint64 hold = 0;
};
// The run is answered with Cancelled once it has removed everything it created.
struct CancelRun {
    static constexpr bool isAllowedInPast = true;
    quint64 run = 0;
};
using Command = std::variant<Connect, Disconnect, Reconnect, SetReadOnly, SetThresholds, SetClientLabels, WatchZnodes,
                             AcquireLock, ReleaseHold, CancelRun>;

class Backend : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    // Posts a query. `answer` is called in the GUI thread, later, while `context` is alive. A query whose
    // connection is closed is answered with an error.
    template <class Q>
    void ask(Q query, QObject *context, AnswerTo<Q> answer)
    {
        post(Posted<Q>{std::move(query), context, std::move(answer)});
    }
    virtual void post(PostedQuery query) = 0;
    virtual void execute(Command command) = 0;
    // Executes AcquireLock and returns the number of the hold.
    quint64 acquire(AcquireRequest request)
    {
        const AcquireLock command{std::move(request)};
        execute(command);
        return command.hold;
    }

    // What the user calls clients.
    [[nodiscard]] virtual std::vector<inspect::ClientLabel> clientLabels() const { return {}; }
    // What was seen before now: this run's recorder; null where nothing is recorded. Lives as long as this.
    [[nodiscard]] virtual Past *past() { return nullptr; }

signals:
    void updated(const lockscope::Batch &batch);
    void znodesChanged(const lockscope::ConnectionName &name, const lockscope::ZPath &path);
    void holdChanged(const lockscope::Hold &hold);
    void runProgressed(quint64 runId, const lockscope::RealRunProgress &progress);
};

} // namespace lockscope
