// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runner.h"

#include "core/base/regularfile.h"

#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QMetaObject>

#include <algorithm>

namespace lockscope::ui {

using contention::Progress;
using contention::Scenario;

namespace {

constexpr qint64 betweenProgress = 50; // ms: the window has other things to do
constexpr qint64 largestFile = qint64(1) << 30;
constexpr Moment longestRun = std::chrono::years(100);

Error cancelledError()
{
    return Error{ErrorCode::Cancelled, u"cancelled"_s};
}

} // namespace

Result<PlayedRunPtr> loadRun(const QString &file)
{
    const auto bad = [&](const QString &why) {
        return Error{ErrorCode::BadInput, u"%1: %2"_s.arg(QFileInfo(file).fileName(), why)};
    };
    const auto opened = openRegularFile(file);
    if (!opened)
        return bad(opened.error().message);
    auto &from = **opened;
    if (from.size() > largestFile)
        return bad(u"larger than 1 GiB: no recording of ours"_s);
    auto recording = contention::Recording::load(from.readAll());
    if (!recording)
        return bad(recording.error().message);
    // Whatever a file claims, pictures of its time can be drawn.
    const auto isTime = [](Moment at) { return at >= Moment{} && at <= longestRun; };
    const auto &violations = recording->violations;
    if (!isTime(recording->elapsed) || (!recording->events.empty() && !isTime(recording->events.back().at))
        || !std::all_of(violations.begin(), violations.end(), [&](const auto &one) { return isTime(one.at); }))
        return bad(u"it claims to have lasted longer than a hundred years"_s);
    return PlayedRunPtr(std::make_shared<PlayedRun>(std::move(*recording)));
}

Runner::Runner(Simulate simulate, QObject *parent) : QObject(parent), m_simulate(std::move(simulate))
{
    m_pool.setMaxThreadCount(1);
    m_chartPool.setMaxThreadCount(1);
    m_chartPool.setThreadPriority(QThread::LowPriority);
}

Runner::~Runner()
{
    if (m_playing)
        *m_playing = false;
    cancelScaling();
    m_pool.waitForDone();
    m_chartPool.waitForDone();
}

void Runner::tell(const Wanted &wanted, double share, Moment at)
{
    QMetaObject::invokeMethod(
        this,
        [this, wanted, share, at] {
            if (wanted == m_playing)
                emit progressed(share, at);
        },
        Qt::QueuedConnection);
}

void Runner::begin(std::function<Runs(const Wanted &)> work)
{
    if (m_playing)
        *m_playing = false;
    m_playing = std::make_shared<std::atomic<bool>>(true);
    m_pool.start([this, wanted = m_playing, work = std::move(work)] {
        auto runs = *wanted ? work(wanted) : Runs(cancelledError());
        QMetaObject::invokeMethod(
            this,
            [this, wanted, runs = std::move(runs)] {
                if (wanted != m_playing)
                    return; // outdated
                m_playing.reset();
                if (runs)
                    emit finished(*runs);
                else
                    emit failed(runs.error());
            },
            Qt::QueuedConnection);
    });
}

void Runner::play(const std::vector<Scenario> &scenarios)
{
    begin([this, scenarios](const Wanted &wanted) -> Runs {
        std::vector<PlayedRunPtr> runs;
        QElapsedTimer sinceTold;
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            const auto onProgress = [&](const Progress &progress) {
                if (sinceTold.isValid() && !sinceTold.hasExpired(betweenProgress))
                    return wanted->load();
                sinceTold.start();
                const double done = static_cast<double>(progress.grants)
                                    / static_cast<double>(std::max<qint64>(1, progress.grantsExpected));
                const double share = progress.grantsExpected > 0 ? (static_cast<double>(i) + std::min(done, 1.0))
                                                                       / static_cast<double>(scenarios.size())
                                                                 : -1;
                tell(wanted, share, progress.at);
                return wanted->load();
            };
            TRY(auto &recording, m_simulate(scenarios[i], onProgress));
            runs.push_back(std::make_shared<PlayedRun>(std::move(recording)));
        }
        return runs;
    });
}

void Runner::load(const QStringList &files)
{
    begin([files](const Wanted &wanted) -> Runs {
        std::vector<PlayedRunPtr> runs;
        for (const auto &file : files) {
            TRY(auto &run, *wanted ? loadRun(file) : Result<PlayedRunPtr>(cancelledError()));
            runs.push_back(run);
        }
        return runs;
    });
}

