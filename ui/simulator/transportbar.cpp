// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/transportbar.h"

#include "ui/parts/parts.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/simulatortext.h"

#include <QComboBox>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSlider>

#include <cmath>

namespace lockscope::ui {

constexpr int sliderSteps = 100'000;
constexpr int narrowBar = 880;

TransportBar::TransportBar(Playback &playback, QWidget *parent)
    : QFrame(parent), m_playback(playback), m_speed(new QComboBox(this)), m_slider(new QSlider(Qt::Horizontal, this)),
      m_place(makeLabel({}, {}, this))
{
    setProperty("look", u"card"_s);
    m_row = makeRow({.spacing = 8}, {});
    m_place->setFont(monoFont());
    m_outer = makeRow(this, {.margins = {12, 6, 12, 6}, .spacing = 8}, {{m_row, 1}, m_place});
    m_first = addButton(&Playback::toStart);
    m_back = addButton(&Playback::stepBack);
    m_play = addButton(&Playback::toggle);
    m_play->setProperty("look", u"primary"_s);
    m_on = addButton(&Playback::stepForward);
    connect(m_speed, &QComboBox::activated, &m_playback, &Playback::setSpeed);
    connect(&m_playback, &Playback::speedChanged, m_speed, &QComboBox::setCurrentIndex);
    m_slider->setRange(0, sliderSteps);
    m_slider->setMinimumWidth(60);
    connect(m_slider, &QSlider::valueChanged, this, [this](int value) {
        m_playback.seek(Moment(std::llround(static_cast<double>(m_playback.end().count()) * value / sliderSteps)));
    });
    addParts(*m_row, {m_speed, {m_slider, 1}});
    connect(&m_playback, &Playback::playingChanged, this, &TransportBar::showPlaying);
    connect(&m_playback, &Playback::moved, this, &TransportBar::refresh);
    sayInEachLanguage(this, [this] {
        retranslate();
        if (!m_playback.runs().empty())
            refresh();
    });
}

void TransportBar::retranslate()
{
    const auto say = [](QPushButton *button, const QString &text, const QString &tip) {
        button->setText(text);
        button->setToolTip(tip);
    };
    say(m_first, tr("|◀"), tr("To the start (Home)"));
    m_first->setAccessibleName(tr("To the start"));
    say(m_back, tr("◀ step"), tr("One event back (←)"));
    m_play->setToolTip(tr("Play and pause (Space)"));
    m_play->setMinimumWidth(QFontMetrics(textFont(13, QFont::DemiBold)).horizontalAdvance(tr("‖ pause")) + 34);
    showPlaying(m_playback.isPlaying());
    say(m_on, tr("step ▶"), tr("One event on (→)"));
    const QSignalBlocker quiet(m_speed);
    m_speed->clear();
    for (const double speed : Playback::speeds())
        m_speed->addItem(Playback::speedText(speed));
    m_speed->setCurrentIndex(m_playback.speed());
    m_speed->setAccessibleName(tr("Speed"));
    m_speed->setToolTip(tr("Simulated time by the clock on the wall (+ and −)"));
    m_slider->setAccessibleName(tr("Time"));
}

void TransportBar::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    m_outer->setDirection(width() < narrowBar ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

QPushButton *TransportBar::addButton(void (Playback::*slot)())
{
    auto *button = new QPushButton(this);
    button->setFocusPolicy(Qt::TabFocus); // Space goes on to mean play after a click
    connect(button, &QPushButton::clicked, &m_playback, slot);
    m_row->addWidget(button);
    return button;
}

void TransportBar::refresh()
{
    const QSignalBlocker quiet(m_slider);
    const auto end = std::max<Moment::rep>(1, m_playback.end().count());
    m_slider->setValue(
        static_cast<int>(static_cast<double>(m_playback.at().count()) / static_cast<double>(end) * sliderSteps));
    const bool hasEvents = m_playback.eventsInAll() > 0;
    const QString at = momentText(m_playback.at());
    const QString happened = formatCount(static_cast<qint64>(m_playback.happenedInAll()));
    const QString all = formatCount(static_cast<qint64>(m_playback.eventsInAll()));
    m_place->setText(!hasEvents      ? tr("t = %1").arg(momentText(m_playback.end()))
                     : m_hidesFuture ? tr("t = %1 · event %2").arg(at, happened)
                                     : tr("t = %1 · event %2 of %3").arg(at, happened, all));
    // The slider keeps its width while the numbers grow.
    m_place->setMinimumWidth(hasEvents ? QFontMetrics(m_place->font()).horizontalAdvance(widestPlace()) : 0);
    for (auto *child : findChildren<QPushButton *>())
        child->setEnabled(hasEvents);
    m_slider->setEnabled(hasEvents);
}

void TransportBar::setHidesFuture(bool isHidden)
{
    m_hidesFuture = isHidden;
    refresh();
}

QString TransportBar::widestPlace() const
{
    const QString all = formatCount(static_cast<qint64>(m_playback.eventsInAll()));
    return tr("t = %1 · event %2 of %3").arg(momentText(std::chrono::microseconds(888'800)), all, all);
}

SightBar::SightBar(Playback &playback, RunGrid &grid, QWidget *parent)
    : QWidget(parent), m_playback(playback), m_grid(grid), m_legend(new Legend(this)),
      m_overview(named(makeChip({}, this), u"overviewButton"_s)),
      m_hide(named(makeChip({}, this), u"hideFutureButton"_s))
{
    auto *row = makeRow(this, {}, {{m_legend, 1}});
    for (auto *button : {m_hide, m_overview}) {
        button->setFocusPolicy(Qt::TabFocus); // Space goes on to mean play after a click
        row->addWidget(button);
    }
    connect(m_overview, &QPushButton::toggled, &m_grid, &RunGrid::setOverview);
    connect(m_hide, &QPushButton::toggled, this, [this](bool isOn) {
        if (isOn)
            begin(!m_playback.isAtEnd()); // there nothing is left to be hidden
        else
            hide(false);
    });
    connect(&m_playback, &Playback::moved, this, &SightBar::look);
    sayInEachLanguage(this, [this] { retranslate(); });
}

void SightBar::retranslate()
{
    m_overview->setText(tr("Overview"));
    m_overview->setToolTip(tr("All of the time, and as many contenders as fit, in thin lanes"));
    m_hide->setText(tr("Hide what comes"));
    m_hide->setToolTip(tr("What the cursor has not come to yet is not shown: not in the lanes, and not in what is "
                          "counted or what broke"));
}

void SightBar::begin(bool isCursorKept)
{
    if (!hidesFuture() || m_playback.runs().empty()) {
        hide(false);
        return;
    }
    if (!isCursorKept)
        m_playback.toStart();
    m_seen = m_playback.at();
    hide(true);
}

void SightBar::fitCrowd()
{
    m_overview->setChecked(false);
    m_overview->setChecked(std::ranges::any_of(
        m_grid.panels(), [](RunPanel *panel) { return panel->lanes().verticalScrollBar()->maximum() > 0; }));
    m_grid.fitTime();
}

void SightBar::hide(bool isHidden)
{
    m_isHiding = isHidden;
    m_grid.setHidesFuture(isHidden);
    showLegend();
    emit hidingChanged(isHidden);
}

void SightBar::look()
{
    if (!m_isHiding)
        return;
    if (m_playback.isAtEnd()) {
        hide(false); // it has all been seen
    } else if (m_playback.at() > m_seen) {
        m_seen = m_playback.at();
        showLegend();
    }
}

void SightBar::showLegend()
{
    m_legend->setRuns(m_playback.runs(), m_isHiding ? std::optional(m_seen) : std::nullopt);
}

// Lays widgets out like words: as many on a line as there is room for.
class FlowLayout : public QLayout {
public:
    explicit FlowLayout(int spacing, QWidget *parent = nullptr) : QLayout(parent)
    {
        setSpacing(spacing);
        setContentsMargins(0, 0, 0, 0);
    }
    ~FlowLayout() override { qDeleteAll(m_items); }

    void addItem(QLayoutItem *item) override { m_items << item; }
    [[nodiscard]] int count() const override { return static_cast<int>(m_items.size()); }
    [[nodiscard]] QLayoutItem *itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem *takeAt(int index) override
    {
        return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr;
    }
    [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override { return layOut(QRect(0, 0, width, 0), false); }
    void setGeometry(const QRect &rect) override
    {
        QLayout::setGeometry(rect);
        layOut(rect, true);
    }
    [[nodiscard]] QSize sizeHint() const override
    {
        int width = 0;
        for (const auto *item : m_items)
            width += item->isEmpty() ? 0 : item->sizeHint().width() + spacing();
        return {width, minimumSize().height()};
    }
    [[nodiscard]] QSize minimumSize() const override
    {
        QSize size;
        for (const auto *item : m_items)
            size = size.expandedTo(item->isEmpty() ? QSize() : item->minimumSize());
        return size;
    }

private:
    int layOut(const QRect &rect, bool isReal) const
    {
        int x = rect.left();
        int y = rect.top();
        int lineHeight = 0;
        for (auto *item : m_items) {
            if (item->isEmpty())
                continue;
            const QSize size = item->sizeHint();
            if (x > rect.left() && x + size.width() > rect.left() + rect.width()) {
                x = rect.left();
                y += lineHeight + spacing();
                lineHeight = 0;
            }
            if (isReal)
                item->setGeometry(QRect(QPoint(x, y), QSize(std::min(size.width(), rect.width()), size.height())));
            x += size.width() + spacing();
            lineHeight = std::max(lineHeight, size.height());
        }
        return y + lineHeight - rect.top();
    }

    QList<QLayoutItem *> m_items;
};

namespace {

HeadingChip placeChip(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs)
{
    HeadingChip chip;
    chip.isPlace = true;
    QStringList servers;
    bool isSimulated = false;
    for (const auto &run : runs) {
        const auto &world = run->recording().world;
        isSimulated = isSimulated || world == "sim";
        if (const QString name = label(world, 40); world != "sim" && !servers.contains(name))
            servers << name;
    }
    chip.isReal = !servers.isEmpty();
    const QString names = servers.join(Simulator::tr(" and "));
    const bool isSandbox = comparison.place.kind == RunPlace::Kind::Sandbox;
    const QString played = isSandbox ? Simulator::tr("played on %1 of the sandbox").arg(names)
                                     : Simulator::tr("played on %1").arg(names);
    // Both only where recordings of both were opened.
    chip.text = !chip.isReal  ? Simulator::tr("simulator")
                : isSimulated ? Simulator::tr("simulator and %1").arg(played)
                              : played;
    return chip;
}

QString arrivalText(const contention::Scenario &scenario)
{
    return scenario.arrival == contention::Arrival::Queued
               ? Simulator::tr("all queue first")
               : Simulator::tr("arrive within %1").arg(durationText(scenario.arriveWithin));
}

QString headingOf(const Comparison &comparison)
{
    if (comparison.recipes.empty())
        return Simulator::tr("Simulator");
    const auto &scenario = comparison.scenario;
    const QString who = scenario.contenders == 1
                            ? Simulator::tr("1 contender")
                            : Simulator::tr("%1 contenders").arg(formatCount(scenario.contenders));
    const QString what =
        scenario.limit > 1 ? Simulator::tr("%1 permits").arg(formatCount(scenario.limit)) : Simulator::tr("one lock");
    return scenario.rounds > 1 ? Simulator::tr("%1, %2, %3 rounds").arg(who, what, formatCount(scenario.rounds))
                               : Simulator::tr("%1, %2").arg(who, what);
}

// What is typed beside the lock: the first two; all of them by pointing at it.
HeadingChip actsChip(const contention::Scenario &scenario)
{
    constexpr qsizetype most = 2;
    const auto acts =
        mapped<QStringList>(scenario.acts, [&](const auto &act) { return actText(act, scenario.contenders); });
    QString text = acts.mid(0, most).join(u", "_s);
    if (acts.size() > most)
        text = Simulator::tr("%1 and %2 more").arg(text, formatCount(acts.size() - most));
    return {Simulator::tr("typed: %1").arg(text), false, {}, false, false, acts.join(u'\n')};
}

std::vector<HeadingChip> chipsOf(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs)
{
    if (comparison.recipes.empty())
        return {};
    const auto &scenario = comparison.scenario;
    const QString seed = QString::number(scenario.seed);
    std::vector<HeadingChip> chips{placeChip(comparison, runs)};
    // Real servers draw nothing from it, and do not play it again the same.
    chips.push_back(chips.front().isReal ? HeadingChip{Simulator::tr("real time"), false, {}}
                                         : HeadingChip{Simulator::tr("seed %1").arg(seed), false, seed});
    chips.push_back({Simulator::tr("hold %1").arg(durationText(scenario.hold)), false, {}});
    chips.push_back({arrivalText(scenario), false, {}});
    if (scenario.readersPercent > 0)
        chips.push_back({Simulator::tr("%1 % readers").arg(scenario.readersPercent), false, {}});
    if (scenario.perProcess > 1)
        chips.push_back({Simulator::tr("%1 share a process").arg(scenario.perProcess), false, {}});
    if (!scenario.acts.empty())
        chips.push_back(actsChip(scenario));
    auto faults =
        mapped<QStringList>(scenario.faults, [&](const auto kind) { return QString::fromLatin1(nameOf(kind)); });
    for (const auto &planned : scenario.planned)
        faults << plannedText(planned, runs.empty() ? QString::number(planned.contender)
                                                    : runs.front()->laneName(planned.contender));
    if (chips.front().isReal && faults.isEmpty())
        return chips;
    chips.push_back(
        {faults.isEmpty() ? Simulator::tr("no faults") : Simulator::tr("faults: %1").arg(faults.join(u", "_s)),
         !faults.isEmpty(),
         {}});
    return chips;
}

} // namespace

SimulatorHeading::SimulatorHeading(QMenu *places, QMenu *exports, QWidget *parent)
    : QWidget(parent), m_places(places), m_layout(new QHBoxLayout(this)), m_chipRow(new QWidget(this)),
      m_heading(makeLabel({}, u"heading"_s, m_chipRow))
{
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(8);
    auto *flow = new FlowLayout(8, m_chipRow);
    flow->addWidget(m_heading);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    m_chipRow->setSizePolicy(policy);
    m_layout->addWidget(m_chipRow, 1);
    auto *buttons = makeButtons(exports);
    m_layout->addLayout(buttons);
    m_layout->setAlignment(buttons, Qt::AlignTop);
}

QLayout *SimulatorHeading::makeButtons(QMenu *exports)
{
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    const auto button = [&](const char *name) {
        auto *made = named(new QPushButton(this), QString::fromLatin1(name));
        buttons->addWidget(made);
        return made;
    };
    m_compare = button("compareButton");
    m_compare->setMenu(new QMenu(m_compare));
    m_scenario = button("scenarioButton");
    connect(m_scenario, &QPushButton::clicked, this, &SimulatorHeading::scenarioRequested);
    m_fork = button("forkButton");
    m_fork->setEnabled(false);
    m_export = button("exportButton");
    m_export->setMenu(exports);
    buttons->addStretch();
    sayInEachLanguage(this, [this] { retranslate(); });
    return buttons;
}

void SimulatorHeading::retranslate()
{
    const auto say = [](QPushButton *button, const QString &text, const QString &tip) {
        button->setText(text);
        button->setToolTip(tip);
    };
    say(m_compare, tr("Compare ▾"), tr("Recipes worth seeing beside each other"));
    say(m_scenario, tr("Scenario…"), tr("What is played"));
    say(m_fork, tr("Fork here"), tr("Play it again, with something going wrong at the cursor (F)"));
    say(m_export, tr("Export ▾"), tr("Pictures, events, results, the recording"));
    m_compare->menu()->clear();
    for (const auto &preset : presets())
        connect(m_compare->menu()->addAction(preset.title), &QAction::triggered, this,
                [this, comparison = preset.comparison] { emit comparisonChosen(comparison); });
}

QWidget *SimulatorHeading::makeChip(const HeadingChip &chip)
{
    if (!chip.isPlace && chip.copies.isEmpty()) {
        auto *text = makeLabel(chip.text, u"chip"_s, m_chipRow);
        text->setProperty("tone", chip.isWarning ? u"warning"_s : QString());
        text->setToolTip(chip.tip.isEmpty() ? QString() : plainToolTip(chip.tip));
        return text;
    }
    auto *button = named(new QPushButton(chip.isPlace ? chip.text + u" ▾"_s : chip.text, m_chipRow),
                         chip.isPlace ? u"placeChip"_s : u"seedChip"_s);
    button->setProperty("look", u"chip"_s);
    if (chip.isPlace) {
        button->setProperty("tone", chip.isReal ? u"real"_s : QString());
        button->setToolTip(tr("Where it ran. Play the same somewhere else"));
        button->setMenu(m_places);
    } else {
        button->setToolTip(tr("Copy the seed"));
        connect(button, &QPushButton::clicked, this, [text = chip.copies] { copyToClipboard(text); });
    }
    return button;
}

void SimulatorHeading::setRuns(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs)
{
    m_heading->setText(headingOf(comparison));
    m_chips = chipsOf(comparison, runs);
    m_fork->setEnabled(!runs.empty());
    auto *flow = m_chipRow->layout();
    clearLayout(*flow, 1);
    for (const auto &chip : m_chips)
        flow->addWidget(makeChip(chip));
    for (auto *child : m_chipRow->findChildren<QWidget *>(Qt::FindDirectChildrenOnly))
        child->show();
}

void SimulatorHeading::setNarrow(bool isNarrow)
{
    m_layout->setDirection(isNarrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

} // namespace lockscope::ui

#include "moc_transportbar.cpp"
