// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/simulatorpage.h"

#include "ui/dialogs/guaranteesdialog.h"
#include "ui/simulator/faultmenu.h"
#include "ui/simulator/scalingchart.h"
#include "ui/simulator/scenariodialog.h"
#include "ui/simulator/simulatortext.h"

#include <QEvent>
#include <QKeyEvent>
#include <QShortcut>

namespace lockscope::ui {

using contention::PlannedFault;

constexpr int narrowPage = 900;
constexpr int narrowRun = 380;

SimulatorPage::SimulatorPage(QWidget *parent, Simulate simulate)
    : Page(parent), m_runner(std::move(simulate)), m_grid(new RunGrid(m_playback)),
      m_player(new Player(m_runner, this)),
      m_export(new ExportMenu([this] { return m_grid->pictures(); }, m_runner, this)),
      m_placeMenu(named(new QMenu(this), u"placeMenu"_s)), m_toLesson(named(new QPushButton(this), u"toLesson"_s)),
      m_heading(new SimulatorHeading(m_placeMenu, m_export, this)), m_banner(new Banner(this)),
      m_stack(new QStackedWidget(this)), m_empty(new EmptyNotice(this))
{
    m_banner->hide();
    m_stack->addWidget(m_empty);
    m_stack->addWidget(makePictures());
    m_toLesson->hide();
    makeColumn(this, {.margins = {16, 12, 16, 8}, .spacing = 10},
               {{m_toLesson, 0, Qt::AlignLeft}, m_heading, m_player, m_banner, {m_stack, 1}});
    addKeys();

    connect(m_toLesson, &QPushButton::clicked, this, [this] {
        m_toLesson->hide();
        emit pageRequested(u"lessons"_s);
    });
    connect(m_placeMenu, &QMenu::aboutToShow, this, &SimulatorPage::fillPlaceMenu);
    connect(m_banner, &Banner::actionRequested, m_banner, &QWidget::hide);
    connect(m_empty, &EmptyNotice::actionRequested, this, &SimulatorPage::openScenario);
    connect(m_heading, &SimulatorHeading::scenarioRequested, this, &SimulatorPage::openScenario);
    connect(m_heading, &SimulatorHeading::comparisonChosen, this, &SimulatorPage::play);
    connect(&m_heading->forkButton(), &QPushButton::clicked, this, &SimulatorPage::openForkMenu);
    connect(m_export, &ExportMenu::told, this, &SimulatorPage::say);
    connect(m_export, &ExportMenu::recordingsChosen, this, &SimulatorPage::openRecordings);
    connect(m_grid, &RunGrid::menuRequested, this, &SimulatorPage::openLaneMenu);
    connect(m_grid, &RunGrid::serverMenuRequested, this, [this](std::size_t, int server, const QPoint &at) {
        auto *menu = makePassingMenu(u"serverMenu"_s, this);
        fillForkMenu(*menu, 0, server);
        menu->popup(at);
    });
    connect(m_player, &Player::played, this, &SimulatorPage::take);
    connect(m_player, &Player::failed, this, [this](const QString &why) { say(false, why); });
    connect(m_player, &Player::ended, this, &Page::settled);
    connect(m_player, &Player::shareChanged, this, &Page::countChanged);
    connect(m_player, &Player::sandboxRequested, this, &SimulatorPage::sandboxRequested);
    connect(&m_runner, &Runner::scalingEnded, this, &Page::settled);
    connect(&m_runner, &Runner::scaled, m_chart, &ScalingChart::add);
    connect(&m_playback, &Playback::moved, this, &SimulatorPage::showMoment);
    m_heading->setRuns(m_shown, {});
    retranslate();
}

SimulatorPage::~SimulatorPage()
{
    stopListening(this);
    delete m_grid; // it listens to the panels, too
}

QWidget *SimulatorPage::makePictures()
{
    auto *pictures = new QWidget(this);
    auto *inside = new QWidget;
    m_sight = new SightBar(m_playback, *m_grid, inside);
    keep(
        u"hidesFuture"_s, [this] { return m_sight->hidesFuture(); },
        [this](const QVariant &hides) { m_sight->setHidesFuture(hides.toBool()); });
    connect(m_sight, &SightBar::hidingChanged, this, &SimulatorPage::hide);
    m_lowerGrid = new QGridLayout;
    m_lowerGrid->setSpacing(12);
    m_chart = new ScalingChart(inside);
    m_mustHold = new MustHoldPanel(inside);
    connect(m_mustHold, &MustHoldPanel::violationChosen, this, &SimulatorPage::jumpTo);
    connect(m_mustHold, &MustHoldPanel::guaranteesRequested, this, &SimulatorPage::openGuarantees);
    m_inside = makeColumn(inside, {.spacing = 8}, {{m_grid, 5}, m_sight, {m_lowerGrid, 2}});
    m_scroll = makeScroll(inside, pictures);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->viewport()->setAutoFillBackground(false);
    inside->setAutoFillBackground(false);
    m_transport = new TransportBar(m_playback, pictures);
    m_sentence = named(makeWrapped({}, u"muted"_s, pictures), u"sentence"_s);
    m_sentence->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    const auto keepHeight = [this] { // it does not move what stands above it
        m_sentence->ensurePolished();
        m_sentence->setFixedHeight(2 * m_sentence->fontMetrics().lineSpacing() + 2);
    };
    keepHeight();
    connect(Theme::instance(), &Theme::changed, m_sentence, keepHeight);
    m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_pictures = makeColumn(pictures, {.spacing = 8}, {{m_scroll, 1}, m_transport, m_sentence});
    return pictures;
}

void SimulatorPage::addKeys()
{
    const auto on = [this](const QKeySequence &keys, auto slot) {
        new QShortcut(keys, this, this, slot, Qt::WidgetWithChildrenShortcut);
    };
    on(Qt::Key_Period, [this] { m_playback.toggle(); });
    on(Qt::Key_Left, [this] { m_playback.stepBack(); });
    on(Qt::Key_Right, [this] { m_playback.stepForward(); });
    on(Qt::Key_Home, [this] { m_playback.toStart(); });
    on(Qt::Key_End, [this] { m_playback.toEnd(); });
    on(Qt::Key_F, [this] { openForkMenu(); });
    on(Qt::Key_H, [this] { openGuarantees(); });
    for (const auto key : {Qt::Key_Plus, Qt::Key_Equal})
        on(key, [this] { m_playback.setSpeed(m_playback.speed() + 1); });
    on(Qt::Key_Minus, [this] { m_playback.setSpeed(m_playback.speed() - 1); });
}

void SimulatorPage::keyPressEvent(QKeyEvent *event)
{
    // Not a shortcut: a button with the focus wants it for itself.
    if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier && !m_playback.runs().empty()) {
        m_playback.toggle();
        return;
    }
    Page::keyPressEvent(event);
}

