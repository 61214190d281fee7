// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/reader.h"

namespace lockscope::inspect {

using mariadb::Rows;

namespace {

// For a new copy, where somebody else keeps the server from making one.
constexpr auto patienceForFreshRows = 1s;
constexpr auto longestRest = 2s;

// Reads only, and has locked nothing: another observer's look, most likely.
bool isIdleReader(const Rows &rows, std::size_t row)
{
    return text(rows, row, "is_read_only") == "1" && text(rows, row, "rows_locked").toLongLong() == 0;
}

QByteArray galeraQuestion(const mariadb::Features &features)
{
    return "SELECT VARIABLE_VALUE AS galera_nodes FROM " + features.statusSchema
           + ".global_status WHERE VARIABLE_NAME = 'wsrep_cluster_size'";
}

// A row that is locked on another node shows only when its commit arrives here, and ends who has it here.
QString otherNodesGap(const Result<Rows> &rows)
{
    const auto nodes = rows && !rows->rows.empty() ? text(*rows, 0, "galera_nodes").toLongLong() : 0;
    return nodes > 1
               ? u"locks on the other nodes of the Galera cluster are not visible here: it has %1 nodes"_s.arg(nodes)
               : QString();
}

} // namespace

void SqlReader::sendFirst(Deadline deadline)
{
    sendAhead(processesQuestion(m_session.features()), deadline);
    sendNamedAhead(deadline);
    if (const auto ofRules = m_lockRows.namesToFind(m_session.loop().now()))
        sendAhead(ownLockRows().whichTables, deadline, {*ofRules, *ofRules});
}

void SqlReader::sendDetails(const SqlPoll &look, Deadline deadline)
{
    const bool isAnyTableWaited =
        std::ranges::find(look.tableLocks, false, &SqlTableLock::isGranted) != look.tableLocks.end();
    if (m_tellsAttributes && !(look.waits.empty() && look.namedLocks.empty()))
        sendAhead(mariadb::sqlText("mariadb-attributes"), deadline);
    if (!look.waits.empty() || isAnyTableWaited)
        sendLimitsAhead(deadline);
    for (const auto &wait : look.waits) {
        if (!wait.index.isEmpty() && !m_columns.contains({wait.table, wait.index}))
            sendAhead(mariadb::sqlText("mariadb-index-column-names"), deadline,
                      {withoutPartition(wait.table), wait.index});
    }
}

struct SqlReader::Pace : Turns {
    // One per server, for as long as somebody reads there, and a little longer: readers that come and go one after
    // the other have to leave the server its rest, too, or none of them ever sees anything new.
    static std::shared_ptr<Pace> of(const QByteArray &server, Instant now)
    {
        thread_local std::map<QByteArray, std::shared_ptr<Pace>> paces;
        std::erase_if(paces, [now](const auto &one) {
            const auto &[name, pace] = one;
            const bool isOver = pace->over > now || now - pace->over > longestRest; // the one: another clock's
            return pace.use_count() == 1 && isOver;
        });
        auto &known = paces[server];
        if (!known)
            known = std::make_shared<Pace>();
        return known;
    }
};

Task<Result<SqlPoll>> SqlReader::look(Deadline deadline, QByteArray also)
{
    auto &loop = m_session.loop();
    CO_TRY_VOID(co_await meetServer(deadline));
    const auto pace = m_pace;
    const InTurn turn(pace, loop);
    if (turn.before())
        co_await *turn.before();
    const auto rested = pace->over + mariadb::copyRestsFor;
    if (loop.now() < rested)
        co_await sleepUntil(loop, rested);
    auto answer = co_await ask(deadline, also);
    if (answer) {
        m_gaps = m_newGaps;
        m_rowLocksGap = m_newRowLocksGap;
        m_hasLooked = true;
        m_rowsAreFresh = answer->rowsAreFresh;
        m_oldInARow = m_rowsAreFresh ? 0 : m_oldInARow + 1;
    }
    co_return answer;
}

Task<Result<SqlPoll>> SqlReader::freshLook(Deadline deadline, QByteArray also)
{
    auto &loop = m_session.loop();
    const auto until = std::min<Instant>(deadline.when(), loop.now() + patienceForFreshRows);
    for (;;) {
        auto answer = co_await look(deadline, also);
        const auto rest = restAfterLook(mariadb::copyRestsFor);
        if (!answer || answer->rowsAreFresh || loop.now() + rest >= until)
            co_return answer;
        co_await sleepFor(loop, rest);
    }
}

Duration SqlReader::restAfterLook(Duration usual)
{
    if (m_oldInARow == 0)
        return usual;
    constexpr int mostDoublings = 4;
    const auto longest = std::min<Duration>(usual * (1 << std::min(m_oldInARow, mostDoublings)), longestRest);
    const auto spread = std::max<Duration>(longest - usual, mariadb::copyRestsFor);
    return usual + Duration(static_cast<Duration::rep>(m_random.below(static_cast<quint64>(spread.count()))));
}

QString SqlReader::ageOfRows() const
{
    if (!m_lastFresh)
        return u"of an unknown age"_s;
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(m_session.loop().now() - *m_lastFresh);
    return u"as of %1 ms ago"_s.arg(age.count());
}

// On every connection anew: it may lead to another server.
Task<Result<void>> SqlReader::meetServer(Deadline deadline)
{
    const auto connection = m_session.connectionId();
    if (m_pace && m_knownFor == connection)
        co_return Result<void>();
    auto settingUp = send(mariadb::withoutReadView, deadline);
    auto limiting = send(mariadb::shortTableWaits, deadline);
    auto asking = send(mariadb::serverQuestion(m_session), deadline);
    auto counting = send(galeraQuestion(m_session.features()), deadline);
    const auto setUp = co_await settingUp;
    const auto limited = co_await limiting;
    const auto server = co_await asking;
    const auto counted = co_await counting;
    for (const auto *one : {&setUp, &limited, &server}) {
        if (!*one)
            co_return one->error();
    }
    m_lockRows.forget();
    m_rowData = {};
    m_deadlocks.forgetCount();
    m_pace = Pace::of(text(*server, 0, "server") + ' ' + text(*server, 0, "started"), m_session.loop().now());
    m_serverStarted = moment(*server, 0, "started");
    m_otherNodesGap = otherNodesGap(counted);
    m_namedLocks = NamedLocks::NotAsked;
    m_tellsAttributes = m_tellsStatements = m_tellsOwnLimits = true;
    m_lastFresh.reset();
    m_lastFreshThere.reset();
    m_knownFor = connection;
    co_return Result<void>();
}

Task<Result<SqlPoll>> SqlReader::ask(Deadline deadline, QByteArray also)
{
    m_newGaps.clear();
    m_newRowLocksGap.clear();
    note(m_otherNodesGap);
    m_ahead.clear();
    SqlPoll look;
    look.serverStarted = m_serverStarted;
    const auto asked = m_session.loop().now();
    CO_TRY_VOID(co_await readRowLocks(&look, deadline));
    CO_TRY_VOID(co_await readProcesses(&look, deadline));
    if (look.rowsAreFresh && look.seesAllProcesses) {
        m_lastFresh = asked;
        m_lastFreshThere = look.now;
    }
    look.rowsAsOf = m_lastFreshThere;
    const SqlSend sending = [this](const QByteArray &query, Deadline by, const QByteArrayList &parameters) {
        return send(query, by, parameters);
    };
    CO_TRY_VOID(co_await m_deadlocks.read(sending, &look, deadline));
    CO_TRY_VOID(co_await readNamedLocks(&look, deadline, also));
    sendDetails(look, deadline);
    CO_TRY_VOID(co_await readLockRows(&look, deadline));
    CO_TRY_VOID(co_await readAttributes(&look, deadline));
    CO_TRY_VOID(co_await readLimits(&look, deadline));
    if (m_tellsAttributes && m_tellsStatements) {
        CO_TRY(m_tellsStatements, co_await readLastStatements(sending, &look, deadline));
    }
    CO_TRY_VOID(co_await readColumns(&look, deadline));
    look.columns = m_columns;
    co_return look;
}

// The transaction that makes the mark visible ends at once, whatever became of the question.
Task<Result<Rows>> SqlReader::askForRows(QByteArray mark, Deadline deadline)
{
    const auto columns = mariadb::sqlText(m_session.features().innoDbLocks ? "mariadb-row-locks" : "mysql-row-locks");
    auto beginning = send(mariadb::beginLook, deadline);
    auto asking = send("SELECT " + mariadb::isMarked(mark)
                           + " AS is_fresh, "
                             "t.trx_mysql_thread_id = CONNECTION_ID() AS is_ours, "
                           + columns,
                       deadline);
    auto ending = send(mariadb::endLook, deadline);
    sendFirst(deadline);
    const auto begun = co_await beginning;
    auto rows = co_await asking;
    const auto ended = co_await ending;
    if (begun && !ended) // it may not have been sent
        static_cast<void>(send(mariadb::endLook, Deadline::after(m_session.loop(), 5s)));
    if (rows && !begun)
        co_return begun.error();
    if (rows && !ended)
        co_return ended.error();
    co_return rows;
}

// PROCESS is for INNODB_TRX, and for others' connections; who waits for whom may take more.
Task<SqlReader::NoRows> SqlReader::missingRowsReason(Error error, Deadline deadline)
{
    if (error.code != ErrorCode::NoPermission)
        co_return NoRows{error.message, true};
    if (!m_session.features().innoDbLocks) {
        const auto transactions = co_await send("SELECT COUNT(*) FROM information_schema.INNODB_TRX", deadline);
        if (transactions)
            co_return NoRows{u"SELECT on performance_schema is missing (GRANT SELECT ON performance_schema.* TO …)"_s,
                             true};
    }
    co_return NoRows{u"the PROCESS privilege is missing (GRANT PROCESS ON *.* TO …)"_s, false};
}

Task<Result<void>> SqlReader::readRowLocks(SqlPoll *look, Deadline deadline)
{
    const auto mark = mariadb::freshMark();
    const auto rows = co_await askForRows(mark, deadline);
    if (!rows && !isRefusal(rows.error()))
        co_return rows.error();
    if (!rows) {
        const auto said = co_await missingRowsReason(rows.error(), deadline);
        look->seesAllProcesses = said.seesAllProcesses;
        m_newRowLocksGap = u"row locks cannot be seen: %1"_s.arg(said.why);
        note(m_newRowLocksGap);
        note(u"deadlocks that the server ended cannot be seen: %1"_s.arg(said.why));
        co_return Result<void>();
    }
    look->rowsAreFresh = false;
    for (std::size_t i = 0; i < rows->rows.size(); ++i) {
        look->rowsAreFresh = look->rowsAreFresh || text(*rows, i, "is_fresh") == "1";
        if (const auto deadlocks = rows->cell(i, "deadlocks"))
            look->deadlocks = deadlocks->toLongLong();
        const auto id = text(*rows, i, "trx_id");
        const auto connection = text(*rows, i, "connection").toULongLong();
        const bool isOurs = text(*rows, i, "is_ours") == "1"; // looking on is all it does
        const bool isKnown = std::ranges::any_of(look->transactions, [&](const SqlTransaction &one) {
            return one.id == id && one.connection == connection;
        });
        if (!isKnown && !isOurs)
            (isIdleReader(*rows, i) ? look->readers : look->transactions)
                .push_back({id, connection, moment(*rows, i, "started"), moment(*rows, i, "wait_started"),
                            text(*rows, i, "rows_locked").toLongLong(), text(*rows, i, "rows_modified").toLongLong(),
                            text(*rows, i, "state"), text(*rows, i, "requested_lock")});
        if (rows->cell(i, "blocking") && !isOurs)
            look->waits.push_back({id, text(*rows, i, "blocking"), text(*rows, i, "lock_table"),
                                   text(*rows, i, "lock_index"), text(*rows, i, "lock_data"),
                                   text(*rows, i, "requested_mode"), text(*rows, i, "blocking_mode"),
                                   text(*rows, i, "lock_id"), text(*rows, i, "blocking_status")});
    }
    m_rowData.keep(look->waits);
    const auto named = co_await readPreparedXa(look, deadline);
    co_return named;
}

// Only where there is a transaction without a session, and somebody waits. MySQL wants a privilege for it:
// XA_RECOVER_ADMIN.
Task<Result<void>> SqlReader::readPreparedXa(SqlPoll *look, Deadline deadline)
{
    const auto without = std::ranges::find(look->transactions, quint64(0), &SqlTransaction::connection);
    if (look->waits.empty() || without == look->transactions.end())
        co_return Result<void>();
    const auto rows = co_await send("XA RECOVER", deadline);
    if (!rows)
        co_return isRefusal(rows.error()) ? Result<void>() : Result<void>(rows.error());
    look->preparedXa.emplace();
    for (std::size_t i = 0; i < rows->rows.size(); ++i)
        look->preparedXa->push_back(text(*rows, i, "data"));
    co_return Result<void>();
}

Task<Result<void>> SqlReader::readProcesses(SqlPoll *look, Deadline deadline)
{
    CO_TRY(const auto &rows, co_await send(processesQuestion(m_session.features()), deadline));
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        SqlProcess process;
        process.connection = text(rows, i, "id").toULongLong();
        process.user = text(rows, i, "user");
        process.host = text(rows, i, "host");
        process.isIdle = text(rows, i, "command") == "Sleep";
        process.state = text(rows, i, "state");
        process.statement = text(rows, i, "info");
        process.database = text(rows, i, "db");
        process.inState = millisecondsOf(text(rows, i, "in_state").toDouble());
        look->processes.push_back(std::move(process));
        look->now = moment(rows, i, "now").value_or(ServerTime());
    }
    look->ownConnection = m_session.connectionId();
    const auto ours = std::chrono::time_point_cast<std::chrono::milliseconds>(datedNow(m_session.loop()));
    look->ahead = look->now.time_since_epoch() - ours.time_since_epoch();
    co_return Result<void>();
}

