// SPDX-License-Identifier: Apache-2.0
// The recorder that is always on: what it hears it hands to a thread of its own, which packs it and writes it, each
// second, to files of this run alone. They go when the run ends; those of a run that crashed stay
// for a day, and can be opened. Where it cannot write any more (a full disk) that is told, what was written stays,
// and it goes on once it can; what came in between is as if the connections had been broken.
#pragma once

#include "core/history/recording.h"
#include "core/inspect/observer.h"

#include <QFile>
#include <condition_variable>
#include <deque>
#include <set>
#include <thread>

namespace lockscope::history {

// What changes are recorded with.
class ChangeWriter {
public:
    ChangeWriter() = default;
    virtual ~ChangeWriter() = default;
    Q_DISABLE_COPY(ChangeWriter)

    // Moments that go back (a clock that was set) count as the last one.
    [[nodiscard]] virtual Result<void> add(Change change) = 0;
    // To the file: what was added, up to now.
    [[nodiscard]] virtual Result<void> flush(Moment now) = 0;
    [[nodiscard]] virtual const StateSnapshot &picture() const = 0;
};

// Writes a recording, in chunks: what is not yet in one is lost in a crash, so flush() is to be called each second. A
// moment at which nothing changed is written, too: it says that the recorder was still there.
//
// A full picture comes at the beginning, and again when so much was written since the last that reading it from there
// takes longer than reading a picture.

class RecordingWriter : public ChangeWriter {
public:
    // A file of its own: none that is there already is written over. Closed to others: it names clients and hosts.
    // It begins with `picture`.
    [[nodiscard]] static Result<std::unique_ptr<RecordingWriter>> create(const QString &path, Moment now,
                                                                         StateSnapshot picture = {});

    [[nodiscard]] Result<void> add(Change change) override;
    [[nodiscard]] Result<void> flush(Moment now) override;

    [[nodiscard]] const StateSnapshot &picture() const override { return m_picture; }
    [[nodiscard]] QString path() const { return m_file.fileName(); }
    // Of what is in the file.
    [[nodiscard]] qint64 bytes() const { return m_bytes; }
    [[nodiscard]] qint64 lockChanges() const { return m_written.lockChanges; }
    [[nodiscard]] qint64 locksSeen() const { return m_written.locksSeen; }
    [[nodiscard]] Moment begin() const { return m_begin; }
    [[nodiscard]] Moment end() const { return m_written.end; }
    // Locks that the picture has newer than the file.
    [[nodiscard]] const std::vector<inspect::LockName> &unwritten() const { return m_unwritten; }

private:
    explicit RecordingWriter(const QString &path) : m_file(path) {}
    [[nodiscard]] Result<void> writeChanges();
    [[nodiscard]] Result<void> writePicture();
    [[nodiscard]] Result<void> write(const QByteArray &bytes);

    QFile m_file;
    StateSnapshot m_picture;
    QByteArray m_raw; // the chunk that is being filled
    quint32 m_rawChanges = 0;
    std::vector<inspect::LockName> m_unwritten; // what is told of in it
    Moment m_begin{};
    Moment m_first{}; // of that chunk
    Moment m_last{};
    Moment m_pictureAt{};
    qint64 m_bytes = 0;
    qint64 m_sincePicture = 0; // raw bytes
    qint64 m_pictureRaw = 0;
    qint64 m_lockChanges = 0;
    std::map<inspect::LockName, char> m_locksSeen;
    struct {
        qint64 lockChanges = 0;
        qint64 locksSeen = 0;
        Moment end{};
    } m_written;
};

// A recording without an end in bounded room: files that follow each other in a folder, of which the oldest goes when
// there are too many bytes, or when what is left is long enough without it. Each begins with a full picture, so that
// none needs the one before.
struct RecordingBounds {
    std::chrono::milliseconds span = std::chrono::minutes(30);
    qint64 bytes = 256LL * 1024 * 1024;
};

class RotatingWriter : public ChangeWriter {
public:
    // In a folder of its own, which is there. It goes on where a run before it ended: with its numbers, within the
    // same bounds; what came in between is as if the connections had been closed.
    [[nodiscard]] static Result<std::unique_ptr<RotatingWriter>> create(const QString &folder, RecordingBounds bounds,
                                                                        Moment now);

    [[nodiscard]] Result<void> add(Change change) override { return m_writer->add(std::move(change)); }
    // To the file; then perhaps a new one is begun, and old ones go.
    [[nodiscard]] Result<void> flush(Moment now) override;
    [[nodiscard]] const StateSnapshot &picture() const override { return m_writer->picture(); }
    // After a failure, in a new file: from the end of what was written until now no connection stands in it, for what
    // came in between is not there.
    [[nodiscard]] Result<void> resume(Moment now);
    // The oldest first.
    [[nodiscard]] QStringList files() const;

private:
    struct Closed {
        QString path;
        Moment end{};
        qint64 bytes = 0;
    };
    RotatingWriter(QString folder, RecordingBounds bounds) : m_folder(std::move(folder)), m_bounds(bounds) {}
    [[nodiscard]] Result<void> begin(Moment now, StateSnapshot picture);
    [[nodiscard]] Result<void> goOn(Moment now);
    void dropOld(Moment now);

    QString m_folder;
    RecordingBounds m_bounds;
    int m_number = 0;
    std::unique_ptr<RecordingWriter> m_writer;
    qint64 m_begunWith = 0; // bytes
    std::deque<Closed> m_closed;
    qint64 m_closedBytes = 0;
    // While it cannot be written: what holds again once it can.
    std::map<ConnectionName, LinkState> m_standing;
    std::set<inspect::LockName> m_missed;
};

// Stands where observers tell what they see, and records it: each second what came goes to the file. What fails is
// told once, and ends the recording. Loop thread only.
class Recorder : public inspect::ObserverSink {
public:
    // `failed` is called once when it cannot be recorded any more.
    Recorder(Loop &loop, std::unique_ptr<ChangeWriter> writer, std::function<void(const Error &)> failed);
    ~Recorder() override;

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
    std::unique_ptr<ChangeWriter> m_writer;
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
