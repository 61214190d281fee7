// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/observer.h"

#include "core/postgresql/dialect.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace lockscope::inspect {

using mariadb::Rows;
using postgresql::microseconds;

namespace {

QByteArray pgInBackticks(QByteArray name)
{
    return '`' + name.replace("`", "``") + '`';
}

PgLock pgLockOf(const Rows &rows, std::size_t i)
{
    PgLock lock;
    lock.type = text(rows, i, "type");
    lock.database = text(rows, i, "database");
    lock.databaseName = text(rows, i, "database_name");
    lock.relation = text(rows, i, "relation");
    const auto schema = text(rows, i, "schema"), table = text(rows, i, "table_name");
    if (!schema.isEmpty() && !table.isEmpty())
        lock.relationName = pgInBackticks(schema) + '.' + pgInBackticks(table);
    lock.page = text(rows, i, "page");
    lock.tuple = text(rows, i, "tuple");
    lock.virtualTransaction = text(rows, i, "virtual");
    lock.transaction = text(rows, i, "transaction");
    lock.classId = text(rows, i, "classid");
    lock.objectId = text(rows, i, "objid");
    lock.objectSubId = text(rows, i, "objsubid");
    lock.owner = text(rows, i, "owner");
    lock.pid = text(rows, i, "lock_pid").toULongLong();
    lock.mode = text(rows, i, "mode");
    lock.isGranted = text(rows, i, "granted") == "1";
    lock.waitStart = pgMoment(rows, i, "wait_start");
    for (const auto &pid : text(rows, i, "blocked_by").split(',')) {
        if (!pid.isEmpty())
            lock.blockedBy.push_back(pid.toULongLong());
    }
    return lock;
}

PgSession pgSessionOf(const Rows &rows, std::size_t i)
{
    PgSession session;
    session.pid = text(rows, i, "pid").toULongLong();
    session.user = text(rows, i, "user_name");
    session.database = text(rows, i, "session_database");
    session.application = text(rows, i, "application");
    session.kind = text(rows, i, "kind");
    session.state = text(rows, i, "state");
    session.statement = text(rows, i, "statement");
    const auto address = text(rows, i, "address");
    if (!address.isEmpty())
        session.endpoint = (address.contains(':') ? '[' + address + ']' : address) + ':' + text(rows, i, "port");
    session.backendStart = pgMoment(rows, i, "backend_start");
    session.transactionStart = pgMoment(rows, i, "xact_start");
    session.stateSince = pgMoment(rows, i, "state_since");
    session.waitsFor = text(rows, i, "waits_for");
    return session;
}

std::vector<PgInvalidIndex> invalidIndexesIn(const QByteArray &json)
{
    std::vector<PgInvalidIndex> all;
    const auto rows = QJsonDocument::fromJson(json).array();
    for (const auto &row : rows) {
        const auto schema = row[0].toString().toUtf8(), name = row[1].toString().toUtf8();
        all.push_back({pgInBackticks(schema) + '.' + pgInBackticks(name), schema + '.' + row[2].toString().toUtf8()});
    }
    return all;
}

// Which transaction of which backend asks for it; empty where the server does not say since when that one is there.
QByteArray waiterOf(const PgPoll &look, const PgLock &lock)
{
    const auto session = std::ranges::find(look.sessions, lock.pid, &PgSession::pid);
    return session == look.sessions.end() || !session->backendStart
               ? QByteArray()
               : backendContenderId(lock.pid, *session->backendStart) + ' ' + lock.owner;
}

QByteArray pgColumnText(const QByteArray &column)
{
    return column + "::text";
}

const QByteArray limitsQuestion = "SELECT name::text AS name, reset_val::text AS value FROM pg_catalog.pg_settings "
                                  "WHERE name IN ('lock_timeout', 'deadlock_timeout') AND unit = 'ms' ORDER BY name";

QByteArray keyColumnsQuestion(const QByteArray &relation)
{
    return mariadb::sqlText("postgresql-key-columns") + ' ' + postgresql::quotedText(relation)
           + "::oid ORDER BY k.place";
}

const QByteArray pgNumber = "::text ~ '^[0-9]{1,12}([.][0-9]{1,9}|)$'";

// From the zone's own wall clock to the moment. A time without a zone is in the zone of the client that wrote it.
QByteArray pgTimeOf(const QByteArray &column, recipes::RowTime time, bool isZoned, bool isInUtc)
{
    using recipes::RowTime;
    if (time == RowTime::Epoch)
        return "CASE WHEN " + column + pgNumber + " THEN (" + column + "::text::numeric * 1000000)::bigint::text END";
    const bool isUtc = time == RowTime::Utc || (isInUtc && time == RowTime::Unclear);
    return microseconds(isZoned ? column
                        : isUtc ? '(' + column + " AT TIME ZONE 'UTC')"
                                : column + "::timestamptz")
           + "::text";
}

QByteArray pgIsAhead(const QByteArray &column, recipes::RowTime time, bool isZoned)
{
    if (time == recipes::RowTime::Epoch)
        return "CASE WHEN " + column + pgNumber + " THEN " + column
               + "::text::numeric > extract(epoch FROM clock_timestamp())::numeric ELSE TRUE END";
    const QByteArray now =
        isZoned ? "clock_timestamp()" : "LEAST(clock_timestamp()::timestamp, timezone('UTC', clock_timestamp()))";
    return '(' + column + " IS NULL OR " + column + " > " + now + ')';
}

std::optional<ServerTime> pgTime(const mariadb::Rows &rows, std::size_t row, const QByteArray &column)
{
    const auto at = pgMoment(rows, row, column.constData());
    return at ? std::optional(timeOf(*at)) : std::nullopt;
}

} // namespace

