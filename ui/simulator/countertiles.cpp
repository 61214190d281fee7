// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/countertiles.h"

#include "ui/parts/parts.h"
#include "ui/simulator/words.h"
#include "ui/theme/text.h"

#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QStyle>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int narrowTiles = 430;

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
    m_grid->setSpacing(8);
    const std::array<QString, 4> names{tr("requests"), tr("watch events"), tr("wasted wake-ups"), tr("wait p99")};
    const std::array<QString, 4> tips{
        tr("Sent from the first release on"), tr("Of watches, or messages of a publish, from the first release on"),
        tr("Told, and yet not its turn"), tr("99 of 100 waits so far were not longer")};
    for (std::size_t i = 0; i < m_tiles.size(); ++i) {
        auto *tile = new QFrame(this);
        tile->setProperty("look", u"tile"_s);
        tile->setToolTip(tips[i]);
        auto *column = new QVBoxLayout(tile);
        column->setContentsMargins(10, 6, 10, 7);
        column->setSpacing(0);
        auto *name = makeLabel(names[i], u"small"_s, tile);
        name->setMinimumWidth(10);
        column->addWidget(name);
        m_figures[i] = makeLabel(u"0"_s, u"figure"_s, tile);
        m_figures[i]->setMinimumWidth(30);
        m_figures[i]->setAccessibleName(names[i]);
        column->addWidget(m_figures[i]);
        m_tiles[i] = tile;
    }
    m_whole = makeLabel({}, u"small"_s, this);
    m_whole->setMinimumWidth(10);
    m_whole->setToolTip(tr("Bytes over all wires. Fairness is Jain's index over the waits: 1 if all waited equally long."));
    place(4);
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

void CounterTiles::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    place(width() < narrowTiles ? 2 : 4);
}

void CounterTiles::show(const PlayedRun &run, std::size_t happened)
{
    const Tally tally = run.tallyAfter(happened);
    const Moment wait = run.waitP99After(happened);
    m_figures[0]->setText(countText(tally.requests));
    m_figures[1]->setText(countText(tally.watchEvents));
    m_figures[2]->setText(countText(tally.wastedWakeups));
    m_figures[3]->setText(wait.count() == 0 && happened < run.eventCount() ? u"–"_s : momentText(wait));
    const auto &whole = run.recording().counters;
    QStringList facts;
    if (whole.bytes > 0)
        facts << sizeText(whole.bytes);
    facts << tr("wait p50 %1, longest %2").arg(momentText(whole.waits.p50), momentText(whole.waits.max))
          << tr("fairness %1").arg(QLocale().toString(whole.fairness, 'f', 2));
    m_whole->setText(tr("whole run: %1").arg(facts.join(u" · "_s)));
    setTone(m_figures[2], tally.wastedWakeups > 0 ? u"critical"_s : u"ok"_s);
}

QString CounterTiles::text(std::size_t tile) const
{
    return m_figures[tile]->text();
}

QString CounterTiles::wholeRun() const
{
    return m_whole->text();
}

} // namespace lockscope::ui
