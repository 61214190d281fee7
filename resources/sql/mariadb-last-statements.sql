-- SPDX-License-Identifier: Apache-2.0
-- The last statement of each of these connections; of nested ones the latest is the last row.
SELECT t.PROCESSLIST_ID AS connection, s.SQL_TEXT AS statement FROM performance_schema.threads t JOIN
    performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID WHERE t.PROCESSLIST_ID IN
    (?) AND @@performance_schema = 1 ORDER BY s.EVENT_ID
