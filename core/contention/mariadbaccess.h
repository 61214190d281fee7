// SPDX-License-Identifier: Apache-2.0
// A contender's way to a row or a named lock on the simulated MariaDB, in a run or in a rehearsal. Which one it is
// changes nothing.
#pragma once

#include "core/contention/servers.h"
#include "core/contention/traced/tracedsql.h"
#include "core/recipes/make.h"
#include "core/world/mariadb/session.h"

namespace lockscope::contention {

inline const QByteArray simulatedTable("sim.row"), simulatedKey("id"), simulatedRow("1"), simulatedName("sim"),
    simulatedLeases("sim.shedlock");

// From 0.
[[nodiscard]] inline QByteArray simulatedRowOf(int number)
{
    return QByteArray::number(number + 1);
}
[[nodiscard]] inline bool takesNamedLock(const QByteArray &recipe)
{
    return recipes::recipeOf(recipe).shape == recipes::Shape::NamedLock;
}

// A row that says until when it is locked, rather than one that is locked.
[[nodiscard]] inline bool takesLeasedRow(const QByteArray &recipe)
{
    return recipes::recipeOf(recipe).endsBy == recipes::EndsBy::Lease;
}

class SqlAccess final : public ContenderAccess {
public:
    SqlAccess(const Scenario &scenario, world::Network &network, Trace &trace, world::SqlServer &server,
              world::Process &process, int contender)
        : m_recipe(scenario.recipe), m_ttl(scenario.ttl), m_row(simulatedRowOf(contender % scenario.rows)),
          m_session(world::openSession(process, server, network)), m_traced(*m_session, trace, contender)
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
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool /*readMode*/, Random random) override
    {
        const auto lock = takesNamedLock(m_recipe)   ? "GET_LOCK#" + simulatedName
                          : takesLeasedRow(m_recipe) ? "SHEDLOCK#" + simulatedLeases + '#' + simulatedName
                                                     : simulatedTable + '#' + simulatedKey + '=' + m_row;
        return recipes::makeLock(m_recipe, m_traced, lock, {false, 1, m_ttl}, std::move(random));
    }
    [[nodiscard]] mariadb::ConnectionId connection() const { return m_session->connectionId(); }
    // Told when it goes.
    std::function<void()> onGone;

private:
    const QByteArray m_recipe;
    const std::chrono::milliseconds m_ttl;
    const QByteArray m_row;
    std::unique_ptr<mariadb::Session> m_session;
    TracedSql m_traced;
};

} // namespace lockscope::contention
