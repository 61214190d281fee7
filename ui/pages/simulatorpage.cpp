// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/simulatorpage.h"

#include "ui/dialogs/promisesdialog.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/simulator/faultmenu.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/mustholdpanel.h"
#include "ui/simulator/narrator.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/scalingchart.h"
#include "ui/simulator/scenariodialog.h"
#include "ui/simulator/simulatorheading.h"
#include "ui/simulator/transportbar.h"
#include "ui/simulator/words.h"

#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedWidget>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using simulate::PlannedFault;

namespace {

constexpr int narrowPage = 900;
constexpr int narrowRun = 380;

} // namespace

SimulatorPage::SimulatorPage(QWidget *parent, Simulate simulate) : Page(parent), m_runner(std::move(simulate))
{
    m_placeMenu = new QMenu(this);
    m_placeMenu->setObjectName(u"placeMenu"_s);
    connect(m_placeMenu, &QMenu::aboutToShow, this, [this] { fillPlaceMenu(*m_placeMenu); });
    m_banner = new Banner(this);
    m_banner->hide();
    connect(m_banner, &Banner::actionRequested, m_banner, &QWidget::hide);
    m_empty = new EmptyNotice(this);
    m_empty->say(tr("Nothing played yet"),
                 tr("A scenario plays the real recipes in a simulated world, on virtual time, or on real servers, and shows who "
                    "waits, who is woken and what it costs."),
                 tr("Scenario…"));
    connect(m_empty, &EmptyNotice::actionRequested, this, &SimulatorPage::openScenario);
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(buildPictures());

    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 8);
    column->setSpacing(10);
    column->addWidget(buildHeader());
    column->addWidget(buildProgress());
    column->addWidget(m_banner);
    column->addWidget(m_stack, 1);
    buildMenus();
    addKeys();
    connectRunner();
    connect(&m_playback, &Playback::moved, this, &SimulatorPage::showMoment);
    showHeading();
}

SimulatorPage::~SimulatorPage()
{
    stopListening(this);
}

void SimulatorPage::connectRunner()
{
    connect(&m_runner, &Runner::finished, this, &SimulatorPage::take);
    connect(&m_runner, &Runner::failed, this, &SimulatorPage::takeFailure);
    connect(&m_runner, &Runner::cancelled, this, &SimulatorPage::endBusy);
    connect(&m_runner, &Runner::scalingEnded, this, &Page::settled);
    connect(&m_runner, &Runner::scaled, m_chart, &ScalingChart::add);
    connect(&m_runner, &Runner::progressed, this, [this](double share, Moment at) {
        m_bar->setRange(0, share < 0 ? 0 : 1000);
        m_bar->setValue(static_cast<int>(share * 1000));
        m_progressText->setText(tr("Playing: %1 of simulated time").arg(momentText(at)));
        emit countChanged(share < 0 ? tr("plays") : u"%1 %"_s.arg(static_cast<int>(share * 100)));
    });
}

bool SimulatorPage::isSettled() const
{
    return m_wasShown && !m_runner.isBusy() && !m_runner.isScaling() && !m_servers.isBusy() && !m_awaitsSandbox;
}

void SimulatorPage::play(const Comparison &comparison)
{
    begin(comparison, std::nullopt);
}

void SimulatorPage::begin(const Comparison &comparison, std::optional<Moment> cursor)
{
    m_banner->hide();
    if (const auto verdict = comparison.check(); !verdict) {
        say(false, verdict.error().message);
        return;
    }
    m_playback.pause();
    m_awaitsSandbox = false;
    m_servers.abandon();
    if (comparison.place.isReal())
        m_runner.cancel();
    m_pending = comparison;
    m_cursorAfter = cursor;
    m_bar->setRange(0, 0);
    m_progressText->setText(tr("Playing"));
    m_progress->show();
    if (comparison.place.isReal())
        beginOnServers();
    else
        m_runner.play(comparison.scenarios());
}

