-- SPDX-License-Identifier: Apache-2.0
-- The columns of a table.
SELECT LOWER(COLUMN_NAME) AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME
    = ?
