-- SPDX-License-Identifier: Apache-2.0
-- Tables that a connection keeps other clients out of, by the plugin METADATA_LOCK_INFO.
SELECT TABLE_SCHEMA AS table_schema, TABLE_NAME AS name FROM information_schema.METADATA_LOCK_INFO WHERE
    THREAD_ID = ? AND LOCK_TYPE = 'Table metadata lock' AND LOCK_MODE IN ('MDL_SHARED_NO_READ_WRITE',
    'MDL_SHARED_READ_ONLY', 'MDL_SHARED_NO_WRITE', 'MDL_SHARED_UPGRADABLE', 'MDL_EXCLUSIVE')
