// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/observer.h"

#include "core/base/text.h"
#include "core/inspect/postgresql/pgpoll.h"
#include "core/postgresql/dialect.h"
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {

// What can be said of a name that no snapshot has.
QString missingPgLockReason(const QByteArray &name, const PgPoll &look, const std::vector<LockSnapshot> &snapshots)
{
    if (name.startsWith("ADVISORY"))
        return u"no client holds or waits for an advisory lock with this key in this database"_s;
    if (isLockRowName(name))
        return u"its row does not say that it is locked, or there is none"_s;
    const auto hash = name.indexOf('#');
    if (hash < 0 || look.keysUnread.isEmpty())
        return u"no client waits for it, and rows and tables are shown only while a client waits for them"_s;
    QStringList places;
    for (const auto &snapshot : snapshots) {
        if (snapshot.lock.name.startsWith(name.left(hash) + "#ctid:") && places.size() < 3)
            places << label(snapshot.lock.name, 80);
    }
    const auto maybe = places.isEmpty() ? QString() : u"it may be %1"_s.arg(places.join(u" or "_s));
    return u"contended rows are named by their place (ctid) for now, because their keys could not be read: %1"_s.arg(
               look.keysUnread)
           + clause(maybe);
}

} // namespace

Task<Result<SqlObserver::Seen>> PostgreSqlObserver::look(Deadline deadline)
{
    CO_TRY(const auto &look, co_await m_reader.look(deadline));
    Seen seen;
    seen.snapshots = judged(snapshotsOf(look, name()));
    seen.sessions = sessionsOf(look, seen.snapshots, name());
    seen.now = seen.showedAllNamed = look.now;
    m_unexplained = unexplainedPgWaits(look, seen.snapshots);
    co_return seen;
}

Task<Result<LockSnapshot>> PostgreSqlObserver::readNow(QByteArray lock, Deadline deadline)
{
    if (isLockRowName(lock))
        m_reader.readLockRowsAnew();
    CO_TRY(const auto &look, co_await m_reader.look(deadline));
    auto snapshots = judged(snapshotsOf(look, name()));
    m_unexplained = unexplainedPgWaits(look, snapshots);
    const auto at = std::ranges::find(snapshots, lock, [](const LockSnapshot &one) { return one.lock.name; });
    if (at != snapshots.end())
        co_return std::move(*at);
    // Not "it is free" where it was not seen.
    if (isLockRowName(lock) && !m_reader.lockRowsNotRead().isEmpty())
        co_return Error{ErrorCode::Refused, m_reader.lockRowsNotRead().front(), true};
    const auto hint = missingPgLockReason(lock, look, snapshots);
    co_return Error{ErrorCode::NoNode, u"no lock is seen at %1: %2"_s.arg(label(lock, 80), hint)};
}

QString PostgreSqlObserver::coverageDescription() const
{
    return u"every advisory lock, and every row, table or other lock with a waiter. Locked rows of known clients' "
           u"lock tables in this database (ShedLock, Liquibase, Knex, Hangfire and others). Other rows and tables "
           u"without a waiter are not shown"_s;
}

namespace {

// A superuser is a member of every role.
const QByteArray postgreSqlMemberships = "SELECT current_user AS who, "
                                         "pg_has_role('pg_read_all_stats', 'USAGE')::text AS sees, "
                                         "pg_has_role('pg_signal_backend', 'USAGE')::text AS ends";

} // namespace

Task<QStringList> postgreSqlRights(mariadb::Session *session, Deadline deadline)
{
    auto asking = session->execute({postgreSqlMemberships, {}, std::nullopt, false}, deadline);
    const auto rows = co_await asking;
    if (!rows)
        co_return QStringList{u"could not read the user's rights: %1"_s.arg(rows.error().message)};
    QStringList said{u"user "_s + label(rows->cell(0, "who").value_or(QByteArray()), 120)};
    said << (rows->cell(0, "sees") == "true"
                 ? u"may see when other users' sessions began"_s
                 : u"may not see when other users' sessions began: it is not a member of pg_read_all_stats "
                   u"(pg_monitor includes it)"_s)
         << (rows->cell(0, "ends") == "true"
                 ? u"may end the sessions of others, but for superusers'"_s
                 : u"may not end other users' sessions: it is not a member of pg_signal_backend"_s);
    co_return said;
}

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
    const auto rows = co_await session->execute(question, deadline);
    if (!rows || !rows->cell(0, "started"))
        co_return std::nullopt;
    co_return backendContenderId(connection, rows->cell(0, "started")->toLongLong());
}

} // namespace lockscope::inspect
