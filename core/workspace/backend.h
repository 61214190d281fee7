// SPDX-License-Identifier: Apache-2.0
// What the window sees of the core, beside the values: everything it can ask for and everything it is told.
//
// The Backend lives in the GUI thread; it never blocks. Its implementation (LiveBackend) hands every
// question to the I/O thread and the answer comes back as a call in the GUI thread, or never if the
// context object died meanwhile. What changes is told in batches, at most one per frame.
#pragma once

#include "core/base/znode.h"
#include "core/workspace/values.h"

#include <QObject>

#include <functional>

namespace lockscope {

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
    qint64 writesSent = 0;
    inspect::Progress progress;
    inspect::Cost cost;
    friend bool operator==(const ConnectionStatus &, const ConnectionStatus &) = default;
};

// One frame's worth of news.
struct Batch {
    std::vector<inspect::SnapshotChange> locks;
    std::vector<ConnectionStatus> connections;      // those that changed
    std::vector<inspect::SessionSnapshot> sessions; // of the connections in sessionsOf, complete
    std::vector<ConnectionName> sessionsOf;
    std::vector<inspect::Coverage> coverage; // of the connections in coverageOf, complete
    std::vector<ConnectionName> coverageOf;
    std::vector<operate::LogEntry> log; // new or finished entries
    bool isJump = false;                // to another moment: what comes with it did not begin just now
};

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

// What a client is doing, where its server says that: of MariaDB and MySQL.
struct SessionDoing {
    QByteArray statement; // that it runs, or ran last; empty where that is not known
    bool isRunning = false;
    QByteArray state;                                        // the server's word for what it is at
    std::optional<std::chrono::milliseconds> inState;        // how long it has run, or slept
    std::optional<std::chrono::milliseconds> transactionAge; // empty: none is open, or that cannot be seen
    qint64 rowsLocked = 0;
    qint64 rowsModified = 0;
    QStringList gaps; // what the server did not tell, and why
};

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

class Backend : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    // `context` must be alive when the answer comes; else it is dropped. What is under way when its connection is
    // closed is answered with an error.
    template <class T>
    using Answer = std::function<void(Result<T>)>;

    // What the user calls clients.
    [[nodiscard]] virtual std::vector<inspect::ClientLabel> clientLabels() const { return {}; }
    virtual void setClientLabels(std::vector<inspect::ClientLabel> labels) = 0;

    virtual void connectTo(ConnectionSpec spec) = 0;
    // What such a connection would reach and may do; opens one of its own for that, and closes it. A few seconds.
    virtual void tryConnection(const ConnectionSpec &spec, QObject *context, Answer<ConnectionAccount> answer) = 0;
    virtual void disconnectFrom(const ConnectionName &name) = 0;
    // Connects anew, as before, what is not connected. What was seen stays on show meanwhile.
    virtual void retry(const ConnectionName &name) = 0;
    // Arms a production connection (or makes any read-only again).
    virtual void setReadOnly(const ConnectionName &name, bool readOnly) = 0;

    // From which age on something is a finding.
    virtual void setThresholds(const inspect::ThresholdRules &rules) = 0;

    virtual void listZnodes(const ConnectionName &name, const ZPath &path, QObject *context,
                            Answer<std::vector<ZnodeRow>> answer) = 0;
    virtual void readZnode(const ConnectionName &name, const ZPath &path, QObject *context,
                           Answer<ZnodeDetail> answer) = 0;
    // Tells (znodesChanged) when the children of these paths change: what is expanded and on screen.
    virtual void watchZnodes(const ConnectionName &name, const std::vector<ZPath> &paths) = 0;
    virtual void scanKeys(const ConnectionName &name, const QByteArray &pattern, quint64 cursor, QObject *context,
                          Answer<KeyPage> answer) = 0;
    virtual void readKey(const ConnectionName &name, const RedisKey &key, QObject *context,
                         Answer<KeyDetail> answer) = 0;

    // What a client (SessionSnapshot::session) is doing now. Unsupported where servers do not tell that.
    virtual void readSession(const ConnectionName &name, const QString &session, QObject *context,
                             Answer<SessionDoing> answer)
    {
        Q_UNUSED(name)
        Q_UNUSED(session)
        QMetaObject::invokeMethod(
            context,
            [answer] {
                answer(Error{ErrorCode::Unsupported, QStringLiteral("not told here")});
            },
            Qt::QueuedConnection);
    }

    // Progress of the hold comes through holdChanged. Returns the hold's id.
    virtual quint64 acquire(AcquireRequest request) = 0;
    virtual void release(quint64 holdId) = 0; // also cancels one that still waits

    // Reads the lock afresh and plans.
    virtual void planForceRelease(const inspect::LockName &lock, const QByteArray &holder, QObject *context,
                                  Answer<operate::ForceReleasePlan> answer) = 0;
    // The same by a gentler way; forceRelease() does it.
    virtual void planWay(const inspect::LockName &lock, const QByteArray &contender, operate::Way way,
                         QObject *context, Answer<operate::ForceReleasePlan> answer) = 0;
    // What that release would do, played in the simulated world. Asks no server.
    virtual void rehearse(operate::ForceReleasePlan plan, QObject *context, Answer<rehearse::Rehearsal> answer) = 0;
    virtual void forceRelease(operate::ForceReleasePlan plan, const QString &reason, QObject *context,
                              Answer<operate::ForceReleaseOutcome> answer) = 0;

    // What was seen before now: this run's recorder; null where nothing is recorded. Lives as long as this.
    [[nodiscard]] virtual Past *past() { return nullptr; }
    // One after the other; stops at the first that is not as expected (bulkrelease.h). `progressed` hears how many
    // are done.
    virtual void bulkRelease(std::vector<operate::BulkTarget> targets, const QString &reason, QObject *context,
                             std::function<void(int)> progressed, Answer<operate::BulkReport> answer) = 0;
    // The audit file, read afresh where it is not as it was at that stamp (AuditReport).
    virtual void readAudit(const QString &knownStamp, QObject *context, Answer<operate::AuditReport> answer) = 0;
    // Reads what is there, and plans; what it is to become may be said later, in the plan's request.
    virtual void planEdit(operate::EditRequest request, QObject *context, Answer<operate::EditPlan> answer) = 0;
    virtual void applyEdit(operate::EditPlan plan, const QString &reason, QObject *context,
                           Answer<operate::EditOutcome> answer) = 0;

    // Plays on the servers of a connection (realrun.h); how far it is comes through runProgressed. Returns the
    // run's id.
    virtual quint64 playOnServers(RealRunOptions options, QObject *context, Answer<contention::Recording> answer) = 0;
    virtual void cancelRun(quint64 runId) = 0; // its answer, Cancelled, comes once it took away what it made

signals:
    void updated(const lockscope::Batch &batch);
    void znodesChanged(const lockscope::ConnectionName &name, const lockscope::ZPath &path);
    void holdChanged(const lockscope::Hold &hold);
    void runProgressed(quint64 runId, const lockscope::RealRunProgress &progress);
};

} // namespace lockscope
