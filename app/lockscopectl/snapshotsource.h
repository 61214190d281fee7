// SPDX-License-Identifier: Apache-2.0
// Where a command takes its pictures from: servers, or a recording of them. Commands that only look ask here, and
// answer alike from both.
#pragma once

#include "app/commandline.h"
#include "core/history/recording.h"
#include "core/inspect/waits/waitgraph.h"
#include "core/workspace/workspace.h"

namespace lockscope::ctl {

struct CommandContext;

// What a recorded picture is of.
struct RecordedMoment {
    const history::FlightRecording *recording = nullptr;
    history::Moment asOf{};
};

using HeldBeside = std::vector<QByteArray>; // names of locks

class SnapshotSource {
public:
    // `labels`: what the user calls clients, which the contenders of every lock are given.
    explicit SnapshotSource(std::vector<inspect::ClientLabel> labels) : m_labels(std::move(labels)) {}
    virtual ~SnapshotSource() = default;

    // Until everything that can be seen at first has been seen. What cannot is reported on stderr.
    virtual Task<app::Exit> look(CommandContext &context) = 0;
    // The same for what stands beside an answer: for a few seconds, and silent. Whether everything was seen.
    virtual Task<bool> lookSoon() = 0;
    // One lock, as it is now; waits for its connection.
    virtual Task<Result<inspect::LockSnapshot>> read(inspect::LockName lock, Deadline deadline) = 0;
    // What else the threads that hold this lock hold on its server (core/inspect/waits/clients.h), in order; nothing
    // where that is not known. Costs a look at all of that server where a holder's id names its thread, nothing else.
    virtual Task<std::optional<HeldBeside>> heldWith(inspect::LockSnapshot lock) = 0;
    // Whether there is anything to answer from.
    [[nodiscard]] virtual bool isAnySeen() = 0;
    [[nodiscard]] virtual std::vector<inspect::LockSnapshot> locks() = 0;
    [[nodiscard]] virtual std::vector<inspect::SessionSnapshot> sessions() = 0;
    // Who waits for whom. Its cycles are those that were there at two looks in a row.
    virtual Task<inspect::WaitGraph> waits(Deadline deadline) = 0;
    // Whether waits() could read the locks of each cycle on that connection once more.
    [[nodiscard]] virtual bool isReadAgain(const ConnectionName &) const { return true; }
    // Of connections that are not there, too.
    [[nodiscard]] virtual std::vector<inspect::Coverage> coverage() = 0;
    // Of one whose lock was read, without a look at all there is.
    [[nodiscard]] virtual std::vector<inspect::Coverage> coverageOf(const ConnectionName &name) = 0;
    [[nodiscard]] virtual std::vector<inspect::LinkState> connections() = 0;
    [[nodiscard]] virtual Result<inspect::LockName> parseLock(const QString &text) = 0;
    // The moment that ages count to: by our clock, and by that of the lock's server.
    [[nodiscard]] virtual history::Moment now() const = 0;
    [[nodiscard]] inspect::ServerTime serverNow(const inspect::LockSnapshot &lock) const
    {
        return now() + lock.serverAhead;
    }
    // Nothing where servers answer.
    [[nodiscard]] virtual std::optional<RecordedMoment> recorded() const { return {}; }

protected:
    [[nodiscard]] const std::vector<inspect::ClientLabel> &clientLabels() const { return m_labels; }
    [[nodiscard]] std::vector<inspect::LockSnapshot> labelled(std::vector<inspect::LockSnapshot> locks) const;

private:
    std::vector<inspect::ClientLabel> m_labels;
};

// Looks at all of that server from now on, whatever was asked for; true when all of it was seen soon. What stands
// beside an answer is not waited for longer.
[[nodiscard]] Task<bool> lookThrough(Workspace *workspace, ConnectionName name);

[[nodiscard]] std::unique_ptr<SnapshotSource> liveSnapshots(Workspace &workspace,
                                                            std::vector<inspect::ClientLabel> labels);
// As of that moment of it. `recording` outlives this.
[[nodiscard]] std::unique_ptr<SnapshotSource> recordedSnapshots(const history::FlightRecording &recording,
                                                                history::Moment asOf, inspect::StateSnapshot picture,
                                                                std::vector<inspect::ClientLabel> labels);

// What the observers tell, kept for the command that asked: changes as they come, progress on a terminal.
class Sink : public inspect::ObserverSink {
public:
    ~Sink() override;
    void onChange(std::function<void(const inspect::SnapshotChange &)> listener) { m_listener = std::move(listener); }
    // Told whenever what can be seen changes.
    void onCoverage(std::function<void(const ConnectionName &, const std::vector<inspect::Coverage> &)> listener)
    {
        m_coverageListener = std::move(listener);
    }
    // Hears everything as well, until nothing is given.
    void forwardTo(inspect::ObserverSink *other) { m_other = other; }
    // Shows how far the search is, on stderr, when that is a terminal.
    void showProgress(bool shown);
    // When that connection last told of a lock, or that it is farther than ever before: a search that begins again
    // and again tells of no progress.
    [[nodiscard]] std::optional<Instant> lastNews(const ConnectionName &name) const;

    void take(inspect::Change::What change) override;

private:
    void heardOf(const ConnectionName &name);
    void note(const inspect::Progress &progress);
    void clearProgress();

    std::function<void(const inspect::SnapshotChange &)> m_listener;
    std::function<void(const ConnectionName &, const std::vector<inspect::Coverage> &)> m_coverageListener;
    std::map<ConnectionName, Instant> m_news;
    std::map<ConnectionName, qint64> m_farthest;
    inspect::ObserverSink *m_other = nullptr;
    bool m_progressShown = false;
    bool m_lineUsed = false;
};

} // namespace lockscope::ctl
