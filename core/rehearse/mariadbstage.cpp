// SPDX-License-Identifier: Apache-2.0
// A row or a named lock of its own: which one it is changes nothing. The release is KILL CONNECTION, as in
// core/operate/killconnection.h, or that a row's time is ended (core/operate/rowrelease.h); what they look at
// beforehand is not simulated and is left out.
#include "core/rehearse/stage.h"

#include "core/contention/mariadbaccess.h"
#include "core/operate/releaseact.h"

namespace lockscope::rehearse {

namespace {

class MariaDbStage final : public Stage {
public:
    explicit MariaDbStage(const StageContext &context) : m_context(context), m_server(context.world)
    {
        m_server.addRow(contention::simulatedTable, contention::simulatedKey, contention::simulatedRow, 1);
        m_server.leasedRows().addTable(contention::simulatedLeases);
    }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(world::Process &process, int contender) override
    {
        auto access = contention::openMariaDbAccess(
            {m_context.scenario, m_context.network, m_context.trace, m_server, process, contender});
        m_accesses[contender] = access.get();
        return access;
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int contender,
                                                      recipes::Grant /*grant*/) override
    {
        const bool isDone = contention::takesLeasedRow(m_context.scenario.recipe)
                                ? m_server.leasedRows().end({contention::simulatedLeases, contention::simulatedName})
                                : m_server.kill(m_accesses.at(contender)->connection());
        if (!isDone)
            co_return operate::goneAlready(plan);
        co_return operate::Sent();
    }

private:
    const StageContext m_context;
    world::SqlServer m_server;
    std::map<int, const contention::SqlAccess *> m_accesses; // while they live
};

} // namespace

std::unique_ptr<Stage> makeMariaDbStage(const StageContext &context)
{
    return std::make_unique<MariaDbStage>(context);
}

} // namespace lockscope::rehearse
