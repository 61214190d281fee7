// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/bulkmodel.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/theme/text.h"

#include <array>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

BulkModel::BulkModel(const std::vector<operate::BulkTarget> &targets, SystemTime now, QObject *parent)
    : QAbstractTableModel(parent), m_targets(targets), m_now(now)
{
}

void BulkModel::setDone(int done)
{
    m_done = done;
    if (rowCount() > 0)
        emit dataChanged(index(0, Outcome), index(rowCount() - 1, Outcome));
}

void BulkModel::setReport(const operate::BulkReport &report)
{
    m_isOver = true;
    m_hasStopped = report.stoppedAt.has_value();
    setDone(static_cast<int>(report.done.size()));
}

QString BulkModel::text(int row, int column) const
{
    const auto &target = m_targets[static_cast<std::size_t>(row)];
    switch (column) {
    case Lock: return label(target.lock.text(), 400);
    case Holder: {
        const QString id = label(target.contender, 120);
        return target.who.isEmpty() ? id : target.who + u" · "_s + id;
    }
    case Since: {
        if (!target.since)
            return u"?"_s;
        const auto ahead = std::chrono::duration_cast<std::chrono::milliseconds>(m_now.time_since_epoch())
                           + target.serverAhead - target.since->time_since_epoch();
        return spokenDuration(ahead);
    }
    case What: {
        const QString what = target.way == operate::Way::KillWaiter ? tr("out of the queue") : tr("release");
        const auto more = target.goWithIt.size();
        return more == 0   ? what
               : more == 1 ? tr("KILL; 1 more lock goes with it")
                           : tr("KILL; %1 more locks go with it").arg(more);
    }
    case Outcome:
        if (row < m_done)
            return tr("done");
        if (!m_isOver)
            return {};
        return m_hasStopped && row == m_done ? tr("stopped here") : tr("not touched");
    default: return {};
    }
}

int BulkModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_targets.size());
}

int BulkModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

QVariant BulkModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    if (role == Qt::DisplayRole)
        return text(index.row(), index.column());
    return role == Qt::ToolTipRole ? QVariant(plainToolTip(text(index.row(), index.column()))) : QVariant();
}

QVariant BulkModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const std::array titles{tr("Lock"), tr("Holder"), tr("For"), tr("What is done"), tr("What came of it")};
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= ColumnCount)
        return {};
    return titles[static_cast<std::size_t>(section)];
}

} // namespace lockscope::ui

#include "moc_bulkmodel.cpp"
