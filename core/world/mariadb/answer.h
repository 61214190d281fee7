// SPDX-License-Identifier: Apache-2.0
// What the simulated MariaDB answers to a statement: rows, or an error with the server's number for it.
#pragma once

#include "core/mariadb/session.h"

namespace lockscope::world {

struct SqlAnswer {
    int error = 0; // the server's number; 0 when it went well
    QByteArray message;
    mariadb::Rows rows;
};

[[nodiscard]] SqlAnswer error(int number, const QByteArray &message);
// One row.
[[nodiscard]] SqlAnswer cells(const QByteArrayList &columns, std::vector<mariadb::Rows::Cell> row);
[[nodiscard]] SqlAnswer lockWaitTimeout();
[[nodiscard]] SqlAnswer deadlock();
[[nodiscard]] SqlAnswer transactionIsAborted();

} // namespace lockscope::world
