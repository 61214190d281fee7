-- SPDX-License-Identifier: Apache-2.0
-- Columns of transactions and their waits, in one statement: in two, the copy might have been made anew between.
t.trx_id, t.trx_mysql_thread_id AS connection, UNIX_TIMESTAMP(t.trx_started) AS started,
    UNIX_TIMESTAMP(t.trx_wait_started) AS wait_started, t.trx_rows_locked AS rows_locked,
    t.trx_rows_modified AS rows_modified, t.trx_is_read_only AS is_read_only,
    w.BLOCKING_ENGINE_TRANSACTION_ID AS blocking, CONCAT('`', l.OBJECT_SCHEMA, '`.`', l.OBJECT_NAME, '`') AS
    lock_table, l.INDEX_NAME AS lock_index, l.LOCK_DATA AS lock_data, l.LOCK_MODE AS requested_mode,
    b.LOCK_MODE AS blocking_mode, l.ENGINE_LOCK_ID AS lock_id, b.LOCK_STATUS AS blocking_status, t.trx_state
    AS state, (SELECT s.`COUNT` FROM information_schema.INNODB_METRICS s WHERE s.NAME = 'lock_deadlocks' AND
    s.STATUS = 'enabled') AS deadlocks
FROM information_schema.INNODB_TRX t
LEFT JOIN performance_schema.data_lock_waits w ON w.REQUESTING_ENGINE_TRANSACTION_ID = t.trx_id
LEFT JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
LEFT JOIN performance_schema.data_locks b ON b.ENGINE_LOCK_ID = w.BLOCKING_ENGINE_LOCK_ID
