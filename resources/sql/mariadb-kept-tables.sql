-- SPDX-License-Identifier: Apache-2.0
-- Tables that a connection keeps other clients out of, by performance_schema.
SELECT m.OBJECT_SCHEMA AS table_schema, m.OBJECT_NAME AS name FROM performance_schema.metadata_locks m
    JOIN performance_schema.threads t ON t.THREAD_ID = m.OWNER_THREAD_ID WHERE t.PROCESSLIST_ID = ? AND
    m.OBJECT_TYPE = 'TABLE' AND m.LOCK_STATUS = 'GRANTED' AND m.LOCK_TYPE IN ('SHARED_NO_READ_WRITE',
    'SHARED_READ_ONLY', 'SHARED_NO_WRITE', 'SHARED_UPGRADABLE', 'EXCLUSIVE')