void SimulatorPage::begin(const Comparison &comparison, std::optional<Moment> cursor)
{
    m_banner->hide();
    if (const auto verdict = comparison.check(); !verdict) {
        say(false, verdict.error().message);
        return;
    }
    m_playback.pause();
    m_cursorAfter = cursor;
    m_player->play(comparison);
}

void SimulatorPage::tryOut(const Comparison &comparison)
{
    m_wasShown = true; // not first what it opens with
    m_toLesson->show();
    m_beginsAtStart = true;
    play(comparison);
}

void SimulatorPage::openRecordings(const QStringList &files)
{
    m_banner->hide();
    m_playback.pause();
    m_cursorAfter.reset();
    m_player->load(files);
}

void SimulatorPage::take(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs)
{
    m_shown = comparison;
    auto before = m_playback.runs();
    const bool isFirst = before.empty();
    m_grid->setRuns(runs);
    place();
    m_mustHold->setRuns(runs);
    m_stack->setCurrentIndex(1);
    m_playback.setRuns(runs);
    m_transport->refresh();
    m_runner.dispose(std::move(before));
    m_heading->setRuns(m_shown, runs);
    if (isFirst && isVisible())
        focusContent();
    if (m_cursorAfter)
        m_playback.seek(*m_cursorAfter); // a fork stays at what was looked at
    else
        QMetaObject::invokeMethod(m_sight, &SightBar::fitCrowd,
                                  Qt::QueuedConnection); // once the lanes have their size
    if (std::exchange(m_beginsAtStart, false) && !m_cursorAfter)
        m_playback.toStart();
    m_sight->begin(m_cursorAfter.has_value());
    beginChart();
}

// The chart tells what such recipes cost, which is to be guessed, too.
void SimulatorPage::hide(bool isHiding)
{
    m_mustHold->setHidesFuture(isHiding);
    m_transport->setHidesFuture(isHiding);
    m_chart->setVisible(!isHiding);
    place();
}

