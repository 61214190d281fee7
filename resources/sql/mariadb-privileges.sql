-- SPDX-License-Identifier: Apache-2.0
-- The user's privileges. GRANTEE is quoted as 'user'@'host', and a user may have an @ in its name.
SELECT CURRENT_USER() AS who, PRIVILEGE_TYPE AS privilege, CURRENT_ROLE() AS role FROM
    information_schema.USER_PRIVILEGES WHERE GRANTEE = CONCAT('''', LEFT(CURRENT_USER(),
    CHAR_LENGTH(CURRENT_USER()) - CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)) - 1), '''@''',
    SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')
