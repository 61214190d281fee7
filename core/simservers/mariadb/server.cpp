// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/mariadb/server.h"

#include "core/base/text.h"
namespace lockscope::sim {

using mariadb::ConnectionId;
using Kind = SqlStatement::Kind;

namespace {

constexpr auto looksAfterClientEvery = 1s; // during a wait for a named lock
constexpr double longestWait = 365.0 * 24 * 3600;

// Whom a write of a row that is a lock would have to wait for is not played: each is a transaction of its own.
SqlAnswer notSimulated()
{
    return error(1235, "In a transaction this is not simulated");
}

} // namespace

void SqlServer::addRow(const QByteArray &table, const QByteArray &key, const QByteArray &value, qint64 version)
{
    auto &into = m_tables[table];
    into.key = key;
    into.versions[value] = version;
}

std::optional<qint64> SqlServer::committedVersion(const RowId &row) const
{
    const auto table = m_tables.find(row.table);
    if (table == m_tables.end() || !table->second.versions.contains(row.value))
        return std::nullopt;
    // Only who has its lock can have written it.
    if (const auto holder = m_rows.holderOf(row)) {
        const auto connection = m_connections.find(*holder);
        if (connection != m_connections.end() && connection->second.before.contains(row))
            return connection->second.before.at(row);
    }
    return table->second.versions.at(row.value);
}

// --- connections -----------------------------------------------------------------------------------

ConnectionId SqlServer::connect(std::function<void()> closed)
{
    const auto id = ++m_lastConnection;
    auto &connection = m_connections[id];
    connection.id = id;
    connection.closed = std::move(closed);
    connection.idleSince = m_world.now();
    return id;
}

SqlServer::Connection *SqlServer::find(ConnectionId connection)
{
    const auto at = m_connections.find(connection);
    return at == m_connections.end() ? nullptr : &at->second;
}

void SqlServer::execute(ConnectionId connection, const QByteArray &text, const QByteArrayList &parameters,
                        OnAnswer answer)
{
    auto *by = find(connection);
    if (!by || by->waiting)
        return; // its link is being closed
    const auto what = readSqlStatement(text);
    std::optional<SqlAnswer> answered;
    if (!what || what->parameters != parameters.size())
        answered = error(1064, "Syntax error near '" + text.left(80) + '\'');
    else if (by->isAborted && what->isRefusedWhenAborted())
        answered = transactionIsAborted();
    else
        answered = run(*by, {*what, parameters}, answer);
    // Whoever killed itself hears of it by the end of its connection.
    by = find(connection);
    if (by && answered) {
        by->idleSince = m_world.now();
        answer(*answered);
    }
    goOn();
}

void SqlServer::disconnected(ConnectionId connection)
{
    auto *gone = find(connection);
    if (!gone)
        return;
    if (!gone->waiting) {
        close(connection);
    } else if (!std::exchange(gone->isGone, true) && m_rules.looksAfterWaitingClients
               && gone->waiting->statement.what.isForNamedLock()) {
        const auto waited = m_world.now() - gone->waiting->since;
        const auto looks =
            gone->waiting->since + (waited / Duration(looksAfterClientEvery) + 1) * Duration(looksAfterClientEvery);
        endAt(*gone, looks, {});
    }
    goOn();
}

bool SqlServer::kill(ConnectionId connection)
{
    auto *killed = find(connection);
    if (!killed)
        return false;
    const auto closed = std::move(killed->closed);
    close(connection);
    goOn();
    if (closed)
        closed();
    return true;
}

bool SqlServer::killQuery(ConnectionId connection)
{
    auto *killed = find(connection);
    if (!killed)
        return false;
    if (killed->waiting) {
        // MariaDB's wait for a named lock answers NULL instead of failing.
        const bool isNamed = killed->waiting->statement.what.isForNamedLock() && !m_rules.failureEndsTransaction;
        const auto output = killed->waiting->statement.what.output;
        stopWaiting(*killed,
                    isNamed ? cells({output}, {std::nullopt}) : error(1317, "Query execution was interrupted"));
    }
    goOn();
    return true;
}

std::optional<Instant> SqlServer::idleSince(ConnectionId connection) const
{
    const auto at = m_connections.find(connection);
    return at == m_connections.end() || at->second.waiting ? std::nullopt : std::optional(at->second.idleSince);
}

// Its locks are free at once, and go to who waits for them.
void SqlServer::close(ConnectionId connection)
{
    auto *closing = find(connection);
    closing->waiting.reset();
    rollback(*closing);
    std::ranges::copy(m_names.releaseAll(connection), std::back_inserter(m_granted));
    m_connections.erase(connection);
}

QByteArrayList SqlServer::leftBehind() const
{
    auto left = mapped<QByteArrayList>(m_rows.lockedRows(),
                                       [&](const auto &row) { return "lock on " + row.table + '#' + row.value; });
    for (const auto &name : m_names.names())
        left << "GET_LOCK#" + name;
    left << m_leasedRows.leftBehind() << m_markedRows.leftBehind();
    for (const auto &[id, connection] : m_connections) {
        if (connection.isInTransaction)
            left << "transaction of connection " + QByteArray::number(id);
    }
    return left;
}

// --- waiting ---------------------------------------------------------------------------------------

void SqlServer::wait(Connection &connection, const Statement &statement, const OnAnswer &answer)
{
    connection.waiting = Waiting{statement, answer, m_world.now(), {}};
}

void SqlServer::endAt(Connection &connection, Instant when, const SqlAnswer &answer)
{
    connection.waiting->timer = m_world.callAt(when, [this, id = connection.id, answer] {
        if (auto *waiting = find(id)) {
            stopWaiting(*waiting, answer);
            goOn();
        }
    });
}

void SqlServer::stopWaiting(Connection &connection, const SqlAnswer &answer)
{
    if (connection.waiting->statement.what.isForNamedLock())
        m_names.stopWaiting(connection.id);
    else
        std::ranges::copy(m_rows.stopWaiting(connection.id), std::back_inserter(m_granted));
    failStatement(connection);
    tell(connection, answer);
}

void SqlServer::lookForCircle(Connection &connection)
{
    connection.waiting->timer = m_world.callAt(m_world.now() + *m_rules.deadlockTimeout, [this, id = connection.id] {
        if (auto *waiting = find(id); waiting && waitsForItself(id)) {
            stopWaiting(*waiting, deadlock());
            goOn();
        }
    });
}

bool SqlServer::waitsForItself(ConnectionId connection) const
{
    std::set<ConnectionId> passed;
    for (std::optional next = connection; next && passed.insert(*next).second;) {
        const auto blocker = m_names.blockerOf(*next);
        next = blocker ? blocker : m_rows.blockerOf(*next);
        if (next == connection)
            return true;
    }
    return false; // or it waits for a circle of others, which one of them finds
}

void SqlServer::tell(Connection &connection, const SqlAnswer &answer)
{
    const auto waiting = std::exchange(connection.waiting, std::nullopt);
    connection.idleSince = m_world.now();
    if (connection.isGone)
        close(connection.id);
    else
        waiting->answer(answer);
}

// Who got what it waited for. One after the other, since a statement that ends may pass on more locks.
void SqlServer::goOn()
{
    if (std::exchange(m_goesOn, true))
        return;
    while (!m_granted.empty()) {
        auto *connection = find(m_granted.front());
        m_granted.pop_front();
        if (!connection || !connection->waiting)
            continue;
        const auto statement = connection->waiting->statement;
        if (statement.what.isForNamedLock())
            tell(*connection, cells({statement.what.output}, {"1"}));
        else
            lookOn(*connection);
    }
    m_goesOn = false;
}

// --- transactions ----------------------------------------------------------------------------------

void SqlServer::commit(Connection &connection)
{
    connection.before.clear();
    endTransaction(connection);
}

void SqlServer::rollback(Connection &connection)
{
    for (const auto &[row, version] : std::exchange(connection.before, {}))
        m_tables.at(row.table).versions.at(row.value) = version;
    endTransaction(connection);
}

void SqlServer::endTransaction(Connection &connection)
{
    connection.isInTransaction = false;
    connection.isAborted = false;
    connection.isReadCommitted = connection.isNextReadCommitted;
    connection.snapshot.reset();
    std::ranges::copy(m_rows.release(connection.id), std::back_inserter(m_granted));
}

// Without a transaction each statement is one.
void SqlServer::endStatement(Connection &connection)
{
    if (!connection.isInTransaction)
        commit(connection);
}

void SqlServer::failStatement(Connection &connection)
{
    if (!m_rules.failureEndsTransaction) {
        endStatement(connection);
        return;
    }
    const bool wasInTransaction = connection.isInTransaction;
    rollback(connection);
    connection.isInTransaction = connection.isAborted = wasInTransaction;
}

// --- statements ------------------------------------------------------------------------------------

std::optional<SqlAnswer> SqlServer::objectionTo(const Statement &statement) const
{
    const auto &what = statement.what;
    if (what.table.isEmpty() || LeasedRows::isAbout(what.kind) || MarkedRows::isAbout(what.kind))
        return std::nullopt;
    const auto table = m_tables.find(what.table);
    if (table == m_tables.end())
        return error(1146, "Unknown table '" + what.table + '\'');
    if (!table->second.hasColumn(what))
        return error(1054, "Unknown column '" + what.key + '\'');
    return std::nullopt;
}

std::optional<SqlAnswer> SqlServer::run(Connection &connection, const Statement &statement, const OnAnswer &answer)
{
    if (auto objection = objectionTo(statement))
        return objection;
    switch (statement.what.kind) {
    case Kind::LockRow:
    case Kind::LockRowNow:
    case Kind::LockRowSkip:
    case Kind::LockFrom:
    case Kind::LockByText:
    case Kind::LockByNumber: return lockRows(connection, statement, answer, 0);
    case Kind::WriteVersion:
    case Kind::WriteRow:
        // It need not wait for a row whose committed version is another one.
        if (connection.isReadCommitted)
            return error(1235, "In READ COMMITTED this is not simulated");
        return lockRows(connection, statement, answer, 0);
    case Kind::GetLock: return getLock(connection, statement, answer);
    case Kind::KillQuery:
        if (ConnectionId(statement.what.number) == connection.id)
            return error(1317, "Query execution was interrupted");
        [[fallthrough]];
    case Kind::KillConnection: {
        const auto whom = ConnectionId(statement.what.number);
        const bool isDone = statement.what.kind == Kind::KillQuery ? killQuery(whom) : kill(whom);
        return isDone ? SqlAnswer() : error(1094, "Unknown thread id: " + QByteArray::number(whom));
    }
    default: break;
    }
    if (LeasedRows::isAbout(statement.what.kind))
        return connection.isInTransaction ? notSimulated() : m_leasedRows.run(statement.what, statement.parameters);
    if (MarkedRows::isAbout(statement.what.kind))
        return connection.isInTransaction ? notSimulated() : m_markedRows.run(statement.what, statement.parameters);
    return runSimple(connection, statement);
}

SqlAnswer SqlServer::runSimple(Connection &connection, const Statement &statement)
{
    const auto &[what, parameters] = statement;
    switch (what.kind) {
    case Kind::SetUp:
    case Kind::LockTimeout:
        connection.lockWaitTimeout = std::chrono::seconds(std::min<qint64>(what.number, noLockWaitTimeout.count()));
        break;
    case Kind::WhoAmI: return cells({"connection_id()", "version()"}, {QByteArray::number(connection.id), version()});
    case Kind::Begin:
        if (!connection.isInTransaction || !m_rules.failureEndsTransaction) // PostgreSQL's warns, and goes on
            commit(connection);
        connection.isInTransaction = true;
        break;
    case Kind::ReadCommitted:
        connection.isNextReadCommitted = true;
        connection.isReadCommitted = !connection.isInTransaction;
        break;
    case Kind::Commit: commit(connection); break;
    case Kind::Rollback: rollback(connection); break;
    case Kind::One: return cells({what.output}, {"1"});
    case Kind::InTransaction: return cells({what.output}, {connection.isInTransaction ? "1" : "0"});
    case Kind::ReadVersion: return readVersion(connection, statement);
    case Kind::ReleaseLock: {
        std::vector<ConnectionId> granted;
        const auto released = m_names.release(connection.id, parameters.front(), granted);
        std::ranges::copy(granted, std::back_inserter(m_granted));
        return cells({what.output}, {released ? std::optional<QByteArray>(*released ? "1" : "0") : std::nullopt});
    }
    case Kind::IsLockMine: {
        const auto holder = m_names.holderOf(parameters.front());
        return cells({what.output},
                     {holder ? std::optional<QByteArray>(*holder == connection.id ? "1" : "0") : std::nullopt});
    }
    default: break;
    }
    return {};
}

// A plain read waits for nobody. In a transaction it sees what was committed when the first of them began (in READ
// COMMITTED: what is committed now), and what the transaction wrote itself.
SqlAnswer SqlServer::readVersion(Connection &connection, const Statement &statement)
{
    const RowId row{statement.what.table, statement.parameters.front()};
    SqlAnswer answer;
    answer.rows.columns = {statement.what.output.isEmpty() ? QByteArray("version") : statement.what.output};
    auto version = committedVersion(row);
    if (!version)
        return answer;
    if (connection.isInTransaction) {
        if (!connection.snapshot) {
            connection.snapshot.emplace();
            for (const auto &[name, table] : m_tables) {
                for (const auto &[value, current] : table.versions)
                    connection.snapshot->emplace(RowId{name, value}, *committedVersion({name, value}));
            }
        }
        if (connection.before.contains(row))
            version = m_tables.at(row.table).versions.at(row.value);
        else if (!connection.isReadCommitted)
            version = connection.snapshot->at(row);
    }
    answer.rows.rows.push_back({QByteArray::number(*version)});
    answer.rows.affected = 1;
    return answer;
}

std::optional<SqlAnswer> SqlServer::getLock(Connection &connection, const Statement &statement,
                                            const OnAnswer &answer)
{
    const auto &[what, parameters] = statement;
    bool isNumber = false;
    const auto seconds = parameters[1].toDouble(&isNumber);
    if (parameters.front().isEmpty() || !isNumber || seconds < 0)
        return cells({what.output}, {std::nullopt});
    switch (m_names.lock(connection.id, parameters.front(), seconds > 0)) {
    case NamedLocks::Outcome::Granted: return cells({what.output}, {"1"});
    case NamedLocks::Outcome::Conflicts: return cells({what.output}, {"0"});
    case NamedLocks::Outcome::Waits: break;
    }
    if (m_rules.deadlockTimeout) {
        wait(connection, statement, answer);
        lookForCircle(connection);
        return std::nullopt;
    }
    const auto victim = m_names.chooseVictim(connection.id);
    if (victim == connection.id) {
        m_names.stopWaiting(connection.id);
        return deadlock(); // its transaction goes on
    }
    wait(connection, statement, answer);
    if (victim)
        stopWaiting(*find(*victim), deadlock());
    const auto span = std::chrono::duration<double>(std::min(seconds, longestWait));
    endAt(connection, m_world.now() + std::chrono::duration_cast<Duration>(span), cells({what.output}, {"0"}));
    return std::nullopt;
}

} // namespace lockscope::sim
