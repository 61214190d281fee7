// SPDX-License-Identifier: Apache-2.0
// The scenarios the window plays on real servers: each a RealRun with its answer and its progress. What is ended
// early still takes away what it made. I/O thread only; the workspace outlives it.
#pragma once

#include "core/async/scope.h"
#include "core/workspace/realrun.h"

namespace lockscope {

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
    void tellAll();
    void callWaiting();

    Workspace &m_workspace;
    Tell m_tell;
    std::map<quint64, One> m_running;
    std::vector<Waiting> m_waiting;
    Timer m_timer;
    Scope m_scope; // last: these coroutines use everything above
};

} // namespace lockscope
