// SPDX-License-Identifier: Apache-2.0
// A table made of a list of rows and a table of columns: a model names its columns and their cells, and inherits how
// views read them and how rows are inserted, removed and changed with few signals. GUI thread only.
#pragma once

#include "ui/theme/theme.h"

#include <QAbstractTableModel>

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <numeric>
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

// A table whose rows are kept elsewhere and are shown in an order, where a filter lets them. Rows that come or go at
// many places at once become one signal at the end and one change of layout instead of hundreds. GUI thread only.
// `Content` has `shown`, and `leaving` and `row` for the time of a change; `Order` compares pointers to it.
template <class Content, class Order>
class OrderedRows : public RowsModel<Content *> {
protected:
    using Rows = std::vector<Content *>;

    // Beyond `mostPlaces` in one change, one change of layout is cheaper for a view than so many signals.
    OrderedRows(QObject *parent, std::size_t mostPlaces) : RowsModel<Content *>(parent), m_mostPlaces(mostPlaces) {}

    // The row's place in rows of the order, whether it is among them or not.
    [[nodiscard]] int placeIn(const Rows &rows, const Content &row) const
    {
        return static_cast<int>(std::lower_bound(rows.begin(), rows.end(), &row, m_order) - rows.begin());
    }
    [[nodiscard]] int placeOf(const Content &row) const { return placeIn(this->m_rows, row); }

    void takeRows(Rows &rows, const Rows &doomed) const
    {
        if (doomed.size() <= fewRows) {
            for (const auto *row : doomed)
                rows.erase(rows.begin() + placeIn(rows, *row));
            return;
        }
        markLeaving(doomed, true);
        std::erase_if(rows, &isLeaving);
        markLeaving(doomed, false);
    }

    void putRows(Rows &rows, const Rows &fresh) const
    {
        if (fresh.size() <= fewRows) {
            for (auto *row : fresh)
                rows.insert(rows.begin() + placeIn(rows, *row), row);
            return;
        }
        const auto middle = std::ssize(rows);
        rows.insert(rows.end(), fresh.begin(), fresh.end());
        std::sort(rows.begin() + middle, rows.end(), m_order);
        std::inplace_merge(rows.begin(), rows.begin() + middle, rows.end(), m_order);
    }

    void removeShown(const Rows &doomed)
    {
        std::vector<int> places;
        for (const auto *row : doomed)
            places.push_back(placeOf(*row));
        std::ranges::sort(places);
        auto ranges = rangesOf(places);
        if (ranges.size() > m_mostPlaces) {
            markLeaving(doomed, true);
            rearrangeShown(
                [this] { std::stable_partition(this->m_rows.begin(), this->m_rows.end(), std::not_fn(&isLeaving)); });
            markLeaving(doomed, false);
            const int total = this->rowCount();
            ranges = {{total - static_cast<int>(doomed.size()), total - 1}};
        }
        for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
            this->beginRemoveRows({}, range->first, range->last);
            const auto from = this->m_rows.begin() + range->first, upTo = this->m_rows.begin() + range->last + 1;
            std::for_each(from, upTo, [](Content *row) { row->shown = false; });
            this->m_rows.erase(from, upTo);
            this->endRemoveRows();
        }
    }

    void insertShown(Rows fresh)
    {
        if (fresh.empty())
            return;
        std::sort(fresh.begin(), fresh.end(), m_order);
        std::vector<int> places;
        for (const auto *row : fresh)
            places.push_back(placeOf(*row));
        const auto middle = this->rowCount();
        const auto groups = 1
                            + std::inner_product(places.begin() + 1, places.end(), places.begin(), std::size_t(0),
                                                 std::plus(), std::not_equal_to());
        const bool isScattered = groups > m_mostPlaces;
        if (isScattered)
            std::ranges::fill(places, middle);
        for (auto end = places.size(); end > 0;) { // from the last place on, so that the places before it stay right
            auto first = end - 1;
            while (first > 0 && places[first - 1] == places[first])
                --first;
            const auto from = fresh.begin() + static_cast<std::ptrdiff_t>(first);
            const auto upTo = fresh.begin() + static_cast<std::ptrdiff_t>(end);
            this->beginInsertRows({}, places[first], places[first] + static_cast<int>(end - first) - 1);
            this->m_rows.insert(this->m_rows.begin() + places[first], from, upTo);
            std::for_each(from, upTo, [](Content *row) { row->shown = true; });
            this->endInsertRows();
            end = first;
        }
        if (isScattered)
            rearrangeShown([this, middle] {
                std::inplace_merge(this->m_rows.begin(), this->m_rows.begin() + middle, this->m_rows.end(), m_order);
            });
    }

    // Whoever keeps an index of a row finds the row again at its new place.
    template <class Rearrange>
    void rearrangeShown(Rearrange rearrange)
    {
        emit this->layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
        const auto before = this->persistentIndexList();
        Rows kept;
        for (const auto &index : before)
            kept.push_back(this->m_rows[static_cast<std::size_t>(index.row())]);
        rearrange();
        if (!before.isEmpty()) {
            for (std::size_t row = 0; row < this->m_rows.size(); ++row)
                this->m_rows[row]->row = static_cast<int>(row);
        }
        QModelIndexList after;
        for (std::size_t i = 0; i < kept.size(); ++i)
            after << this->index(kept[i]->row, before[static_cast<qsizetype>(i)].column());
        this->changePersistentIndexList(before, after);
        emit this->layoutChanged({}, QAbstractItemModel::VerticalSortHint);
    }

    void sortShown()
    {
        rearrangeShown([this] { std::sort(this->m_rows.begin(), this->m_rows.end(), m_order); });
    }

    void reportShown(std::vector<int> rows) { this->reportChanged(std::move(rows), bridgedRows); }

    Order m_order;

private:
    static constexpr std::size_t fewRows = 64; // up to so many, bisection for each beats a pass over all rows
    static constexpr int bridgedRows = 8;

    [[nodiscard]] static bool isLeaving(const Content *row) { return row->leaving; }
    static void markLeaving(const Rows &rows, bool isOn)
    {
        for (auto *row : rows)
            row->leaving = isOn;
    }
    const std::size_t m_mostPlaces;
};

} // namespace lockscope::ui
