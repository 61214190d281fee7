// SPDX-License-Identifier: Apache-2.0
// Stands where observers tell what they see, and records it: each second what came goes to the file. What fails is
// told once, and ends the recording. Loop thread only.
#pragma once

#include "core/async/loop.h"
#include "core/history/writer.h"
#include "core/inspect/observer.h"

#include <functional>

namespace lockscope::history {

// What hears all that a recording is made of.
class RecordingSink : public inspect::ObserverSink {
public:
    // How a connection is now: it stands, broke, or was closed (isGone). What is known already is no news.
    virtual void connectionIs(LinkState state) = 0;
    virtual void acted(const Act &act) = 0;
    virtual void confirmed(const Confirmation &confirmation) = 0;

    void progressed(inspect::Progress) override {}
    void costChanged(const ConnectionName &, inspect::Cost) override {}
};

class Recorder : public RecordingSink {
public:
    // `failed` is called once when it cannot be recorded any more.
    Recorder(Loop &loop, std::unique_ptr<RecordingWriter> writer, std::function<void(const Error &)> failed);
    ~Recorder() override;

    [[nodiscard]] const RecordingWriter &writer() const { return *m_writer; }
    void connectionIs(LinkState state) override;
    void acted(const Act &act) override;
    void confirmed(const Confirmation &confirmation) override;
    // Up to now, to the file.
    Result<void> flush();
    // The same, for the last time.
    Result<void> end();

    void locksChanged(std::vector<inspect::SnapshotChange> changes) override;
    void sessionsChanged(const ConnectionName &connection, std::vector<inspect::SessionSnapshot> sessions) override;
    void coverageChanged(const ConnectionName &connection, std::vector<inspect::Coverage> coverage) override;

private:
    [[nodiscard]] Moment now() const;
    void add(decltype(Change::what) what);
    void check(const Result<void> &result);
    void flushLater();

    Loop &m_loop;
    std::unique_ptr<RecordingWriter> m_writer;
    std::function<void(const Error &)> m_failed;
    bool m_isOver = false;
    Timer m_timer;
};

} // namespace lockscope::history
