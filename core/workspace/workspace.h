// SPDX-License-Identifier: Apache-2.0
// The workspace: the connections of one run of a program, each with its client, its gate, its gated port and its
// observer. Both programs stand on it: lockscopectl directly, the window through LiveBackend. Loop thread only.
#pragma once

#include "core/workspace/account.h"
#include "core/workspace/link.h"

namespace lockscope {

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
    std::map<ConnectionName, std::unique_ptr<Link>> m_links;
};

} // namespace lockscope
