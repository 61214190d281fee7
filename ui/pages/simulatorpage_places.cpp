// SPDX-License-Identifier: Apache-2.0
// Where the simulator plays: the simulated world, the sandbox, the servers of a connection.
#include "ui/pages/simulatorpage.h"

#include "core/base/text.h"
#include "ui/simulator/places.h"
#include "ui/simulator/words.h"
#include "ui/theme/text.h"

#include <QLabel>
#include <QMenu>
#include <QProgressBar>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// Of a page that no window gave a book.
const ConnectionBook &noConnections()
{
    static const ConnectionBook none;
    return none;
}

} // namespace

void SimulatorPage::setBackend(Backend *backend)
{
    m_servers.setBackend(backend);
    connect(&m_servers, &ServerRunner::progressed, this, &SimulatorPage::showServerProgress);
    connect(&m_servers, &ServerRunner::played, &m_runner, &Runner::show);
    connect(&m_servers, &ServerRunner::failed, this, &SimulatorPage::takeFailure);
    connect(&m_servers, &ServerRunner::cancelled, this, &SimulatorPage::endBusy);
}

void SimulatorPage::useConnections(const ConnectionBook &book)
{
    m_book = &book;
}

const ConnectionBook &SimulatorPage::book() const
{
    return m_book ? *m_book : noConnections();
}

void SimulatorPage::beginOnServers()
{
    if (const auto verdict = m_pending.check(); !verdict) {
        takeFailure(verdict.error());
        return;
    }
    if (wantsSandbox(book(), m_pending)) {
        m_awaitsSandbox = true;
        m_progressText->setText(tr("Starting the sandbox: private servers on this machine"));
        emit sandboxRequested();
        return;
    }
    auto runs = realRuns(book(), m_pending);
    if (!runs) {
        takeFailure(runs.error());
        return;
    }
    m_progressText->setText(tr("Connecting to %1").arg(placeName(m_pending.place)));
    m_servers.play(std::move(*runs));
}

void SimulatorPage::sandboxChanged(const QString &state, bool isComplete)
{
    if (!m_awaitsSandbox || !isComplete)
        return;
    m_awaitsSandbox = false;
    if (wantsSandbox(book(), m_pending)) {
        const auto runs = realRuns(book(), m_pending);
        takeFailure({ErrorCode::NotConnected, tr("Nothing was played: %1 (%2)").arg(runs.error().message, label(state.toUtf8(), 300))});
        return;
    }
    beginOnServers();
}

void SimulatorPage::showServerProgress(std::size_t run, const RealRunOptions &options, const RealRunProgress &progress)
{
    using Stage = RealRunProgress::Stage;
    const QString where = label(options.connection.bytes(), 40);
    const QString recipe = label(options.scenario.recipe, 40);
    const auto runs = static_cast<double>(m_pending.recipes.size());
    const double done = progress.stage == Stage::Tidying
        ? 1
        : static_cast<double>(progress.grants) / static_cast<double>(std::max<qint64>(1, progress.grantsExpected));
    m_bar->setRange(0, 1000);
    m_bar->setValue(static_cast<int>(1000 * (static_cast<double>(run) + std::min(done, 1.0)) / runs));
    switch (progress.stage) {
    case Stage::Connecting:
        m_progressText->setText(tr("Opening %1 sessions on %2 for %3").arg(countText(progress.sessions), where, recipe));
        break;
    case Stage::Playing:
        m_progressText->setText(tr("Playing %1 on %2: %3 of %4 grants, %5")
                                    .arg(recipe, where, countText(progress.grants), countText(progress.grantsExpected),
                                         momentText(progress.at)));
        break;
    case Stage::Tidying: m_progressText->setText(tr("Taking away from %1 what the run made").arg(where)); break;
    }
    emit countChanged(u"%1 %"_s.arg(m_bar->value() / 10));
}

void SimulatorPage::cancelRun()
{
    if (std::exchange(m_awaitsSandbox, false)) {
        endBusy();
    } else if (m_servers.isBusy()) {
        m_progressText->setText(tr("Ending the run: what it made is taken away"));
        m_servers.cancel();
    } else {
        m_runner.cancel();
    }
}

bool SimulatorPage::isFromServers() const
{
    const auto &runs = m_playback.runs();
    return std::any_of(runs.begin(), runs.end(), [](const auto &run) { return run->recording().world != "sim"; });
}

void SimulatorPage::playAt(const RunPlace &place)
{
    Comparison there = m_shown;
    const int sessions = there.place.mostSessions;
    there.place = place;
    there.place.mostSessions = sessions;
    play(there);
}

void SimulatorPage::fillPlaceMenu(QMenu &menu)
{
    menu.clear();
    menu.setToolTipsVisible(true);
    menu.addSection(tr("Play the same on"));
    for (const auto &choice : placeChoices(book())) {
        QString obstacle = choice.obstacle;
        Comparison there = m_shown;
        there.place.kind = choice.place.kind;
        there.place.connection = choice.place.connection;
        if (obstacle.isEmpty() && there.place.isReal() && !wantsSandbox(book(), there)) {
            if (const auto runs = realRuns(book(), there); !runs)
                obstacle = runs.error().message;
        } else if (const auto verdict = there.check(); obstacle.isEmpty() && !verdict) {
            obstacle = verdict.error().message;
        }
        auto *action = menu.addAction(PlaceChoice{choice.place, choice.title, obstacle}.text().replace(u'&', u"&&"_s));
        action->setEnabled(obstacle.isEmpty());
        action->setData(choice.title);
        action->setCheckable(true);
        action->setChecked(there.place == m_shown.place);
        connect(action, &QAction::triggered, this, [this, place = choice.place] { playAt(place); });
    }
}

// Faults, and so forks, are for the simulated world: there the same scenario can be played.
void SimulatorPage::fillForkMenuOfServers(QMenu &menu)
{
    auto *why = menu.addAction(tr("Real servers play no faults: fork a run of the simulated world"));
    why->setObjectName(u"noFaults"_s);
    why->setEnabled(false);
    auto *instead = menu.addAction(tr("Play the same in the simulated world"));
    instead->setObjectName(u"playSimulated"_s);
    connect(instead, &QAction::triggered, this, [this] { playAt({}); });
}

} // namespace lockscope::ui
