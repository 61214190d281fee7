// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runpanel.h"

#include "ui/parts/parts.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/serverstrip.h"
#include "ui/simulator/simulatortext.h"

#include <QStyle>

namespace lockscope::ui {

using contention::Violation;

namespace {

struct Invariant {
    QByteArray name;
    QString words;
    QString why;
};

std::vector<Invariant> invariants()
{
    return {
        {"exclusion", MustHoldPanel::tr("never two holders"),
         MustHoldPanel::tr("Never do more contenders believe that they hold it than the lock permits")},
        {"effect", MustHoldPanel::tr("no late write"),
         MustHoldPanel::tr("No client writes to the guarded resource after its turn is over")},
        {"order", MustHoldPanel::tr("first come, first served"),
         MustHoldPanel::tr("Grants follow the order of the queue, where the recipe promises it")},
        {"progress", MustHoldPanel::tr("no lost wake-up"),
         MustHoldPanel::tr("Whoever waits gets the lock once nothing goes wrong any more")},
        {"cleanliness", MustHoldPanel::tr("nothing left behind"),
         MustHoldPanel::tr("No node and no key of it is left at the end")},
        {"tokens", MustHoldPanel::tr("fencing tokens only grow"),
         MustHoldPanel::tr("A later holder has a larger token")},
    };
}

bool isPromised(const PlayedRun &run, const QByteArray &invariant)
{
    const auto &scenario = run.recording().scenario;
    // Readers overtake each other, and of two locks each has an order of its own.
    const bool hasOrder = scenario.readersPercent == 0 && scenario.locks == 1;
    return contention::isOffered(scenario.recipe, invariant) && (invariant != "order" || hasOrder);
}

// How it held, in as few words as there are.
QString heldText(const PlayedRun &run, const QByteArray &invariant)
{
    const auto &recording = run.recording();
    if (!isPromised(run, invariant))
        return invariant == "tokens"      ? MustHoldPanel::tr("not offered: it has no tokens")
               : invariant == "exclusion" ? MustHoldPanel::tr("not offered: no client is kept out")
                                          : MustHoldPanel::tr("not promised");
    if (invariant == "progress")
        return MustHoldPanel::tr("%1 grants").arg(formatCount(recording.counters.grants));
    if (invariant == "cleanliness")
        return recording.leftBehind.empty() ? MustHoldPanel::tr("nothing")
                                            : MustHoldPanel::tr("%1 may stay")
                                                  .arg(formatCount(static_cast<qint64>(recording.leftBehind.size())));
    return MustHoldPanel::tr("held");
}

} // namespace

WakeUps wakeUpsOf(const contention::Recording &recording)
{
    const auto &counters = recording.counters;
    if (counters.grants < 2)
        return {};
    if (counters.watchEvents == 0) {
        const bool isQueuedThere = recipes::recipeOf(recording.scenario.recipe).wakeUp == recipes::WakeUp::Answer;
        return {isQueuedThere ? RunPanel::tr("the answer comes when it is its turn")
                              : RunPanel::tr("no client is woken: it asks again"),
                false};
    }
    const double each = static_cast<double>(counters.watchEvents) / static_cast<double>(counters.grants - 1);
    if (each < 1.5)
        return {RunPanel::tr("one wake-up per release"), false};
    return {RunPanel::tr("herd: %1 wake-ups per release").arg(formatNumber(each, 1)), true};
}

RunPanel::RunPanel(QWidget *parent, bool isOnStage)
    : QFrame(parent), m_title(makeLabel({}, u"title"_s, this)), m_recipe(makeLabel({}, u"muted"_s, this)),
      m_badge(makeLabel({}, u"badge"_s, this)), m_note(makeWrapped({}, u"small"_s, this)),
      m_lanes(new LanesView(this)), m_servers(new ServerStrip(this)), m_tiles(new CounterTiles(this, isOnStage))
{
    setProperty("look", u"card"_s);
    if (isOnStage) {
        setOnStage();
        return;
    }
    m_head = new QGridLayout;
    m_head->setHorizontalSpacing(8);
    m_head->setVerticalSpacing(4);
    m_head->addWidget(m_title, 0, 0);
    m_head->addWidget(m_recipe, 0, 1);
    m_head->setColumnStretch(2, 1);
    m_head->addWidget(m_badge, 0, 3);
    for (auto *label : {m_title, m_recipe, m_badge}) {
        label->setMinimumWidth(20); // a narrow window cuts words rather than growing
        label->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    }
    m_recipe->setFont(monoFont());
    makeColumn(this, {.margins = {14, 10, 14, 12}, .spacing = 8}, {m_head, m_note, {m_lanes, 1}, m_servers, m_tiles});
}

void RunPanel::setOnStage()
{
    m_title->setProperty("look", u"lessonRun"_s);
    m_title->setWordWrap(true);
    m_title->setAlignment(Qt::AlignTop | Qt::AlignLeft); // beside one that takes two lines
    m_badge->hide();
    m_note->hide();
    m_lanes->setStage();
    m_servers->setFontSize(stageFontSize);
    m_tiles->setHidesFuture(true);
    m_stageHead = makeRow({}, {{m_title, 1}, {m_recipe, 0, Qt::AlignTop}});
    makeColumn(this, {.margins = {12, 6, 12, 6}, .spacing = 4}, {m_stageHead, {m_lanes, 1}, m_servers, m_tiles});
}

void RunPanel::setRun(const PlayedRunPtr &run, Moment end)
{
    m_run = run;
    m_lanes->setRun(run, end);
    m_servers->setRun(run);
    retranslate();
}

void RunPanel::retranslate()
{
    if (!m_run || m_stageHead)
        return;
    const auto &recording = m_run->recording();
    const QString title = recipeTitle(recording.scenario.recipe);
    const QString id = label(recording.scenario.recipe, 60);
    m_title->setText(title);
    m_recipe->setText(title == id ? QString() : id);
    m_recipe->setVisible(title != id);
    const WakeUps wakeUps = wakeUpsOf(recording);
    m_badge->setText(wakeUps.words);
    m_badge->setVisible(!wakeUps.words.isEmpty() && !m_hidesFuture); // it knows the whole run
    setStyleProperty(m_badge, "tone", wakeUps.isHerd ? u"warning"_s : u"hold"_s);
    QStringList notes;
    if (!recording.note.isEmpty())
        notes << label(recording.note, 200);
    if (recording.isCut)
        notes << tr("More happened than was kept: the lanes end early, the totals do not.");
    m_note->setText(notes.join(u' '));
    m_note->setVisible(!notes.isEmpty());
    m_lanes->setAccessibleName(tr("Lanes of %1").arg(title));
}

void RunPanel::setHidesFuture(bool isHidden)
{
    m_hidesFuture = isHidden;
    m_lanes->setHidesFuture(isHidden);
    m_tiles->setHidesFuture(isHidden);
    retranslate();
}

int RunPanel::headWidth() const
{
    const auto wants = [this](const QLabel *label) {
        return label->isVisibleTo(this) ? label->sizeHint().width() + m_head->horizontalSpacing() : 0;
    };
    const auto margins = layout()->contentsMargins();
    return wants(m_title) + wants(m_recipe) + wants(m_badge) + margins.left() + margins.right();
}

void RunPanel::setBadgeBelow(bool isBelow)
{
    if (isBelow)
        m_head->addWidget(m_badge, 1, 0, 1, 4, Qt::AlignLeft);
    else
        m_head->addWidget(m_badge, 0, 3);
}

void RunPanel::setCursor_(Moment at, std::size_t happened)
{
    m_lanes->setCursor_(at, happened);
    m_servers->setMoment(at, happened == 0);
    if (m_stageHead)
        m_lanes->setWatches(happened == 0 ? std::vector<std::pair<int, int>>() : m_servers->then().watches());
    m_tiles->show(*m_run, happened, at);
}

RunGrid::RunGrid(Playback &playback, bool isOnStage) : m_playback(playback), m_isOnStage(isOnStage)
{
    setSpacing(12);
    connect(this, &RunGrid::tilesChanged, this, &RunGrid::alignTiles);
}

void RunGrid::setRuns(const std::vector<PlayedRunPtr> &runs)
{
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
        m_panels[i]->setRun(runs[i], m_isOnStage ? end + end / 50 : end); // there with the last event in sight
        m_panels[i]->lanes().setDense(m_isDense);
        m_panels[i]->lanes().setChosenLane(m_lane);
    }
}

