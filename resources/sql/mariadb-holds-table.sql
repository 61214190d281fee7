-- SPDX-License-Identifier: Apache-2.0
-- True while connection %1 has a lock of the type %2 on schema %3, object %4, in the modes of %5.
(SELECT COUNT(*) FROM performance_schema.metadata_locks m
  JOIN performance_schema.threads h ON h.THREAD_ID = m.OWNER_THREAD_ID
  WHERE h.PROCESSLIST_ID = %1 AND m.OBJECT_TYPE = %2 AND m.LOCK_STATUS = 'GRANTED'
  AND COALESCE(m.OBJECT_SCHEMA, '') = %3 AND COALESCE(m.OBJECT_NAME, '') = %4%5) > 0