Reply<Rows> PgReader::send(const QByteArray &query, Deadline deadline, const QByteArrayList &parameters)
{
    mariadb::Statement statement{query, parameters, std::nullopt, false};
    if (auto text = parameters.isEmpty() ? Result<QByteArray>(query) : postgresql::withParameters(statement)) {
        if (auto ahead = m_ahead.extract(*text))
            return std::move(ahead.mapped());
        statement = {std::move(*text), {}, std::nullopt, false};
    }
    ++m_requests;
    return m_session.execute(std::move(statement), deadline);
}

// It goes with what has to be asked before: send() has its answer then.
void PgReader::sendAhead(const QByteArray &query, Deadline deadline, const QByteArrayList &parameters)
{
    const auto text = postgresql::withParameters({query, parameters, std::nullopt, false});
    if (text)
        m_ahead.insert_or_assign(*text, send(*text, deadline));
}

void PgReader::sendDetails(const PgPoll &look, Deadline deadline)
{
    if (std::ranges::find(look.locks, false, &PgLock::isGranted) != look.locks.end())
        sendAhead(limitsQuestion, deadline);
    constexpr int mostAhead = 4;
    int count = 0;
    for (const auto &lock : look.locks) {
        if (lock.type == "tuple" && lock.database == look.database && !lock.relationName.isEmpty()
            && !m_rowKeys.contains({lock.relation, lock.page, lock.tuple}) && count++ < mostAhead)
            sendAhead(keyColumnsQuestion(lock.relation), deadline);
    }
    if (const auto ofRules = m_lockRows.namesToFind(m_session.loop().now()))
        sendAhead(pgLockRows().whichTables, deadline, {*ofRules, *ofRules});
}

Task<Result<PgPoll>> PgReader::look(Deadline deadline)
{
    const InTurn turn(m_turns, m_session.loop());
    if (turn.before())
        co_await *turn.before();
    auto answer = co_await ask(deadline);
    co_return answer;
}

