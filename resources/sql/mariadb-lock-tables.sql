-- SPDX-License-Identifier: Apache-2.0
-- Tables that may have rows that are locks. Without views: to read a view may run what its owner wrote, as us. No table
-- is opened for this. First those that custom rules name.
SELECT TABLE_SCHEMA AS table_schema, TABLE_NAME AS name, 1 AS is_readable FROM information_schema.TABLES
    WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema') AND
    (LOWER(TABLE_NAME) LIKE '%lock%' OR LOWER(TABLE_NAME) LIKE '%mutex%' OR LOWER(TABLE_NAME) LIKE
    '%semaphore%' OR FIND_IN_SET(LOWER(TABLE_NAME), ?) > 0) ORDER BY FIND_IN_SET(LOWER(TABLE_NAME), ?) > 0
    DESC, LOWER(TABLE_NAME) IN ('databasechangeloglock', 'shedlock') DESC, 1, 2 LIMIT 100
