// SPDX-License-Identifier: Apache-2.0
// The simulated MariaDB that contenders of the SQL recipes contend on.
#include "core/contention/access.h"
#include "core/contention/faults.h"
#include "core/base/text.h"

namespace lockscope::contention {

namespace {

bool writesRow(const Act &act)
{
    const auto what = sim::readSqlStatement(act.command);
    return what && what->kind == sim::SqlStatement::Kind::WriteRow;
}

class MariaDbServers final : public SqlServers {
public:
    explicit MariaDbServers(const ServersContext &context)
        : SqlServers(context, {}, "GET_LOCK", simulatedName),
          m_writes(isOptimistic(context.scenario.recipe) || std::ranges::any_of(context.scenario.acts, &writesRow))
    {
        for (int row = 0; row < context.scenario.rows; ++row)
            m_server.addRow(simulatedTable, simulatedKey, simulatedRowOf(row), 1);
        if (!context.scenario.isIndexed)
            m_server.dropIndex(simulatedTable);
        m_server.leasedRows().addTable(simulatedLeases);
        addMarkedRows(m_server);
    }

    bool jumpClock(std::chrono::milliseconds by) override
    {
        if (!takesLeasedRow(scenario().recipe))
            return false;
        m_server.leasedRows().jumpClock(by);
        return true;
    }
    bool forceRelease(bool ofWaiter) override
    {
        if (takesLeasedRow(scenario().recipe))
            return !ofWaiter && m_server.leasedRows().end({simulatedLeases, simulatedName});
        if (takesMarkedRow(scenario().recipe))
            return !ofWaiter && m_server.markedRows().end(markedRowOf(scenario().recipe));
        return SqlServers::forceRelease(ofWaiter);
    }

private:
    [[nodiscard]] std::unique_ptr<SqlAccess> openAccess(const SqlAccessContext &context) const override
    {
        return openMariaDbAccess(context);
    }
    [[nodiscard]] std::vector<ServerLine> rows() const override
    {
        std::vector<ServerLine> lines;
        if (takesLeasedRow(scenario().recipe)) {
            for (const auto &row : m_server.leasedRows().rows()) {
                // In few words, or what is left of its time is cut off in a narrow window.
                const auto words = row.left ? "by " + row.by : QByteArray("free");
                const auto ends = row.left ? std::optional(trace().now() + *row.left) : std::nullopt;
                lines.push_back({0, "row " + row.id.value, words, ends});
            }
            return lines;
        }
        if (takesMarkedRow(scenario().recipe)) {
            const auto row = markedRowOf(scenario().recipe);
            const auto flag = m_server.markedRows().flags().find(row);
            const auto mark = m_server.markedRows().marks().find(row);
            if (flag != m_server.markedRows().flags().end())
                lines.push_back({0,
                                 "row " + row.value,
                                 "status " + QByteArray(flag->second.isSet ? "1" : "0") + ", version "
                                     + QByteArray::number(flag->second.version),
                                 {}});
            else if (mark != m_server.markedRows().marks().end())
                lines.push_back({0, "row " + row.value, "by " + mark->second.owner, {}});
            return lines;
        }
        for (int i = 0; i < scenario().rows; ++i) {
            const sim::RowId row{simulatedTable, simulatedRowOf(i)};
            // Of a row that is only locked it says nothing.
            const auto version =
                m_writes ? "version " + QByteArray::number(m_server.committedVersion(row).value_or(0)) : QByteArray();
            lines.push_back(rowLine(row, version));
        }
        return lines;
    }

    const bool m_writes; // versions of rows
};

} // namespace

std::unique_ptr<Servers> makeMariaDbServers(const ServersContext &context)
{
    return std::make_unique<MariaDbServers>(context);
}

// Which faults can happen there, and what they may break.
using recipes::RecipeInfo;

namespace {

bool isLeased(const RecipeInfo &recipe)
{
    return recipe.endsBy == recipes::EndsBy::Lease;
}

bool isMarked(const RecipeInfo &recipe)
{
    return recipe.endsBy == recipes::EndsBy::Never;
}

std::optional<OverlapBound> overlapOnMariaDb(const Scenario &scenario, FaultKind fault)
{
    if (isLeased(*playable(scenario.recipe)))
        return overlapOfRenewedLease(scenario, fault);
    if (isMarked(*playable(scenario.recipe)))
        return fault == FaultKind::ForceRelease
                   ? std::optional(OverlapBound{Duration(scenario.hold) + connectsAgain, u"its work"_s})
                   : std::nullopt;
    return overlapOfSqlConnection(scenario, fault);
}

// What ends a hold by a row with a time is the server's clock, whatever becomes of the connection. Optimistic: nobody
// holds anything, and a write under an old version is refused.
GuaranteeRule twoBelieveOnMariaDb(const RecipeInfo &recipe, FaultKind fault, const QByteArray &)
{
    if (recipe.optimistic)
        return {};
    return twoBelieve(isLeased(recipe)   ? "row with a time"
                      : isMarked(recipe) ? "row that stays"
                                         : "MariaDB connection",
                      fault);
}

Result<void> checkSqlAct(const QByteArray &command)
{
    const auto what = sim::readSqlStatement(command);
    const bool isKill = what && what->kind >= sim::SqlStatement::Kind::KillQuery;
    if (what && what->parameters == 0 && !isKill)
        return {};
    return Error{
        ErrorCode::BadInput,
        u"the simulated server does not know \"%1\": SELECT * FROM sim.row WHERE id >= 3 FOR UPDATE (or code = '3', code = 3), UPDATE sim.row SET version = version + 1 WHERE id = 3, DELETE FROM sim.lock_marks WHERE created_at < UTC_TIMESTAMP(3) - INTERVAL 2 SECOND, or SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, START TRANSACTION, COMMIT, ROLLBACK"_s
            .arg(label(command))};
}

Duration untilSilent(const Scenario &scenario)
{
    const auto &recipe = *playable(scenario.recipe);
    if (isMarked(recipe)) // nothing tells it anything before its work is done
        return Duration(scenario.hold) + sqlSilence;
    return isLeased(recipe) ? Duration(scenario.ttl) : sqlSilence;
}

} // namespace

BackendRules rulesOfMariaDb()
{
    return {.never = {FaultKind::Lag, FaultKind::RestartEmpty, FaultKind::Failover, FaultKind::LostPublish},
            .twoBelieve = &twoBelieveOnMariaDb,
            .overlap = &overlapOnMariaDb,
            .believesFor = &untilSilent,
            .checkAct = &checkSqlAct,
            .playsRows = true};
}

} // namespace lockscope::contention
