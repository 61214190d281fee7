// SPDX-License-Identifier: Apache-2.0
// What the files of the reader share: cells as text, moments, and what a server may refuse.
#pragma once

#include "core/inspect/postgresql/look.h"
#include "core/mariadb/session.h"

namespace lockscope::inspect {

inline QByteArray pgText(const mariadb::Rows &rows, std::size_t row, const char *column)
{
    return rows.cell(row, column).value_or(QByteArray());
}

inline std::optional<PgMoment> pgMoment(const mariadb::Rows &rows, std::size_t row, const char *column)
{
    const auto cell = rows.cell(row, column);
    return cell ? std::optional<PgMoment>(cell->toLongLong()) : std::nullopt;
}

// The server has an opinion: what the connection is suffering from is nobody's gap.
inline bool isPgRefusal(const Error &error)
{
    return error.code == ErrorCode::NoPermission || error.code == ErrorCode::Unsupported
           || error.code == ErrorCode::Server || error.code == ErrorCode::BadInput
           || error.code == ErrorCode::TimedOut;
}

inline QString whyUnread(const Error &error)
{
    return error.code == ErrorCode::TimedOut ? QStringLiteral(
               "another session has all of the table, or waits to have it (ALTER TABLE, LOCK TABLE …)")
                                             : error.message;
}

} // namespace lockscope::inspect
