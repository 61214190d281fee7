// SPDX-License-Identifier: Apache-2.0
// The simulator's words, said again when another language is chosen while it is open; and what of it is remembered.
#include "ui/pages/simulatorpage.h"

#include "ui/simulator/mustholdpanel.h"
#include "ui/simulator/sightbar.h"

#include <QEvent>
#include <QPushButton>
#include <QSettings>

namespace lockscope::ui {

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

void SimulatorPage::saveView(QSettings &settings) const
{
    settings.setValue(u"hidesFuture"_s, m_sight->hidesFuture());
}

void SimulatorPage::restoreView(QSettings &settings)
{
    m_sight->setHidesFuture(settings.value(u"hidesFuture"_s).toBool());
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