void SimulatorPage::place()
{
    const auto runs = static_cast<int>(m_grid->panels().size());
    const bool isNarrow = width() < narrowPage;
    const bool areStacked = width() < narrowRun * runs;
    const auto margins = layout()->contentsMargins();
    m_grid->place(width() - margins.left() - margins.right(), areStacked);
    m_lowerGrid->addWidget(m_chart, 0, 0);
    const bool isAlone = m_sight->isHiding(); // the chart is hidden, too
    m_lowerGrid->addWidget(m_mustHold, isNarrow ? 1 : 0, isNarrow || isAlone ? 0 : 1, 1, isAlone ? 2 : 1);
    m_lowerGrid->setColumnStretch(0, 5);
    m_lowerGrid->setColumnStretch(1, isNarrow ? 0 : 4);
    m_heading->setNarrow(isNarrow);
    // Where the runs stand above each other, what their signs mean stays in sight.
    (areStacked ? m_pictures : m_inside)->insertWidget(1, m_sight);
}

// The same recipes with small numbers of contenders, none of which anything befalls.
void SimulatorPage::beginChart()
{
    contention::Scenario base = m_shown.scenario;
    base.recipe.clear();
    base.faults.clear();
    base.planned.clear();
    base.contenders = 0;
    m_chart->setIsElsewhere(isFromServers());
    if (m_charted == m_shown.recipes && m_chartScenario == base)
        return;
    m_charted = m_shown.recipes;
    m_chartScenario = base;
    m_chart->begin(m_charted);
    m_runner.scale(Comparison{base, m_charted}.scenarios(), chartContenders());
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

void SimulatorPage::fillPlaceMenu()
{
    QMenu &menu = *m_placeMenu;
    const auto &book = m_player->book();
    menu.clear();
    menu.setToolTipsVisible(true);
    addMenuHeading(menu, tr("Play the same on"));
    for (const auto &choice : placeChoices(book)) {
        QString obstacle = choice.obstacle;
        Comparison there = m_shown;
        there.place.kind = choice.place.kind;
        there.place.connection = choice.place.connection;
        if (obstacle.isEmpty() && there.place.isReal() && !wantsSandbox(book, there)) {
            if (const auto runs = realRuns(book, there); !runs)
                obstacle = runs.error().message;
        } else if (const auto verdict = there.check(); obstacle.isEmpty() && !verdict) {
            obstacle = verdict.error().message;
        }
        auto *action =
            menu.addAction(PlaceChoice{choice.place, choice.title, obstacle}.text().replace(u'&', u"&&"_s));
        action->setEnabled(obstacle.isEmpty());
        action->setData(choice.title);
        action->setCheckable(true);
        action->setChecked(there.place == m_shown.place);
        connect(action, &QAction::triggered, this, [this, place = choice.place] { playAt(place); });
    }
}

void SimulatorPage::fork(const PlannedFault &fault)
{
    Comparison forked = m_shown;
    forked.scenario.planned.push_back(fault);
    begin(forked, fault.at);
}

void SimulatorPage::fillForkMenu(QMenu &menu, int contender, std::optional<int> server)
{
    const auto &runs = m_playback.runs();
    if (runs.empty())
        return;
    if (isFromServers()) {
        // Faults, and so forks, are for the simulated world: there the same scenario can be played.
        auto *why = menu.addAction(tr("Real servers play no faults: fork a run of the simulator"));
        why->setObjectName(u"noFaults"_s);
        why->setEnabled(false);
        auto *instead = menu.addAction(tr("Play the same scenario in the simulator"));
        instead->setObjectName(u"playSimulated"_s);
        connect(instead, &QAction::triggered, this, [this] { playAt({}); });
        return;
    }
    const ForkPlace here{m_playback.at(), contender, runs.front()->laneName(contender),
                         std::max(1, runs.front()->recording().history.servers), server};
    addFaults(menu, m_shown, here, [this](const PlannedFault &fault) { fork(fault); });
    const auto &planned = m_shown.scenario.planned;
    const QString lane = planned.empty() ? QString() : runs.front()->laneName(planned.back().contender);
    addTakeBack(menu, m_shown, lane, [this] {
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
    int contender = m_grid->chosenLane();
    if (contender == contention::nobody)
        contender = std::max(0, runs.front()->holderAfter(m_playback.happened(0)));
    auto *menu = makePassingMenu(u"forkMenu"_s, this);
    fillForkMenu(*menu, contender);
    const auto &fork = m_heading->forkButton();
    menu->popup(fork.mapToGlobal(QPoint(0, fork.height() + 2)));
}

void SimulatorPage::openLaneMenu(std::size_t run, int lane, const QPoint &at)
{
    const auto &runs = m_playback.runs();
    if (run >= runs.size())
        return;
    auto *menu = makePassingMenu(u"laneMenu"_s, this);
    constexpr int reach = 4; // pixels beside a mark
    const auto &lanes = panel(run).lanes();
    const auto frame = lanes.frame();
    const int x = lanes.viewport()->mapFromGlobal(at).x();
    const auto message = messageBetween(*runs[run], lane, frame.momentAt(x - reach), frame.momentAt(x + reach));
    if (message && !isFromServers())
        addMessageFaults(*menu, m_shown, *runs[run], *message, [this](const PlannedFault &fault) { fork(fault); });
    fillForkMenu(*menu, lane);
    menu->popup(at);
}

void SimulatorPage::openScenario()
{
    const auto &now = !m_player->pending().recipes.empty() ? m_player->pending() : m_shown;
    auto *dialog = passing(
        new ScenarioDialog(now.recipes.empty() ? presets().front().comparison : now, m_player->book(), window()));
    connect(dialog, &ScenarioDialog::chosen, this, &SimulatorPage::play);
    dialog->open();
}

void SimulatorPage::openGuarantees()
{
    passing(new GuaranteesDialog(m_shown.recipes, window()))->open();
}

void SimulatorPage::jumpTo(std::size_t run, const contention::Violation &violation)
{
    m_playback.pause();
    m_playback.seek(violation.at);
    const std::size_t count = m_playback.happened(run);
    // The lane of whoever broke it.
    for (std::size_t i = count; i-- > 0 && m_playback.runs()[run]->event(i).at == violation.at;) {
        const auto &event = m_playback.runs()[run]->event(i);
        if (event.mark == contention::Mark::Breaks && event.contender != contention::nobody)
            m_grid->chooseLane(event.contender);
    }
    const QString why =
        contention::explain(m_playback.runs()[run]->recording(), violation, lessons::localeOf(displayLanguage()));
    m_sentence->setText(
        Simulator::tr("%1.", "a sentence").arg(why.isEmpty() ? contention::formatViolation(violation.message) : why));
}

void SimulatorPage::showMoment()
{
    m_grid->showMoment();
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
        m_grid->chooseLane(lane);
}

void SimulatorPage::showEvent(QShowEvent *event)
{
    Page::showEvent(event);
    if (!std::exchange(m_wasShown, true) && !m_player->isBusy() && m_playback.runs().empty()) {
        m_beginsAtStart = true;
        play(presets().front().comparison);
    }
}

void SimulatorPage::resizeEvent(QResizeEvent *event)
{
    Page::resizeEvent(event);
    place();
}

void SimulatorPage::retranslate()
{
    m_toLesson->setText(tr("‹ Back to the lesson"));
    m_empty->say(
        tr("Nothing played yet"),
        tr("A scenario plays the real recipes in the simulator, on virtual time, or on real servers. It shows who waits, who is woken and what it costs."),
        tr("Scenario…"));
}

// What is shown of a run was said in the language of then. Its parts hear of it, too, in no certain order.
void SimulatorPage::showRunsAgain()
{
    const auto &runs = m_playback.runs();
    m_heading->setRuns(m_shown, runs);
    if (runs.empty())
        return;
    m_grid->retranslate();
    m_mustHold->setRuns(runs);
    place();
    showMoment();
}

void SimulatorPage::changeEvent(QEvent *event)
{
    Page::changeEvent(event);
    if (event->type() != QEvent::LanguageChange)
        return;
    retranslate();
    QMetaObject::invokeMethod(this, &SimulatorPage::showRunsAgain, Qt::QueuedConnection);
}

KeyHints SimulatorPage::keys() const
{
    return {{u"Space"_s, tr("play and pause")},
            {u"← →"_s, tr("one event back, one on")},
            {u"Home End"_s, tr("to the start, to the end")},
            {u"+ −"_s, tr("faster, slower")},
            {u"F"_s, tr("fork at the cursor")},
            {u"↑ ↓ Enter"_s, tr("choose a contender; a fault for it, or for its message, at the cursor")},
            {u"H"_s, tr("guarantees")}};
}

} // namespace lockscope::ui

#include "moc_simulatorpage.cpp"
