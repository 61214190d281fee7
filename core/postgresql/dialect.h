// SPDX-License-Identifier: Apache-2.0
// PostgreSQL, for a session of core/mariadb/client.h.
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

} // namespace lockscope::postgresql
