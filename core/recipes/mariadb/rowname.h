// SPDX-License-Identifier: Apache-2.0
// What a lock on a SQL server is called: "shop.stock#id=1" for a row, "GET_LOCK#name" for a named lock.
#pragma once

#include "core/base/result.h"

#include <QByteArray>

namespace lockscope::recipes {

struct RowName {
    QByteArray schema, table, column; // as they are, unquoted
    QByteArray value;

    // `shop`.`stock`, for a statement.
    [[nodiscard]] QByteArray quotedTable() const;
};

// `name`, safe in a statement whatever it holds.
[[nodiscard]] QByteArray quotedIdentifier(const QByteArray &name);
// Schema and table end at the first "." and "#" outside backticks, the column at the first "=".
[[nodiscard]] Result<RowName> readRowName(const QByteArray &lock);
// The name after "GET_LOCK#".
[[nodiscard]] Result<QByteArray> readNamedLock(const QByteArray &lock);

} // namespace lockscope::recipes
