// SPDX-License-Identifier: Apache-2.0
// A table whose rows are kept elsewhere and are shown in an order, where a filter lets them. Rows that come or go at
// many places at once become one signal at the end and one change of layout instead of hundreds. GUI thread only.
#pragma once

#include "ui/models/rowsmodel.h"

#include <numeric>

namespace lockscope::ui {

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
