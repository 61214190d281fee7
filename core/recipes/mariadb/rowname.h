// SPDX-License-Identifier: Apache-2.0
// What a lock on a SQL server is called: "shop.stock#id=1" for a row, "q.LOCKS#SCHED=s,NAME=trigger" for one whose
// key has several columns, "SHEDLOCK#shop.shedlock#nightly" for a row that is a lock by what stands in it,
// "GET_LOCK#name" for a named lock.
#pragma once

#include "core/base/result.h"

#include <QByteArrayList>

namespace lockscope::recipes {

struct RowName {
    QByteArray schema, table; // as they are, unquoted
    QByteArrayList columns;   // one at least
    QByteArrayList values;    // as many

    // `shop`.`stock`, for a statement.
    [[nodiscard]] QByteArray quotedTable() const;
    // `id` = ? AND …, in the order of the values.
    [[nodiscard]] QByteArray condition() const;
};

// A row that is a lock by what stands in it, in a table with ShedLock's columns; its column `name` says which.
struct LeasedRowName {
    QByteArray schema, table; // as they are, unquoted
    QByteArray name;

    [[nodiscard]] QByteArray quotedTable() const;
};

// `name`, safe in a statement whatever it holds.
[[nodiscard]] QByteArray quotedIdentifier(const QByteArray &name);
// Schema and table end at the first "." and "#" outside backticks, a column at "=". A value ends where "," and the
// "=" of another column follow; one that could be misread stands in backticks.
[[nodiscard]] Result<RowName> readRowName(const QByteArray &lock);
// Schema and table as above; all that follows is the name.
[[nodiscard]] Result<LeasedRowName> readLeasedRowName(const QByteArray &lock);
// The name after "GET_LOCK#".
[[nodiscard]] Result<QByteArray> readNamedLock(const QByteArray &lock);

} // namespace lockscope::recipes
