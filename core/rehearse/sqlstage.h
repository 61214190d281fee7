// SPDX-License-Identifier: Apache-2.0
// A row or a named lock of its own: which one it is changes nothing. The release ends the connection that holds it,
// as in core/operate/sql.h; what they look at beforehand is not simulated and is
// left out.
#pragma once

#include "core/contention/sqlaccess.h"
#include "core/operate/releasemethod.h"
#include "core/rehearse/stage.h"

namespace lockscope::rehearse {

class SqlStage : public Stage {
public:
    using OpenAccess = std::unique_ptr<contention::SqlAccess> (*)(const contention::SqlAccessContext &context);
    SqlStage(const StageContext &context, OpenAccess openAccess, sim::SqlServerRules rules = {})
        : m_context(context), m_server(context.world, rules), m_openAccess(openAccess)
    {
        m_server.addRow(contention::simulatedTable, contention::simulatedKey, contention::simulatedRow, 1);
    }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(sim::Process &process, int contender) override
    {
        auto access =
            m_openAccess({m_context.scenario, m_context.network, m_context.trace, m_server, process, contender});
        m_accesses[contender] = access.get();
        return access;
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int contender,
                                                      recipes::Grant /*grant*/) override
    {
        if (!endHold(contender))
            co_return operate::goneAlready(plan);
        co_return operate::Sent();
    }

protected:
    virtual bool endHold(int contender) { return m_server.kill(m_accesses.at(contender)->connection()); }

    const StageContext m_context;
    sim::SqlServer m_server;

private:
    const OpenAccess m_openAccess;
    std::map<int, const contention::SqlAccess *> m_accesses; // while they live
};

} // namespace lockscope::rehearse
