// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runpanel.h"

#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/parts/parts.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/serverstrip.h"
#include "ui/simulator/simulatortext.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QGridLayout>
#include <QStyle>

namespace lockscope::ui {

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
    m_recipe->setFont(monoFont(stageFontSize));
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

} // namespace lockscope::ui

#include "moc_runpanel.cpp"
