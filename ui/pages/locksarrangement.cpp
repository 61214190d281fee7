// SPDX-License-Identifier: Apache-2.0
// The page of locks: how list and lock stand to each other, the heads of its groups, and the incidents above them.
#include "ui/pages/lockspage.h"
#include "ui/parts/listshare.h"
#include "ui/views/brokenbanners.h"
#include "ui/views/incidentlist.h"
#include "ui/views/lockstable.h"

#include <QButtonGroup>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QResizeEvent>
#include <QSplitter>

#include <algorithm>

namespace lockscope::ui {

using inspect::Incident;
using inspect::LockName;

namespace {

constexpr int wideFrom = 1200; // of the window
constexpr int lowPageBelow = 640;
constexpr int listShareOfWidth = 40; // percent

} // namespace

void LocksPage::resizeEvent(QResizeEvent *event)
{
    Page::resizeEvent(event);
    arrange();
}

void LocksPage::arrange()
{
    m_incidents->setLow(window()->width() < wideFrom || height() < lowPageBelow);
    const bool isWide = window()->width() >= wideFrom;
    if (std::exchange(m_isWide, isWide) == isWide)
        return;
    auto &other = isWide ? m_stackedSizes : m_wideSizes;
    other = m_splitter->saveState();
    m_splitter->setOrientation(isWide ? Qt::Horizontal : Qt::Vertical);
    const auto &kept = isWide ? m_wideSizes : m_stackedSizes;
    if (kept.isEmpty() || !m_splitter->restoreState(kept))
        m_splitter->setSizes({listShareOfWidth * 10, (100 - listShareOfWidth) * 10});
    m_table->setStacked(isWide);
    m_detail->setTall(isWide);
    for (const auto chip : {LocksModel::Chip::Critical, LocksModel::Chip::Warning})
        m_chips->button(static_cast<int>(chip))->setVisible(!isWide); // the incidents stand above the list
    m_order->setVisible(!isWide);
    m_sortBy->setVisible(isWide);
    m_share->divide();
    showGroups();
    followWorst();
}

// The columns have no titles to click on where the rows are stacked.
void LocksPage::fillOrders()
{
    auto *menu = m_sortBy->menu();
    menu->clear();
    auto *header = m_table->horizontalHeader();
    menu->addAction(tr("Worst first"), this, [header] { header->setSortIndicator(-1, Qt::AscendingOrder); });
    for (int column = 0; column < LockRow::Connection; ++column) {
        const auto title = m_model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        const auto first = m_model.headerData(column, Qt::Horizontal, Qt::InitialSortOrderRole).toInt();
        menu->addAction(title, this, [header, column, first] {
            header->setSortIndicator(column, static_cast<Qt::SortOrder>(first));
        });
    }
}

void LocksPage::showGroups()
{
    m_table->setConnections(groupHeadsOf(m_book, m_model));
}

IncidentWatch::Question LocksPage::incidentQuestion() const
{
    return {locksOfIncidents(m_model.all()),
            m_backend ? m_backend->clientLabels() : std::vector<inspect::ClientLabel>(), m_book.coverage(),
            clock().now()};
}

// Those of the chosen connection.
void LocksPage::showIncidents()
{
    std::vector<Incident> shown;
    std::ranges::copy_if(m_watch.incidents(), std::back_inserter(shown), [this](const Incident &incident) {
        return m_connection.isEmpty() || std::ranges::any_of(incident.locks, [this](const LockName &lock) {
                   return lock.connection == m_connection;
               });
    });
    m_incidents->setIncidents(shown);
    m_gaps->say(inspect::gapsIn(m_connection.isEmpty() ? m_book.coverage() : m_book.coverageOf(m_connection)));
    if (const auto current = m_table->currentLock())
        m_detail->setIncident(m_watch.incidentOf(*current));
    followWorst();
    emit incidentsChanged();
}

// What nobody chose follows the worst: until somebody clicks or presses a key here.
void LocksPage::followWorst()
{
    if (m_hasChosen || m_table->isInUse() || m_model.rowCount() == 0 || isLooking())
        return;
    const auto *worst = m_incidents->entries().empty() ? nullptr : &m_incidents->entries().front()->incident();
    const int row = worst && !worst->locks.empty() ? m_model.rowOf(worst->locks.front()) : m_model.worstRow();
    if (row < 0 || m_model.snapshotAt(row).lock == m_table->currentLock())
        return;
    m_table->setCurrentLock(m_model.snapshotAt(row).lock, true);
    showSnapshot();
}

bool LocksPage::isLooking() const
{
    return std::ranges::any_of(m_book.all(), [](const ConnectionStatus &status) {
        return status.state == ConnectionStatus::State::Connected && !status.progress.firstSnapshotComplete;
    });
}

void LocksPage::showIncident(const Incident &incident)
{
    if (const auto *place = placeToRelease(incident)) {
        selectLock(place->lock);
        m_detail->chooseContender(place->contender);
    } else if (!incident.locks.empty()) {
        selectLock(incident.locks.front());
    }
}

void LocksPage::actOn(const Incident &incident)
{
    showIncident(incident);
    emit forceReleaseRequested();
}

} // namespace lockscope::ui
