// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/ownid.h"

#include "core/async/sleep.h"
#include "core/base/duration.h"
#include "core/base/random.h"
#include "core/inspect/mariadb/poll.h"
#include "core/mariadb/freshness.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

namespace {

ServerTime seconds(const mariadb::Rows &rows)
{
    return ServerTime(millisecondsOf(rows.cell(0, "started").value_or(QByteArray()).toDouble() * 1000));
}

Task<std::optional<QByteArray>> ownRowId(mariadb::Session *session, Deadline deadline)
{
    auto &loop = session->loop();
    const auto connection = session->connectionId();
    auto random = Random::fromSystem();
    while (!deadline.hasPassed(loop)) {
        // The transaction that holds the lock is in each new copy, and makes the mark visible there.
        const auto mark = mariadb::freshMark();
        const mariadb::Statement question{"SELECT t.trx_id AS id, UNIX_TIMESTAMP(t.trx_started) AS started "
                                          "FROM information_schema.INNODB_TRX t WHERE "
                                              + mariadb::isMarked(mark),
                                          {},
                                          connection,
                                          false};
        auto asking = session->execute(question, deadline);
        const auto rows = co_await asking;
        if (!rows)
            co_return std::nullopt;
        if (!rows->rows.empty())
            co_return rowContenderId(connection, rows->cell(0, "id").value_or(QByteArray()), seconds(*rows));
        const std::chrono::milliseconds more(random.below(150));
        auto rest = sleepFor(loop, mariadb::copyRestsFor + more);
        co_await rest;
    }
    co_return std::nullopt;
}

} // namespace

Task<std::optional<QByteArray>> ownContenderId(mariadb::Session *session, QByteArray recipe, Deadline deadline)
{
    const auto &info = recipes::recipeOf(recipe);
    if (info.optimistic || info.endsBy != recipes::EndsBy::Session) // a token says whose row it is
        co_return std::nullopt;
    if (info.shape == recipes::Shape::Row) {
        auto id = co_await ownRowId(session, deadline);
        co_return id;
    }
    const auto connection = session->connectionId();
    auto asking = session->execute({mariadb::serverQuestion(*session), {}, connection, false}, deadline);
    const auto server = co_await asking;
    if (!server || server->rows.empty())
        co_return std::nullopt;
    co_return namedContenderId(connection, seconds(*server));
}

} // namespace lockscope::inspect
