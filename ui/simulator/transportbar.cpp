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

} // namespace lockscope::ui

#include "moc_transportbar.cpp"