void SimulatorPage::openRecordings(const QStringList &files)
{
    m_banner->hide();
    m_playback.pause();
    m_awaitsSandbox = false;
    m_servers.abandon();
    m_pending = {};
    m_cursorAfter.reset();
    m_bar->setRange(0, 0);
    m_progressText->setText(tr("Reading"));
    m_progress->show();
    m_runner.load(files);
}

void SimulatorPage::endBusy()
{
    m_pending = {};
    m_progress->hide();
    emit countChanged({});
    emit settled();
}

void SimulatorPage::takeFailure(const Error &error)
{
    say(false, error.message);
    endBusy();
}

void SimulatorPage::take(const std::vector<PlayedRunPtr> &runs)
{
    m_shown = std::move(m_pending);
    m_pending = {};
    if (m_shown.recipes.empty()) { // read from files
        m_shown.scenario = runs.front()->recording().scenario;
        for (const auto &run : runs)
            m_shown.recipes.push_back(run->recording().scenario.recipe);
    }
    const bool isFirst = m_playback.runs().empty();
    showRuns(runs);
    if (isFirst && isVisible())
        focusContent();
    if (m_cursorAfter)
        m_playback.seek(*m_cursorAfter);
    beginChart();
    endBusy();
}

void SimulatorPage::showRuns(const std::vector<PlayedRunPtr> &runs)
{
    auto before = m_playback.runs();
    while (m_panels.size() > runs.size()) {
        m_panels.back()->deleteLater();
        m_panels.back()->hide();
        m_panels.pop_back();
    }
    while (m_panels.size() < runs.size())
        m_panels.push_back(makePanel());
    Moment end{};
    for (const auto &run : runs)
        end = std::max(end, run->end());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        m_panels[i]->setRun(runs[i], end);
        m_panels[i]->lanes().setDense(m_isDense);
        m_panels[i]->lanes().setChosenLane(m_lane);
    }
    place();
    m_mustHold->setRuns(runs);
    m_stack->setCurrentIndex(1);
    m_fork->setEnabled(true);
    m_export->setEnabled(true);
    m_playback.setRuns(runs);
    m_transport->refresh();
    m_runner.dispose(std::move(before));
    showHeading();
    // Once the lanes have their size. A fork stays at what was looked at.
    if (!m_cursorAfter)
        QMetaObject::invokeMethod(this, &SimulatorPage::fitTime, Qt::QueuedConnection);
}

void SimulatorPage::fitTime()
{
    double zoom = std::numeric_limits<double>::max();
    for (auto *panel : m_panels)
        zoom = std::min(zoom, panel->lanes().fittedZoom());
    for (auto *panel : m_panels)
        panel->lanes().setZoom(zoom, Moment{});
}

void SimulatorPage::setOverview(bool isOn)
{
    m_isDense = isOn;
    for (auto *panel : m_panels)
        panel->lanes().setDense(isOn);
    fitTime();
    showMoment();
}

RunPanel *SimulatorPage::makePanel()
{
    auto *panel = new RunPanel(m_scroll->widget());
    auto &lanes = panel->lanes();
    connect(&lanes, &LanesView::momentChosen, this, [this](Moment at) {
        m_playback.pause();
        m_playback.seek(at);
    });
    connect(&lanes, &LanesView::laneChosen, this, &SimulatorPage::chooseLane);
    connect(&lanes, &LanesView::menuRequested, this,
            [this, panel](int lane, const QPoint &at) { openLaneMenu(*panel, lane, at); });
    connect(&lanes, &LanesView::zoomed, this, [this](double zoom, Moment around) {
        for (auto *one : m_panels)
            one->lanes().setZoom(zoom, around);
    });
    // The same contenders and the same time everywhere.
    connect(&lanes, &LanesView::scrolledTo, this, [this](int vertical, int horizontal) {
        for (auto *one : m_panels) {
            one->lanes().verticalScrollBar()->setValue(vertical);
            one->lanes().horizontalScrollBar()->setValue(horizontal);
        }
    });
    return panel;
}

