// SPDX-License-Identifier: Apache-2.0
// What the window is told of its connections: everything that the observers report goes through here, to the recorder
// and, in batches of a frame, to the window. Loop thread only.
#pragma once

#include "core/history/flightrecorder.h"
#include "core/workspace/deadlocks.h"
#include "core/workspace/news.h"

namespace lockscope {

// What a recorder hears of beside what observers tell: how the connections of a workspace are, and what was done by
// force on this machine meanwhile (the audit file). Loop thread only.

// As a recording has it: an act by the clock that dates all in it.
[[nodiscard]] inspect::LinkState stateOf(Link &link);
[[nodiscard]] inspect::Act actOf(const operate::AuditRecord &record);

// The records of an audit file that were written since. By their order: their times are the wall clock's, which may
// be set back.
class AuditFollower {
public:
    explicit AuditFollower(const operate::AuditFile &file);
    [[nodiscard]] std::vector<inspect::Act> news();

private:
    const operate::AuditFile &m_file;
    std::optional<QByteArray> m_last; // the hash of the last record that is no news; none while that is not known
    std::pair<qint64, QDateTime> m_looked; // size and time of the file then
};

class RecordFeed {
public:
    // Both outlive it.
    RecordFeed(Workspace &workspace, inspect::ObserverSink &recorder);
    // What is news by now; it does so by itself a few times a second.
    void tell();

private:
    void notifyLater();

    Workspace &m_workspace;
    inspect::ObserverSink &m_recorder;
    AuditFollower m_audit;
    Timer m_timer;
};

class NewsFeed : public inspect::ObserverSink {
public:
    // `deliver` hands a batch to the window. None is made after it until delivered() says that it was taken.
    NewsFeed(Loop &loop, std::function<void(Batch)> deliver);

    // The workspace whose sink this is; until stop().
    void start(Workspace &workspace, std::vector<inspect::ClientLabel> labels);
    void stop();
    // From here on, all that the window is told, to files.
    void record(history::FlightOptions options, std::shared_ptr<history::RecordedFiles> files,
                history::FlightRecorder::Listeners listeners);

    void take(inspect::Change::What change) override;
    // The status of a connection that the workspace does not have.
    void add(const ConnectionStatus &status);
    void statusChanged(const ConnectionName &name);
    void logged(const operate::LogEntry &entry);
    void delivered();

    // Of a connection that is being closed nothing is told but that its locks are gone.
    void closing(const ConnectionName &name);
    void closed(const ConnectionName &name);

    [[nodiscard]] DeadlockWatch &deadlocks() { return *m_deadlocks; }

private:
    void tell(inspect::SnapshotChange change);
    void notifySeen(const auto &seen);
    void recordOne(const auto &change);
    [[nodiscard]] ConnectionStatus reportedStatusOf(Link &link);
    void refreshStatuses();
    void scheduleFlush();
    void flush();

    Loop &m_loop;
    std::function<void(Batch)> m_deliver;
    Workspace *m_workspace = nullptr;
    std::unique_ptr<DeadlockWatch> m_deadlocks;
    std::unique_ptr<history::FlightRecorder> m_recorder; // null: nothing is recorded
    std::unique_ptr<RecordFeed> m_recordFeed;
    News m_news;
    std::set<ConnectionName> m_closing;
    std::set<ConnectionName> m_changedStatuses;
    std::map<ConnectionName, quint64> m_completeBefore; // whose first look is over with the locks before that one
    bool m_isFlushScheduled = false;
    bool m_isBatchOnItsWay = false;
    Timer m_flushTimer;
    Timer m_statusTimer;
};

} // namespace lockscope
