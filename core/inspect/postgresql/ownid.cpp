// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/ownid.h"

#include "core/inspect/postgresql/look.h"
#include "core/postgresql/dialect.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

Task<std::optional<QByteArray>> ownBackendId(mariadb::Session *session, QByteArray recipe, Deadline deadline)
{
    const bool isOfTransaction = recipes::recipeOf(recipe).shape != recipes::Shape::NamedLock;
    const auto connection = session->connectionId();
    const mariadb::Statement question{
        "SELECT " + postgresql::microseconds(isOfTransaction ? "xact_start" : "backend_start")
            + "::text AS started FROM pg_catalog.pg_stat_activity WHERE pid = pg_backend_pid()",
        {},
        connection,
        false};
    auto asking = session->execute(question, deadline);
    const auto rows = co_await asking;
    if (!rows || !rows->cell(0, "started"))
        co_return std::nullopt;
    co_return backendContenderId(connection, rows->cell(0, "started")->toLongLong());
}

} // namespace lockscope::inspect