void Runner::show(const Recordings &recordings)
{
    begin([recordings](const Wanted &wanted) -> Runs {
        std::vector<PlayedRunPtr> runs;
        for (auto &recording : *recordings) {
            if (!*wanted)
                return cancelledError();
            runs.push_back(std::make_shared<PlayedRun>(std::move(recording)));
        }
        return runs;
    });
}

void Runner::cancel()
{
    if (!m_playing)
        return;
    *m_playing = false;
    m_playing.reset();
    emit cancelled();
}

void Runner::cancelScaling()
{
    if (m_scaling)
        *m_scaling = false;
    m_scaling.reset();
}

void Runner::scale(const std::vector<Scenario> &scenarios, const std::vector<int> &contenders)
{
    cancelScaling();
    m_scaling = std::make_shared<std::atomic<bool>>(true);
    m_chartPool.start([this, wanted = m_scaling, scenarios, contenders] {
        const auto goesOn = [&](const Progress &) { return wanted->load(); };
        for (const int count : contenders) {
            for (std::size_t i = 0; i < scenarios.size() && *wanted; ++i) {
                Scenario scenario = scenarios[i];
                scenario.contenders = count;
                scenario.keepsEvents = false;
                const auto recording = m_simulate(scenario, goesOn);
                if (!recording)
                    continue; // a gap in the line; the run itself says why
                const ScalingPoint point{static_cast<int>(i), count, recording->counters.requests,
                                         recording->elapsed};
                QMetaObject::invokeMethod(
                    this,
                    [this, wanted, point] {
                        if (wanted == m_scaling)
                            emit scaled(point);
                    },
                    Qt::QueuedConnection);
            }
        }
        QMetaObject::invokeMethod(
            this,
            [this, wanted] {
                if (wanted != m_scaling)
                    return;
                m_scaling.reset();
                emit scalingEnded();
            },
            Qt::QueuedConnection);
    });
}

void Runner::dispose(std::vector<PlayedRunPtr> runs)
{
    m_pool.start([runs = std::move(runs)]() mutable { runs.clear(); });
}

void Runner::inBackground(std::function<QString()> work, QObject *context, std::function<void(const QString &)> done)
{
    m_pool.start([work = std::move(work), done = std::move(done), context = QPointer<QObject>(context), this] {
        const QString failure = work();
        QMetaObject::invokeMethod(
            this,
            [done, failure, context] {
                if (context)
                    done(failure);
            },
            Qt::QueuedConnection);
    });
}

ServerRunner::~ServerRunner()
{
    if (m_id && m_backend)
        m_backend->execute(CancelRun{*m_id});
}

void ServerRunner::setBackend(Backend *backend)
{
    m_backend = backend;
    connect(backend, &Backend::runProgressed, this, [this](quint64 id, const RealRunProgress &progress) {
        if (id == m_id && m_wanted && !m_isCancelled && !m_hasNext)
            emit progressed(m_recordings.size(), m_runs[m_recordings.size()], progress);
    });
}

void ServerRunner::play(std::vector<RealRunOptions> runs)
{
    m_runs = std::move(runs);
    m_recordings.clear();
    m_wanted = true;
    m_isCancelled = false;
    if (!m_id) {
        next();
        return;
    }
    m_hasNext = true;
    m_backend->execute(CancelRun{*m_id});
}

void ServerRunner::next()
{
    const PlayOnServers query{m_runs[m_recordings.size()]};
    m_id = query.run;
    m_backend->ask(query, this,
                   [this, id = query.run](Result<contention::Recording> result) { take(id, std::move(result)); });
}

void ServerRunner::take(quint64 id, Result<contention::Recording> result)
{
    if (id != m_id)
        return;
    m_id.reset();
    if (std::exchange(m_hasNext, false)) {
        next();
        return;
    }
    if (!m_wanted)
        return;
    if (m_isCancelled) {
        end();
        emit cancelled();
        return;
    }
    if (!result) {
        end();
        emit failed(result.error());
        return;
    }
    m_recordings.push_back(std::move(*result));
    if (m_recordings.size() < m_runs.size()) {
        next();
        return;
    }
    const auto recordings = std::make_shared<std::vector<contention::Recording>>(std::exchange(m_recordings, {}));
    end();
    emit played(recordings);
}

void ServerRunner::end()
{
    m_wanted = false;
    m_recordings.clear();
    m_runs.clear();
}

void ServerRunner::cancel()
{
    if (!m_wanted)
        return;
    m_isCancelled = true;
    if (m_id)
        m_backend->execute(CancelRun{*m_id});
    m_hasNext = false;
}

void ServerRunner::abandon()
{
    cancel();
    end();
}

} // namespace lockscope::ui

#include "moc_runner.cpp"
