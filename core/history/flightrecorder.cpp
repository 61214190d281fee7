// SPDX-License-Identifier: Apache-2.0
#include "core/history/flightrecorder.h"

#include <QDateTime>
#include <QDir>
#include <QLockFile>
#include <QTemporaryDir>

namespace lockscope::history {

constexpr auto writtenEvery = 1s; // what a crash may cost

Recorder::Recorder(Loop &loop, std::unique_ptr<ChangeWriter> writer, std::function<void(const Error &)> failed)
    : m_loop(loop), m_writer(std::move(writer)), m_failed(std::move(failed))
{
    flushLater();
}

Recorder::~Recorder()
{
    (void)flush(); // nobody is left to be told
}

Moment Recorder::now() const
{
    return std::chrono::time_point_cast<std::chrono::milliseconds>(datedNow(m_loop));
}

void Recorder::check(const Result<void> &result)
{
    if (!result && !std::exchange(m_isOver, true) && m_failed)
        m_failed(result.error());
}

void Recorder::take(Change::What change)
{
    if (m_isOver || !Change::isRecorded(change))
        return;
    if (const auto *state = std::get_if<LinkState>(&change)) {
        const auto &known = m_writer->picture().connections;
        if (const auto at = known.find(state->name); at != known.end() && at->second == *state)
            return;
    }
    check(m_writer->add({now(), std::move(change)}));
}

Result<void> Recorder::flush()
{
    if (m_isOver)
        return {};
    auto flushed = m_writer->flush(now());
    check(flushed);
    return flushed;
}

Result<void> Recorder::end()
{
    auto flushed = flush();
    m_isOver = true;
    return flushed;
}

void Recorder::flushLater()
{
    m_timer = m_loop.callAt(m_loop.now() + writtenEvery, [this] {
        if (flush() && !m_isOver)
            flushLater();
    });
}

namespace {

constexpr auto leftFor = 24h;
// Beyond this the writing thread is behind: of each lock only the newest is kept.
constexpr std::size_t mostWaiting = 100'000;
const auto ownerName = u"owner"_s; // locked while its run lives
const auto recordingNames = u"*.lockscope"_s;

// As the loop dates what comes, on any thread.
Moment datedNow()
{
    return std::chrono::time_point_cast<std::chrono::milliseconds>(programClock().now());
}

// Held while its process lives, whatever its age.
bool takeOwner(QLockFile &lock)
{
    lock.setStaleLockTime(0);
    return lock.tryLock(0);
}

Result<void> makePrivateFolder(const QString &path)
{
    if (!QDir().mkpath(path))
        return Error{ErrorCode::Server, u"the recorder cannot make the folder %1"_s.arg(path)};
    QFile::setPermissions(path, QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
    return {};
}

} // namespace

QString recordersFolder()
{
    auto state = qEnvironmentVariable("XDG_STATE_HOME");
    if (!QDir::isAbsolutePath(state))
        state = QDir::homePath() + u"/.local/state"_s;
    return state + u"/lockscope/recorder"_s;
}

FlightRecorder::FlightRecorder(Loop &loop, FlightOptions options, std::shared_ptr<RecordedFiles> files,
                               Listeners listeners)
    : m_loop(loop), m_options(std::move(options)), m_files(std::move(files)), m_listeners(std::move(listeners)),
      m_thinAt(mostWaiting)
{
    if (m_options.folder.isEmpty())
        m_options.folder = recordersFolder();
    m_thread = std::thread([this] { run(); });
}

FlightRecorder::~FlightRecorder()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_isEnding = true;
    }
    m_wake.notify_all();
    m_thread.join();
}

void FlightRecorder::take(Change::What change)
{
    if (!Change::isRecorded(change))
        return;
    if (const auto *state = std::get_if<LinkState>(&change)) {
        const auto at = m_connections.find(state->name);
        if (at != m_connections.end() && at->second == *state)
            return;
        if (state->isGone)
            m_connections.erase(state->name);
        else
            m_connections.insert_or_assign(state->name, *state);
    }
    const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(datedNow(m_loop));
    const std::scoped_lock lock(m_mutex);
    if (m_isOver)
        return;
    m_waiting.push_back({now, std::move(change)});
    if (m_waiting.size() >= m_thinAt)
        thin();
}

// What came in between is not recorded then: the disk is too slow for all of it.
void FlightRecorder::thin()
{
    std::set<inspect::LockName> newer;
    std::set<ConnectionName> newerSessions, newerConfirmed;
    std::vector<Change> kept;
    for (auto change = m_waiting.rbegin(); change != m_waiting.rend(); ++change) {
        const auto *lock = std::get_if<inspect::SnapshotChange>(&change->what);
        const auto *seen = std::get_if<SessionsSeen>(&change->what);
        const auto *confirmation = std::get_if<Confirmation>(&change->what);
        if ((lock && !newer.insert(lock->lock.lock).second)
            || (seen && !newerSessions.insert(seen->connection).second)
            || (confirmation && !newerConfirmed.insert(confirmation->connection).second))
            continue;
        kept.push_back(std::move(*change));
    }
    std::ranges::reverse(kept);
    m_waiting = std::move(kept);
    m_thinAt = std::max(mostWaiting, 2 * m_waiting.size());
}

