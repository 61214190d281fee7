-- SPDX-License-Identifier: Apache-2.0
-- Locks and sessions. Both sides whole: a lock without a session is a prepared transaction's, a session without a lock
-- one that may be in a transaction. waitstart came with PostgreSQL 14 and is taken out of the row by its name. Whoever
-- shares a row with the one that is waited for is shown, too.
-- INVALID indexes: who builds or drops one CONCURRENTLY has its table ShareUpdateExclusive from before its first commit
-- until after its last; so has VACUUM. Locks are read before the index's row, and a row that has changed since the
-- statement's snapshot has an xmax.
-- A predicate lock (SIReadLock) keeps no client out. A parallel worker is its leader, as for pg_blocking_pids; the
-- leader's number came with PostgreSQL 13.
-- A question in a question: what begins with WITH may change rows, and is taken for a write by the gate.
SELECT *
FROM (WITH locks AS MATERIALIZED (SELECT * FROM pg_catalog.pg_locks WHERE mode <> 'SIReadLock'), waiting AS MATERIALIZED (SELECT * FROM
    locks WHERE NOT granted), shown AS MATERIALIZED (SELECT l.*, to_jsonb(l)->>'waitstart' AS since FROM
    locks l WHERE l.locktype = 'advisory' OR NOT l.granted OR l.pid IS NULL OR (l.locktype = 'tuple' AND
    l.pid IN (SELECT pid FROM waiting)) OR (l.locktype = 'transactionid' AND EXISTS (SELECT 1 FROM waiting w
    WHERE w.locktype = 'transactionid')) OR EXISTS (SELECT 1 FROM waiting w WHERE (l.locktype, l.database,
    l.relation, l.page, l.tuple, l.virtualxid, l.transactionid::text, l.classid, l.objid, l.objsubid) IS NOT
    DISTINCT FROM (w.locktype, w.database, w.relation, w.page, w.tuple, w.virtualxid, w.transactionid::text,
    w.classid, w.objid, w.objsubid))), own AS (SELECT oid FROM pg_catalog.pg_database WHERE datname =
    current_database())
SELECT l.locktype AS type, l.database::text AS database, d.datname AS database_name, l.relation::text AS
    relation, CASE WHEN l.database IN (0, (SELECT oid FROM own)) THEN n.nspname END AS schema, c.relname AS
    table_name, l.page::text AS page, l.tuple::text AS tuple, l.virtualxid AS virtual, l.transactionid::text
    AS transaction, l.classid::text AS classid, l.objid::text AS objid, l.objsubid::text AS objsubid,
    l.virtualtransaction AS owner, coalesce(p.leader, l.pid::text) AS lock_pid, l.mode AS mode, l.granted::int::text AS granted,
    (extract(epoch from l.since::timestamptz) * 1000000)::bigint::text AS wait_start, CASE WHEN NOT
    l.granted THEN array_to_string(pg_catalog.pg_blocking_pids(l.pid), ',') END AS blocked_by, (SELECT oid
    FROM own)::text AS own_database, CASE WHEN p.leader IS NULL THEN a.pid::text END AS pid, a.usename AS user_name, a.datname AS
    session_database, a.application_name AS application, a.backend_type AS kind, a.state AS state,
    a.wait_event_type AS waits_for, left(a.query, 300) AS statement, host(a.client_addr) AS address,
    a.client_port::text AS port, (extract(epoch from a.backend_start) * 1000000)::bigint::text AS
    backend_start, (extract(epoch from a.xact_start) * 1000000)::bigint::text AS xact_start, (extract(epoch
    from a.state_change) * 1000000)::bigint::text AS state_since, (extract(epoch from clock_timestamp()) *
    1000000)::bigint::text AS now, (a.pid = pg_backend_pid())::int::text AS is_ours, (SELECT
    s.deadlocks::text FROM pg_catalog.pg_stat_database s WHERE s.datid = (SELECT oid FROM own)) AS deadlocks, (SELECT
    jsonb_agg(jsonb_build_array(s.nspname, x.relname, t.relname))::text FROM pg_catalog.pg_index i JOIN
    pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_class t ON t.oid = i.indrelid JOIN
    pg_catalog.pg_namespace s ON s.oid = x.relnamespace WHERE NOT i.indisvalid AND i.xmax = '0' AND x.relkind =
    'i' AND NOT EXISTS (SELECT 1 FROM locks h WHERE h.granted AND h.mode = 'ShareUpdateExclusiveLock' AND
    h.relation = i.indrelid AND h.database = (SELECT oid FROM own) AND h.pid NOT IN (SELECT v.pid FROM
    pg_catalog.pg_stat_progress_vacuum v))) AS invalid
FROM shown l
FULL JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
LEFT JOIN LATERAL (SELECT to_jsonb(a)->>'leader_pid' AS leader WHERE a.backend_type = 'parallel worker') p ON true
LEFT JOIN pg_catalog.pg_database d ON d.oid = l.database
LEFT JOIN pg_catalog.pg_class c ON c.oid = l.relation AND l.database IN (0, (SELECT oid FROM own))
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE l.locktype IS NOT NULL
OR a.xact_start IS NOT NULL
OR a.pid = pg_backend_pid()
OR a.wait_event_type = 'Lock'
OR a.query = '<insufficient privilege>') look
