// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/observer.h"
#include "core/operate/sql.h"
#include "core/postgresql/dialect.h"
#include "core/workspace/sqllink.h"

namespace lockscope {

namespace {

// A row of our own needs a table of our own, and that a schema.
SqlRunLock postgreSqlRunLock(const recipes::RecipeInfo &recipe, const QByteArray &name)
{
    if (recipe.shape == recipes::Shape::NamedLock) {
        const auto key = QByteArray::number(static_cast<qint64>(Random::fromSystem().next() >> 1));
        const auto lock = "ADVISORY#" + key;
        // Free if it can be had; what is had by that ends with the statement's own transaction.
        return {lock, {}, {"SELECT (NOT pg_try_advisory_xact_lock(?))::int AS held", {key}, {}, false}, lock};
    }
    return {name + ".row#id=1",
            {"CREATE SCHEMA " + name, "CREATE TABLE " + name + ".row (id INT PRIMARY KEY)",
             "INSERT INTO " + name + ".row VALUES (1)"},
            {"DROP SCHEMA " + name + " CASCADE", {}, {}, true},
            "schema " + name};
}

const SqlKit postgreSqlKit{
    .speech = transport::postgreSqlSpeech,
    .open = postgresql::openSession,
    .observe = [](mariadb::Session &session, const ConnectionName &name, const inspect::ObserverOptions &options,
                  inspect::ObserverSink &sink) -> std::unique_ptr<inspect::Observer> {
        return std::make_unique<inspect::PostgreSqlObserver>(session, name, options, sink);
    },
    .title = [](const QByteArray &) { return u"PostgreSQL"_s; },
    .writeWords = operate::postgreSqlWriteWords,
    .rights = inspect::postgreSqlRights,
    .makeLock = recipes::makePostgreSqlLock,
    .ownId = inspect::ownBackendId,
    .withLosses = operate::withBackendLosses,
    .sendRelease = operate::sendPostgreSqlRelease,
    .runLock = postgreSqlRunLock,
};

} // namespace

Result<std::unique_ptr<Link>> makePostgreSqlLink(ConnectionSpec spec, LinkContext context)
{
    return makeSqlLink(std::move(spec), std::move(context), postgreSqlKit, u"PostgreSQL"_s);
}

} // namespace lockscope
