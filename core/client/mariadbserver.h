// SPDX-License-Identifier: Apache-2.0
// A server that is spoken to in SQL: one session for each lock, since it is the session that holds. Loop thread only.
#pragma once

#include "core/client/server.h"
#include "core/mariadb/dialect.h"

namespace lockscope::client {

// What differs between MariaDB, MySQL and PostgreSQL.
struct SqlParts {
    transport::SqlSpeech speech; // where TLS begins in its protocol
    std::unique_ptr<mariadb::Session> (*open)(Loop &loop, mariadb::SessionOptions options);
    Result<std::unique_ptr<recipes::Lock>> (*makeLock)(const Request &request, mariadb::Session &session);
};

// The parts live for ever.
[[nodiscard]] std::unique_ptr<Server> makeSqlServer(Reach reach, const SqlParts &parts);

} // namespace lockscope::client
