// SPDX-License-Identifier: Apache-2.0
// The simulated PostgreSQL that contenders of its recipes contend on.
#include "core/contention/access.h"
#include "core/contention/faults.h"

namespace lockscope::contention {

namespace {

class PostgreSqlServers final : public SqlServers {
public:
    explicit PostgreSqlServers(const ServersContext &context)
        : SqlServers(context, sim::postgreSqlRules, "ADVISORY", simulatedAdvisory)
    {
        m_server.addRow(simulatedTable, simulatedKey, simulatedRow, 1);
    }

private:
    [[nodiscard]] std::unique_ptr<SqlAccess> openAccess(const SqlAccessContext &context) const override
    {
        return openPostgreSqlAccess(context);
    }
    [[nodiscard]] std::vector<ServerLine> rows() const override
    {
        return {rowLine({simulatedTable, simulatedRow}, {})};
    }
};

} // namespace

std::unique_ptr<Servers> makePostgreSqlServers(const ServersContext &context)
{
    return std::make_unique<PostgreSqlServers>(context);
}

// Which faults can happen there, and what they may break.
using recipes::RecipeInfo;

// As on MariaDB: the session is the same. But for a server that keeps who is idle for as long as that is there.
BackendRules rulesOfPostgreSql()
{
    return {.never = {FaultKind::Lag, FaultKind::RestartEmpty, FaultKind::Failover, FaultKind::LostPublish},
            .twoBelieve = [](const RecipeInfo &, FaultKind fault,
                             const QByteArray &) { return twoBelieve("PostgreSQL connection", fault); },
            .overlap = &overlapOfSqlConnection,
            .believesFor = [](const Scenario &) { return sqlSilence; }};
}

} // namespace lockscope::contention
