// SPDX-License-Identifier: Apache-2.0
// Stands where observers tell what they see, and records it: each second what came goes to the file. What fails is
// told once, and ends the recording. Loop thread only.
#pragma once

#include "core/async/loop.h"
#include "core/history/writer.h"
#include "core/inspect/observer.h"

#include <functional>

namespace lockscope::history {

class Recorder : public inspect::ObserverSink {
public:
    // `failed` is called once when it cannot be recorded any more.
    Recorder(Loop &loop, std::unique_ptr<RecordingWriter> writer, std::function<void(const Error &)> failed);
    ~Recorder() override;

    [[nodiscard]] const RecordingWriter &writer() const { return *m_writer; }
    // A LinkState that is known already is no news.
    void take(Change::What change) override;
    // Up to now, to the file.
    Result<void> flush();
    // The same, for the last time.
    Result<void> end();

private:
    [[nodiscard]] Moment now() const;
    void check(const Result<void> &result);
    void flushLater();

    Loop &m_loop;
    std::unique_ptr<RecordingWriter> m_writer;
    std::function<void(const Error &)> m_failed;
    bool m_isOver = false;
    Timer m_timer;
};

} // namespace lockscope::history
