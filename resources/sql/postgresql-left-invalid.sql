-- SPDX-License-Identifier: Apache-2.0
-- Which of the indexes %1 are still INVALID, and on how many of their tables backend %2 still has its lock.
SELECT string_agg(i.indexrelid::regclass::text, ', ' ORDER BY i.indexrelid) AS invalid,
  (SELECT count(*) FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid,
    pg_catalog.pg_index i
    WHERE l.granted AND l.locktype = 'relation' AND l.mode = 'ShareUpdateExclusiveLock' AND l.relation = i.indrelid
    AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())
    AND i.indexrelid IN (%1) AND %2)::text AS busy
FROM pg_catalog.pg_index i WHERE NOT i.indisvalid AND i.indexrelid IN (%1)
