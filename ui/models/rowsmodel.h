// SPDX-License-Identifier: Apache-2.0
// A table made of a list of rows and a table of columns: a model names its columns and their cells, and inherits how
// views read them and how rows are inserted, removed and changed with few signals. GUI thread only.
#pragma once

#include "ui/theme/text.h"

#include <QAbstractTableModel>

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace lockscope::ui {

// A model answers this role where a file or the clipboard has room for more than the cell shows.
constexpr int WholeTextRole = Qt::UserRole + 1000;

struct RowRange {
    int first = 0;
    int last = 0;
    friend bool operator==(const RowRange &, const RowRange &) = default;
};

// Sorted row numbers as contiguous ranges; gaps of up to `bridged` rows are included.
[[nodiscard]] inline std::vector<RowRange> rangesOf(const std::vector<int> &sortedRows, int bridged = 0)
{
    std::vector<RowRange> ranges;
    for (const int row : sortedRows) {
        if (!ranges.empty() && row <= ranges.back().last + 1 + bridged)
            ranges.back().last = std::max(ranges.back().last, row);
        else
            ranges.push_back({row, row});
    }
    return ranges;
}

template <class Content>
struct RowColumn {
    using Text = std::function<QString(const Content &)>;
    using Value = std::function<QVariant(const Content &)>;
    using Values = std::map<int, Value>;

    QString title{};
    Text text;
    QString help{};              // the tooltip of the title
    Text tip{};                  // the tooltip of a cell; without one it is the cell's text
    bool isNumber = false;       // numbers are aligned to the right
    bool isSearched = true;      // FilterRole contains its text
    bool isLargestFirst = false; // the first click on the title sorts in descending order
    Values values{};             // of other roles
};

// `Row` is a value or a pointer to one that is kept elsewhere; the columns read the value.
template <class Row, class Rows = std::vector<Row>>
class RowsModel : public QAbstractTableModel {
public:
    using Content = std::remove_cv_t<std::remove_pointer_t<Row>>;
    using Columns = std::vector<RowColumn<Content>>;
    // GCC 12 crashes over a braced list of columns whose defaults it has not needed before.
    static_assert(std::is_default_constructible_v<RowColumn<Content>>);
    // A model's own roles start at the last.
    enum SharedRole { FilterRole = Qt::UserRole, SortRole, ToneRole, OwnRole };

    [[nodiscard]] const Content &at(int row) const { return contentOf(m_rows[static_cast<std::size_t>(row)]); }

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
    }

    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
    }

    [[nodiscard]] QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override
    {
        if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
            return {};
        const auto &row = at(index.row());
        const auto &column = m_columns[static_cast<std::size_t>(index.column())];
        for (const auto *values : {&column.values, &m_values}) {
            if (const auto value = values->find(role); value != values->end())
                return value->second(row);
        }
        switch (role) {
        case Qt::DisplayRole:
        case SortRole: return column.text(row);
        case Qt::ToolTipRole: return plainToolTip(column.tip ? column.tip(row) : column.text(row));
        case Qt::TextAlignmentRole: return alignmentOf(column);
        case FilterRole: return searchedText(row);
        default: return {};
        }
    }

    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override
    {
        if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
            return {};
        const auto &column = m_columns[static_cast<std::size_t>(section)];
        switch (role) {
        case Qt::DisplayRole: return column.title;
        case Qt::ToolTipRole: return column.help.isEmpty() ? QVariant() : column.help;
        case Qt::TextAlignmentRole: return alignmentOf(column);
        case Qt::InitialSortOrderRole: return column.isLargestFirst ? Qt::DescendingOrder : Qt::AscendingOrder;
        default: return {};
        }
    }

