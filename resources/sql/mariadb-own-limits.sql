-- SPDX-License-Identifier: Apache-2.0
-- The wait limits of each connection.
SELECT h.PROCESSLIST_ID AS connection, v.VARIABLE_NAME AS name, v.VARIABLE_VALUE AS value FROM
    performance_schema.variables_by_thread v JOIN performance_schema.threads h ON h.THREAD_ID =
    v.THREAD_ID WHERE v.VARIABLE_NAME IN ('innodb_lock_wait_timeout', 'lock_wait_timeout') AND
    h.PROCESSLIST_ID IS NOT NULL
