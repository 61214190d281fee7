// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/mariadb/server.h"

namespace lockscope::sim {

using Kind = SqlStatement::Kind;

namespace {

const QByteArray codeColumn("code");

} // namespace

bool SqlTable::hasColumn(const SqlStatement &what) const
{
    const bool mayBeCode = what.kind == Kind::LockByText || what.kind == Kind::LockByNumber;
    return what.key == key || (mayBeCode && what.key == codeColumn);
}

bool SqlTable::isWanted(const SqlStatement &what, const QByteArrayList &parameters, const QByteArray &row)
{
    switch (what.kind) {
    case Kind::LockFrom: return row.toLongLong() >= what.number;
    case Kind::LockByText:
    case Kind::LockByNumber:
    case Kind::WriteRow: return row.toLongLong() == what.number;
    default: return row == parameters.front();
    }
}

std::vector<QByteArray> SqlTable::wanted(const SqlStatement &what, const QByteArrayList &parameters) const
{
    std::vector<QByteArray> rows;
    if (!what.isOfManyRows()) {
        if (versions.contains(parameters.front()))
            rows.push_back(parameters.front());
        return rows;
    }
    for (const auto &[row, version] : versions) {
        if (isWanted(what, parameters, row))
            rows.push_back(row);
    }
    return rows;
}

std::vector<QByteArray> SqlTable::lookedAt(const SqlStatement &what, const QByteArrayList &parameters) const
{
    auto rows = wanted(what, parameters);
    // An index of texts is of no use to find a number in: "2", "02" and "2.0" all are 2.
    const bool isNumberForText = what.kind == Kind::LockByNumber && what.key == codeColumn;
    if (isIndexed && !isNumberForText && (what.kind != Kind::LockFrom || readsByIndex(rows.size(), versions.size())))
        return rows;
    rows.clear();
    for (const auto &[row, version] : versions)
        rows.push_back(row);
    return rows;
}

using Kind = SqlStatement::Kind;
using std::chrono::milliseconds;

bool LeasedRows::isAbout(Kind kind)
{
    return kind == Kind::TakeLeasedRow || kind == Kind::MakeLeasedRow || kind == Kind::ExtendLeasedRow
           || kind == Kind::FreeLeasedRow || kind == Kind::IsLeasedRowMine;
}

milliseconds LeasedRows::now() const
{
    return std::chrono::floor<milliseconds>(m_world.now().time_since_epoch() + m_ahead);
}

// Null: it says somebody else, or its time is over.
LeasedRows::Row *LeasedRows::ownedBy(const RowId &row, const QByteArray &owner)
{
    const auto at = m_rows.find(row);
    return at != m_rows.end() && at->second.by == owner && at->second.until > now() ? &at->second : nullptr;
}

SqlAnswer LeasedRows::run(const SqlStatement &what, const QByteArrayList &parameters)
{
    if (!m_tables.contains(what.table))
        return error(1146, "Unknown table '" + what.table + '\'');
    const auto at = now();
    const auto later = [&](const QByteArray &microseconds) {
        return std::chrono::floor<milliseconds>(at + std::chrono::microseconds(microseconds.toLongLong()));
    };
    switch (what.kind) {
    case Kind::TakeLeasedRow: {
        const auto row = m_rows.find({what.table, parameters[2]});
        if (row == m_rows.end() || row->second.until > at)
            return changed(false);
        row->second = {later(parameters[0]), parameters[1]};
        return changed(true);
    }
    case Kind::MakeLeasedRow: return changed(m_rows.try_emplace({what.table, parameters[0]}, Row{at, {}}).second);
    case Kind::ExtendLeasedRow: {
        auto *row = ownedBy({what.table, parameters[1]}, parameters[2]);
        const bool isLater = row && row->until != later(parameters[0]);
        if (isLater)
            row->until = later(parameters[0]);
        return changed(isLater);
    }
    case Kind::FreeLeasedRow: {
        auto *row = ownedBy({what.table, parameters[0]}, parameters[1]);
        if (row)
            row->until = at;
        return changed(row);
    }
    default: {
        const bool isMine = ownedBy({what.table, parameters[0]}, parameters[1]);
        return cells({what.output}, {isMine ? "1" : "0"});
    }
    }
}

std::vector<LeasedRows::Seen> LeasedRows::rows() const
{
    std::vector<Seen> seen;
    const auto at = now();
    for (const auto &[id, row] : m_rows)
        seen.push_back({id, row.by, row.until > at ? std::optional<Duration>(row.until - at) : std::nullopt});
    return seen;
}

QByteArrayList LeasedRows::leftBehind() const
{
    QByteArrayList left;
    for (const auto &row : rows()) {
        if (row.left)
            left << "time left of " + row.id.table + '#' + row.id.value;
    }
    return left;
}

bool LeasedRows::end(const RowId &row)
{
    const auto at = m_rows.find(row);
    if (at == m_rows.end() || at->second.until <= now())
        return false;
    at->second.until = now();
    return true;
}

using Kind = SqlStatement::Kind;

bool MarkedRows::isAbout(Kind kind)
{
    return kind >= Kind::InsertMark && kind <= Kind::ClearFlag;
}

SqlAnswer MarkedRows::run(const SqlStatement &what, const QByteArrayList &parameters)
{
    if (!m_tables.contains(what.table))
        return error(1146, "Unknown table '" + what.table + '\'');
    if (what.kind == Kind::DeleteOldMarks)
        return deleteOld(what.table, std::chrono::seconds(what.number));
    const RowId row{what.table, what.kind == Kind::SetFlag ? parameters[1] : parameters[0]};
    const auto mark = m_marks.find(row);
    const bool isItsMark = mark != m_marks.end() && mark->second.owner == parameters.value(1);
    const auto at = m_flags.find(row);
    auto *flag = at == m_flags.end() ? nullptr : &at->second;
    switch (what.kind) {
    case Kind::InsertMark:
        if (mark != m_marks.end())
            return error(1062, "Duplicate entry '" + row.value + "' for key 'PRIMARY'");
        m_marks.emplace(row, Mark{parameters[1], m_world.now()});
        return changed(true);
    case Kind::DeleteMark:
        if (isItsMark)
            m_marks.erase(mark);
        return changed(isItsMark);
    case Kind::IsMarkMine: return cells({what.output}, {isItsMark ? "1" : "0"});
    case Kind::SetFlag: {
        const bool isFree = flag && !flag->isSet && QByteArray::number(flag->version) == parameters[0];
        if (isFree)
            *flag = {flag->version + 1, true};
        return changed(isFree);
    }
    case Kind::ClearFlag: {
        const bool isSo = flag && flag->isSet && QByteArray::number(flag->version) == parameters[1];
        if (isSo)
            flag->isSet = false;
        return changed(isSo);
    }
    default: break;
    }
    auto answer =
        cells({"status", "version"}, {flag && flag->isSet ? "1" : "0", QByteArray::number(flag ? flag->version : 0)});
    if (!flag)
        answer.rows.rows.clear();
    return answer;
}

// As a supervisor does it, whoever still works.
SqlAnswer MarkedRows::deleteOld(const QByteArray &table, std::chrono::seconds limit)
{
    SqlAnswer answer;
    answer.rows.affected = qint64(std::erase_if(m_marks, [&](const auto &one) {
        return one.first.table == table && one.second.since < m_world.now() - Duration(limit);
    }));
    return answer;
}

QByteArrayList MarkedRows::leftBehind() const
{
    QByteArrayList left;
    for (const auto &[row, mark] : m_marks)
        left << "mark " + row.table + '#' + row.value;
    for (const auto &[row, flag] : m_flags) {
        if (flag.isSet)
            left << "flag of " + row.table + '#' + row.value;
    }
    return left;
}

bool MarkedRows::end(const RowId &row)
{
    const auto flag = m_flags.find(row);
    if (flag == m_flags.end())
        return m_marks.erase(row) > 0;
    return std::exchange(flag->second.isSet, false);
}

// The statements of the simulated MariaDB that lock rows: what they wait for, and what they do when they have them.
//
// InnoDB locks each row that a statement looks at, in the order in which it does, and waits where it comes to one
// that another has: so whoever reads a whole table to find one row waits for every other row of it, too.
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
