-- SPDX-License-Identifier: Apache-2.0
-- True while connection %1 has a lock of the type %2 on what %3 says, in the modes of %4.
(SELECT COUNT(*) FROM information_schema.METADATA_LOCK_INFO m
  WHERE m.THREAD_ID = %1 AND UPPER(m.LOCK_TYPE) LIKE CONCAT(%2, ' %')%3%4) > 0
