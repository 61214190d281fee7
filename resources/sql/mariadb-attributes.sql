-- SPDX-License-Identifier: Apache-2.0
-- What the clients say of themselves.
SELECT PROCESSLIST_ID AS connection, ATTR_NAME AS name, ATTR_VALUE AS value FROM
    performance_schema.session_connect_attrs WHERE ATTR_NAME IN ('program_name', '_pid', '_client_name')
