-- SPDX-License-Identifier: Apache-2.0
-- Columns of a question over INNODB_TRX t about the connection %2 and its transaction %3; %1: whether it is fresh.
COALESCE(SUM(%1), 0) AS fresh,
COALESCE(SUM(t.trx_mysql_thread_id = %2), 0) AS present,
COALESCE(SUM(t.trx_mysql_thread_id = %2
  AND CONCAT('trx ', t.trx_id, ' started ', CAST(UNIX_TIMESTAMP(t.trx_started) * 1000 AS SIGNED)) = %3), 0) AS same
