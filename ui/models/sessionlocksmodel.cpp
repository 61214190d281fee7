// SPDX-License-Identifier: Apache-2.0
#include "ui/models/sessionlocksmodel.h"

#include "ui/theme/text.h"

#include <algorithm>
#include <array>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

void SessionLocksModel::setLocks(std::vector<SessionLock> locks)
{
    const bool isSame = std::ranges::equal(
        locks, m_locks, [](const auto &a, const auto &b) { return a.lock == b.lock && a.holds == b.holds; });
    if (!isSame) {
        beginResetModel(); // reset: it is another session, or other locks
        m_locks = std::move(locks);
        endResetModel();
    } else if (locks != m_locks) {
        m_locks = std::move(locks);
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

int SessionLocksModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_locks.size());
}

int SessionLocksModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

QVariant SessionLocksModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const auto &row = at(index.row());
    if (role == ToneRole)
        return index.column() == Place ? QVariant(static_cast<int>(row.holds ? Tone::Hold : Tone::Wait)) : QVariant();
    if (role == Qt::TextAlignmentRole && index.column() == Age)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    const std::array cells{row.place, nameText(row.lock.name), row.age, row.next};
    const auto &text = cells[static_cast<std::size_t>(index.column())];
    return role == Qt::ToolTipRole ? plainToolTip(text) : text;
}

QVariant SessionLocksModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const std::array titles{u"Holds or waits"_s, u"Lock"_s, u"For"_s, u"Inherits it, or is before it"_s};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((section == Age ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return role == Qt::DisplayRole ? QVariant(titles[static_cast<std::size_t>(section)]) : QVariant();
}

} // namespace lockscope::ui

#include "moc_sessionlocksmodel.cpp"