Task<Result<PgPoll>> PgReader::ask(Deadline deadline)
{
    // On every connection anew. To learn a row's key its table is read, which waits where somebody has all of it.
    const auto connection = m_session.connectionId();
    const bool isSetUp = m_knownFor == connection;
    m_ahead.clear();
    m_tableNames.clear(); // they may have others since
    // It may go in one text with what follows it here, and is undone where that fails; then it is not known for this
    // connection, and is set again. As looks take turns, nothing else goes with it.
    auto settingUp =
        isSetUp ? std::nullopt : std::optional(send("SELECT set_config('lock_timeout', '100', false)", deadline));
    auto asking = send(mariadb::sqlText("postgresql-locks"), deadline);
    if (settingUp) {
        CO_TRY_VOID(co_await *settingUp);
    }
    CO_TRY(const auto &rows, co_await asking);
    if (!isSetUp) {
        m_isReconnected = true;
        m_lockRows.forget();
        m_deadlocks.forgetCount();
        m_knownFor = connection;
    }
    PgPoll look;
    QStringList gaps;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        look.database = text(rows, i, "own_database");
        look.now = timeOf(text(rows, i, "now").toLongLong());
        const auto pid = text(rows, i, "pid").toULongLong();
        const bool isKnown = std::ranges::find(look.sessions, pid, &PgSession::pid) != look.sessions.end();
        look.seesOthers = look.seesOthers && text(rows, i, "statement") != "<insufficient privilege>";
        if (pid != 0 && !isKnown && text(rows, i, "is_ours") != "1") // looking on is all we do
            look.sessions.push_back(pgSessionOf(rows, i));
        if (const auto deadlocks = rows.cell(i, "deadlocks"))
            look.deadlocks = deadlocks->toLongLong();
        if (text(rows, i, "is_ours") == "1")
            look.invalidIndexes = invalidIndexesIn(text(rows, i, "invalid"));
        if (rows.cell(i, "type"))
            look.locks.push_back(pgLockOf(rows, i));
    }
    const auto ours = std::chrono::time_point_cast<std::chrono::milliseconds>(datedNow(m_session.loop()));
    look.ahead = look.now.time_since_epoch() - ours.time_since_epoch();
    if (!look.seesOthers)
        gaps
            << u"since when others' transactions and connections are there, and what they do, cannot be seen, nor can "
               u"their locks be released from here. The role pg_read_all_stats is missing (GRANT pg_monitor TO …)"_s;
    sendDetails(look, deadline);
    const auto prepared = co_await readPrepared(&look, deadline);
    if (!prepared && !isPgRefusal(prepared.error()))
        co_return prepared.error();
    if (!prepared)
        gaps << u"prepared transactions cannot be named: %1"_s.arg(prepared.error().message);
    const auto limits = co_await readLimits(&look, deadline);
    if (!limits && !isPgRefusal(limits.error()))
        co_return limits.error();
    CO_TRY_VOID(co_await readRowKeys(&look, deadline));
    CO_TRY_VOID(co_await readSharers(&look, deadline));
    CO_TRY_VOID(co_await readLockRows(&look, deadline));
    gaps << m_lockRows.gaps();
    if (!look.keysUnread.isEmpty())
        gaps << u"contended rows are named by their place (ctid), because their keys could not be read: %1"_s.arg(
            look.keysUnread);
    if (!look.sharersUnread.isEmpty())
        gaps << u"other holders of contended rows could not be read: %1"_s.arg(look.sharersUnread);
    m_deadlocks.expire(look.now);
    if (const auto risen = m_deadlocks.risen(look.deadlocks); risen.value_or(0) > 0)
        m_deadlocks.add({look.now, true, *risen, {}, u"PostgreSQL only counts them, its log lists the clients"_s});
    m_gaps = gaps;
    m_hasLooked = true;
    co_return look;
}

Task<Result<void>> PgReader::readLockRows(PgPoll *look, Deadline deadline)
{
    const SqlSend sending = [this](const QByteArray &query, Deadline by, const QByteArrayList &parameters) {
        return send(query, by, parameters);
    };
    auto *loop = &m_session.loop();
    auto reading = m_lockRows.read(sending, loop, {}, deadline);
    const auto read = co_await reading;
    look->lockRows = m_lockRows.rows();
    if (!read || look->lockRows.empty() || !look->seesOthers)
        co_return read;
    CO_TRY(const auto &rows,
           co_await send(
               "SELECT host(client_addr) AS address, count(*)::text AS count, count(xact_start)::text AS busy, "
                   + microseconds("min(backend_start)")
                   + "::text AS oldest FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' "
                     "AND pid <> pg_backend_pid() GROUP BY client_addr",
               deadline));
    look->clientConnections.emplace();
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        auto &from = (*look->clientConnections)[plainHost(QString::fromUtf8(text(rows, i, "address")))];
        from.count += text(rows, i, "count").toInt();
        from.inTransaction = from.inTransaction.value_or(0) + text(rows, i, "busy").toInt();
        if (const auto oldest = pgMoment(rows, i, "oldest"))
            from.oldest = std::min(from.oldest.value_or(timeOf(*oldest)), timeOf(*oldest));
    }
    co_return read;
}

