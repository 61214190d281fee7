-- SPDX-License-Identifier: Apache-2.0
-- Numbers of the INVALID indexes on tables that backend %1 locks as CREATE, REINDEX and DROP INDEX CONCURRENTLY do.
SELECT string_agg(i.indexrelid::text, ',' ORDER BY i.indexrelid) AS invalid
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
WHERE NOT i.indisvalid AND c.relkind = 'i'
AND EXISTS (SELECT 1 FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
  WHERE l.granted AND l.locktype = 'relation' AND l.mode = 'ShareUpdateExclusiveLock' AND l.relation = i.indrelid
  AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database()) AND %1)
