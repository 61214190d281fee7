// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/sightbar.h"

#include "ui/parts/parts.h"
#include "ui/parts/pagetext.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/rungrid.h"
#include "ui/simulator/runpanel.h"

#include <QScrollBar>

#include <algorithm>

namespace lockscope::ui {

SightBar::SightBar(Playback &playback, RunGrid &grid, QWidget *parent)
    : QWidget(parent), m_playback(playback), m_grid(grid), m_legend(new Legend(this)),
      m_overview(named(new QPushButton(this), u"overviewButton"_s)),
      m_hide(named(new QPushButton(this), u"hideFutureButton"_s))
{
    auto *row = makeRow(this, {}, {{m_legend, 1}});
    for (auto *button : {m_hide, m_overview}) {
        button->setProperty("look", u"chip"_s);
        button->setCheckable(true);
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

#include "moc_sightbar.cpp"
