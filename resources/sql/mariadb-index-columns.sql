-- SPDX-License-Identifier: Apache-2.0
-- The columns of an index, with their types.
SELECT s.COLUMN_NAME AS name, c.COLUMN_TYPE AS type, s.SUB_PART AS cut FROM
    information_schema.STATISTICS s JOIN information_schema.COLUMNS c USING (TABLE_SCHEMA, TABLE_NAME,
    COLUMN_NAME) WHERE CONCAT('`', REPLACE(s.TABLE_SCHEMA, '`', '``'), '`.`', REPLACE(s.TABLE_NAME, '`',
    '``'), '`') = ? AND s.INDEX_NAME = ? ORDER BY s.SEQ_IN_INDEX
