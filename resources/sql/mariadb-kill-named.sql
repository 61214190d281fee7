-- SPDX-License-Identifier: Apache-2.0
-- Does %4 if the server runs since %2 and %3 says that the lock is held: said is held, gone or another.
BEGIN NOT ATOMIC
  DECLARE said VARCHAR(8) DEFAULT 'gone';
  DECLARE started BIGINT DEFAULT (SELECT UNIX_TIMESTAMP() - VARIABLE_VALUE FROM %1.global_status
    WHERE VARIABLE_NAME = 'UPTIME');
  IF started <> %2 THEN SET said = 'another';
  ELSEIF %3 THEN SET said = 'held'; %4END IF;
  SELECT said;
END
