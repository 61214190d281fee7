// SPDX-License-Identifier: Apache-2.0
// A row or an advisory lock of its own: which one it is changes nothing. The release is pg_terminate_backend, as in
// core/operate/postgresqlrelease.h; what that compares beforehand is not simulated and is left out.
#include "core/rehearse/stage.h"

#include "core/contention/postgresqlaccess.h"
#include "core/operate/releaseact.h"

namespace lockscope::rehearse {

namespace {

class PostgreSqlStage final : public Stage {
public:
    explicit PostgreSqlStage(const StageContext &context)
        : m_context(context), m_server(context.world, world::postgreSqlRules)
    {
        m_server.addRow(contention::simulatedTable, contention::simulatedKey, contention::simulatedRow, 1);
    }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(world::Process &process, int contender) override
    {
        auto access = contention::openPostgreSqlAccess(
            {m_context.scenario, m_context.network, m_context.trace, m_server, process, contender});
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
    std::map<int, const contention::SqlAccess *> m_accesses; // while they live
};

} // namespace

std::unique_ptr<Stage> makePostgreSqlStage(const StageContext &context)
{
    return std::make_unique<PostgreSqlStage>(context);
}

} // namespace lockscope::rehearse