void SimulatorPage::openLaneMenu(RunPanel &panel, int lane, const QPoint &at)
{
    const auto &runs = m_playback.runs();
    const auto number = static_cast<std::size_t>(std::ranges::find(m_panels, &panel) - m_panels.begin());
    if (number >= runs.size())
        return;
    auto *menu = new QMenu(this);
    menu->setObjectName(u"laneMenu"_s);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    constexpr int reach = 4; // pixels beside a mark
    const auto frame = panel.lanes().frame();
    const int x = panel.lanes().viewport()->mapFromGlobal(at).x();
    const auto message = messageBetween(*runs[number], lane, frame.momentAt(x - reach), frame.momentAt(x + reach));
    if (message && !isFromServers())
        addMessageFaults(*menu, m_shown, *runs[number], *message, [this](const PlannedFault &fault) { fork(fault); });
    fillForkMenu(*menu, lane);
    menu->popup(at);
}

void SimulatorPage::chooseLane(int lane)
{
    m_lane = lane;
    for (auto *panel : m_panels) {
        if (panel->lanes().chosenLane() != lane)
            panel->lanes().setChosenLane(lane);
    }
}

void SimulatorPage::place()
{
    const bool isNarrow = width() < std::max(narrowPage, narrowRun * static_cast<int>(m_panels.size()));
    for (std::size_t i = 0; i < m_panels.size(); ++i) {
        const int at = static_cast<int>(i);
        m_runGrid->addWidget(m_panels[i], isNarrow ? at : 0, isNarrow ? 0 : at);
        m_panels[i]->setMinimumHeight(isNarrow ? 330 : 260);
        m_panels[i]->show();
    }
    // All alike, so that the lanes stand beside each other.
    const auto margins = layout()->contentsMargins();
    const int beside = isNarrow ? 1 : std::max(1, static_cast<int>(m_panels.size()));
    const int each = (width() - margins.left() - margins.right() - (beside - 1) * m_runGrid->horizontalSpacing()) / beside;
    const bool isTight = std::ranges::any_of(m_panels, [&](const RunPanel *panel) { return panel->headWidth() > each; });
    for (auto *panel : m_panels)
        panel->setBadgeBelow(isTight);
    for (int column = 0; column < 3; ++column)
        m_runGrid->setColumnStretch(column, (isNarrow ? column == 0 : column < static_cast<int>(m_panels.size())) ? 1 : 0);
    m_lowerGrid->addWidget(m_chart, 0, 0);
    m_lowerGrid->addWidget(m_mustHold, isNarrow ? 1 : 0, isNarrow ? 0 : 1);
    m_lowerGrid->setColumnStretch(0, 5);
    m_lowerGrid->setColumnStretch(1, isNarrow ? 0 : 4);
    m_headerLayout->setDirection(isNarrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

// The same recipes with small numbers of contenders, none of which anything befalls.
void SimulatorPage::beginChart()
{
    simulate::Scenario base = m_shown.scenario;
    base.recipe.clear();
    base.faults.clear();
    base.planned.clear();
    base.contenders = 0;
    if (m_charted == m_shown.recipes && m_chartScenario == base) {
        m_chart->setIsElsewhere(isFromServers());
        return;
    }
    m_charted = m_shown.recipes;
    m_chartScenario = base;
    m_chart->setIsElsewhere(isFromServers());
    m_chart->begin(m_charted);
    Comparison plain{base, m_charted};
    auto scenarios = plain.scenarios();
    m_runner.scale(scenarios, chartContenders());
}

void SimulatorPage::fork(const PlannedFault &fault)
{
    Comparison forked = m_shown;
    forked.scenario.planned.push_back(fault);
    begin(forked, fault.at);
}

void SimulatorPage::fillForkMenu(QMenu &menu, int contender)
{
    const auto &runs = m_playback.runs();
    if (runs.empty())
        return;
    if (isFromServers()) {
        fillForkMenuOfServers(menu);
        return;
    }
    const ForkPlace here{m_playback.at(), contender, runs.front()->laneName(contender)};
    addFaults(menu, m_shown, here, [this](const PlannedFault &fault) { fork(fault); });
    if (m_shown.scenario.planned.empty())
        return;
    menu.addSeparator();
    const auto &last = m_shown.scenario.planned.back();
    auto *undo = menu.addAction(tr("Take back: %1").arg(plannedText(last, runs.front()->laneName(last.contender))));
    undo->setObjectName(u"takeBack"_s);
    connect(undo, &QAction::triggered, this, [this] {
        Comparison before = m_shown;
        before.scenario.planned.pop_back();
        begin(before, m_playback.at());
    });
}

void SimulatorPage::openForkMenu()
{
    const auto &runs = m_playback.runs();
    if (runs.empty())
        return;
    // Whom: the chosen lane, else who holds.
    int contender = m_lane;
    if (contender == simulate::nobody)
        contender = std::max(0, runs.front()->holderAfter(m_playback.happened(0)));
    auto *menu = new QMenu(this);
    menu->setObjectName(u"forkMenu"_s);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillForkMenu(*menu, contender);
    menu->popup(m_fork->mapToGlobal(QPoint(0, m_fork->height() + 2)));
}

void SimulatorPage::openScenario()
{
    const auto &now = !m_pending.recipes.empty() ? m_pending : m_shown;
    auto *dialog = new ScenarioDialog(now.recipes.empty() ? presets().front().comparison : now, book(), window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &ScenarioDialog::chosen, this, &SimulatorPage::play);
    dialog->open();
}

void SimulatorPage::openPromises()
{
    auto *dialog = new PromisesDialog(m_shown.recipes, window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void SimulatorPage::jumpTo(std::size_t run, const simulate::Violation &violation)
{
    m_playback.pause();
    m_playback.seek(violation.at);
    const std::size_t count = m_playback.happened(run);
    // The lane of whoever broke it.
    for (std::size_t i = count; i-- > 0 && m_playback.runs()[run]->event(i).at == violation.at;) {
        const auto &event = m_playback.runs()[run]->event(i);
        if (event.mark == simulate::Mark::Breaks && event.contender != simulate::nobody)
            chooseLane(event.contender);
    }
    m_sentence->setText(violation.message);
}

void SimulatorPage::showMoment()
{
    for (std::size_t i = 0; i < m_panels.size() && i < m_playback.runs().size(); ++i)
        m_panels[i]->setCursor_(m_playback.at(), m_playback.happened(i));
    m_mustHold->setMoment(m_playback.at(), m_playback.isAtEnd());
    m_sentence->setText(sentenceAt(m_playback));
}

void SimulatorPage::say(bool isGood, const QString &text)
{
    m_banner->say(isGood ? Banner::Look::Ok : Banner::Look::Critical, {}, text, tr("Close"));
    m_banner->show();
}

void SimulatorPage::setFilter(const QString &text)
{
    const auto &runs = m_playback.runs();
    QString digits = text.trimmed();
    if (digits.startsWith(u'c', Qt::CaseInsensitive))
        digits.remove(0, 1);
    bool isNumber = false;
    const int lane = digits.toInt(&isNumber);
    if (isNumber && !runs.empty() && lane >= 0 && lane < runs.front()->lanes())
        chooseLane(lane);
}

void SimulatorPage::focusContent()
{
    if (!m_panels.empty())
        m_panels.front()->lanes().setFocus();
    else
        m_empty->setFocus();
}

void SimulatorPage::showEvent(QShowEvent *event)
{
    Page::showEvent(event);
    const bool isBusy = m_runner.isBusy() || m_servers.isBusy() || m_awaitsSandbox;
    if (std::exchange(m_wasShown, true) || isBusy || !m_playback.runs().empty())
        return;
    play(presets().front().comparison);
}

void SimulatorPage::resizeEvent(QResizeEvent *event)
{
    Page::resizeEvent(event);
    place();
}

} // namespace lockscope::ui
