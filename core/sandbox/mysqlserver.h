// SPDX-License-Identifier: Apache-2.0
// A private MySQL in the place of a private MariaDB, for whom wants to see how Lockscope does there.
#pragma once

#include "core/sandbox/server.h"

#include <QByteArrayList>

namespace lockscope::sandbox {

// What both begin with: a database to lock something in.
extern const QByteArray exampleTables;
// And what both are told where clients have to come over TLS.
[[nodiscard]] QByteArrayList tlsArguments(const Certificates &tls);

// LOCKSCOPE_MYSQLD; empty: a MariaDB it is.
[[nodiscard]] QByteArray mySqlProgram();
[[nodiscard]] std::unique_ptr<Server> makeMySql(const QByteArray &program, MariaDbOptions options);

} // namespace lockscope::sandbox
