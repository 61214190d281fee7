// SPDX-License-Identifier: Apache-2.0
// What the server's (and the client library's) error numbers mean.
#pragma once

#include "core/mariadb/dialect.h"

namespace lockscope::mariadb {

namespace numbers {
constexpr int queryInterrupted = 1317;
}

[[nodiscard]] int numberOf(const QSqlError &error);
// The connection is gone, whatever became of the statement.
[[nodiscard]] bool isLostConnection(int number);
// Of a statement that was out. The text of the server is made harmless.
[[nodiscard]] Error statementError(const QSqlError &error, bool isLasting);
// Of an attempt to connect: AuthFailed and Unsupported mean that trying again cannot help.
[[nodiscard]] Error connectError(const QSqlError &error, Secured secured);

} // namespace lockscope::mariadb
