-- SPDX-License-Identifier: Apache-2.0
-- The columns of the primary key, and the name of its table as the server quotes it.
SELECT a.attname AS name, i.indrelid::oid::regclass::text AS table_name FROM pg_catalog.pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH
    ORDINALITY k(number, place) JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum =
    k.number JOIN pg_catalog.pg_class c ON c.oid = i.indrelid AND NOT c.relrowsecurity WHERE
    i.indisprimary AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute x WHERE x.attrelid = i.indrelid
    AND x.attnum = ANY (i.indkey::int2[]) AND x.atttypid >= 16384) AND i.indrelid =