void RunGrid::retranslate()
{
    for (auto *panel : m_panels)
        panel->retranslate();
}

void RunGrid::setHidesFuture(bool isHidden)
{
    for (auto *panel : m_panels)
        panel->setHidesFuture(isHidden);
    showMoment();
}

RunPanel *RunGrid::makePanel()
{
    auto *panel = new RunPanel(parentWidget(), m_isOnStage);
    auto &lanes = panel->lanes();
    const auto number = [this, panel] {
        return static_cast<std::size_t>(std::ranges::find(m_panels, panel) - m_panels.begin());
    };
    connect(&lanes, &LanesView::momentChosen, this, [this](Moment at) {
        m_playback.pause();
        m_playback.seek(at);
        emit momentChosen();
    });
    connect(&lanes, &LanesView::laneChosen, this, &RunGrid::chooseLane);
    connect(&lanes, &LanesView::menuRequested, this,
            [this, number](int lane, const QPoint &at) { emit menuRequested(number(), lane, at); });
    connect(&lanes, &LanesView::serverMenuRequested, this,
            [this, number](int server, const QPoint &at) { emit serverMenuRequested(number(), server, at); });
    connect(&lanes, &LanesView::zoomed, this, &RunGrid::zoom);
    connect(&lanes, &LanesView::scrolledTo, this, [this](double above, int horizontal) {
        for (auto *one : m_panels)
            one->lanes().scrollAlong(above, horizontal);
    });
    connect(&panel->tiles(), &CounterTiles::widthChanged, this, &RunGrid::tilesChanged, Qt::QueuedConnection);
    return panel;
}

