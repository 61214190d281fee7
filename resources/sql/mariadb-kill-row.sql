-- SPDX-License-Identifier: Apache-2.0
-- Does %4 if the look that %1 and %2 begin, and %5 ends, shows by %3 that the transaction is there.
BEGIN NOT ATOMIC
  DECLARE fresh, present, same INT DEFAULT 0;
  %1;
  %2;
  SELECT %3 INTO fresh, present, same FROM information_schema.INNODB_TRX t;
  IF fresh = 1 AND same = 1 THEN %4END IF;
  %5;
  SELECT CASE WHEN fresh <> 1 THEN 'old' WHEN same < 0 THEN 'idle' WHEN same = 1 THEN 'held'
    WHEN present > 0 THEN 'another' ELSE 'gone' END AS said;
END
