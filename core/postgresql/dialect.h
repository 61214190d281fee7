// SPDX-License-Identifier: Apache-2.0
// PostgreSQL, for a session of core/mariadb/dialect.h.
#pragma once

#include "core/mariadb/dialect.h"

namespace lockscope::postgresql {

[[nodiscard]] const mariadb::Dialect &dialect();

// By its SQLSTATE; empty where the server had no say: then the connection is gone. The text is made harmless.
[[nodiscard]] bool isLostConnection(const QString &sqlState);
[[nodiscard]] Error statementError(const QString &sqlState, const QString &text, bool isLasting);
// Of an attempt to connect: Qt's driver tells no SQLSTATE of it.
[[nodiscard]] Error connectError(const QString &text);

// A moment as whole microseconds since 1970: what a server keeps, so that equal is the same.
[[nodiscard]] inline QByteArray microseconds(const QByteArray &moment)
{
    return "(extract(epoch from " + moment + ") * 1000000)::bigint";
}

// Names and values in a statement, safe whatever they hold.

// "name", with the quotes.
[[nodiscard]] QByteArray quotedName(const QByteArray &name);
// 'text', which the server reads as what it is compared with.
[[nodiscard]] QByteArray quotedText(const QByteArray &text);
// The statement with its parameters in the place of the ?, those inside of quotes excepted: a server's PREPARE would
// cost a request, and its DEALLOCATE is refused in a transaction that failed. BadInput for what a PostgreSQL cannot
// be told: a zero byte, what is not UTF-8, or more or fewer parameters than places.
[[nodiscard]] Result<QByteArray> withParameters(const mariadb::Statement &statement);

// The real session on a PostgreSQL: that of core/mariadb/dialect.h in another dialect. KILL is pg_cancel_backend and
// pg_terminate_backend there, for this very backend: its process number comes again, its start does not.
//
// The port is that of core/mariadb/session.h; errors by their SQLSTATE. What differs: a statement that fails inside
// of a transaction ends all of it, and what follows is refused until its ROLLBACK.

// Returns at once, in state Connecting. Loop thread only. The options' dialect is set here.
[[nodiscard]] std::unique_ptr<mariadb::Session> openSession(Loop &loop, mariadb::SessionOptions options);

} // namespace lockscope::postgresql
