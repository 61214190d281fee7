-- SPDX-License-Identifier: Apache-2.0
-- same: the backend %1 is there, and %2; meant: it has, or waits for, the lock %3; done: %4 has sent its signal.
WITH same AS MATERIALIZED (SELECT a.pid FROM pg_catalog.pg_stat_activity a WHERE %1%2),
meant AS MATERIALIZED (SELECT s.pid FROM same s
  WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_locks l WHERE l.pid = s.pid AND %3)),
acted AS MATERIALIZED (SELECT pg_catalog.%4(m.pid) AS done FROM meant m)
SELECT (SELECT count(*) FROM acted WHERE done)::text AS done, (SELECT count(*) FROM meant)::text AS meant,
  (SELECT count(*) FROM same)::text AS same
