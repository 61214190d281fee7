// SPDX-License-Identifier: Apache-2.0
// The part of the reader that asks for what has a name: GET_LOCK's, and tables.
#include "core/inspect/mariadb/reader.h"

#include <set>

namespace lockscope::inspect {

using mariadb::Rows;

namespace {

// Of tables only what keeps others out, or is waited for: what any statement has of one is too much each time. Of the
// whole server what a backup has, or FLUSH TABLES WITH READ LOCK.
const QByteArray strongModes = "IN ('SHARED_NO_READ_WRITE', 'SHARED_READ_ONLY', 'SHARED_NO_WRITE', 'EXCLUSIVE')";
const QByteArray strongServerModes =
    "IN ('SHARED', 'EXCLUSIVE', 'BACKUP_START', 'BACKUP_FLUSH', 'BACKUP_WAIT_FLUSH', 'BACKUP_WAIT_DDL', "
    "'BACKUP_WAIT_COMMIT', 'BACKUP_FTWRL1', 'BACKUP_FTWRL2', 'BACKUP_BLOCK_DDL')";
const QByteArray serverTypes = "IN ('GLOBAL', 'COMMIT', 'BACKUP', 'BACKUP LOCK')";
const QByteArray otherTypes = "IN ('SCHEMA', 'FUNCTION', 'PROCEDURE', 'TRIGGER', 'EVENT', 'TABLESPACE')";
const QByteArray ourselves = "t.PROCESSLIST_ID <> CONNECTION_ID()";
const QByteArray tableColumns =
    "SELECT m.OBJECT_TYPE AS kind, m.OBJECT_SCHEMA AS table_schema, m.OBJECT_NAME AS name, "
    "t.PROCESSLIST_ID AS connection, m.LOCK_STATUS AS status, m.LOCK_TYPE AS mode, "
    + metadataHold
    + " AS hold "
      "FROM performance_schema.metadata_locks m "
      "JOIN performance_schema.threads t ON t.THREAD_ID = m.OWNER_THREAD_ID WHERE ";
const QByteArray byPerformanceSchema =
    tableColumns + "m.OBJECT_TYPE = 'USER LEVEL LOCK' OR (" + ourselves
    + " AND ((m.OBJECT_TYPE = 'TABLE' AND (m.LOCK_STATUS = 'PENDING' OR m.LOCK_TYPE " + strongModes
    + ")) OR (m.OBJECT_TYPE " + serverTypes + " AND (m.LOCK_STATUS = 'PENDING' OR m.LOCK_TYPE " + strongServerModes
    + ")) OR (m.OBJECT_TYPE " + otherTypes + " AND m.LOCK_STATUS = 'PENDING')))";

const QByteArray usualLimits =
    "SELECT @@global.innodb_lock_wait_timeout AS row_limit, @@global.lock_wait_timeout AS table_limit";

SqlObject mdlObjectOf(const SqlTableLock &lock)
{
    return {.type = lock.type, .schema = lock.schema, .name = lock.table};
}

std::optional<std::chrono::seconds> secondsIn(const std::optional<QByteArray> &cell)
{
    bool isNumber = false;
    const auto seconds = cell ? cell->toLongLong(&isNumber) : 0;
    constexpr qint64 longest = 10LL * 366 * 24 * 3600; // a server may say anything
    return isNumber && seconds >= 0 && seconds <= longest ? std::optional(std::chrono::seconds(seconds))
                                                          : std::nullopt;
}

std::map<quint64, SqlWaitLimits> ownLimitsIn(const Rows &rows)
{
    std::map<quint64, SqlWaitLimits> limits;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        auto &one = limits[text(rows, i, "connection").toULongLong()];
        (text(rows, i, "name") == "lock_wait_timeout" ? one.table : one.row) = secondsIn(rows.cell(i, "value"));
    }
    return limits;
}

} // namespace

