// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/runpanel.h"

#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/parts/parts.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/serverstrip.h"
#include "ui/simulator/simulatorwords.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>
#include <QResizeEvent>
#include <QStyle>

#include <algorithm>
#include <numeric>
#include <vector>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int narrowTiles = 330;

void setTone(QLabel *label, const QString &tone)
{
    if (label->property("tone").toString() == tone)
        return;
    label->setProperty("tone", tone);
    label->style()->unpolish(label);
    label->style()->polish(label);
}

} // namespace

CounterTiles::CounterTiles(QWidget *parent) : QWidget(parent), m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(6);
    for (std::size_t i = 0; i < m_tiles.size(); ++i) {
        auto *tile = new QFrame(this);
        tile->setProperty("look", u"tile"_s);
        auto *column = new QVBoxLayout(tile);
        column->setContentsMargins(8, 5, 6, 6);
        column->setSpacing(0);
        m_names[i] = makeLabel({}, u"small"_s, tile);
        column->addWidget(m_names[i]);
        m_figures[i] = makeLabel(u"0"_s, u"figure"_s, tile);
        column->addWidget(m_figures[i]);
        m_tiles[i] = tile;
    }
    m_whole = makeLabel({}, u"small"_s, this);
    m_whole->setMinimumWidth(10);
    m_whole->setWordWrap(true);
    m_whole->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    sayWords();
    place(4);
}

void CounterTiles::sayWords()
{
    const std::array<QString, 4> names{tr("requests"), tr("told"), tr("told in vain"), tr("wait p99")};
    const std::array<QString, 4> tips{
        tr("Sent from the first release on"), tr("Of watches, or messages of a publish, from the first release on"),
        tr("Told, and yet not its turn"), tr("99 of 100 waits so far are not longer, those that go on included")};
    for (std::size_t i = 0; i < m_tiles.size(); ++i) {
        m_tiles[i]->setToolTip(tips[i]);
        m_names[i]->setText(names[i]);
        m_figures[i]->setAccessibleName(names[i]);
    }
    m_whole->setToolTip(tr(
        "Bytes over all wires. A wait is counted from a contender's first try until it has the lock, or gives up for "
        "good. Fairness: of all pairs of which one waited when the other came, how often the later one was not served "
        "first. A queue has 1."));
}

void CounterTiles::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::LanguageChange)
        sayWords();
}

void CounterTiles::place(int columns)
{
    if (columns == m_columns)
        return;
    m_columns = columns;
    for (int i = 0; i < 4; ++i) {
        m_grid->addWidget(m_tiles[static_cast<std::size_t>(i)], i / columns, i % columns);
        m_grid->setColumnStretch(i, i < columns ? 1 : 0);
    }
    m_grid->addWidget(m_whole, 4 / columns, 0, 1, columns);
}

int CounterTiles::leastWidth(int columns) const
{
    std::vector<int> widest(static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < m_tiles.size(); ++i) {
        auto &column = widest[i % widest.size()];
        column = std::max(column, m_tiles[i]->minimumSizeHint().width());
    }
    return std::accumulate(widest.begin(), widest.end(), (columns - 1) * m_grid->horizontalSpacing());
}

QSize CounterTiles::minimumSizeHint() const
{
    return {leastWidth(2), QWidget::minimumSizeHint().height()};
}

void CounterTiles::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    if (event->oldSize().width() == width()) // its height follows from those beside it
        return;
    place(width() < std::max(narrowTiles, leastWidth(4)) ? 2 : 4);
    emit widthChanged();
}

void CounterTiles::show(const PlayedRun &run, std::size_t happened, Moment at)
{
    const auto tally = run.tallyAfter(happened);
    const Moment wait = run.waitP99After(happened, at);
    const auto counted = [&](qint64 Tally::*what) { return tally ? spokenCount((*tally).*what) : u"–"_s; };
    m_figures[0]->setText(counted(&Tally::requests));
    m_figures[1]->setText(counted(&Tally::watchEvents));
    // Where nobody is told, none in vain is no praise.
    const bool isAnyTold = tally && tally->watchEvents > 0;
    m_figures[2]->setText(isAnyTold ? spokenCount(tally->wastedWakeups) : u"–"_s);
    m_figures[3]->setText(wait.count() == 0 && happened < run.eventCount() ? u"–"_s : momentText(wait));
    if (width() < leastWidth(4)) // figures grow; back to one row at the next size only, or tiles would jump
        place(2);
    const auto &whole = run.recording().counters;
    const Tally fromStart = run.wholeTallyAfter(happened);
    const QString until = tr("above: from the first release on · since the start: %1 requests, %2 told, %3 in vain")
                              .arg(spokenCount(fromStart.requests), spokenCount(fromStart.watchEvents),
                                   spokenCount(fromStart.wastedWakeups));
    setTone(m_figures[2], !isAnyTold ? QString() : tally->wastedWakeups > 0 ? u"critical"_s : u"ok"_s);
    if (m_hidesFuture && happened < run.eventCount()) {
        tell(until);
        return;
    }
    QStringList facts;
    if (whole.bytes > 0 && !m_hidesFuture) // a lesson has less room
        facts << spokenSize(whole.bytes);
    facts << tr("wait p50 %1, longest %2").arg(momentText(whole.waits.p50), momentText(whole.waits.max));
    if (whole.gaveUp > 0)
        facts << tr("%n gave up", nullptr, static_cast<int>(whole.gaveUp));
    if (whole.requestsWaiting > 0)
        facts << tr("%1 requests while waiting").arg(spokenCount(whole.requestsWaiting));
    facts << tr("fairness %1").arg(whole.fairnessPairs > 0 ? spokenNumber(whole.fairness, 2) : u"–"_s);
    tell(tr("%1 · whole run: %2").arg(until, facts.join(u" · "_s)));
}

