-- SPDX-License-Identifier: Apache-2.0
-- Named locks, and locks of tables and of the server, as the plugin metadata_lock_info tells them.
SELECT CASE LOCK_TYPE WHEN 'User lock' THEN 'USER LEVEL LOCK' WHEN 'Backup lock' THEN 'BACKUP'
        WHEN 'Global read lock' THEN 'GLOBAL' WHEN 'Commit lock' THEN 'COMMIT' ELSE 'TABLE' END AS kind,
    TABLE_SCHEMA AS table_schema, IF(LOCK_TYPE = 'User lock', TABLE_SCHEMA, TABLE_NAME) AS name,
    THREAD_ID AS connection, 'GRANTED' AS status, SUBSTRING(LOCK_MODE, 5) AS mode
FROM information_schema.METADATA_LOCK_INFO
WHERE LOCK_TYPE = 'User lock'
OR (LOCK_TYPE IN ('Table metadata lock', 'Backup lock', 'Global read lock', 'Commit lock')
    AND THREAD_ID <> CONNECTION_ID())
