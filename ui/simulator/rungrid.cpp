// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/rungrid.h"

#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runpanel.h"

#include <algorithm>

namespace lockscope::ui {

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

} // namespace lockscope::ui

#include "moc_rungrid.cpp"
