// SPDX-License-Identifier: Apache-2.0
// A session on the simulated PostgreSQL. Of what the recipes of core/recipes/postgresql ask for, advisory locks and
// row locks with their queues, the simulated MariaDB's do nearly the same; so it is that server with other rules, and
// this says the same to it in its words. The differential test (tests/live/tst_simulated_postgresql.cpp) holds both
// against a real one. What is not told apart: who comes in the moment in which a row is freed is never quicker here
// than who waits.
#pragma once

#include "core/simservers/mariadb/server.h"

namespace lockscope::sim {

// Source: PostgreSQL documentation, "Deadlocks" and deadlock_timeout (a second, unless set); "ROLLBACK", of a
// transaction that has failed; client_connection_check_interval (0: nobody looks, unless set).
inline constexpr SqlServerRules postgreSqlRules{std::chrono::seconds(1), true, false};

[[nodiscard]] std::unique_ptr<mariadb::Session> openPostgreSqlSession(Process &process, SqlServer &server,
                                                                      Network &network);

} // namespace lockscope::sim