// Only where a lock is held by nobody who is there.
Task<Result<void>> PgReader::readPrepared(PgPoll *look, Deadline deadline)
{
    if (std::ranges::find(look->locks, quint64(0), &PgLock::pid) == look->locks.end())
        co_return Result<void>();
    CO_TRY(const auto &rows,
           co_await send("SELECT transaction::text AS transaction, gid AS name, owner::text AS user_name, "
                             + microseconds("prepared")
                             + "::text AS prepared, database::text AS database FROM pg_catalog.pg_prepared_xacts",
                         deadline));
    for (std::size_t i = 0; i < rows.rows.size(); ++i)
        look->prepared.push_back({text(rows, i, "transaction"), text(rows, i, "name"), text(rows, i, "user_name"),
                                  text(rows, i, "prepared").toLongLong(), text(rows, i, "database")});
    co_return Result<void>();
}

// Ours are others' but for what we set ourselves, and what we began with stands beside it.
Task<Result<void>> PgReader::readLimits(PgPoll *look, Deadline deadline)
{
    if (std::ranges::find(look->locks, false, &PgLock::isGranted) == look->locks.end())
        co_return Result<void>();
    CO_TRY(const auto &rows, co_await send(limitsQuestion, deadline));
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        const std::chrono::milliseconds longest(text(rows, i, "value").toInt());
        if (longest.count() > 0) // 0: it never ends
            look->usualLimits.push_back({text(rows, i, "name"), longest, false});
    }
    co_return Result<void>();
}

// Kept while somebody waits for the row: it stands there until its writer's transaction ends. What happened while
// there was no connection was not seen: then only what the same transaction of the same backend waits for is the same
// row, which nobody clears away before that one has ended. To read it again would not do where an ALTER waits.
Task<Result<void>> PgReader::readRowKeys(PgPoll *look, Deadline deadline)
{
    const bool isAnew = std::exchange(m_isReconnected, false);
    std::map<PgRowKeys::key_type, std::set<QByteArray>> waiters;
    for (const auto &lock : look->locks) {
        if (lock.type == "tuple")
            waiters[{lock.relation, lock.page, lock.tuple}].insert(waiterOf(*look, lock));
    }
    decltype(m_rowKeys) known;
    QByteArrayList locked; // tables that are not read now: their next row would be waited for as long
    for (const auto &lock : look->locks) {
        if (lock.type != "tuple" || lock.database != look->database || lock.relationName.isEmpty())
            continue;
        const std::tuple place(lock.relation, lock.page, lock.tuple);
        if (known.contains(place))
            continue;
        const auto before = m_rowKeys.find(place);
        const auto isStillThere = [&](const QByteArray &one) {
            return !one.isEmpty() && waiters[place].contains(one);
        };
        if (before != m_rowKeys.end() && (!isAnew || std::ranges::any_of(before->second.waiters, isStillThere))) {
            known[place] = {before->second.key, waiters[place]};
            continue;
        }
        if (locked.contains(lock.relation))
            continue;
        const auto key = co_await readRowKey(lock, deadline);
        if (!key && !isPgRefusal(key.error()))
            co_return key.error();
        if (!key) {
            locked << lock.relation;
            look->keysUnread = readErrorText(key.error());
        }
        if (key && !key->columns.isEmpty())
            known[place] = {*key, waiters[place]};
    }
    m_rowKeys = std::move(known);
    for (const auto &[place, one] : m_rowKeys)
        look->rowKeys[place] = one.key;
    co_return Result<void>();
}

Task<Result<PgRowKey>> PgReader::readRowKey(PgLock tuple, Deadline deadline)
{
    PgRowKey key;
    CO_TRY(const auto &columns, co_await readKeyColumns(tuple.relation, deadline));
    if (columns.isEmpty())
        co_return key;
    const auto wanted = mapped<QByteArrayList>(
        columns, [&](const auto &column) { return postgresql::quotedName(column) + "::text"; });
    const auto named = m_tableNames[tuple.relation];
    const QByteArray place = '(' + tuple.page + ',' + tuple.tuple + ')';
    CO_TRY(const auto &row, co_await send("SELECT " + wanted.join(", ") + " FROM ONLY " + named
                                              + " WHERE ctid = " + postgresql::quotedText(place) + "::tid",
                                          deadline));
    if (row.rows.empty())
        co_return key;
    key.columns = columns;
    for (const auto &cell : row.rows.front())
        key.values << cell.value_or(QByteArray());
    co_return key;
}

