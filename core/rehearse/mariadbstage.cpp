// SPDX-License-Identifier: Apache-2.0
// A row or a named lock of its own: which one it is changes nothing. The release is KILL CONNECTION, as in
// core/operate/killconnection.h; what that looks at beforehand is not simulated and is left out.
#include "core/rehearse/stage.h"

#include "core/contention/traced/tracedsql.h"
#include "core/operate/releaseact.h"
#include "core/recipes/make.h"
#include "core/world/mariadb/session.h"

namespace lockscope::rehearse {

namespace {

const QByteArray rehearsedTable("rehearsal.row"), rehearsedKey("id"), rehearsedRow("1"), rehearsedName("rehearsal");

class RehearsedSql final : public contention::ContenderAccess {
public:
    RehearsedSql(const StageContext &context, world::SqlServer &server, world::Process &process, int contender)
        : m_recipe(context.recipe), m_session(world::openSession(process, server, context.network)),
          m_traced(*m_session, context.trace, contender)
    {
    }
    [[nodiscard]] bool isReady() const override { return m_session->state() == mariadb::SessionState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool /*reads*/, Random /*random*/) override
    {
        const bool isNamed = recipes::recipeOf(m_recipe).shape == recipes::Shape::NamedLock;
        const auto lock =
            isNamed ? "GET_LOCK#" + rehearsedName : rehearsedTable + '#' + rehearsedKey + '=' + rehearsedRow;
        return recipes::makeLock(m_recipe, m_traced, lock, {});
    }
    [[nodiscard]] mariadb::ConnectionId connection() const { return m_session->connectionId(); }

private:
    const QByteArray m_recipe;
    std::unique_ptr<mariadb::Session> m_session;
    contention::TracedSql m_traced;
};

class MariaDbStage final : public Stage {
public:
    explicit MariaDbStage(const StageContext &context) : m_context(context), m_server(context.world)
    {
        m_server.addRow(rehearsedTable, rehearsedKey, rehearsedRow, 1);
    }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(world::Process &process, int contender) override
    {
        auto access = std::make_unique<RehearsedSql>(m_context, m_server, process, contender);
        m_accesses[contender] = access.get();
        return access;
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int contender,
                                                      recipes::Grant /*grant*/) override
    {
        if (!m_server.kill(m_accesses.at(contender)->connection()))
            co_return operate::goneAlready(plan);
        co_return operate::Sent();
    }

private:
    const StageContext m_context;
    world::SqlServer m_server;
    std::map<int, const RehearsedSql *> m_accesses; // while they live
};

} // namespace

std::unique_ptr<Stage> makeMariaDbStage(const StageContext &context)
{
    return std::make_unique<MariaDbStage>(context);
}

} // namespace lockscope::rehearse