void SqlReader::sendNamedAhead(Deadline deadline)
{
    if (m_namedLocks == NamedLocks::NotAsked)
        sendAhead(metadataInstrument, deadline);
    if (m_namedLocks == NamedLocks::NotAsked || m_namedLocks == NamedLocks::PerformanceSchema)
        sendAhead(byPerformanceSchema, deadline);
}

void SqlReader::sendLimitsAhead(Deadline deadline)
{
    sendAhead(usualLimits, deadline);
    if (m_tellsOwnLimits)
        sendAhead(mariadb::sqlText("mariadb-own-limits"), deadline);
}

Task<Result<SqlReader::NamedLocks>> SqlReader::findNamedLocks(Deadline deadline)
{
    const auto enabled = co_await send(metadataInstrument, deadline);
    if (!enabled && !isRefusal(enabled.error()))
        co_return enabled.error();
    if (enabled && text(*enabled, 0, "enabled") == "1")
        co_return NamedLocks::PerformanceSchema;
    const auto plugin = co_await send(mariadb::sqlText("mariadb-metadata-locks"), deadline);
    if (!plugin && !isRefusal(plugin.error()))
        co_return plugin.error();
    co_return plugin ? NamedLocks::Plugin : NamedLocks::WaitersOnly;
}

Task<Result<void>> SqlReader::readNamedLocks(SqlPoll *look, Deadline deadline, QByteArray also)
{
    if (m_namedLocks == NamedLocks::NotAsked) {
        CO_TRY(const auto &found, co_await findNamedLocks(deadline));
        m_namedLocks = found;
    }
    if (m_namedLocks != NamedLocks::WaitersOnly) {
        const bool isPlugin = m_namedLocks == NamedLocks::Plugin;
        auto asking = send(isPlugin ? mariadb::sqlText("mariadb-metadata-locks") : byPerformanceSchema, deadline);
        const auto rows = co_await asking;
        if (!rows && !isRefusal(rows.error()))
            co_return rows.error();
        if (!rows)
            note(u"could not read named locks, and who has which table: %1"_s.arg(rows.error().message));
        for (std::size_t i = 0; rows && i < rows->rows.size(); ++i) {
            if (text(*rows, i, "kind") == "USER LEVEL LOCK")
                look->namedLocks.push_back({.name = text(*rows, i, "name"),
                                            .connection = text(*rows, i, "connection").toULongLong(),
                                            .isGranted = text(*rows, i, "status") == "GRANTED",
                                            .hold = text(*rows, i, "hold")});
        }
        CO_TRY_VOID(co_await findBySpelling(look, also, deadline));
        CO_TRY_VOID(co_await readTableLocks(look, rows ? &*rows : nullptr, deadline));
    }
    if (m_namedLocks != NamedLocks::PerformanceSchema)
        addTableWaiters(look);
    if (m_namedLocks == NamedLocks::PerformanceSchema) {
        look->seesAllProcesses = true; // as far as these are concerned
        co_return Result<void>();
    }
    if (!look->seesAllProcesses)
        note(u"who waits for a named lock cannot be seen: the PROCESS privilege is missing"_s);
    for (const auto &process : look->processes) {
        const auto name = process.state == "User lock" ? namedLockIn(process.statement) : std::nullopt;
        if (name)
            look->namedLocks.push_back({.name = *name, .connection = process.connection});
    }
    if (m_namedLocks == NamedLocks::Plugin)
        co_return Result<void>();
    const auto which = look->seesAllProcesses
                           ? u"named locks without a waiter are not visible"_s
                           : u"others' named locks cannot be seen unless they are asked for by name"_s;
    note(u"%1: performance_schema with the instrument wait/lock/metadata/sql/mdl is off or may not be read, and the "
         u"plugin metadata_lock_info is not installed"_s.arg(which));
    const auto added = co_await addHolders(look, deadline, also);
    co_return added;
}

