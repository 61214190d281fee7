// SPDX-License-Identifier: Apache-2.0
// A session on the simulated PostgreSQL. Of what the recipes of core/recipes/postgresql ask for, advisory locks and
// row locks with their queues, the simulated MariaDB's do the same; so it is that server, and this says the same to
// it in its words. What is not told apart: who comes in the moment in which a row is freed is never quicker here than
// who waits.
#pragma once

#include "core/world/mariadb/session.h"

namespace lockscope::world {

[[nodiscard]] std::unique_ptr<mariadb::Session> openPostgreSqlSession(Process &process, SqlServer &server,
                                                                      Network &network);

} // namespace lockscope::world
