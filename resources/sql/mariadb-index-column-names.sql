-- SPDX-License-Identifier: Apache-2.0
-- The columns of an index.
SELECT COLUMN_NAME AS name FROM information_schema.STATISTICS WHERE CONCAT('`', REPLACE(TABLE_SCHEMA,
    '`', '``'), '`.`', REPLACE(TABLE_NAME, '`', '``'), '`') = ? AND INDEX_NAME = ? ORDER BY SEQ_IN_INDEX
