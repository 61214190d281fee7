// SPDX-License-Identifier: Apache-2.0
// The simulated PostgreSQL that contenders of its recipes contend on.
#include "core/contention/servers.h"

#include "core/contention/postgresqlaccess.h"
#include "core/contention/sqlstate.h"

namespace lockscope::contention {

namespace {

using namespace std::chrono_literals;

class PostgreSqlServers final : public Servers {
public:
    explicit PostgreSqlServers(const ServersContext &context)
        : m_context(context), m_server(context.world, world::postgreSqlRules)
    {
        m_server.addRow(simulatedPgTable, simulatedPgKey, simulatedPgRow, 1);
    }

    [[nodiscard]] std::unique_ptr<ContenderAccess> open(world::Process &process, int contender) override
    {
        auto access = std::make_unique<PostgreSqlAccess>(m_context.scenario.recipe, m_context.network,
                                                         m_context.trace, m_server, process, contender);
        m_accesses[contender] = access.get();
        access->onGone = [this, contender] { m_accesses.erase(contender); };
        return access;
    }
    [[nodiscard]] int count() const override { return 1; }

    bool expire(int contender) override
    {
        const auto at = m_accesses.find(contender);
        return at != m_accesses.end() && m_server.kill(at->second->connection());
    }
    bool forceRelease(bool ofWaiter) override
    {
        const bool named = takesAdvisoryLock(m_context.scenario.recipe);
        const world::RowId id{simulatedPgTable, simulatedPgRow};
        const auto &rows = m_server.rowLocks();
        const auto &names = m_server.namedLocks();
        const auto whose = ofWaiter ? (named ? names.firstWaiterFor(simulatedAdvisory) : rows.firstWaiterFor(id))
                                    : (named ? names.holderOf(simulatedAdvisory) : rows.holderOf(id));
        return whose && m_server.kill(*whose);
    }

    [[nodiscard]] std::vector<ServerLine> state() const override
    {
        std::vector<ServerLine> lines;
        const auto add = [&](const QByteArray &name, const auto &queue) {
            lines.push_back(sqlLockLine(name, {}, queue, [this](auto connection) { return nameOf(connection); }));
        };
        if (takesAdvisoryLock(m_context.scenario.recipe)) {
            for (const auto &name : m_server.namedLocks().names())
                add("ADVISORY " + name, m_server.namedLocks().queueOf(name));
        } else {
            add(simulatedPgTable + ' ' + simulatedPgKey + '=' + simulatedPgRow,
                m_server.rowLocks().queueOf({simulatedPgTable, simulatedPgRow}));
        }
        return lines;
    }
    [[nodiscard]] std::vector<QByteArray> leftBehind() const override
    {
        const auto left = m_server.leftBehind();
        return {left.begin(), left.end()};
    }
    // Who died while it waited is noticed when it gets its turn; and whose last message was late, when that has come:
    // the end of a connection comes behind it.
    [[nodiscard]] Duration longestGap() const override { return 2 * Duration(m_context.scenario.ttl) + 10s; }
    [[nodiscard]] Duration longestLife() const override { return 2 * Duration(m_context.scenario.ttl) + 2s; }

private:
    [[nodiscard]] QByteArray nameOf(mariadb::ConnectionId connection) const
    {
        for (const auto &[contender, access] : m_accesses) {
            if (access->connection() == connection)
                return contenderName(contender, m_context.scenario.contenders);
        }
        return "connection " + QByteArray::number(connection);
    }

    const ServersContext m_context;
    world::SqlServer m_server;
    std::map<int, PostgreSqlAccess *> m_accesses; // of those that are there
};

} // namespace

std::unique_ptr<Servers> makePostgreSqlServers(const ServersContext &context)
{
    return std::make_unique<PostgreSqlServers>(context);
}

} // namespace lockscope::contention
