// SPDX-License-Identifier: Apache-2.0
// The SQL port behind the gate.
#pragma once

#include "core/mariadb/session.h"
#include "core/operate/gate.h"

namespace lockscope::operate {

// What makes a question of a dialect one that locks or changes something, in capitals, beside what does so in the
// port's own, MariaDB's.
using SqlWriteWords = QByteArrayList;

// As those of gate.h.
[[nodiscard]] std::unique_ptr<mariadb::Session> gated(mariadb::Session &session, Gate &gate, SqlWriteWords words);
[[nodiscard]] std::unique_ptr<mariadb::Session> gated(std::unique_ptr<mariadb::Session> session, Gate &gate,
                                                      SqlWriteWords words);

// Whether an SQL statement changes or locks anything (what is not known to be a mere question counts).
[[nodiscard]] bool isSqlWrite(const mariadb::Statement &statement, const SqlWriteWords &words);

} // namespace lockscope::operate