void RunGrid::place(int width, bool isNarrow)
{
    for (std::size_t i = 0; i < m_panels.size(); ++i) {
        const int at = static_cast<int>(i);
        addWidget(m_panels[i], isNarrow ? at : 0, isNarrow ? 0 : at);
        if (!m_isOnStage)
            m_panels[i]->setMinimumHeight(isNarrow ? 330 : 260);
        m_panels[i]->show();
    }
    for (int column = 0; column < 3; ++column)
        setColumnStretch(column, (isNarrow ? column == 0 : column < static_cast<int>(m_panels.size())) ? 1 : 0);
    if (m_isOnStage)
        return;
    // All alike, so that the lanes stand beside each other.
    const int beside = isNarrow ? 1 : std::max(1, static_cast<int>(m_panels.size()));
    const int each = (width - (beside - 1) * horizontalSpacing()) / beside;
    const bool isTight =
        std::ranges::any_of(m_panels, [&](const RunPanel *panel) { return panel->headWidth() > each; });
    for (auto *panel : m_panels)
        panel->setBadgeBelow(isTight);
}

void RunGrid::zoom(double zoom, Moment around)
{
    for (auto *panel : m_panels)
        panel->lanes().setZoom(zoom, around);
}

void RunGrid::fitTime()
{
    double fitted = std::numeric_limits<double>::max();
    for (auto *panel : m_panels)
        fitted = std::min(fitted, panel->lanes().fittedZoom());
    zoom(fitted, Moment{});
    showMoment(); // with the cursor in sight
}

void RunGrid::setOverview(bool isOn)
{
    m_isDense = isOn;
    for (auto *panel : m_panels)
        panel->lanes().setDense(isOn);
    fitTime();
}

void RunGrid::chooseLane(int lane)
{
    m_lane = lane;
    for (auto *panel : m_panels) {
        if (panel->lanes().chosenLane() != lane)
            panel->lanes().setChosenLane(lane);
    }
}

void RunGrid::showMoment()
{
    for (std::size_t i = 0; i < m_panels.size() && i < m_playback.runs().size(); ++i)
        m_panels[i]->setCursor_(m_playback.at(), m_playback.happened(i));
    alignTiles();
}

void RunGrid::alignTiles()
{
    if (m_isOnStage) // whose picture does so
        return;
    std::vector<CounterTiles *> tiles;
    for (auto *panel : m_panels)
        tiles.push_back(&panel->tiles());
    CounterTiles::align(tiles);
}

std::vector<RunPicture> RunGrid::pictures() const
{
    std::vector<RunPicture> all;
    for (std::size_t i = 0; i < m_panels.size() && i < m_playback.runs().size(); ++i)
        all.push_back({m_playback.runs()[i], m_panels[i]->lanes().frame(), m_playback.happened(i)});
    return all;
}

MustHoldPanel::MustHoldPanel(QWidget *parent) : QFrame(parent), m_grid(nullptr)
{
    setProperty("look", u"card"_s);
    m_title = makeLabel({}, u"title"_s, this);
    m_guarantees = named(makeButton({}, this, &MustHoldPanel::guaranteesRequested, u"flat"_s), u"promisesButton"_s);
    auto *head = makeRow({}, {{m_title, 1}, m_guarantees});
    makeColumn(this, {.margins = {14, 10, 14, 10}, .spacing = 4}, {head, Stretch{}});
    sayInEachLanguage(this, [this] { retranslate(); });
}

