-- SPDX-License-Identifier: Apache-2.0
-- How many locks transaction %3 of connection %2 has; asked on our connection %1.
SELECT CONNECTION_ID() = %1 AS is_ours,
  (SELECT COUNT(*) FROM performance_schema.data_locks l
    JOIN performance_schema.threads h ON h.THREAD_ID = l.THREAD_ID
    WHERE h.PROCESSLIST_ID = %2 AND l.ENGINE_TRANSACTION_ID = %3 AND l.LOCK_STATUS = 'GRANTED') AS locks
