// SPDX-License-Identifier: Apache-2.0
// Plays recipes on real servers, one after the other so that they do not disturb each other, through the backend:
// nothing here waits, and nothing here talks to a server.
#pragma once

#include <version>

#include "core/workspace/backend.h"
#include "ui/simulator/runner.h"

#include <QPointer>

namespace lockscope::ui {

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
    void abandon();
    [[nodiscard]] bool isBusy() const { return m_wanted; }

signals:
    // `run` of `runs` is played now.
    void progressed(std::size_t run, const lockscope::RealRunOptions &options, const lockscope::RealRunProgress &progress);
    void played(const lockscope::ui::Recordings &recordings);
    void failed(const lockscope::Error &error);
    void cancelled();

private:
    void next();
    void take(quint64 id, Result<simulate::Recording> result);
    void end();

    QPointer<Backend> m_backend;
    std::vector<RealRunOptions> m_runs;
    std::vector<simulate::Recording> m_recordings;
    std::optional<quint64> m_id; // of the run the servers are busy with
    bool m_wanted = false;       // somebody waits for what comes of it
    bool m_isCancelled = false;
    bool m_hasNext = false;      // m_runs wait for it to end
};

} // namespace lockscope::ui
