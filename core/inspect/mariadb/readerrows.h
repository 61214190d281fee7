// SPDX-License-Identifier: Apache-2.0
// What the files of the reader share: cells as text, moments, and what a server may refuse.
#pragma once

#include "core/base/duration.h"
#include "core/inspect/mariadb/poll.h"
#include "core/mariadb/session.h"

#include <functional>

namespace lockscope::inspect {

// Of a reader: sends a question with its parameters, and counts it.
using SqlSend = std::function<Reply<mariadb::Rows>(const QByteArray &, Deadline, const QByteArrayList &)>;

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

// Of connections that may be in the way of others and run nothing. Nothing of it is a gap: a statement is not needed
// to know who holds what. Whether the server may be asked again.
[[nodiscard]] Task<Result<bool>> readLastStatements(SqlSend send, SqlPoll *look, Deadline deadline);

// What a person has to do is in the message; what the connection is suffering from is nobody's gap.
inline bool isRefusal(const Error &error)
{
    return error.code == ErrorCode::NoPermission || error.code == ErrorCode::Unsupported
           || error.code == ErrorCode::Server || error.code == ErrorCode::BadInput;
}

} // namespace lockscope::inspect
