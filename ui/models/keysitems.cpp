// SPDX-License-Identifier: Apache-2.0
#include "ui/models/keysitems.h"

#include "core/base/text.h"
#include "ui/theme/text.h"

namespace lockscope::ui {

using namespace Qt::StringLiterals;

KeyItemsModel::Shape KeyItemsModel::shapeOf(const QByteArray &type)
{
    if (type == "hash" || type == "zset")
        return Shape::Pairs;
    if (type == "list")
        return Shape::Numbered;
    return type == "set" ? Shape::Members : Shape::Single;
}

int KeyItemsModel::countOf(const std::vector<QByteArray> &items) const
{
    return static_cast<int>(m_shape == Shape::Pairs ? items.size() / 2 : items.size());
}

void KeyItemsModel::show(const KeyDetail &detail)
{
    if (shapeOf(detail.row.type) != m_shape)
        clear();
    m_shape = shapeOf(detail.row.type);
    const int before = countOf(m_items);
    const int after = countOf(detail.items);
    if (after < before)
        beginRemoveRows({}, after, before - 1);
    else if (after > before)
        beginInsertRows({}, before, after - 1);
    m_items = detail.items;
    if (after < before)
        endRemoveRows();
    else if (after > before)
        endInsertRows();
    if (const int both = std::min(before, after); both > 0)
        emit dataChanged(index(0, 0), index(both - 1, ColumnCount - 1));
}

QByteArray KeyItemsModel::nameAt(int row) const
{
    if (row < 0 || row >= rowCount() || m_shape == Shape::Single)
        return {};
    if (m_shape == Shape::Numbered)
        return QByteArray::number(row);
    return m_items[static_cast<std::size_t>(m_shape == Shape::Pairs ? 2 * row : row)];
}

int KeyItemsModel::rowOf(const QByteArray &name) const
{
    for (int row = 0; row < rowCount(); ++row) {
        if (nameAt(row) == name)
            return row;
    }
    return -1;
}

void KeyItemsModel::clear()
{
    if (const int count = countOf(m_items); count > 0) {
        beginRemoveRows({}, 0, count - 1);
        m_items.clear();
        endRemoveRows();
    }
    m_items.clear();
}

int KeyItemsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : countOf(m_items);
}

int KeyItemsModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

QVariant KeyItemsModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const bool isPairs = m_shape == Shape::Pairs;
    const QByteArray &value = isPairs ? m_items[2 * row + 1] : m_items[row];
    switch (role) {
    case Qt::DisplayRole:
        if (index.column() == Value)
            return label(value);
        return isPairs ? nameText(m_items[2 * row]) : m_shape == Shape::Numbered ? QString::number(row) : QString();
    case Qt::ToolTipRole:
        return plainToolTip(label(index.column() == Label && isPairs ? m_items[2 * row] : value, 2000));
    case ValueRole: return value;
    default: return {};
    }
}

QVariant KeyItemsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    if (section == Value)
        return m_shape == Shape::Members ? u"Member"_s : u"Value"_s;
    return m_shape == Shape::Pairs ? u"Field"_s : m_shape == Shape::Numbered ? u"#"_s : QString();
}

} // namespace lockscope::ui

#include "moc_keysitems.cpp"
