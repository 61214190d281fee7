-- SPDX-License-Identifier: Apache-2.0
-- Does %4 on our connection %1 if connection %2 waits in the state %3.
BEGIN NOT ATOMIC
  DECLARE said VARCHAR(8) DEFAULT 'idle';
  IF CONNECTION_ID() = %1 AND (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = %2
    AND COMMAND IN ('Query', 'Execute') AND STATE = '%3') = 1
  THEN %4SET said = 'held'; END IF;
  SELECT said;
END
