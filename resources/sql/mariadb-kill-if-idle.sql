-- SPDX-License-Identifier: Apache-2.0
-- Does %4 on our connection %1 if connection %2 has begun no statement since %3 was its last.
BEGIN NOT ATOMIC
  DECLARE said VARCHAR(8) DEFAULT 'another';
  IF CONNECTION_ID() = %1 THEN
    SET said = 'busy';
    IF (SELECT CONCAT(QUERY_ID, ' ', COMMAND) FROM information_schema.PROCESSLIST WHERE ID = %2) = %3
    THEN %4; SET said = 'held'; END IF;
  END IF;
  SELECT said;
END
