// SPDX-License-Identifier: Apache-2.0
// What the files of the reader share: cells as text, moments, and what a server may refuse.
#pragma once

#include "core/base/duration.h"
#include "core/inspect/snapshot.h"
#include "core/mariadb/session.h"

namespace lockscope::inspect {

inline QByteArray text(const mariadb::Rows &rows, std::size_t row, const QByteArray &column)
{
    return rows.cell(row, column).value_or(QByteArray());
}

// Seconds with or without a fraction.
inline std::optional<ServerTime> moment(const mariadb::Rows &rows, std::size_t row, const QByteArray &column)
{
    const auto cell = rows.cell(row, column);
    if (!cell)
        return std::nullopt;
    return ServerTime(millisecondsOf(cell->toDouble() * 1000));
}

// What a person has to do is in the message; what the connection is suffering from is nobody's gap.
inline bool isRefusal(const Error &error)
{
    return error.code == ErrorCode::NoPermission || error.code == ErrorCode::Unsupported
           || error.code == ErrorCode::Server || error.code == ErrorCode::BadInput;
}

} // namespace lockscope::inspect
