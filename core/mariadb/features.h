// SPDX-License-Identifier: Apache-2.0
// What an SQL server of this kind has, as it said when it was connected to. Its name and its version say none of it:
// forks take features from each other, and proxies call themselves what they like.
#pragma once

#include <QByteArray>

namespace lockscope::mariadb {

struct Features {
    // BEGIN NOT ATOMIC … END outside of procedures: what is looked at and what is done about it are one statement.
    bool blocks = false;
    bool inTransaction = false;    // @@in_transaction
    bool innoDbLocks = false;      // INNODB_LOCKS and INNODB_LOCK_WAITS; else data_locks of performance_schema
    bool statementNumbers = false; // QUERY_ID in PROCESSLIST
    bool milliseconds = false;     // TIME_MS in PROCESSLIST
    // Where GLOBAL_STATUS answers.
    QByteArray statusSchema{"performance_schema"};
};

// What a new connection asks: who it is, and all of the above that tables and columns tell. In a block, which not
// every server understands, and without.
[[nodiscard]] QByteArray greeting();
[[nodiscard]] QByteArray greetingInBlock();

} // namespace lockscope::mariadb
