// SPDX-License-Identifier: Apache-2.0
// The statements of the simulated MariaDB that lock rows: what they wait for, and what they do when they have them.
//
// InnoDB locks each row that a statement looks at, in the order in which it does, and waits where it comes to one
// that another has: so whoever reads a whole table to find one row waits for every other row of it, too.
#include "core/simservers/mariadb/server.h"

namespace lockscope::sim {

using Kind = SqlStatement::Kind;

std::optional<SqlAnswer> SqlServer::lockRows(Connection &connection, const Statement &statement,
                                             const OnAnswer &answer, std::size_t from)
{
    const auto &what = statement.what;
    const auto rows = m_tables.at(what.table).lookedAt(what, statement.parameters);
    if (rows.empty())
        m_rows.lockGap(connection.id, what.table);
    const bool mayWait =
        what.kind != Kind::LockRowNow && what.kind != Kind::LockRowSkip && connection.lockWaitTimeout > 0s;
    for (auto at = from; at < rows.size(); ++at) {
        const RowId row{what.table, rows[at]};
        const bool hadIt = m_rows.holderOf(row) == connection.id;
        switch (m_rows.lock(connection.id, row, mayWait)) {
        case RowLocks::Outcome::Granted: break;
        case RowLocks::Outcome::Conflicts: return cannotHaveRow(connection, statement);
        case RowLocks::Outcome::Waits: return waitForRow(connection, statement, answer, at);
        }
        if (!hadIt)
            letGo(connection, statement, row);
    }
    return haveRows(connection, statement);
}

std::optional<SqlAnswer> SqlServer::waitForRow(Connection &connection, const Statement &statement,
                                               const OnAnswer &answer, std::size_t at)
{
    const auto begin = [&] {
        wait(connection, statement, answer);
        connection.waiting->at = at;
    };
    if (m_rules.deadlockTimeout) {
        begin();
        lookForCircle(connection);
        return std::nullopt;
    }
    const auto victim = m_rows.victimOf(connection.id);
    if (victim == connection.id) {
        rollback(connection);
        return deadlock();
    }
    begin();
    if (connection.lockWaitTimeout < noLockWaitTimeout)
        endAt(connection, m_world.now() + connection.lockWaitTimeout, lockWaitTimeout());
    if (victim) {
        auto &other = *find(*victim);
        rollback(other);
        tell(other, deadlock());
    }
    return std::nullopt;
}

// What it has waited for it keeps, be it the one or not: InnoDB lets go only of what it got at once.
void SqlServer::lookOn(Connection &connection)
{
    const auto waited = *std::exchange(connection.waiting, std::nullopt);
    const auto answered = lockRows(connection, waited.statement, waited.answer, waited.at + 1);
    if (!answered)
        return;
    connection.waiting = waited;
    tell(connection, *answered);
}

void SqlServer::letGo(Connection &connection, const Statement &statement, const RowId &row)
{
    if (!connection.isReadCommitted || SqlTable::isWanted(statement.what, statement.parameters, row.value))
        return;
    std::ranges::copy(m_rows.unlock(connection.id, row), std::back_inserter(m_granted));
}

// Another has it, and the statement does not wait.
SqlAnswer SqlServer::cannotHaveRow(Connection &connection, const Statement &statement)
{
    if (statement.what.kind != Kind::LockRowSkip) {
        failStatement(connection);
        return lockWaitTimeout();
    }
    SqlAnswer none;
    none.rows.columns = {statement.what.key.toLower()};
    endStatement(connection);
    return none;
}

// All that it looked at are locked, or there is none: the statement does what it is for.
SqlAnswer SqlServer::haveRows(Connection &connection, const Statement &statement)
{
    const auto &[what, parameters] = statement;
    auto &table = m_tables.at(what.table);
    SqlAnswer answer;
    if (what.kind == Kind::WriteRow || what.kind == Kind::WriteVersion) {
        for (const auto &row : table.wanted(what, parameters)) {
            auto &version = table.versions.at(row);
            if (what.kind == Kind::WriteVersion && QByteArray::number(version) != parameters[1])
                continue;
            connection.before.emplace(RowId{what.table, row}, version);
            ++version;
            m_rows.wrote(connection.id);
            ++answer.rows.affected;
        }
    } else {
        answer.rows.columns = {table.key.toLower()};
        if (what.isOfManyRows())
            answer.rows.columns << "code"
                                << "version";
        for (const auto &value : table.wanted(what, parameters)) {
            std::vector<mariadb::Rows::Cell> row{value};
            if (what.isOfManyRows())
                row.insert(row.end(), {value, QByteArray::number(table.versions.at(value))});
            answer.rows.rows.push_back(std::move(row));
        }
        answer.rows.affected = qint64(answer.rows.rows.size());
    }
    endStatement(connection);
    return answer;
}

} // namespace lockscope::sim
