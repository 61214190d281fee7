// SPDX-License-Identifier: Apache-2.0
// What an SQL server of this kind has, as it said when it was connected to. Its name and its version say none of it:
// forks take features from each other, and proxies call themselves what they like.
#pragma once

#include <QByteArray>

namespace lockscope::mariadb {

struct Features {
    // BEGIN NOT ATOMIC … END outside of procedures: what is looked at and what is done about it are one statement.
    bool blocks = false;
    bool inTransaction = false; // @@in_transaction
    // performance_schema's events of transactions: they say the same, where they are on and may be read.
    bool transactionEvents = false;
    bool innoDbLocks = false;      // INNODB_LOCKS and INNODB_LOCK_WAITS; else data_locks of performance_schema
    bool statementNumbers = false; // QUERY_ID in PROCESSLIST
    bool milliseconds = false;     // TIME_MS in PROCESSLIST
    // Where GLOBAL_STATUS answers.
    QByteArray statusSchema{"performance_schema"};
};

// "mine": whether this connection is in a transaction.
inline const QByteArray hasTransactionByEvents = QByteArrayLiteral(
    "SELECT COUNT(*) AS mine FROM performance_schema.events_transactions_current e JOIN performance_schema.threads h "
    "ON h.THREAD_ID = e.THREAD_ID WHERE h.PROCESSLIST_ID = CONNECTION_ID() AND e.STATE = 'ACTIVE' "
    "AND e.AUTOCOMMIT = 'NO'");

// What a new connection asks: who it is, and all of the above that tables and columns tell. In a block, which not
// every server understands, and without.
[[nodiscard]] QByteArray greeting();
[[nodiscard]] QByteArray greetingInBlock();

} // namespace lockscope::mariadb
