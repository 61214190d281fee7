-- SPDX-License-Identifier: Apache-2.0
-- The time is set back to when the row was taken: whatever zone its client writes, that has passed there.
UPDATE %1 SET lock_until = locked_at
WHERE name = BINARY ? AND lock_until > locked_at AND locked_by = BINARY ? AND CAST(locked_at AS CHAR) = ?