// Where somebody waits for a table, everybody who has it: in one more question, so that both are of one moment. The
// same of the whole server, of a schema and so on.
Task<Result<void>> SqlReader::readTableLocks(SqlPoll *look, const Rows *rows, Deadline deadline)
{
    look->tellsTableWaiters = rows && m_namedLocks == NamedLocks::PerformanceSchema;
    std::set<SqlObject> waitedFor;
    const auto take = [look](const Rows &from, std::size_t i) {
        look->tableLocks.push_back({.schema = text(from, i, "table_schema"),
                                    .table = text(from, i, "name"),
                                    .connection = text(from, i, "connection").toULongLong(),
                                    .mode = text(from, i, "mode"),
                                    .isGranted = text(from, i, "status") == "GRANTED",
                                    .type = text(from, i, "kind")});
    };
    for (std::size_t i = 0; rows && i < rows->rows.size(); ++i) {
        if (text(*rows, i, "kind") == "USER LEVEL LOCK")
            continue;
        take(*rows, i);
        if (text(*rows, i, "status") == "PENDING")
            waitedFor.insert(mdlObjectOf(look->tableLocks.back()));
    }
    if (waitedFor.empty())
        co_return Result<void>();
    constexpr std::size_t mostObjects = 100;
    QByteArrayList places, names;
    for (const auto &[type, schema, name] : waitedFor) {
        if (static_cast<std::size_t>(places.size()) == mostObjects)
            break;
        places << "(?, ?, ?)";
        names << type << schema << name;
    }
    CO_TRY(const auto &all,
           co_await send(tableColumns + "m.LOCK_STATUS IN ('GRANTED', 'PENDING') AND " + ourselves
                             + " AND (m.OBJECT_TYPE, COALESCE(m.OBJECT_SCHEMA, ''), COALESCE(m.OBJECT_NAME, '')) IN ("
                             + places.join(", ") + ')',
                         deadline, names));
    std::erase_if(look->tableLocks, [&](const SqlTableLock &one) { return waitedFor.contains(mdlObjectOf(one)); });
    for (std::size_t i = 0; i < all.rows.size(); ++i)
        take(all, i);
    co_return Result<void>();
}

Task<Result<void>> SqlReader::readLockRows(SqlPoll *look, Deadline deadline)
{
    const SqlSend sending = [this](const QByteArray &query, Deadline by, const QByteArrayList &parameters) {
        return send(query, by, parameters);
    };
    auto *loop = &m_session.loop();
    const auto read = co_await m_lockRows.read(sending, loop, look->tableLocks, deadline);
    look->lockRows = m_lockRows.rows();
    for (const auto &gap : m_lockRows.gaps())
        note(gap);
    co_return read;
}

// Where only PROCESSLIST says that somebody waits for a table.
void SqlReader::addTableWaiters(SqlPoll *look)
{
    const auto missing =
        m_namedLocks == NamedLocks::Plugin
            ? u"the table that a client waits for is known only from its statement (ALTER, DROP, TRUNCATE, "
              u"RENAME). The instrument wait/lock/metadata/sql/mdl of performance_schema is off or may not be "
              u"read"_s
            : u"who has a table (LOCK TABLES, ALTER, an open transaction) cannot be seen, and who "
              u"waits for one by its statement only. The metadata locks of performance_schema are "
              u"off or may not be read, and the plugin metadata_lock_info is not installed"_s;
    // Of these there is one on a server: the state alone says which.
    static const std::map<QByteArray, QByteArray> types{{"Waiting for backup lock", "BACKUP"},
                                                        {"Waiting for global read lock", "GLOBAL"},
                                                        {"Waiting for commit lock", "COMMIT"}};
    std::vector<SqlTableLock> waiting;
    for (const auto &process : look->processes) {
        if (const auto type = types.find(process.state); type != types.end())
            waiting.push_back({.connection = process.connection, .type = type->second});
        if (process.state != "Waiting for table metadata lock")
            continue;
        if (const auto table = tableIn(process.statement, process.database))
            waiting.push_back({.schema = table->first,
                               .table = table->second,
                               .connection = process.connection,
                               .mode = "EXCLUSIVE",
                               .isByStatement = true});
    }
    note(missing);
    std::erase_if(look->tableLocks, [&](const SqlTableLock &one) { // what any statement has, and nobody waits for
        const auto &strong = one.type == "TABLE" ? strongModes : strongServerModes;
        return !strong.contains('\'' + one.mode + '\'')
               && std::ranges::find(waiting, mdlObjectOf(one), &mdlObjectOf) == waiting.end();
    });
    std::ranges::move(waiting, std::back_inserter(look->tableLocks));
}

