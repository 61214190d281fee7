-- SPDX-License-Identifier: Apache-2.0
-- Compared byte by byte: collations take A for a.
UPDATE %1 SET LOCKED = 0, LOCKGRANTED = NULL, LOCKEDBY = NULL
WHERE ID = ? AND LOCKED <> 0 AND LOCKEDBY = BINARY ? AND CAST(LOCKGRANTED AS CHAR) = ?