void MustHoldPanel::retranslate()
{
    m_title->setText(tr("Guarantees"));
    m_guarantees->setText(tr("All guarantees…"));
    m_guarantees->setToolTip(tr("Show the guarantees by recipe and fault (H)"));
}

void MustHoldPanel::setRuns(const std::vector<PlayedRunPtr> &runs)
{
    m_cells.clear();
    delete m_rows;
    m_rows = new QWidget(this);
    qobject_cast<QVBoxLayout *>(layout())->insertWidget(1, m_rows);
    m_grid = new QGridLayout(m_rows);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(1);
    const int columns = static_cast<int>(runs.size());
    int row = 0;
    for (std::size_t i = 0; i < runs.size() && runs.size() > 1; ++i)
        m_grid->addWidget(makeLabel(label(runs[i]->recording().scenario.recipe, 24), u"small"_s, m_rows), row,
                          1 + static_cast<int>(i));
    const auto addRow = [&](const QString &words, const QString &why) {
        ++row;
        auto *line = makeHairline(m_rows);
        m_grid->addWidget(line, row++, 0, 1, columns + 1);
        auto *name = makeLabel(words, {}, m_rows);
        name->setToolTip(why);
        m_grid->addWidget(name, row, 0);
    };
    for (const auto &invariant : invariants()) {
        addRow(invariant.words, invariant.why);
        for (std::size_t i = 0; i < runs.size(); ++i)
            addCell(runs[i], i, invariant.name, row, 1 + static_cast<int>(i));
    }
    for (int i = 1; i <= columns; ++i)
        m_grid->setColumnStretch(i, 1);
    m_rows->show();
}

void MustHoldPanel::addCell(const PlayedRunPtr &run, std::size_t number, const QByteArray &invariant, int row,
                            int column)
{
    const auto &violations = run->recording().violations;
    const auto broken = std::find_if(violations.begin(), violations.end(),
                                     [&](const Violation &violation) { return violation.invariant == invariant; });
    const bool isBroken = broken != violations.end();
    Cell cell = isBroken ? brokenCell(number, *broken) : Cell{};
    cell.pill = new PillLabel(m_rows);
    const QString name = QString::fromLatin1(invariant) + QString::number(number);
    cell.pill->setObjectName(isBroken ? name + u"-so-far"_s : name);
    const bool isGuaranteed = isPromised(*run, invariant);
    cell.held = {isGuaranteed ? PillShape::Disc : PillShape::Ring, isGuaranteed ? Tone::Ok : Tone::Free,
                 heldText(*run, invariant)};
    cell.soFar = isGuaranteed ? Pill{PillShape::Ring, Tone::Free, tr("so far")} : cell.held;
    m_grid->addWidget(cell.pill, row, column, Qt::AlignLeft);
    if (isBroken) {
        cell.button->setObjectName(name);
        m_grid->addWidget(cell.button, row, column, Qt::AlignLeft);
    }
    m_cells.push_back(cell);
    light(cell);
}

MustHoldPanel::Cell MustHoldPanel::brokenCell(std::size_t run, const Violation &violation)
{
    auto *jump = makeButton(
        {}, m_rows, this, [this, run, violation] { emit violationChosen(run, violation); }, u"violation"_s);
    jump->setToolTip(plainToolTip(label(violation.message.toUtf8(), 300)));
    return {nullptr, {}, {}, jump, violation.at};
}

void MustHoldPanel::setMoment(Moment at, bool isAtEnd)
{
    m_moment = at;
    m_seen = std::max(m_seen, at);
    m_isAtEnd = isAtEnd;
    lightAll();
}

void MustHoldPanel::setHidesFuture(bool isHidden)
{
    m_hidesFuture = isHidden;
    m_seen = m_moment;
    lightAll();
}

void MustHoldPanel::lightAll() const
{
    for (const auto &cell : m_cells)
        light(cell);
}

void MustHoldPanel::light(const Cell &cell) const
{
    const bool isKnown = !m_hidesFuture || (cell.button && cell.at <= m_seen);
    cell.pill->setPill(isKnown ? cell.held : cell.soFar);
    cell.pill->setVisible(!cell.button || !isKnown);
    if (!cell.button)
        return;
    cell.button->setVisible(isKnown);
    const bool isAhead = m_moment < cell.at && !m_isAtEnd;
    cell.button->setText(isAhead ? tr("● until %1").arg(momentText(cell.at))
                                 : tr("✕ at %1").arg(momentText(cell.at)));
    setStyleProperty(cell.button, "tone", isAhead ? u"ahead"_s : u"broken"_s);
}

} // namespace lockscope::ui

#include "moc_runpanel.cpp"
