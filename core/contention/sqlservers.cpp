// SPDX-License-Identifier: Apache-2.0
#include "core/contention/sqlservers.h"

#include "core/base/text.h"
#include "core/contention/access.h"
#include "core/contention/faults.h"

namespace lockscope::contention {

SqlServers::SqlServers(const ServersContext &context, const sim::SqlServerRules &rules, QByteArray kind,
                       QByteArray name)
    : m_server(context.world, rules), m_context(context), m_kind(std::move(kind)), m_name(std::move(name))
{
}

std::unique_ptr<ContenderAccess> SqlServers::open(sim::Process &process, int contender)
{
    auto access = openAccess({m_context.scenario, m_context.network, m_context.trace, m_server, process, contender});
    m_accesses[contender] = access.get();
    access->onGone = [this, contender] { m_accesses.erase(contender); };
    return access;
}

bool SqlServers::expire(int contender)
{
    const auto at = m_accesses.find(contender);
    return at != m_accesses.end() && m_server.kill(at->second->connection());
}

bool SqlServers::forceRelease(bool ofWaiter)
{
    const bool named = takesNamedLock(m_context.scenario.recipe);
    const sim::RowId id{simulatedTable, simulatedRow};
    const auto &rows = m_server.rowLocks();
    const auto &names = m_server.namedLocks();
    const auto whose = ofWaiter ? (named ? names.firstWaiterFor(m_name) : rows.firstWaiterFor(id))
                                : (named ? names.holderOf(m_name) : rows.holderOf(id));
    return whose && m_server.kill(*whose);
}

std::vector<ServerLine> SqlServers::state() const
{
    if (!takesNamedLock(m_context.scenario.recipe))
        return rows();
    return mapped<std::vector<ServerLine>>(m_server.namedLocks().names(), [&](const auto &name) {
        return line(m_kind + ' ' + name, {}, m_server.namedLocks().queueOf(name));
    });
}

std::vector<QByteArray> SqlServers::leftBehind() const
{
    const auto left = m_server.leftBehind();
    return {left.begin(), left.end()};
}

ServerLine SqlServers::rowLine(const sim::RowId &row, const QByteArray &what) const
{
    return line(row.table + ' ' + simulatedKey + '=' + row.value, what, m_server.rowLocks().queueOf(row));
}

ServerLine SqlServers::line(const QByteArray &name, const QByteArray &what,
                            const std::deque<mariadb::ConnectionId> &queue) const
{
    QByteArrayList words, waiting;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        if (i == 0)
            words << "locked by " + nameOf(queue[i]);
        else
            waiting << nameOf(queue[i]);
    }
    if (!waiting.isEmpty())
        words << "queue: " + waiting.join(' ');
    if (words.isEmpty() && what.isEmpty())
        words << "free";
    if (!what.isEmpty()) // last: where there is little room, who has it is to be seen
        words << what;
    return {0, name, words.join(", "), {}};
}

QByteArray SqlServers::nameOf(mariadb::ConnectionId connection) const
{
    for (const auto &[contender, access] : m_accesses) {
        if (access->connection() == connection)
            return contenderName(contender, m_context.scenario.contenders);
    }
    return "connection " + QByteArray::number(connection);
}

// The simulated PostgreSQL that contenders of its recipes contend on.

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
