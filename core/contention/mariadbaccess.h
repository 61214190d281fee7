// SPDX-License-Identifier: Apache-2.0
// A contender's way to a row or a named lock on the simulated MariaDB, in a run or in a rehearsal. Which one it is
// changes nothing.
#pragma once

#include "core/contention/servers.h"
#include "core/contention/traced/tracedsql.h"
#include "core/recipes/make.h"
#include "core/world/mariadb/session.h"

namespace lockscope::contention {

inline const QByteArray simulatedTable("sim.row"), simulatedKey("id"), simulatedRow("1"), simulatedName("sim");

[[nodiscard]] inline bool takesNamedLock(const QByteArray &recipe)
{
    return recipes::recipeOf(recipe).shape == recipes::Shape::NamedLock;
}

class SqlAccess final : public ContenderAccess {
public:
    SqlAccess(const QByteArray &recipe, world::Network &network, Trace &trace, world::SqlServer &server,
              world::Process &process, int contender)
        : m_recipe(recipe), m_session(world::openSession(process, server, network)),
          m_traced(*m_session, trace, contender)
    {
    }
    ~SqlAccess() override
    {
        if (onGone)
            onGone();
    }
    SqlAccess(const SqlAccess &) = delete;
    SqlAccess &operator=(const SqlAccess &) = delete;

    [[nodiscard]] bool isReady() const override { return m_session->state() == mariadb::SessionState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool /*readMode*/, Random /*random*/) override
    {
        const auto lock = takesNamedLock(m_recipe) ? "GET_LOCK#" + simulatedName
                                                   : simulatedTable + '#' + simulatedKey + '=' + simulatedRow;
        return recipes::makeLock(m_recipe, m_traced, lock, {});
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