void CounterTiles::tell(const QString &all)
{
    m_whole->setText(m_isTerse ? tr("above: from the first release on …") : all);
    if (m_isTerse)
        m_whole->setToolTip(plainToolTip(all));
}

void CounterTiles::align(std::span<CounterTiles *const> all)
{
    int most = 0, columns = 4, figure = 0;
    for (auto *tiles : all) {
        for (const auto *one : tiles->m_figures)
            figure = std::max(figure, one->sizeHint().height()); // a unit may be of another, higher font than a dash
        tiles->m_whole->setMinimumHeight(0);
        most = std::max(most, tiles->m_whole->heightForWidth(tiles->width()));
        columns = std::min(columns, tiles->m_columns);
    }
    for (auto *tiles : all)
        tiles->place(columns);
    for (auto *tiles : all) {
        tiles->m_whole->setMinimumHeight(most);
        for (auto *one : tiles->m_figures)
            one->setMinimumHeight(figure);
    }
}

QString CounterTiles::text(std::size_t tile) const
{
    return m_figures[tile]->text();
}

QString CounterTiles::wholeRun() const
{
    return m_whole->text();
}

WakeUps wakeUpsOf(const contention::Recording &recording)
{
    const auto &counters = recording.counters;
    if (counters.grants < 2)
        return {};
    if (counters.watchEvents == 0) {
        const bool isQueuedThere = recipes::recipeOf(recording.scenario.recipe).wakeUp == recipes::WakeUp::Answer;
        return {isQueuedThere ? RunPanel::tr("the answer comes when it is its turn")
                              : RunPanel::tr("nobody is told: it asks again"),
                false};
    }
    const double each = static_cast<double>(counters.watchEvents) / static_cast<double>(counters.grants - 1);
    if (each < 1.5)
        return {RunPanel::tr("one wake-up per release"), false};
    return {RunPanel::tr("herd: %1 wake-ups per release").arg(spokenNumber(each, 1)), true};
}

RunPanel::RunPanel(QWidget *parent)
    : QFrame(parent), m_title(makeLabel({}, u"title"_s, this)), m_recipe(makeLabel({}, u"muted"_s, this)),
      m_badge(makeLabel({}, u"badge"_s, this)), m_note(makeLabel({}, u"small"_s, this)), m_lanes(new LanesView(this)),
      m_servers(new ServerStrip(this)), m_tiles(new CounterTiles(this))
{
    setProperty("look", u"card"_s);
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
    m_note->setWordWrap(true);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(14, 10, 14, 12);
    column->setSpacing(8);
    column->addLayout(m_head);
    column->addWidget(m_note);
    column->addWidget(m_lanes, 1);
    column->addWidget(m_servers);
    column->addWidget(m_tiles);
}

void RunPanel::setRun(const PlayedRunPtr &run, Moment end)
{
    m_run = run;
    m_lanes->setRun(run, end);
    m_servers->setRun(run);
    sayWords();
}

void RunPanel::sayWords()
{
    if (!m_run)
        return;
    const auto &recording = m_run->recording();
    const QString title = recipeTitle(recording.scenario.recipe);
    const QString id = label(recording.scenario.recipe, 60);
    m_title->setText(title);
    m_recipe->setText(title == id ? QString() : id);
    m_recipe->setVisible(title != id);
    const WakeUps wakeUps = wakeUpsOf(recording);
    m_badge->setText(wakeUps.words);
    m_badge->setVisible(!wakeUps.words.isEmpty());
    m_badge->setProperty("tone", wakeUps.isHerd ? u"warning"_s : u"hold"_s);
    m_badge->style()->unpolish(m_badge);
    m_badge->style()->polish(m_badge);
    QStringList notes;
    if (!recording.note.isEmpty())
        notes << label(recording.note, 200);
    if (recording.isCut)
        notes << tr("More happened than was kept: the lanes end early, the totals do not.");
    m_note->setText(notes.join(u' '));
    m_note->setVisible(!notes.isEmpty());
    m_lanes->setAccessibleName(tr("Lanes of %1").arg(title));
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
    m_tiles->show(*m_run, happened, at);
}

QString RunPanel::badge() const
{
    return m_badge->text();
}

} // namespace lockscope::ui

#include "moc_runpanel.cpp"
