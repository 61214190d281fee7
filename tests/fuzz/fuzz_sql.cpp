// SPDX-License-Identifier: Apache-2.0
// What a MariaDB server says: rows of any columns and cells for every question of a look. In the input a set of rows
// begins with its columns' names, parted by tabs; its rows follow, and an empty line ends it. \N is NULL, "!" and a
// number an error instead.
#include "core/async/virtualloop.h"
#include "core/inspect/mariadb/reader.h"
#include "core/mariadb/session.h"
#include "core/recipes/mariadb/rowname.h"
#include "core/simservers/mariadb/server.h"
#include "tests/fuzz/locks.h"

using namespace lockscope;
using namespace lockscope::fuzz;
using namespace lockscope::inspect;
using namespace std::chrono_literals;

namespace {

class ScriptedSql final : public mariadb::Session {
public:
    ScriptedSql(Loop &loop, const QByteArray &script) : m_loop(loop), m_script(script) {}
    [[nodiscard]] Loop &loop() const override { return m_loop; }
    [[nodiscard]] mariadb::SessionState state() const override { return mariadb::SessionState::Connected; }
    [[nodiscard]] QString lastError() const override { return {}; }
    [[nodiscard]] mariadb::ConnectionId connectionId() const override { return 7; }
    [[nodiscard]] QByteArray serverVersion() const override { return {}; }
    [[nodiscard]] mariadb::Features features() const override
    {
        return m_script.contains("mysql") ? mariadb::Features() : sim::SqlServer::features();
    }
    Subscription onState(std::function<void(mariadb::SessionState)>) override { return {}; }
    void send(Request &&request) override { std::get<Asked<mariadb::Statement>>(request).reply.complete(next()); }
    void interrupt(mariadb::ConnectionId) override {}

private:
    Result<mariadb::Rows> next()
    {
        mariadb::Rows rows;
        const auto head = takeLine(m_script);
        if (head.startsWith('!'))
            return Error{static_cast<ErrorCode>(head.mid(1).toUInt() % (static_cast<uint>(ErrorCode::Server) + 1)),
                         QStringLiteral("said so"), false};
        rows.columns = head.isEmpty() ? QByteArrayList() : head.split('\t');
        for (auto line = takeLine(m_script); !line.isEmpty(); line = takeLine(m_script)) {
            auto &row = rows.rows.emplace_back();
            for (const auto &cell : line.split('\t'))
                row.push_back(cell == "\\N" ? mariadb::Rows::Cell() : mariadb::Rows::Cell(cell));
            row.resize(static_cast<std::size_t>(rows.columns.size())); // a driver gives each row all of them
        }
        return rows;
    }

    Loop &m_loop;
    QByteArray m_script;
};

Task<void> takeLook(SqlReader *reader, Result<SqlPoll> *result, Deadline deadline)
{
    const QByteArray also = "asked";
    auto looked = co_await reader->look(deadline, also);
    *result = std::move(looked);
}

void readRows(const QByteArray &input)
{
    VirtualLoop loop;
    ScriptedSql session(loop, input);
    Scope scope(loop);
    SqlReader reader(session);
    for (int round = 0; round < 2; ++round) {
        Result<SqlPoll> look = Error{ErrorCode::Cancelled, {}, false};
        const auto deadline = Deadline::after(loop, 5s);
        scope.launch(takeLook(&reader, &look, deadline));
        loop.advance(6s);
        if (!look)
            continue;
        const auto locks = snapshotsOf(*look, ConnectionName("db"));
        for (const auto &lock : locks)
            useLock(lock);
        for (const auto &one : sessionsOf(*look, locks, ConnectionName("db")))
            useSession(one);
        for (const auto &gap : reader.gaps())
            mustBeHarmless(gap, "what was not seen is told in harmless text");
    }
}

// Table, index, its columns and what InnoDB prints of the record, each in a line; and a statement.
void readNames(const QByteArray &input)
{
    auto rest = input;
    SqlLockWait wait;
    wait.table = takeLine(rest);
    wait.index = takeLine(rest);
    IndexColumns columns;
    columns[{wait.table, wait.index}] = takeLine(rest).split(',');
    wait.data = takeLine(rest);
    const auto name = rowLockName(wait, columns);
    (void)rowLockName(wait, {});
    if (const auto row = recipes::readRowName(name))
        must(row->columns.size() == row->values.size(), "a row has a value for each column");
    (void)namedLockIn(rest);
    if (const auto table = tableIn(rest, wait.index))
        must(objectOfLock(tableLockName(table->first, table->second))
                 == SqlObject{"TABLE", table->first, table->second},
             "a table comes back from its name");
    (void)parseDeadlockLog(rest);
    (void)mariadb::findInStatus(rest, "421", 7, 8);
}

const Registration rowsParser(
    {"rows",
     readRows,
     Form::Lines,
     {0.5, 10'000},
     {"\t",         "\\N",        "\n\n",           "!5\n",          "!19\n",          "!20\n",
      "trx_id",     "connection", "is_fresh",       "is_ours",       "blocking",       "lock_table",
      "lock_index", "lock_data",  "requested_mode", "blocking_mode", "`shop`.`stock`", "PRIMARY",
      "name",       "status",     "GRANTED",        "PENDING",       "User lock",      "program_name",
      "_pid",       "enabled",    "started",        "1763805600.5",  "mysql",          "server",
      "kind",       "mode",       "table_schema",   "SHARED_READ",   "EXCLUSIVE",      "TABLE",
      "locked_by",  "stamp",      "ends",           "LOCKGRANTED",   "LOCKEDBY",       "shedlock"},
     4096,
     {.blocks = 5'000'000, .blocksPerByte = 50'000, .allocations = 100'000, .allocationsPerByte = 600}});
const Registration namesParser({"sqlnames",
                                readNames,
                                Form::Lines,
                                {0.25, 60'000},
                                {"`", "``", "'", "''", "\\'", ",", "`shop`.`stock`", "PRIMARY",
                                 "supremum pseudo-record", "0x", "GET_LOCK(", "get_lock ( ", "/* Partition `p0` */",
                                 "---TRANSACTION 421, ACTIVE", "MySQL thread id 7,", "TRANSACTIONS", "ALTER TABLE ",
                                 "IF EXISTS ", "TRUNCATE "}});

} // namespace
