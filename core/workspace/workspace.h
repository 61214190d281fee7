// SPDX-License-Identifier: Apache-2.0
// The workspace: the connections of one run of a program, each with its client, its gate, its gated port and its
// observer. Both programs stand on it: lockscopectl directly, the window through LiveBackend. Loop thread only.
#pragma once

#include "core/workspace/hold.h"

#include <map>

namespace lockscope {

struct WorkspaceOptions {
    inspect::ObserverOptions observer;
    bool readOnly = false;                    // --read-only: for every connection, for good
    bool observe = true;                      // false: nothing is looked for, only what is asked is read
    QString auditPath;                        // the default file when empty
    std::vector<inspect::ClientLabel> labels; // what the user calls clients
};

class ContenderPool;
class LinkBase;
struct LinkContext;
struct ContenderPoolContext;

// One connection. A ZooKeeper session that expired is replaced by a new one, with a new observer;
// whoever keeps pointers asks again after whenConnected().
class Link {
public:
    virtual ~Link() = default;

    [[nodiscard]] virtual const ConnectionSpec &spec() const = 0; // password removed
    [[nodiscard]] virtual operate::Gate &gate() = 0;
    [[nodiscard]] virtual bool isConnected() const = 0;
    // Why it is not connected: NotConnected (refused, name unknown, still trying) or AuthFailed.
    [[nodiscard]] virtual std::optional<Error> problem() const = 0;
    [[nodiscard]] virtual inspect::Observer &observer() = 0;
    // A contender of ours on this connection.
    [[nodiscard]] virtual std::unique_ptr<OwnContender> openContender(const HoldRequest &request) = 0;
    // Those of a run on its servers.
    [[nodiscard]] virtual std::unique_ptr<ContenderPool> openPool(const ContenderPoolContext &context) = 0;
    // The plan with what else goes with the act, as far as the server is to be asked for that. Reads only.
    [[nodiscard]] virtual Task<operate::ForceReleasePlan> withLosses(operate::ForceReleasePlan plan,
                                                                     Deadline deadline);
    // The guarded command of a force-release.
    [[nodiscard]] virtual Task<Result<operate::Sent>> sendRelease(operate::ForceReleasePlan plan,
                                                                  Deadline deadline) = 0;
    // What stands there, and the guarded requests that change it: of backends whose entries are edited.
    [[nodiscard]] virtual Task<Result<operate::EditState>> readForEdit(operate::EditRequest request,
                                                                       Deadline deadline);
    [[nodiscard]] virtual Task<Result<operate::EditSent>> sendEdit(operate::EditPlan plan, Deadline deadline);
    // Whether recipes still take away what nobody waits for any more, over the link's own connection.
    [[nodiscard]] virtual bool isCleaningUp() = 0;
    // What its observer could not see, and what else is not seen here.
    [[nodiscard]] virtual std::vector<inspect::Coverage> coverage() { return observer().coverage(); }
    // What was found out about it that its URI does not say; empty: nothing.
    [[nodiscard]] virtual QString remark() const { return {}; }
    // What its user may do there, as far as the server tells: a sentence each. The link outlives the task.
    [[nodiscard]] virtual Task<QStringList> rights(Deadline deadline);
    // "MariaDB 10.11.6", where the server has said it.
    [[nodiscard]] virtual QString serverVersion() { return {}; }
    // Round trip of a recent request, once known.
    [[nodiscard]] virtual std::optional<Duration> latency() const = 0;
    [[nodiscard]] virtual const inspect::Progress &progress() const = 0;
    [[nodiscard]] virtual const inspect::Cost &cost() const = 0;
    // The last moment this connection's snapshots were known to be true.
    [[nodiscard]] virtual std::chrono::system_clock::time_point heardAt() const = 0;
};

// The gated ports of a link; null, or none, where it is of another backend.
[[nodiscard]] zk::Session *zooKeeperOf(Link *link);
[[nodiscard]] mariadb::Session *mariaDbOf(Link *link);
[[nodiscard]] std::vector<redis::Connection *> redisNodesOf(Link *link);

// "CONNECTION:NAME" split at the first colon, the name unescaped; errors name the connections there are.
[[nodiscard]] Result<inspect::LockName> parseLock(const QString &text,
                                                  const std::vector<ConnectionName> &connections);

class Workspace {
public:
    // `sink` hears what the observers see; it outlives the workspace. It may be null.
    Workspace(Loop &loop, WorkspaceOptions options, inspect::ObserverSink *sink);
    ~Workspace();

    // Starts connecting; returns at once. Unsupported for schemes this build cannot open (sandbox: is
    // started by the program, which then adds what it connects to).
    Result<void> add(ConnectionSpec spec);
    void remove(const ConnectionName &name);
    // A link that is not connected is replaced by a new one, which begins with what the old one told.
    void retry(const ConnectionName &name);
    // From now on, for what is known already, too.
    void setThresholds(const inspect::ThresholdRules &rules);
    [[nodiscard]] Link *find(const ConnectionName &name);
    [[nodiscard]] std::vector<Link *> links();
    // Called whenever a link's state changes.
    void onLinkChanged(std::function<void(Link &)> listener) { m_listener = std::move(listener); }

    // Until connected. The link's problem as soon as the server refused the credentials or no host can be
    // reached, or when the deadline passes (the link itself keeps trying).
    [[nodiscard]] Task<Result<void>> whenConnected(ConnectionName name, Deadline deadline);
    // Of a connection of this run.
    [[nodiscard]] Result<inspect::LockName> parseLock(const QString &text) const;
    // Reads the lock afresh.
    [[nodiscard]] Task<Result<inspect::LockSnapshot>> read(inspect::LockName lock, Deadline deadline);
    // By any way; of KillWaiter `holder` is one that waits. `server`: the connection's URI when that was seen; empty:
    // it is looked at now only.
    [[nodiscard]] Task<Result<operate::ForceReleasePlan>> planForceRelease(
        inspect::LockName lock, QByteArray holder, Deadline deadline,
        operate::ReleaseAction way = operate::ReleaseAction::Release, QString server = {});
    [[nodiscard]] Task<Result<operate::ForceReleaseOutcome>> forceRelease(operate::ForceReleasePlan plan,
                                                                          QString reason, Deadline deadline);

    [[nodiscard]] Task<Result<operate::BulkReport>> bulkRelease(std::vector<operate::BulkTarget> targets,
                                                                QString reason, std::function<void(int)> progressed);
    // Reads what is there, and the locks that it belongs to.
    [[nodiscard]] Task<Result<operate::EditPlan>> planEdit(operate::EditRequest request, Deadline deadline);
    [[nodiscard]] Task<Result<operate::EditOutcome>> applyEdit(operate::EditPlan plan, QString reason,
                                                               Deadline deadline);

    [[nodiscard]] Loop &loop() { return m_loop; }
    [[nodiscard]] operate::CommandLog &log() { return m_log; }
    [[nodiscard]] operate::AuditFile &audit() { return m_audit; }

private:
    [[nodiscard]] LinkContext contextOfLinks();

    Loop &m_loop;
    WorkspaceOptions m_options;
    inspect::ObserverSink *m_sink;
    operate::CommandLog m_log;
    operate::AuditFile m_audit;
    std::function<void(Link &)> m_listener;
    std::vector<Completion<bool>> m_waiters; // for any link to change
    std::map<ConnectionName, std::unique_ptr<LinkBase>> m_links;
};

} // namespace lockscope
