-- SPDX-License-Identifier: Apache-2.0
-- The server's usual collations compare bytes; a column's own may not.
UPDATE ONLY %1 SET lock_until = locked_at
WHERE name COLLATE "C" = ? AND lock_until > locked_at AND locked_by COLLATE "C" = ? AND locked_at::text = ?
