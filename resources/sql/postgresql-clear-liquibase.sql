-- SPDX-License-Identifier: Apache-2.0
-- The server's usual collations compare bytes; a column's own may not.
UPDATE ONLY %1 SET locked = FALSE, lockgranted = NULL, lockedby = NULL
WHERE id::text = ? AND locked AND lockedby COLLATE "C" = ? AND lockgranted::text = ?
