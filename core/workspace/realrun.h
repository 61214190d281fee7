// SPDX-License-Identifier: Apache-2.0
// Plays a scenario on the real servers of a connection: contenders of ours, in sessions of their own, on a lock
// that is this run's alone and is taken away at the end.
//
// Everything goes through the connection's gate. Refused on a read-only connection, and always on one marked
// production; faults are for the simulated world. Loop thread only; the workspace outlives it.
#pragma once

#include "core/contention/round.h"
#include "core/workspace/workspace.h"

namespace lockscope {

class RealRun {
public:
    RealRun(Workspace &workspace, RealRunOptions options);

    // The recording's world is the connection's name; its note says how many share a session.
    [[nodiscard]] Task<Result<contention::Recording>> play();
    // Ends the run; play() still takes away what it made, then says Cancelled.
    void cancel() { m_cancelled.complete(true); }
    [[nodiscard]] RealRunProgress progress() const;

private:
    [[nodiscard]] contention::Moment now() const { return m_workspace.loop().now() - m_began; }
    [[nodiscard]] int sessions() const;
    [[nodiscard]] Result<void> check(Link &link) const;
    Task<Result<void>> takePool();
    Task<void> playRound();
    Task<contention::Recording> finish();

    Workspace &m_workspace;
    const RealRunOptions m_options;
    Completion<bool> m_cancelled;
    Instant m_began;
    contention::Trace m_trace;
    contention::Checkers m_checkers;
    contention::Resource m_resource;
    Random m_random;
    RealRunProgress::Stage m_stage = RealRunProgress::Stage::Connecting;
    std::unique_ptr<ContenderPool> m_pool;
    std::unique_ptr<contention::Round> m_round;
};

// The scenarios the window plays on real servers: each a RealRun with its answer and its progress. What is ended
// early still takes away what it made. I/O thread only; the workspace outlives it.
class Runs {
public:
    using Deliver = std::function<void(Result<contention::Recording>)>;
    using Tell = std::function<void(quint64, const RealRunProgress &)>;

    // `tell` hears how far each of them is, some times a second.
    Runs(Workspace &workspace, Tell tell);

    void play(quint64 id, RealRunOptions options, Deliver deliver);
    void cancel(quint64 id);
    [[nodiscard]] bool areOn(const ConnectionName &name) const;
    // Its connection was (`what`: "closed", "made read-only"): `done` is called once no run needs it any more.
    void endOn(const ConnectionName &name, const QString &what, std::function<void()> done);
    void endAll(std::function<void()> done);

private:
    struct One {
        ConnectionName on;
        std::unique_ptr<RealRun> run;
        Deliver deliver;
        QString ended; // what is done to its connection; empty: nothing
    };
    struct Waiting {
        std::optional<ConnectionName> name; // none: all of them
        std::function<void()> done;
    };
    Task<void> follow(quint64 id);
    void notifyAll();
    void callWaiting();

    Workspace &m_workspace;
    Tell m_tell;
    std::map<quint64, One> m_running;
    std::vector<Waiting> m_waiting;
    Timer m_timer;
    Scope m_scope; // last: these coroutines use everything above
};

} // namespace lockscope