// Quoted, as the server writes it.
Task<Result<QByteArray>> PgReader::tableName(QByteArray relation, Deadline deadline)
{
    if (const auto known = m_tableNames.find(relation); known != m_tableNames.end())
        co_return known->second;
    CO_TRY(const auto &named,
           co_await send("SELECT " + postgresql::quotedText(relation) + "::oid::regclass::text AS name", deadline));
    co_return text(named, 0, "name");
}

// pg_locks says for whose end the next one waits, and of others that have the row with it nothing: they stand in the
// row itself, behind a number that is no transaction's.
Task<Result<void>> PgReader::readSharers(PgPoll *look, Deadline deadline)
{
    const auto locks = look->locks;
    for (const auto &tuple : locks) {
        if (tuple.type != "tuple" || !tuple.isGranted || tuple.database != look->database
            || tuple.relationName.isEmpty())
            continue;
        const auto waiting = std::ranges::find_if(locks, [&tuple](const PgLock &lock) {
            return lock.type == "transactionid" && !lock.isGranted && lock.pid == tuple.pid;
        });
        if (waiting == locks.end())
            continue;
        const auto sharers = co_await sharersOf(tuple, waiting->transaction, deadline);
        if (!sharers && !isPgRefusal(sharers.error()))
            co_return sharers.error();
        if (!sharers)
            look->sharersUnread = readErrorText(sharers.error());
        if (sharers && !sharers->isEmpty())
            look->sharers[{tuple.relation, tuple.page, tuple.tuple}] = *sharers;
    }
    co_return Result<void>();
}

Task<Result<QByteArrayList>> PgReader::sharersOf(PgLock tuple, QByteArray waitedFor, Deadline deadline)
{
    QByteArrayList sharers;
    CO_TRY(const auto &name, co_await tableName(tuple.relation, deadline));
    const QByteArray place = '(' + tuple.page + ',' + tuple.tuple + ')';
    CO_TRY(const auto &row, co_await send("SELECT xmax::text AS xmax FROM ONLY " + name
                                              + " WHERE ctid = " + postgresql::quotedText(place) + "::tid",
                                          deadline));
    const auto locker = row.rows.empty() ? QByteArray() : text(row, 0, "xmax");
    if (locker.isEmpty() || locker == "0" || locker == waitedFor)
        co_return sharers;
    const auto members = co_await send("SELECT xid::text AS xid FROM pg_catalog.pg_get_multixact_members("
                                           + postgresql::quotedText(locker) + "::xid)",
                                       deadline);
    if (!members) // it changed hands meanwhile, and is a transaction's
        co_return members.error();
    for (std::size_t i = 0; i < members->rows.size(); ++i)
        sharers << text(*members, i, "xid");
    co_return sharers;
}

// Of the primary key, in its order. None where to read it would run what others wrote, as us: a cast of a type of
// their own, or a policy of the table's.
Task<Result<QByteArrayList>> PgReader::readKeyColumns(QByteArray relation, Deadline deadline)
{
    CO_TRY(const auto &rows, co_await send(keyColumnsQuestion(relation), deadline));
    if (!rows.rows.empty())
        m_tableNames[relation] = text(rows, 0, "table_name");
    QByteArrayList columns;
    for (std::size_t i = 0; i < rows.rows.size(); ++i)
        columns << text(rows, i, "name");
    co_return columns;
}

const LockRowDialect &pgLockRows()
{
    static const LockRowDialect dialect{
        .whichTables = mariadb::sqlText("postgresql-lock-tables"),
        .whichColumns = {},
        .from = "FROM ONLY ",
        .quoted = postgresql::quotedName,
        .asText = pgColumnText,
        .isTrue = [](const QByteArray &column) { return column + "::text IN ('1', 't', 'true')"; },
        .exactly = {},
        .timeOf = pgTimeOf,
        .isAhead = pgIsAhead,
        .beforeRows = {},
        .moment = pgTime,
        .isRefusal = isPgRefusal,
        .readErrorText = readErrorText,
    };
    return dialect;
}

} // namespace lockscope::inspect
