// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/reader.h"

#include "core/rules/userrules.h"

#include <iterator>

namespace lockscope::inspect {

using mariadb::Rows;

namespace {

constexpr auto looksForTablesEvery = 30s;
constexpr auto readsRowsEvery = 1s;

QString tableLabel(const LockRowTable &table)
{
    return label(table.schema + '.' + table.name, 120);
}

// A whole word of the name, so that stock_blocks is none. Quartz locks rows of its own table FOR UPDATE, and these
// are seen as row locks.
bool isNamedLikeLocks(const QByteArray &table)
{
    static const QByteArrayList words{"lock",      "locks",      "mutex",    "mutexes",
                                      "semaphore", "semaphores", "shedlock", "databasechangeloglock"};
    if (table.toLower().endsWith("qrtz_locks"))
        return false;
    QByteArray word;
    for (qsizetype i = 0; i <= table.size(); ++i) {
        const char c = i < table.size() ? table[i] : '_';
        const bool isUpper = c >= 'A' && c <= 'Z';
        const bool isLetter = isUpper || (c >= 'a' && c <= 'z');
        const bool wasUpper = i > 0 && table[i - 1] >= 'A' && table[i - 1] <= 'Z';
        if (!isLetter || (isUpper && !wasUpper)) {
            if (words.contains(word.toLower()))
                return true;
            word.clear();
        }
        if (isLetter)
            word += c;
    }
    return false;
}

// Of a table that the user's rule names and that its layout does not fit.
QString misfitText(const recipes::RowLayout &rule, const LockRowTable &table)
{
    const auto missing = recipes::missingColumns(rule, table.columns);
    const auto why = table.columns.join().isEmpty() ? u"its columns could not be read"_s
                     : missing.isEmpty()
                         ? u"it is partitioned or has row security"_s
                         : u"it has no column %1 of a built-in type"_s.arg(label(missing.join(", "), 120));
    return u"the rows of %1 are not read by your rule \"%2\": %3"_s.arg(tableLabel(table), rule.client, why);
}

// Its flag has a value that the user's rule does not know.
bool isUnlisted(const SqlLockRow &row)
{
    return !row.layout->held.isEmpty() && !row.layout->held.contains(row.flag);
}

// Of a user's rule: whether the row says that it is held. Nothing: its flag or its end does not tell.
std::optional<bool> saysHeld(const SqlLockRow &row)
{
    const auto &layout = *row.layout;
    if (isUnlisted(row))
        return std::nullopt;
    if (layout.table.isEmpty() || !layout.flag.isEmpty())
        return true; // the question asked for those that are
    if (!layout.owner.isEmpty() && row.lockedBy.isEmpty())
        return false;
    return layout.ends.isEmpty() || row.ends || row.isZoneUnclear ? std::optional(true) : std::nullopt;
}

QByteArray tablesOfRules()
{
    return mapped<QByteArrayList>(recipes::userRowLayouts(), [](const auto *layout) { return layout->table; })
        .join(',');
}

QByteArray ownText(const QByteArray &column)
{
    return "CAST(" + column + " AS CHAR)";
}

const QByteArray ownNumber = " REGEXP '^[0-9]{1,12}([.][0-9]{1,9}|)$'";

// By the server's wall clock, or by UTC's, to the moment.
QByteArray ownTime(const QByteArray &column, recipes::RowTime time, bool, bool isInUtc)
{
    using recipes::RowTime;
    if (time == RowTime::Epoch)
        return "CASE WHEN " + ownText(column) + ownNumber + " THEN " + column + " + 0 END";
    const bool isUtc = time == RowTime::Utc || (isInUtc && time == RowTime::Unclear);
    return "UNIX_TIMESTAMP(NOW(3)) + TIMESTAMPDIFF(MICROSECOND, "
           + QByteArray(isUtc ? "UTC_TIMESTAMP(3), " : "NOW(3), ") + column + ") / 1000000";
}

// What is no date has no difference to one.
QByteArray ownIsAhead(const QByteArray &column, recipes::RowTime time, bool)
{
    if (time == recipes::RowTime::Epoch)
        return "CASE WHEN " + ownText(column) + ownNumber + " THEN " + column
               + " > UNIX_TIMESTAMP(NOW(3)) ELSE 1 END";
    return "(TIMESTAMPDIFF(SECOND, " + column + ", NOW()) IS NULL OR " + column
           + " > LEAST(NOW(3), UTC_TIMESTAMP(3)))";
}

} // namespace

Task<Result<void>> SqlLockRows::read(SqlSend send, Loop *loop, std::vector<SqlTableLock> kept, Deadline deadline)
{
    if (const auto rules = recipes::userRulesGeneration(); rules != std::exchange(m_rules, rules)) {
        m_tables.clear(); // other layouts may fit
        m_read.reset();
    }
    const auto began = loop->now();
    if (m_read && began - *m_read < readsRowsEvery)
        co_return Result<void>();
    m_rows.clear();
    m_gaps.clear();
    m_isStale = false;
    const bool isForced = !std::exchange(m_read, std::nullopt); // until all is there: a look may end half-way
    if (isForced || !m_looked || began - *m_looked >= looksForTablesEvery) {
        m_looked = began;
        CO_TRY_VOID(co_await findTables(send, deadline));
    }
    std::vector<AskedTable> asked;
    for (const auto &table : m_tables) {
        const bool isKept = std::ranges::any_of(
            kept, [&](const SqlTableLock &one) { return one.schema == table.schema && one.table == table.name; });
        if (isKept) {
            m_gaps << u"the rows of %1 are not read while another client locks that table"_s.arg(tableLabel(table));
            continue;
        }
        asked.push_back(askForRows(send, table, deadline));
    }
    for (auto &one : asked) {
        CO_TRY_VOID(co_await readTable(std::move(one)));
    }
    if (!m_isStale)
        m_read = began;
    co_return Result<void>();
}

std::optional<QByteArray> SqlLockRows::namesToFind(Instant now) const
{
    const bool isDue = !m_read || m_rules != recipes::userRulesGeneration()
                       || (now - *m_read >= readsRowsEvery && (!m_looked || now - *m_looked >= looksForTablesEvery));
    return isDue ? std::optional(tablesOfRules()) : std::nullopt;
}

Task<Result<void>> SqlLockRows::findTables(SqlSend send, Deadline deadline)
{
    m_tableGaps.clear();
    const auto ofRules = tablesOfRules();
    auto asking = send(m_dialect->whichTables, deadline, {ofRules, ofRules});
    const auto rows = co_await asking;
    if (!rows && !m_dialect->isRefusal(rows.error()))
        co_return rows.error();
    if (!rows) {
        m_tableGaps << u"could not read which rows of lock tables are held: %1"_s.arg(rows.error().message);
        co_return Result<void>();
    }
    if (rows->rows.size() >= mostLockTables)
        m_tableGaps << u"only %1 of the tables that are named like lock tables are read"_s.arg(mostLockTables);
    std::vector<std::pair<LockRowTable, Asking>> named;
    for (std::size_t i = 0; i < rows->rows.size(); ++i) {
        LockRowTable table{text(*rows, i, "table_schema"), text(*rows, i, "name"), nullptr,
                           text(*rows, i, "columns").split(','), text(*rows, i, "zoned").split(',')};
        if (!recipes::userRowLayoutOf(table.name) && !isNamedLikeLocks(table.name))
            continue;
        table.isReadable = text(*rows, i, "is_readable") == "1";
        auto asked = table.isReadable ? askForColumns(send, table, deadline) : std::nullopt;
        named.emplace_back(std::move(table), std::move(asked));
    }
    std::vector<LockRowTable> found;
    m_otherTables.clear();
    for (auto &[table, asked] : named) {
        const auto *rule = recipes::userRowLayoutOf(table.name);
        if (table.isReadable) {
            CO_TRY(table, co_await withLayout(table, std::move(asked)));
        }
        if (rule && table.layout != rule)
            m_tableGaps << misfitText(*rule, table);
        if (!table.layout && !isNamedLikeLocks(table.name))
            continue;
        if (!table.layout)
            m_otherTables << table.schema + '.' + table.name;
        else if (!table.layout->name.isEmpty())
            found.push_back(std::move(table));
    }
    m_tables = std::move(found);
    co_return Result<void>();
}

std::vector<Unexplained> SqlLockRows::unexplained() const
{
    if (m_otherTables.isEmpty())
        return {};
    const auto count = m_otherTables.size();
    const auto text = count == 1
                          ? u"1 table is named as if its rows were locks, and they are not read"_s
                          : u"%1 tables are named as if their rows were locks, and they are not read"_s.arg(count);
    return {{count, text, m_otherTables.front()}};
}

const LockRowTable *SqlLockRows::knownTable(const LockRowTable &table) const
{
    const auto known = std::ranges::find_if(
        m_tables, [&table](const LockRowTable &one) { return one.schema == table.schema && one.name == table.name; });
    return known == m_tables.end() ? nullptr : &*known;
}

SqlLockRows::Asking SqlLockRows::askForColumns(const SqlSend &send, const LockRowTable &table,
                                               Deadline deadline) const
{
    if (m_dialect->whichColumns.isEmpty() || knownTable(table))
        return std::nullopt;
    return send(m_dialect->whichColumns, deadline, {table.schema, table.name});
}

Task<Result<LockRowTable>> SqlLockRows::withLayout(LockRowTable table, Asking columns)
{
    if (!m_dialect->whichColumns.isEmpty()) {
        if (!columns)
            co_return *knownTable(table);
        const auto rows = co_await *columns;
        if (!rows && !m_dialect->isRefusal(rows.error()))
            co_return rows.error();
        table.columns.clear();
        for (std::size_t i = 0; rows && i < rows->rows.size(); ++i)
            table.columns << text(*rows, i, "name");
    }
    table.layout = recipes::rowLayoutOf(table.name, table.columns);
    co_return table;
}

QByteArray lockRowsQuestion(const LockRowDialect &dialect, const LockRowTable &table)
{
    const auto &layout = *table.layout;
    QByteArrayList columns, conditions;
    const auto column = [&](const QByteArray &name) {
        return table.columns.contains(name) ? dialect.quoted(name) : QByteArray();
    };
    const auto add = [&columns](const QByteArray &expression, const QByteArray &name) {
        columns << (expression.isEmpty() ? QByteArray("NULL") : expression) + " AS " + name;
    };
    const auto textOf = [&](const QByteArray &name) {
        return column(name).isEmpty() ? QByteArray() : dialect.asText(column(name));
    };
    const auto timeOf = [&](const QByteArray &name, recipes::RowTime time, bool isInUtc) {
        return column(name).isEmpty() ? QByteArray()
                                      : dialect.timeOf(column(name), time, table.zoned.contains(name), isInUtc);
    };
    for (qsizetype i = 0; i < layout.name.size(); ++i)
        add(textOf(layout.name[i]), "name" + QByteArray::number(i));
    add(textOf(layout.owner), "locked_by");
    add(textOf(layout.flag), "flag");
    add(textOf(layout.since), "stamp");
    add(timeOf(layout.since, layout.sinceTime, false), "since");
    add(timeOf(layout.since, layout.sinceTime, true), "since_in_utc");
    add(timeOf(layout.ends, layout.endsTime, false), "ends");
    add(timeOf(layout.ends, layout.endsTime, true), "ends_in_utc");
    if (!layout.free.isEmpty())
        conditions << dialect.exactly + "COALESCE(" + textOf(layout.flag) + ", '') NOT IN ("
                          + QByteArrayList(layout.free.size(), "?").join(", ") + ')';
    else if (!layout.flag.isEmpty())
        conditions << dialect.isTrue(column(layout.flag));
    if (!column(layout.ends).isEmpty())
        conditions << dialect.isAhead(column(layout.ends), layout.endsTime, table.zoned.contains(layout.ends));
    return "SELECT " + columns.join(", ") + ' ' + dialect.from + dialect.quoted(table.schema) + '.'
           + dialect.quoted(table.name) + (conditions.isEmpty() ? QByteArray() : " WHERE " + conditions.join(" AND "))
           + " LIMIT " + QByteArray::number(mostLockRows);
}

SqlLockRows::AskedTable SqlLockRows::askForRows(const SqlSend &send, const LockRowTable &table,
                                                Deadline deadline) const
{
    AskedTable asked{.table = table, .before = {}, .rows = {}};
    if (!m_dialect->beforeRows.isEmpty())
        asked.before = send(m_dialect->beforeRows, deadline, {});
    asked.rows = send(lockRowsQuestion(*m_dialect, table), deadline, table.layout->free);
    return asked;
}

Task<Result<void>> SqlLockRows::readTable(AskedTable asked)
{
    const auto &table = asked.table;
    const auto rows = co_await *asked.rows;
    if (asked.before) {
        CO_TRY_VOID(co_await *asked.before);
    }
    if (!rows && !m_dialect->isRefusal(rows.error()) && rows.error().code != ErrorCode::TimedOut)
        co_return rows.error();
    if (!rows) {
        m_gaps << u"what stands in %1 cannot be read: %2"_s.arg(tableLabel(table),
                                                                m_dialect->readErrorText(rows.error()));
        co_return Result<void>();
    }
    if (rows->rows.size() >= mostLockRows)
        m_gaps << u"of %1 only %2 locks are read"_s.arg(tableLabel(table), QString::number(mostLockRows));
    take(table, *rows);
    co_return Result<void>();
}

// A user's rule may name columns that do not tell one lock from another: then no row of that name is a lock.
void SqlLockRows::takeRuled(const LockRowTable &table, std::vector<SqlLockRow> rows)
{
    std::map<QByteArray, int> named;
    int unclear = 0, unlisted = 0;
    QByteArray value;
    std::erase_if(rows, [&](const SqlLockRow &row) {
        const auto held = saysHeld(row);
        if (!held && isUnlisted(row))
            value = unlisted++ == 0 ? row.flag : value;
        else if (!held)
            ++unclear;
        return !held.value_or(false);
    });
    if (unlisted > 0)
        m_gaps << u"%1 of the rows of %2 are not understood and not shown as locks: \"held\" and \"free\" of your "
                  u"rule list no \"%3\""_s.arg(QString::number(unlisted), tableLabel(table), label(value, 60));
    for (const auto &row : rows)
        ++named[lockRowName(row)];
    const auto ambiguous = std::erase_if(rows, [&](const SqlLockRow &row) { return named[lockRowName(row)] > 1; });
    if (unclear > 0)
        m_gaps << u"the end of %1 of the rows of %2 cannot be read, and these are not shown as locks"_s.arg(
            QString::number(unclear), tableLabel(table));
    if (ambiguous > 0)
        m_gaps << u"%1 rows of %2 share their lock name with another row and are not shown: name more columns in "
                  u"\"lock\" of your rule"_s.arg(QString::number(ambiguous), tableLabel(table));
    std::ranges::move(rows, std::back_inserter(m_rows));
}

void SqlLockRows::take(const LockRowTable &table, const Rows &rows)
{
    std::vector<SqlLockRow> taken;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        SqlLockRow row{.layout = table.layout,
                       .schema = table.schema,
                       .table = table.name,
                       .lockedBy = text(rows, i, "locked_by"),
                       .flag = text(rows, i, "flag"),
                       .stamp = text(rows, i, "stamp"),
                       .since = m_dialect->moment(rows, i, "since"),
                       .ends = m_dialect->moment(rows, i, "ends")};
        for (qsizetype name = 0; name < table.layout->name.size(); ++name)
            row.names << text(rows, i, "name" + QByteArray::number(name));
        const auto differ = [&](const std::optional<ServerTime> &here, const QByteArray &column) {
            const auto inUtc = m_dialect->moment(rows, i, column);
            return here && inUtc && std::chrono::abs(*here - *inUtc) > 1s;
        };
        row.isZoneUnclear = differ(row.ends, "ends_in_utc");
        if (row.isZoneUnclear || differ(row.since, "since_in_utc"))
            row.since.reset();
        if (row.isZoneUnclear)
            row.ends.reset();
        taken.push_back(std::move(row));
    }
    if (table.layout->table.isEmpty())
        std::ranges::move(taken, std::back_inserter(m_rows));
    else
        takeRuled(table, std::move(taken));
}

// What MariaDB and MySQL are asked for rows that are locks.

const LockRowDialect &ownLockRows()
{
    static const LockRowDialect dialect{
        .whichTables = mariadb::sqlText("mariadb-lock-tables"),
        .whichColumns = mariadb::sqlText("mariadb-columns"),
        .from = "FROM ",
        .quoted = mariadb::quotedName,
        .asText = ownText,
        .isTrue = [](const QByteArray &column) { return column + " = 1"; },
        .exactly = "BINARY ",
        .timeOf = ownTime,
        .isAhead = ownIsAhead,
        // What was rolled back is not to be told: so not as uncommitted reads are.
        .beforeRows = mariadb::committedNext,
        .moment = moment,
        .isRefusal = isRefusal,
        .readErrorText = [](const Error &error) { return error.message; },
    };
    return dialect;
}

} // namespace lockscope::inspect
