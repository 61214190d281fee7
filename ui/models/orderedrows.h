// SPDX-License-Identifier: Apache-2.0
// Rows of locks in an order: where one stands, and how many at once come or go.
#pragma once

#include "ui/models/lockrow.h"

#include <vector>

namespace lockscope::ui {

using LockRows = std::vector<LockRow *>;

// Where the row stands, or would.
[[nodiscard]] int placeOf(const LockRows &rows, const LockRow &row, const LockOrder &order);
void takeRows(LockRows &rows, const LockRows &doomed, const LockOrder &order);
void putRows(LockRows &rows, const LockRows &fresh, const LockOrder &order);

// Neighbours that come together: `count` rows of `fresh` from `first` on, before the row at `at`.
struct RowGroup {
    int at;
    std::size_t first, count;
};
[[nodiscard]] std::vector<RowGroup> placesOf(const LockRows &rows, const LockRows &fresh, const LockOrder &order);

// Of these, which changed since the others were put in order: those that leave, those that are not shown yet, and
// those that do not belong between their neighbours any more.
[[nodiscard]] LockRows unsettled(const LockRows &rows, const LockRows &changed, const LockOrder &order,
                                 const LockFilter &filter);

// Names of its connection's other locks that a thread holds which holds this one, in their order.
[[nodiscard]] std::vector<QByteArray> heldWith(const inspect::LockSnapshot &lock, const LockRows &rows);

} // namespace lockscope::ui
