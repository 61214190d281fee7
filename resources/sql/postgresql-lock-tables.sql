-- SPDX-License-Identifier: Apache-2.0
-- Tables that may be locks' by their names. No views, no policies and no types of others: to read them may run what
-- their owner wrote, as us. Names of columns as their makers write them, without quotes; of tables in either case.
-- First those that custom rules name.
SELECT n.nspname AS table_schema, c.relname AS name, string_agg(a.attname, ',') AS columns,
    string_agg(a.attname, ',') FILTER (WHERE a.atttypid = 'timestamptz'::regtype) AS zoned,
    bool_and(c.relkind = 'r' AND NOT c.relrowsecurity)::int::text AS is_readable
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN
    pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid <
    16384
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND
    (lower(c.relname) LIKE '%lock%' OR lower(c.relname) LIKE '%mutex%' OR lower(c.relname) LIKE
    '%semaphore%' OR lower(c.relname) = ANY (string_to_array(?, ',')))
GROUP BY 1, 2
ORDER BY lower(c.relname) = ANY (string_to_array(?, ',')) DESC,
    lower(c.relname) IN ('databasechangeloglock', 'shedlock') DESC, 1, 2 LIMIT 100