// Only while there is somebody whose name matters. Nothing of it is a gap: without it a connection is nameless.
Task<Result<void>> SqlReader::readAttributes(SqlPoll *look, Deadline deadline)
{
    if (!m_tellsAttributes || (look->waits.empty() && look->namedLocks.empty()))
        co_return Result<void>();
    const auto rows = co_await send(mariadb::sqlText("mariadb-attributes"), deadline);
    if (!rows && !isRefusal(rows.error()))
        co_return rows.error();
    if (!rows || rows->rows.empty()) { // our own client's name would be in it
        m_tellsAttributes = false;
        co_return Result<void>();
    }
    std::map<quint64, SqlAttributes> attributes;
    for (std::size_t i = 0; i < rows->rows.size(); ++i) {
        const auto name = text(*rows, i, "name");
        auto &says = attributes[text(*rows, i, "connection").toULongLong()];
        if (name == "program_name")
            says.program = text(*rows, i, "value");
        else if (name == "_pid")
            says.pid = text(*rows, i, "value").toLongLong();
    }
    addAttributes(look->processes, attributes);
    co_return Result<void>();
}

Task<Result<void>> SqlReader::readColumns(SqlPoll *look, Deadline deadline)
{
    constexpr std::size_t mostKept = 1000;
    if (m_columns.size() > mostKept)
        m_columns.clear();
    for (const auto &wait : look->waits) {
        const std::pair index(wait.table, wait.index);
        if (wait.index.isEmpty() || m_columns.contains(index))
            continue;
        auto asking = send(mariadb::sqlText("mariadb-index-column-names"), deadline,
                           {withoutPartition(wait.table), wait.index});
        CO_TRY(const auto &rows, co_await asking);
        auto &columns = m_columns[index];
        for (std::size_t i = 0; i < rows.rows.size(); ++i)
            columns << text(rows, i, "name");
    }
    co_return Result<void>();
}

} // namespace lockscope::inspect
