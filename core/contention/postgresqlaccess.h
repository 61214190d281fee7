// SPDX-License-Identifier: Apache-2.0
// A contender's way to a row or an advisory lock on the simulated PostgreSQL, in a run or in a rehearsal. Which one
// it is changes nothing.
#pragma once

#include "core/contention/servers.h"
#include "core/contention/traced/tracedsql.h"
#include "core/recipes/postgresql/make.h"
#include "core/world/postgresql/session.h"

namespace lockscope::contention {

inline const QByteArray simulatedPgTable("sim.row"), simulatedPgKey("id"), simulatedPgRow("1"),
    simulatedAdvisory("42");

[[nodiscard]] inline bool takesAdvisoryLock(const QByteArray &recipe)
{
    return recipes::recipeOf(recipe).shape == recipes::Shape::NamedLock;
}

class PostgreSqlAccess final : public ContenderAccess {
public:
    PostgreSqlAccess(const QByteArray &recipe, world::Network &network, Trace &trace, world::SqlServer &server,
                     world::Process &process, int contender)
        : m_recipe(recipe), m_session(world::openPostgreSqlSession(process, server, network)),
          m_traced(*m_session, trace, contender)
    {
    }
    ~PostgreSqlAccess() override
    {
        if (onGone)
            onGone();
    }
    PostgreSqlAccess(const PostgreSqlAccess &) = delete;
    PostgreSqlAccess &operator=(const PostgreSqlAccess &) = delete;

    [[nodiscard]] bool isReady() const override { return m_session->state() == mariadb::SessionState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool /*readMode*/, Random /*random*/) override
    {
        const auto lock = takesAdvisoryLock(m_recipe)
                              ? "ADVISORY#" + simulatedAdvisory
                              : simulatedPgTable + '#' + simulatedPgKey + '=' + simulatedPgRow;
        return recipes::makePostgreSqlLock(m_recipe, m_traced, lock, {});
    }
    [[nodiscard]] mariadb::ConnectionId connection() const { return m_session->connectionId(); }
    // Told when it goes.
    std::function<void()> onGone;

private:
    const QByteArray m_recipe;
    std::unique_ptr<mariadb::Session> m_session;
    TracedSql m_traced;
};

} // namespace lockscope::contention
