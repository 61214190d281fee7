// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runner.h"

#include "core/base/fieldreader.h"
#include "ui/parts/parts.h"
#include "ui/simulator/simulatortext.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <QMetaObject>
#include <QProgressBar>

namespace lockscope::ui {

using contention::Progress;
using contention::Scenario;

namespace {

constexpr qint64 betweenProgress = 50; // ms: the window has other things to do
constexpr qint64 largestFile = qint64(1) << 30;
constexpr Moment longestRun = std::chrono::years(100);

// Later, on the thread of `context`.
template <typename Do>
void post(QObject *context, Do todo)
{
    QMetaObject::invokeMethod(context, std::move(todo), Qt::QueuedConnection);
}

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
    post(this, [this, wanted, share, at] {
        if (wanted == m_playing)
            emit progressed(share, at);
    });
}

void Runner::begin(std::function<Runs(const Wanted &)> work)
{
    if (m_playing)
        *m_playing = false;
    m_playing = std::make_shared<std::atomic<bool>>(true);
    m_pool.start([this, wanted = m_playing, work = std::move(work)] {
        auto runs = *wanted ? work(wanted) : Runs(cancelledError());
        post(this, [this, wanted, runs = std::move(runs)] {
            if (wanted != m_playing)
                return; // outdated
            m_playing.reset();
            if (runs)
                emit finished(*runs);
            else
                emit failed(runs.error());
        });
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
                post(this, [this, wanted, point] {
                    if (wanted == m_scaling)
                        emit scaled(point);
                });
            }
        }
        post(this, [this, wanted] {
            if (wanted != m_scaling)
                return;
            m_scaling.reset();
            emit scalingEnded();
        });
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
        post(this, [done, failure, context] {
            if (context)
                done(failure);
        });
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

Player::Player(Runner &runner, QWidget *parent)
    : QFrame(parent), m_runner(runner), m_text(makeLabel({}, {}, this)), m_bar(new QProgressBar(this)),
      m_cancel(named(makeButton({}, this, &Player::cancel), u"cancelRun"_s))
{
    setProperty("look", u"banner-info"_s);
    m_text->setMinimumWidth(240);
    m_bar->setTextVisible(false);
    makeRow(this, {.margins = {10, 5, 10, 5}}, {m_text, {m_bar, 1}, m_cancel});
    sayInEachLanguage(this, [this] { retranslate(); });
    hide();

    connect(&m_runner, &Runner::finished, this, &Player::take);
    connect(&m_runner, &Runner::failed, this, &Player::fail);
    connect(&m_runner, &Runner::cancelled, this, &Player::end);
    connect(&m_runner, &Runner::progressed, this, [this](double share, Moment at) {
        showProgress(share, tr("Playing: %1 of simulated time").arg(momentText(at)));
    });
    connect(&m_servers, &ServerRunner::played, &m_runner, &Runner::show);
    connect(&m_servers, &ServerRunner::failed, this, &Player::fail);
    connect(&m_servers, &ServerRunner::cancelled, this, &Player::end);
    connect(&m_servers, &ServerRunner::progressed, this,
            [this](std::size_t run, const RealRunOptions &options, const RealRunProgress &progress) {
                const bool isDone = progress.stage == RealRunProgress::Stage::Tidying;
                const double done = isDone ? 1
                                           : static_cast<double>(progress.grants)
                                                 / static_cast<double>(std::max<qint64>(1, progress.grantsExpected));
                showProgress((static_cast<double>(run) + std::min(done, 1.0))
                                 / static_cast<double>(m_pending.recipes.size()),
                             serverText(options, progress));
            });
}

void Player::retranslate()
{
    m_bar->setAccessibleName(tr("Progress"));
    m_cancel->setText(tr("Cancel"));
}

const ConnectionBook &Player::book() const
{
    static const ConnectionBook none;
    return m_book ? *m_book : none;
}

void Player::begin(const Comparison &comparison, const QString &text)
{
    m_awaitsSandbox = false;
    m_servers.abandon();
    if (comparison.place.isReal())
        m_runner.cancel();
    m_pending = comparison;
    m_bar->setRange(0, 0);
    m_text->setText(text);
    show();
}

void Player::play(const Comparison &comparison)
{
    begin(comparison, tr("Playing"));
    if (comparison.place.isReal())
        beginOnServers();
    else
        m_runner.play(comparison.scenarios());
}

void Player::load(const QStringList &files)
{
    begin({}, tr("Reading"));
    m_runner.load(files);
}

void Player::beginOnServers()
{
    if (const auto verdict = m_pending.check(); !verdict) {
        fail(verdict.error());
        return;
    }
    if (wantsSandbox(book(), m_pending)) {
        m_awaitsSandbox = true;
        m_text->setText(tr("Starting the sandbox: private servers on this machine"));
        emit sandboxRequested();
        return;
    }
    auto runs = realRuns(book(), m_pending);
    if (!runs) {
        fail(runs.error());
        return;
    }
    m_text->setText(tr("Connecting to %1").arg(placeName(m_pending.place)));
    m_servers.play(std::move(*runs));
}

void Player::sandboxChanged(const QString &state, bool isComplete)
{
    if (!m_awaitsSandbox || !isComplete)
        return;
    m_awaitsSandbox = false;
    if (wantsSandbox(book(), m_pending)) {
        const auto runs = realRuns(book(), m_pending);
        fail({ErrorCode::NotConnected,
              tr("Nothing was played: %1 (%2)").arg(runs.error().message, label(state.toUtf8(), 300))});
        return;
    }
    beginOnServers();
}

QString Player::serverText(const RealRunOptions &options, const RealRunProgress &progress) const
{
    using Stage = RealRunProgress::Stage;
    const QString where = label(options.connection.bytes(), 40);
    const QString recipe = label(options.scenario.recipe, 40);
    if (progress.stage == Stage::Connecting)
        return tr("Opening %1 sessions on %2 for %3").arg(formatCount(progress.sessions), where, recipe);
    if (progress.stage == Stage::Tidying)
        return tr("Deleting from %1 what the run created").arg(where);
    return tr("Playing %1 on %2: %3 of %4 grants, %5")
        .arg(recipe, where, formatCount(progress.grants), formatCount(progress.grantsExpected),
             momentText(progress.at));
}

// A negative share is not known.
void Player::showProgress(double share, const QString &text)
{
    m_bar->setRange(0, share < 0 ? 0 : 1000);
    m_bar->setValue(static_cast<int>(share * 1000));
    m_text->setText(text);
    emit shareChanged(share < 0 ? tr("plays") : u"%1 %"_s.arg(m_bar->value() / 10));
}

void Player::cancel()
{
    if (std::exchange(m_awaitsSandbox, false)) {
        end();
    } else if (m_servers.isBusy()) {
        m_text->setText(tr("Ending the run and deleting what it created"));
        m_servers.cancel();
    } else {
        m_runner.cancel();
    }
}

void Player::take(const std::vector<PlayedRunPtr> &runs)
{
    auto comparison = std::exchange(m_pending, {});
    if (comparison.recipes.empty()) { // read from files
        comparison.scenario = runs.front()->recording().scenario;
        for (const auto &run : runs)
            comparison.recipes.push_back(run->recording().scenario.recipe);
    }
    emit played(comparison, runs);
    end();
}

void Player::fail(const Error &error)
{
    emit failed(error.message);
    end();
}

void Player::end()
{
    m_pending = {};
    hide();
    emit shareChanged({});
    emit ended();
}

} // namespace lockscope::ui

#include "moc_runner.cpp"