void FlightRecorder::notifyFailed(const Error &error)
{
    m_loop.post([failed = m_listeners.failed, error] {
        if (failed)
            failed(error);
    });
}

// For good.
void FlightRecorder::fail(const Error &error)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_isOver = true;
        m_waiting = {};
    }
    notifyFailed(error);
}

// --- the thread --------------------------------------------------------------------------------

void FlightRecorder::run()
{
    if (const auto made = makePrivateFolder(m_options.folder); !made)
        return fail(made.error());
    QTemporaryDir own(m_options.folder + u"/run-XXXXXX"_s); // taken away with all that is in it
    if (!own.isValid())
        return fail(
            {ErrorCode::Server, u"the recorder cannot write in %1: %2"_s.arg(m_options.folder, own.errorString())});
    QLockFile owner(own.filePath(ownerName));
    if (!takeOwner(owner))
        return fail({ErrorCode::Server, u"the recorder cannot write in %1"_s.arg(own.path())});
    auto writer = RotatingWriter::create(own.path(), m_options.bounds, datedNow());
    if (!writer)
        return fail(writer.error());
    m_files->set((*writer)->files());
    lookForLeft(m_options.folder, own.path());
    record(**writer);
    m_files->set({});
}

// A disk often is full amid the very incident: what was recorded so far stays to be looked at.
void FlightRecorder::record(RotatingWriter &writer)
{
    bool isOut = false;
    for (;;) {
        std::vector<Change> taken;
        Moment now{};
        {
            std::unique_lock lock(m_mutex);
            const auto rest = isOut ? m_options.triesAgainEvery : std::chrono::milliseconds(writtenEvery);
            m_wake.wait_for(lock, rest, [this] { return m_isEnding; });
            if (m_isEnding)
                return; // its files go
            taken = std::exchange(m_waiting, {});
            now = datedNow(); // whatever comes from here on is later
        }
        auto written = isOut ? writer.resume(now) : Result<void>();
        const bool isResumed = isOut && written;
        if (isResumed) {
            for (auto &change : taken)
                change.at = now; // when it came nothing was recorded
        }
        if (written)
            written = write(writer, std::move(taken), now);
        else
            putBack(std::move(taken));
        if (!written && !std::exchange(isOut, true))
            notifyFailed(written.error());
        if (!written)
            continue;
        isOut = false;
        m_files->set(writer.files());
        if (isResumed)
            m_loop.post([resumed = m_listeners.resumed] {
                if (resumed)
                    resumed();
            });
    }
}

// What the writer's picture does not have yet stays to be told.
Result<void> FlightRecorder::write(RotatingWriter &writer, std::vector<Change> taken, Moment now)
{
    for (auto change = taken.begin(); change != taken.end(); ++change) {
        if (auto written = writer.add(std::move(*change)); !written) {
            taken.erase(taken.begin(), std::next(change));
            putBack(std::move(taken));
            return written;
        }
    }
    return writer.flush(now);
}

void FlightRecorder::putBack(std::vector<Change> changes)
{
    const std::scoped_lock lock(m_mutex);
    m_waiting.insert(m_waiting.begin(), std::make_move_iterator(changes.begin()),
                     std::make_move_iterator(changes.end()));
}

// Of runs that do not live any more.
void FlightRecorder::lookForLeft(const QString &folder, const QString &own)
{
    for (const auto &run : QDir(folder).entryInfoList({u"run-*"_s}, QDir::Dirs | QDir::NoDotAndDotDot)) {
        if (run.absoluteFilePath() == QFileInfo(own).absoluteFilePath())
            continue;
        QLockFile owner(run.absoluteFilePath() + u'/' + ownerName);
        if (!takeOwner(owner))
            continue;
        QDir left(run.absoluteFilePath());
        LeftRecording recording;
        for (const auto &file : left.entryInfoList({recordingNames}, QDir::Files, QDir::Name)) {
            recording.files << file.absoluteFilePath();
            const auto written = std::chrono::milliseconds(file.lastModified().toMSecsSinceEpoch());
            recording.last = std::max(recording.last, std::chrono::system_clock::time_point(written));
        }
        owner.unlock();
        if (recording.files.isEmpty()) // perhaps it only begins
            recording.last = std::chrono::system_clock::time_point(
                std::chrono::milliseconds(run.lastModified().toMSecsSinceEpoch()));
        if (std::chrono::system_clock::now() - recording.last > leftFor)
            left.removeRecursively();
        else if (!recording.files.isEmpty())
            m_loop.post([found = m_listeners.foundLeft, recording] {
                if (found)
                    found(recording);
            });
    }
}

} // namespace lockscope::history
