// SPDX-License-Identifier: Apache-2.0
// PostgreSQL: a lock is a row of public.contract or an advisory lock; both live with a connection.
#include "sqlclient.h"

#include "core/postgresql/dialect.h"
#include "core/recipes/make.h"
#include "core/sandbox/server.h"

namespace lockscope::contract {

using namespace Qt::StringLiterals;

namespace {

std::unique_ptr<mariadb::Session> openBackend(Loop &loop, const HostPort &server, const QString &user)
{
    mariadb::SessionOptions options{.host = server, .user = user, .database = u"shop"_s, .askIdleEvery = 200ms};
    options.idleAnswersWithin = 30s; // it is paused here for longer than a server may be silent
    return postgresql::openSession(loop, options);
}

// An advisory lock has a number: that of the test's name.
QByteArray numberOf(const TestName &name)
{
    return "7000" + name.split('-').value(1);
}

class PostgreSqlEnvironment final : public SqlEnvironment {
public:
    using SqlEnvironment::SqlEnvironment;

    Result<void> start() override
    {
        if (auto started = startServer(sandbox::makePostgreSql()); !started)
            return started;
        m_table = "public.contract";
        return furnishServer(openBackend(loop(), m_server->address(), u"shop"_s),
                             {
                                 "CREATE TABLE public.contract (name text PRIMARY KEY)",
                                 "GRANT SELECT ON public.contract TO onlooker",
                             });
    }

    [[nodiscard]] bool names(const QByteArray &text, const TestName &name) const override
    {
        return text.contains(name) || text.contains(numberOf(name));
    }
    QByteArrayList claims(const TestName &name) override
    {
        QByteArrayList all;
        const auto advisory = ask("SELECT pid::text AS id, granted::text AS granted FROM pg_catalog.pg_locks WHERE "
                                  "locktype = 'advisory' AND objid = ?::bigint::oid",
                                  {numberOf(name)});
        for (size_t row = 0; advisory && row < advisory->rows.size(); ++row)
            all << "advisory " + advisory->cell(row, "granted").value_or("?") + ' '
                       + advisory->cell(row, "id").value_or("?");
        if (!isRowLocked(name))
            return sorted(all);
        all << "row " + name;
        const auto waiting = ask("SELECT pid::text AS id FROM pg_catalog.pg_stat_activity WHERE state = 'active' AND "
                                 "pid <> pg_backend_pid() AND query LIKE '%contract%FOR UPDATE'");
        for (size_t row = 0; waiting && row < waiting->rows.size(); ++row)
            all << "waiting " + waiting->cell(row, "id").value_or("?");
        return sorted(all);
    }
    bool confirms(const TestName &name, const recipes::Grant &grant) override
    {
        const auto owner =
            ask("SELECT count(*)::text AS found FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND "
                "granted AND objid = ?::bigint::oid AND pid = ?::int",
                {numberOf(name), grant.id});
        return isRowLocked(name) || (owner && owner->cell(0, "found") == QByteArray("1"));
    }
    // As force-release does: the backend goes, and all it holds.
    bool takeAway(const TestName &, const recipes::Grant &grant) override { return terminate(grant.id); }
    bool takeAwayClaim(const QByteArray &claim) override { return terminate(claim.mid(claim.lastIndexOf(' ') + 1)); }
    QByteArrayList everything() override
    {
        QByteArrayList names;
        const auto advisory = ask("SELECT objid::text AS name FROM pg_catalog.pg_locks WHERE locktype = 'advisory'");
        for (size_t row = 0; advisory && row < advisory->rows.size(); ++row)
            names << advisory->cell(row, "name").value_or("?");
        return sorted(names);
    }

protected:
    std::unique_ptr<Client> connect(std::chrono::milliseconds) override
    {
        return std::make_unique<SqlClient>(loop(), m_server->address(), way(), u"shop"_s);
    }

private:
    bool terminate(const QByteArray &pid)
    {
        const auto done = ask("SELECT pg_terminate_backend(?::int)::int AS done", {pid});
        return done && done->cell(0, "done") == QByteArray("1");
    }
    SqlWay way() override
    {
        return {openBackend,
                [](const QByteArray &recipe, mariadb::Session &session, const QByteArray &lock,
                   const recipes::AcquireOptions &options,
                   Random) { return recipes::makePostgreSqlLock(recipe, session, lock, options); },
                [](const recipes::RecipeInfo &recipe, const TestName &name) {
                    const bool isNamed = recipe.shape == recipes::Shape::NamedLock;
                    return isNamed ? "ADVISORY#" + numberOf(name) : "public.contract#name=" + name;
                },
                [this](const TestName &name) {
                    if (m_furnished.contains(name))
                        return;
                    m_furnished << name;
                    if (!ask("INSERT INTO public.contract (name) VALUES (?)", {name}))
                        qFatal("no row for a lock");
                }};
    }
};

} // namespace

std::unique_ptr<TestEnvironment> makePostgreSqlEnvironment(Loop &loop)
{
    return std::make_unique<PostgreSqlEnvironment>(loop);
}

} // namespace lockscope::contract
