// SPDX-License-Identifier: Apache-2.0
// The simulated MariaDB that contenders of the SQL recipes contend on.
#include "core/contention/servers.h"

#include "core/contention/mariadbaccess.h"
#include "core/contention/sqlstate.h"

namespace lockscope::contention {

namespace {

using namespace std::chrono_literals;

class MariaDbServers final : public Servers {
public:
    explicit MariaDbServers(const ServersContext &context) : m_context(context), m_server(context.world)
    {
        for (int row = 0; row < context.scenario.rows; ++row)
            m_server.addRow(simulatedTable, simulatedKey, simulatedRowOf(row), 1);
        if (!context.scenario.isIndexed)
            m_server.dropIndex(simulatedTable);
        m_server.leasedRows().addTable(simulatedLeases);
    }

    [[nodiscard]] std::unique_ptr<ContenderAccess> open(world::Process &process, int contender) override
    {
        auto access = std::make_unique<SqlAccess>(m_context.scenario, m_context.network, m_context.trace, m_server,
                                                  process, contender);
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
    bool jumpClock(std::chrono::milliseconds by) override
    {
        if (!takesLeasedRow(m_context.scenario.recipe))
            return false;
        m_server.leasedRows().jumpClock(by);
        return true;
    }
    bool forceRelease(bool ofWaiter) override
    {
        if (takesLeasedRow(m_context.scenario.recipe))
            return !ofWaiter && m_server.leasedRows().end({simulatedLeases, simulatedName});
        const bool named = takesNamedLock(m_context.scenario.recipe);
        const world::RowId id{simulatedTable, simulatedRow};
        const auto &rows = m_server.rowLocks();
        const auto &names = m_server.namedLocks();
        const auto whose = ofWaiter ? (named ? names.firstWaiterFor(simulatedName) : rows.firstWaiterFor(id))
                                    : (named ? names.holderOf(simulatedName) : rows.holderOf(id));
        return whose && m_server.kill(*whose);
    }

    [[nodiscard]] std::vector<ServerLine> state() const override
    {
        std::vector<ServerLine> lines;
        const auto add = [&](const QByteArray &name, const QByteArray &what, const auto &queue) {
            lines.push_back(sqlLockLine(name, what, queue, [this](auto connection) { return nameOf(connection); }));
        };
        if (takesNamedLock(m_context.scenario.recipe)) {
            for (const auto &name : m_server.namedLocks().names())
                add("GET_LOCK " + name, {}, m_server.namedLocks().queueOf(name));
            return lines;
        }
        if (takesLeasedRow(m_context.scenario.recipe)) {
            for (const auto &row : m_server.leasedRows().rows()) {
                // In few words, or what is left of its time is cut off in a narrow window.
                const auto words = row.left ? "by " + row.by : QByteArray("free");
                const auto ends = row.left ? std::optional(m_context.trace.now() + *row.left) : std::nullopt;
                lines.push_back({0, "row " + row.id.value, words, ends});
            }
            return lines;
        }
        for (int i = 0; i < m_context.scenario.rows; ++i) {
            const world::RowId row{simulatedTable, simulatedRowOf(i)};
            const auto version = QByteArray::number(m_server.committedVersion(row).value_or(0));
            add(simulatedTable + ' ' + simulatedKey + '=' + row.value, "version " + version,
                m_server.rowLocks().queueOf(row));
        }
        return lines;
    }
    [[nodiscard]] std::vector<QByteArray> leftBehind() const override
    {
        const auto left = m_server.leftBehind();
        return {left.begin(), left.end()};
    }
    // Who died while it waited is noticed when it gets its turn, or within a second; and whose last message was
    // late, when that has come: the end of a connection comes behind it.
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
    std::map<int, SqlAccess *> m_accesses; // of those that are there
};

} // namespace

std::unique_ptr<Servers> makeMariaDbServers(const ServersContext &context)
{
    return std::make_unique<MariaDbServers>(context);
}

} // namespace lockscope::contention
