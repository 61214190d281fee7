// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ui/simulator/comparison.h"
#include "ui/simulator/playedrun.h"

#include <QFrame>
#include <QThreadPool>

class QLabel;
class QProgressBar;
class QPushButton;

namespace lockscope::ui {

// Where a job looks whether it is still wanted.
using Wanted = std::shared_ptr<std::atomic<bool>>;
using Simulate =
    std::function<Result<contention::Recording>(const contention::Scenario &, const contention::OnProgress &)>;

// Shared: a million events are not copied on the window's thread.
using Recordings = std::shared_ptr<std::vector<contention::Recording>>;

struct ScalingPoint {
    int run = 0; // which of the scenarios
    int contenders = 0;
    qint64 requests = 0;
    Moment elapsed{};
};

// Plays scenarios, and whatever else takes long, away from the window's thread. A newer job of a kind takes the place
// of the older: what that still answers is dropped.
class Runner : public QObject {
    Q_OBJECT
public:
    explicit Runner(Simulate simulate, QObject *parent = nullptr);
    ~Runner() override; // waits for what still runs, which learns that it is not wanted

    // finished() or failed() follows, unless cancelled or replaced.
    void play(const std::vector<contention::Scenario> &scenarios);
    void load(const QStringList &files);
    // Makes ready to be looked at what was played elsewhere.
    void show(const lockscope::ui::Recordings &recordings);
    void cancel();
    [[nodiscard]] bool isBusy() const { return m_playing != nullptr; }

    // scaled() follows for each scenario and number of contenders, then scalingEnded().
    void scale(const std::vector<contention::Scenario> &scenarios, const std::vector<int> &contenders);
    void cancelScaling();
    [[nodiscard]] bool isScaling() const { return m_scaling != nullptr; }

    // Letting go of a million events takes a while, too.
    void dispose(std::vector<PlayedRunPtr> runs);
    // The answer of `work` (empty, or what went wrong) goes to `done`, on the window's thread.
    void inBackground(std::function<QString()> work, QObject *context, std::function<void(const QString &)> done);

signals:
    // Of all runs: 0 … 1; negative when it cannot be known.
    void progressed(double share, lockscope::contention::Moment at);
    void finished(const std::vector<lockscope::ui::PlayedRunPtr> &runs);
    void failed(const lockscope::Error &error);
    void cancelled();
    void scaled(const lockscope::ui::ScalingPoint &point);
    void scalingEnded();

private:
    using Runs = Result<std::vector<PlayedRunPtr>>;
    void begin(std::function<Runs(const Wanted &)> work);
    void tell(const Wanted &wanted, double share, Moment at);

    Simulate m_simulate;
    Wanted m_playing;
    Wanted m_scaling;
    QThreadPool m_pool; // one job at a time: an outdated one leaves soon
    QThreadPool m_chartPool;
};

// A file's bytes as a run; says what is wrong with it.
[[nodiscard]] Result<PlayedRunPtr> loadRun(const QString &file);

// Plays recipes on real servers, one after the other so that they do not disturb each other, through the backend:
// nothing here waits, and nothing here talks to a server.
class ServerRunner : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    ~ServerRunner() override; // ends what still runs

    void setBackend(Backend *backend);

    // played() or failed() follows, or cancelled(). What runs already is ended first.
    void play(std::vector<RealRunOptions> runs);
    // cancelled() follows once the server is left as it was found.
    void cancel();
    // The same, and nobody wants to hear of it.
    void abandon()
    {
        cancel();
        end();
    }
    [[nodiscard]] bool isBusy() const { return m_wanted; }

signals:
    // `run` of `runs` is played now.
    void progressed(std::size_t run, const lockscope::RealRunOptions &options,
                    const lockscope::RealRunProgress &progress);
    void played(const lockscope::ui::Recordings &recordings);
    void failed(const lockscope::Error &error);
    void cancelled();

private:
    void next();
    void take(quint64 id, Result<contention::Recording> result);
    void end();

    QPointer<Backend> m_backend;
    std::vector<RealRunOptions> m_runs;
    std::vector<contention::Recording> m_recordings;
    std::optional<quint64> m_id; // of the run the servers are busy with
    bool m_wanted = false;       // somebody waits for what comes of it
    bool m_isCancelled = false;
    bool m_hasNext = false; // m_runs wait for it to end
};

// The comparison under way: started where it says, in the simulated world or on real servers; how far it is, and its
// end.
class Player : public QFrame {
    Q_OBJECT
public:
    // `runner` plays in the simulated world; it outlives the player.
    explicit Player(Runner &runner, QWidget *parent);

    void setBackend(Backend *backend) { m_servers.setBackend(backend); }
    // Outlives the player; without it there is only the simulated world.
    void useConnections(const ConnectionBook &book) { m_book = &book; }
    [[nodiscard]] const ConnectionBook &book() const;
    // The sandbox starts (`state` says how far it is), or is all there: its servers are in the book.
    void sandboxChanged(const QString &state, bool isComplete);

    // In place of what is under way. ended() follows, after played() or failed() unless it is cancelled.
    void play(const Comparison &comparison);
    void load(const QStringList &files);
    void cancel();
    [[nodiscard]] bool isBusy() const { return m_runner.isBusy() || m_servers.isBusy() || m_awaitsSandbox; }
    [[nodiscard]] const Comparison &pending() const { return m_pending; }

signals:
    void played(const lockscope::ui::Comparison &comparison, const std::vector<lockscope::ui::PlayedRunPtr> &runs);
    void failed(const QString &why);
    void ended();
    void shareChanged(const QString &share); // "40 %"; empty: nothing is under way
    // A sandbox is needed that is not there. sandboxChanged() follows.
    void sandboxRequested();

private:
    void retranslate();
    void begin(const Comparison &comparison, const QString &text);
    void beginOnServers();
    void take(const std::vector<PlayedRunPtr> &runs);
    void fail(const Error &error);
    void end();
    void showProgress(double share, const QString &text);
    [[nodiscard]] QString serverText(const RealRunOptions &options, const RealRunProgress &progress) const;

    Runner &m_runner;
    ServerRunner m_servers;
    const ConnectionBook *m_book = nullptr;
    bool m_awaitsSandbox = false;
    Comparison m_pending;
    QLabel *m_text;
    QProgressBar *m_bar;
    QPushButton *m_cancel;
};

} // namespace lockscope::ui
