-- SPDX-License-Identifier: Apache-2.0
-- Columns of transactions and their waits, in one statement: in two, the copy might have been made anew between. All
-- transactions that only read have the number 0: of them only one that asks for that lock waits for it.
t.trx_id, t.trx_mysql_thread_id AS connection, UNIX_TIMESTAMP(t.trx_started) AS started,
    UNIX_TIMESTAMP(t.trx_wait_started) AS wait_started, t.trx_rows_locked AS rows_locked,
    t.trx_rows_modified AS rows_modified, t.trx_is_read_only AS is_read_only, w.blocking_trx_id AS blocking,
    l.lock_table, l.lock_index, l.lock_data, l.lock_mode AS requested_mode, b.lock_mode AS blocking_mode,
    l.lock_id, t.trx_requested_lock_id AS requested_lock, NULL AS blocking_status, t.trx_state AS state, (SELECT s.VARIABLE_VALUE FROM
    information_schema.GLOBAL_STATUS s WHERE s.VARIABLE_NAME = 'INNODB_DEADLOCKS') AS deadlocks
FROM information_schema.INNODB_TRX t
LEFT JOIN information_schema.INNODB_LOCK_WAITS w ON w.requesting_trx_id = t.trx_id AND w.requested_lock_id =
    t.trx_requested_lock_id
LEFT JOIN information_schema.INNODB_LOCKS l ON l.lock_id = w.requested_lock_id
LEFT JOIN information_schema.INNODB_LOCKS b ON b.lock_id = w.blocking_lock_id
