// SPDX-License-Identifier: Apache-2.0
// The recorder that is always on: what it hears it hands to a thread of its own, which packs it and writes it, each
// second, to files of this run alone (writer.h). They go when the run ends; those of a run that crashed stay
// for a day, and can be opened. Where it cannot write any more (a full disk) that is told, what was written stays,
// and it goes on once it can; what came in between is as if the connections had been broken.
#pragma once

#include "core/async/loop.h"
#include "core/history/recording.h"
#include "core/history/writer.h"
#include "core/inspect/observer.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace lockscope::history {

// Stands where observers tell what they see, and records it: each second what came goes to the file. What fails is
// told once, and ends the recording. Loop thread only.
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

struct FlightOptions {
    QString folder; // of all runs; empty: recordersFolder()
    RecordingBounds bounds;
    std::chrono::milliseconds triesAgainEvery = std::chrono::seconds(10);
};

// $XDG_STATE_HOME/lockscope/recorder, or the same below ~/.local/state.
[[nodiscard]] QString recordersFolder();

class FlightRecorder : public inspect::ObserverSink {
public:
    // On the loop's thread, where all below is called, too: `failed` when it cannot be recorded any more, `resumed`
    // when it can again, `foundLeft` for each recording that a crashed run left less than a day ago. `files` may
    // outlive this.
    struct Listeners {
        std::function<void(const Error &)> failed;
        std::function<void(const LeftRecording &)> foundLeft;
        std::function<void()> resumed = {};
    };
    FlightRecorder(Loop &loop, FlightOptions options, std::shared_ptr<RecordedFiles> files, Listeners listeners);
    // Ends, and takes its files away.
    ~FlightRecorder() override;

    // A LinkState that is known already is no news.
    void take(Change::What change) override;

private:
    void thin();
    void run();
    void record(RotatingWriter &writer);
    [[nodiscard]] Result<void> write(RotatingWriter &writer, std::vector<Change> taken, Moment now);
    void putBack(std::vector<Change> changes);
    void lookForLeft(const QString &folder, const QString &own);
    void notifyFailed(const Error &error);
    void fail(const Error &error);

    Loop &m_loop;
    FlightOptions m_options;
    std::shared_ptr<RecordedFiles> m_files;
    Listeners m_listeners;
    std::map<ConnectionName, LinkState> m_connections; // as told last
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::vector<Change> m_waiting; // under the mutex, as all below
    std::size_t m_thinAt = 0;
    bool m_isEnding = false;
    bool m_isOver = false;
    std::thread m_thread; // last: it uses everything above
};

} // namespace lockscope::history
