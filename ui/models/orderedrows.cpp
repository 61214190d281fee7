// SPDX-License-Identifier: Apache-2.0
#include "ui/models/orderedrows.h"

#include <algorithm>

namespace lockscope::ui {

// Up to so many, finding each by bisection beats a pass over all rows.
constexpr std::size_t fewRows = 64;

int placeOf(const LockRows &rows, const LockRow &row, const LockOrder &order)
{
    return static_cast<int>(std::lower_bound(rows.begin(), rows.end(), &row, order) - rows.begin());
}

void takeRows(LockRows &rows, const LockRows &doomed, const LockOrder &order)
{
    if (doomed.size() <= fewRows) {
        for (const auto *row : doomed)
            rows.erase(rows.begin() + placeOf(rows, *row, order));
        return;
    }
    for (auto *row : doomed)
        row->leaving = true;
    std::erase_if(rows, [](const LockRow *row) { return row->leaving; });
    for (auto *row : doomed)
        row->leaving = false;
}

void putRows(LockRows &rows, const LockRows &fresh, const LockOrder &order)
{
    if (fresh.size() <= fewRows) {
        for (auto *row : fresh)
            rows.insert(rows.begin() + placeOf(rows, *row, order), row);
        return;
    }
    const auto middle = static_cast<std::ptrdiff_t>(rows.size());
    rows.insert(rows.end(), fresh.begin(), fresh.end());
    std::sort(rows.begin() + middle, rows.end(), order);
    std::inplace_merge(rows.begin(), rows.begin() + middle, rows.end(), order);
}

std::vector<RowGroup> placesOf(const LockRows &rows, const LockRows &fresh, const LockOrder &order)
{
    std::vector<RowGroup> groups;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        const int at = placeOf(rows, *fresh[i], order);
        if (!groups.empty() && groups.back().at == at)
            ++groups.back().count;
        else
            groups.push_back({at, i, 1});
    }
    return groups;
}

LockRows unsettled(const LockRows &rows, const LockRows &changed, const LockOrder &order, const LockFilter &filter)
{
    LockRows all;
    std::vector<int> places;
    const auto stays = [&filter](const LockRow &row) { return !row.gone && row.shown == filter.shows(row); };
    for (auto *row : changed) {
        if (!stays(*row))
            all.push_back(row);
        if (row->shown)
            places.push_back(placeOf(rows, *row, order));
    }
    std::ranges::sort(places);
    const auto rowAt = [&rows](int place) {
        const bool isThere = place >= 0 && place < static_cast<int>(rows.size());
        return isThere ? rows[static_cast<std::size_t>(place)] : nullptr;
    };
    for (auto first = places.begin(); first != places.end();) {
        auto end = first; // of those that stand beside each other
        while (end != places.end() && *end - *first == end - first)
            ++end;
        const auto *before = rowAt(*first - 1);
        const auto *after = rowAt(*std::prev(end) + 1);
        for (; first != end; ++first) {
            auto *row = rowAt(*first);
            if (!stays(*row))
                continue;
            const bool isInPlace =
                (!before || order.compareNow(*before, *row) < 0) && (!after || order.compareNow(*row, *after) < 0);
            if (isInPlace)
                before = row;
            else
                all.push_back(row);
        }
    }
    return all;
}

std::vector<QByteArray> heldWith(const inspect::LockSnapshot &lock, const LockRows &rows)
{
    std::vector<QByteArray> names;
    const auto threads = holdingThreads(lock);
    if (threads.empty())
        return names;
    for (const auto *row : rows) {
        const auto &other = row->snapshot;
        if (!row->gone && other.lock.connection == lock.lock.connection && other.lock.name != lock.lock.name
            && isHeldByAny(other, threads))
            names.push_back(other.lock.name);
    }
    std::ranges::sort(names);
    return names;
}

} // namespace lockscope::ui