protected:
    explicit RowsModel(QObject *parent, Columns columns = {})
        : QAbstractTableModel(parent), m_columns(std::move(columns))
    {
    }

    [[nodiscard]] static const Content &contentOf(const Row &row)
    {
        if constexpr (std::is_pointer_v<Row>)
            return *row;
        else
            return row;
    }

    // The row's texts in all columns.
    [[nodiscard]] QStringList textsOf(const Content &row) const
    {
        QStringList texts;
        for (const auto &column : m_columns)
            texts << column.text(row);
        return texts;
    }

    // Reports rows in any order; a gap of a few rows costs a view less than another signal.
    void reportChanged(std::vector<int> rows, int bridged = 0)
    {
        std::ranges::sort(rows);
        for (const auto &range : rangesOf(rows, bridged))
            emit dataChanged(index(range.first, 0), index(range.last, columnCount() - 1));
    }

    void reportColumns(int first, int last, const QList<int> &roles = {})
    {
        if (rowCount() > 0)
            emit dataChanged(index(0, first), index(rowCount() - 1, last), roles);
    }
    void reportAll() { reportColumns(0, columnCount() - 1); }

    void removeRange(int first, int last)
    {
        beginRemoveRows({}, first, last);
        m_rows.erase(m_rows.begin() + first, m_rows.begin() + last + 1);
        endRemoveRows();
    }

    // Replaces all rows. Those that are the same at the start and at the end keep their rows, so that a selected row
    // stays selected; `isEqual` is asked whether such a row has to be painted again.
    template <class Same, class Equal = std::equal_to<>>
    void replaceRows(Rows next, Same isSame, Equal isEqual = {})
    {
        const auto old = std::mismatch(m_rows.begin(), m_rows.end(), next.begin(), next.end(), isSame);
        const auto tail = std::mismatch(m_rows.rbegin(), std::make_reverse_iterator(old.first), next.rbegin(),
                                        std::make_reverse_iterator(old.second), isSame);
        const int first = static_cast<int>(old.first - m_rows.begin());
        const int added = static_cast<int>(tail.second.base() - old.second);
        if (const int removed = static_cast<int>(tail.first.base() - old.first); removed > 0)
            removeRange(first, first + removed - 1);
        if (added > 0)
            beginInsertRows({}, first, first + added - 1);
        const auto before = std::exchange(m_rows, std::move(next));
        if (added > 0)
            endInsertRows();
        std::vector<int> changed;
        for (int row = 0; row < std::ssize(before); ++row) {
            const int now = row < first ? row : row + added;
            if (!isEqual(before[static_cast<std::size_t>(row)], m_rows[static_cast<std::size_t>(now)]))
                changed.push_back(now);
        }
        reportChanged(std::move(changed));
    }

    // Replaces those rows that `isConcerned`. `next` is in the order of the rows, and no two of it are equal in it.
    template <class Before, class Concerned>
    void mergeRows(Rows next, Before isBefore, Concerned isConcerned)
    {
        const auto isGone = [&](const Row &row) {
            return isConcerned(row) && !std::binary_search(next.begin(), next.end(), row, isBefore);
        };
        for (auto last = m_rows.size(); last-- > 0;) {
            auto first = last + 1;
            while (first > 0 && isGone(m_rows[first - 1]))
                --first;
            if (first <= last)
                removeRange(static_cast<int>(first), static_cast<int>(last));
            last = std::min(first, last);
        }
        int firstChanged = -1, lastChanged = -1;
        for (auto from = next.begin(); from != next.end();) {
            const auto place = std::lower_bound(m_rows.begin(), m_rows.end(), *from, isBefore);
            const int row = static_cast<int>(place - m_rows.begin());
            if (place != m_rows.end() && !isBefore(*from, *place)) {
                if (!(*place == *from)) {
                    *place = std::move(*from);
                    firstChanged = firstChanged < 0 ? row : firstChanged;
                    lastChanged = row;
                }
                ++from;
                continue;
            }
            const auto isNeighbor = [&](const Row &other) {
                return place == m_rows.end() || isBefore(other, *place);
            };
            const auto end = std::find_if_not(from + 1, next.end(), isNeighbor);
            beginInsertRows({}, row, row + static_cast<int>(end - from) - 1);
            m_rows.insert(place, std::make_move_iterator(from), std::make_move_iterator(end));
            endInsertRows();
            from = end;
        }
        if (firstChanged >= 0)
            emit dataChanged(index(firstChanged, 0), index(lastChanged, columnCount() - 1));
    }

    Columns m_columns;
    typename RowColumn<Content>::Values m_values; // of columns without a value of their own for the role
    Rows m_rows;

private:
    [[nodiscard]] static QVariant alignmentOf(const RowColumn<Content> &column)
    {
        return QVariant::fromValue((column.isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }

    [[nodiscard]] QString searchedText(const Content &row) const
    {
        QStringList texts;
        for (const auto &column : m_columns) {
            if (column.isSearched)
                texts << column.text(row);
        }
        return texts.join(u'\n');
    }
};

} // namespace lockscope::ui