// Only while somebody waits. Nothing of it is a gap: who is not told what ends a wait is told that.
Task<Result<void>> SqlReader::readLimits(SqlPoll *look, Deadline deadline)
{
    const bool isAnybodyWaiting =
        !look->waits.empty()
        || std::ranges::find(look->tableLocks, false, &SqlTableLock::isGranted) != look->tableLocks.end();
    if (!isAnybodyWaiting)
        co_return Result<void>();
    const auto usual = co_await send(usualLimits, deadline);
    if (!usual && !isRefusal(usual.error()))
        co_return usual.error();
    if (usual && !usual->rows.empty())
        look->usualLimits = {secondsIn(usual->cell(0, "row_limit")), secondsIn(usual->cell(0, "table_limit"))};
    if (!m_tellsOwnLimits)
        co_return Result<void>();
    const auto own = co_await send(mariadb::sqlText("mariadb-own-limits"), deadline);
    if (!own && !isRefusal(own.error()))
        co_return own.error();
    if (!own || own->rows.empty()) { // our own would be in it
        m_tellsOwnLimits = false;
        co_return Result<void>();
    }
    look->ownLimits = ownLimitsIn(*own);
    co_return Result<void>();
}

// MySQL keeps names in lower case, and takes them in any: who asks in another is told by the one it asked with.
// Whether two spellings are one name here, the server says.
Task<Result<void>> SqlReader::findBySpelling(SqlPoll *look, QByteArray also, Deadline deadline)
{
    const auto lower = [](const QByteArray &name) { return QString::fromUtf8(name).toLower(); };
    const bool isThere =
        std::ranges::any_of(look->namedLocks, [&](const SqlNamedLock &one) { return one.name == also; });
    const bool isSpelt = std::ranges::any_of(look->namedLocks,
                                             [&](const SqlNamedLock &one) { return lower(one.name) == lower(also); });
    if (also.isEmpty() || isThere || !isSpelt)
        co_return Result<void>();
    auto asking = send("SELECT IS_USED_LOCK(?) AS connection", deadline, {also});
    CO_TRY(const auto &rows, co_await asking);
    const auto owner = text(rows, 0, "connection").toULongLong();
    const auto held = std::ranges::find_if(look->namedLocks, [&](const SqlNamedLock &one) {
        return one.isGranted && one.connection == owner && lower(one.name) == lower(also);
    });
    if (held == look->namedLocks.end())
        co_return Result<void>();
    const auto kept = held->name;
    for (auto &lock : look->namedLocks) {
        if (lock.name == kept)
            lock.name = also;
    }
    co_return Result<void>();
}

// Whoever is waited for, by name: the server tells that without any instrument.
Task<Result<void>> SqlReader::addHolders(SqlPoll *look, Deadline deadline, QByteArray also)
{
    QByteArrayList names;
    if (!also.isEmpty())
        names << also;
    for (const auto &waiting : look->namedLocks) {
        if (!names.contains(waiting.name))
            names << waiting.name;
    }
    for (const auto &name : names) {
        auto asking = send("SELECT IS_USED_LOCK(?) AS connection", deadline, {name});
        CO_TRY(const auto &rows, co_await asking);
        if (rows.cell(0, "connection"))
            look->namedLocks.push_back(
                {.name = name, .connection = text(rows, 0, "connection").toULongLong(), .isGranted = true});
    }
    co_return Result<void>();
}

} // namespace lockscope::inspect
