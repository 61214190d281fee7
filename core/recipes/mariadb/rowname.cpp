// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/mariadb/rowname.h"

#include "core/base/text.h"
#include "core/recipes/mariadb/sqllock.h"
#include "core/rules/rowlayouts.h"

#include <QDateTime>

namespace lockscope::recipes {

namespace {

const QByteArray namedLockPrefix("GET_LOCK#"), leasedRowPrefix("SHEDLOCK#"), markPrefix("MARK#"), flagPrefix("FLAG#");

// Takes an identifier off the front, with or without backticks, and the `end` that follows it. Empty if
// there is none.
QByteArray takeIdentifier(QByteArray &rest, char end)
{
    QByteArray name;
    qsizetype at = 0;
    if (rest.startsWith('`')) {
        for (at = 1; at < rest.size(); ++at) {
            if (rest[at] == '`' && (at + 1 >= rest.size() || rest[at + 1] != '`'))
                break;
            if (rest[at] == '`')
                ++at; // doubled: one that belongs to the name
            name += rest[at];
        }
        ++at;
    } else {
        at = rest.indexOf(end);
        name = rest.left(at < 0 ? 0 : at);
    }
    if (at < 0 || at >= rest.size() || rest[at] != end)
        return {};
    rest.remove(0, at + 1);
    return name;
}

// Takes a value off the front, and the next column that follows it, if one does.
bool takeValue(QByteArray &rest, QByteArrayList &values, QByteArray &column)
{
    if (rest.startsWith('`')) {
        rest += ','; // what it ends with where nothing follows
        const auto before = rest;
        values << takeIdentifier(rest, ',');
        if (rest.isEmpty())
            return before != rest;
        rest.chop(1);
        column = takeIdentifier(rest, '=');
        return !column.isEmpty();
    }
    for (auto comma = rest.indexOf(','); comma >= 0; comma = rest.indexOf(',', comma + 1)) {
        auto after = rest.mid(comma + 1);
        const bool isQuoted = after.startsWith('`');
        column = takeIdentifier(after, '=');
        if (isQuoted ? column.isEmpty() : !isSqlWord(column))
            continue;
        values << rest.left(comma);
        rest = after;
        return true;
    }
    column.clear();
    values << std::exchange(rest, QByteArray());
    return true;
}

} // namespace

QByteArray RowName::quotedTable() const
{
    return mariadb::quotedName(schema) + '.' + mariadb::quotedName(table);
}

QByteArray LeasedRowName::quotedTable() const
{
    return mariadb::quotedName(schema) + '.' + mariadb::quotedName(table);
}

QByteArray RowName::condition() const
{
    return mapped<QByteArrayList>(columns, [&](const auto &column) { return mariadb::quotedName(column) + " = ?"; })
        .join(" AND ");
}

Result<RowName> readRowName(const QByteArray &lock)
{
    if (lock.startsWith("before "))
        return Error{
            ErrorCode::BadInput,
            u"\"%1\" is a gap between rows and cannot be acquired: no row exists to lock"_s.arg(label(lock))};
    const auto *layout = rowLayoutNamed(lock);
    if (layout && !lock.startsWith(leasedRowPrefix) && !layout->client.isEmpty())
        return Error{ErrorCode::BadInput,
                     u"\"%1\" is a row that %2 writes to say who has the lock, and cannot be "
                     u"acquired from here: only its own clients take it"_s.arg(label(lock), layout->client)};
    RowName row;
    QByteArray rest = lock;
    row.schema = takeIdentifier(rest, '.');
    row.table = takeIdentifier(rest, '#');
    auto column = takeIdentifier(rest, '=');
    bool isComplete = !row.schema.isEmpty() && !row.table.isEmpty() && !column.isEmpty();
    while (isComplete && !column.isEmpty()) {
        row.columns << std::exchange(column, QByteArray());
        isComplete = takeValue(rest, row.values, column);
    }
    if (!isComplete || lock.contains('\0'))
        return Error{
            ErrorCode::BadInput,
            u"\"%1\" names no row; write SCHEMA.TABLE#COLUMN=VALUE[,COLUMN=VALUE…], for example shop.stock#id=1"_s
                .arg(label(lock))};
    return row;
}

namespace {

Result<LeasedRowName> readNameBehind(const QByteArray &prefix, const QByteArray &lock, const QString &example)
{
    LeasedRowName row;
    QByteArray rest = lock.mid(prefix.size());
    row.schema = takeIdentifier(rest, '.');
    row.table = takeIdentifier(rest, '#');
    row.name = rest;
    if (!lock.startsWith(prefix) || row.schema.isEmpty() || row.table.isEmpty() || row.name.isEmpty()
        || lock.contains('\0'))
        return Error{ErrorCode::BadInput, u"\"%1\" names no such row; write %2SCHEMA.TABLE#%3"_s.arg(
                                              label(lock), QString::fromLatin1(prefix), example)};
    return row;
}

} // namespace

Result<LeasedRowName> readLeasedRowName(const QByteArray &lock)
{
    return readNameBehind(leasedRowPrefix, lock, u"NAME, for example SHEDLOCK#shop.shedlock#nightly"_s);
}

Result<LeasedRowName> readMarkName(const QByteArray &lock)
{
    return readNameBehind(markPrefix, lock, u"NAME, for example MARK#shop.lock_marks#nightly"_s);
}

Result<LeasedRowName> readFlagName(const QByteArray &lock)
{
    return readNameBehind(flagPrefix, lock, u"ID, for example FLAG#shop.lock_flags#1"_s);
}

Result<QByteArray> readNamedLock(const QByteArray &lock)
{
    const auto name = lock.mid(namedLockPrefix.size());
    if (!lock.startsWith(namedLockPrefix) || name.isEmpty())
        return Error{ErrorCode::BadInput,
                     u"\"%1\" is not a named lock; write GET_LOCK#NAME, for example GET_LOCK#nightly-report"_s.arg(
                         label(lock))};
    return name;
}

namespace {

enum class Says { Nothing, Flag, End, Owner, Since };

// Words that mean a lock anywhere, and words that do so only in a table of locks.
Says saysOf(const QByteArray &column, bool isLockTable)
{
    static const QByteArrayList flags{"islocked", "locked", "isheld"},
        ends{"lockuntil",      "lockeduntil", "lockexpires",  "lockexpiresat", "lockexpiry",
             "lockexpiration", "leaseuntil",  "leaseexpires", "leaseexpiresat"},
        owners{"lockedby", "lockowner", "lockholder", "leaseowner"},
        ownersInTable{"owner", "ownerid", "holder", "holderid", "heldby"},
        endsInTable{"expires", "expiresat", "validuntil"},
        sinceInTable{"acquired", "acquiredat", "lockedat", "lockgranted", "locktime", "heldsince"};
    auto word = column.toLower();
    word.replace('_', "");
    if (flags.contains(word) || (isLockTable && word == "held"))
        return Says::Flag;
    if (ends.contains(word) || (isLockTable && endsInTable.contains(word)))
        return Says::End;
    if (owners.contains(word) || (isLockTable && ownersInTable.contains(word)))
        return Says::Owner;
    return isLockTable && sinceInTable.contains(word) ? Says::Since : Says::Nothing;
}

bool isLockTable(const RowName &name)
{
    const auto table = name.table.toLower();
    return table.contains("lock") || table.contains("mutex") || table.contains("lease");
}

bool isFalse(const QByteArray &flag)
{
    const QByteArrayList words{"", "0", "f", "false", "n", "no", QByteArray(1, '\0')};
    return words.contains(flag.trimmed().toLower());
}

// MySQL's zero date means that there is no time.
bool isZeroDate(const QByteArray &time)
{
    return time.startsWith("0000-00-00");
}

// A time that cannot be read is not known to have passed.
bool isAhead(const QByteArray &end, const ServerClock &clock)
{
    if (isDigits(end)) { // seconds, or milliseconds, since 1970
        constexpr qint64 firstOfMilliseconds = 100'000'000'000;
        const auto number = end.toLongLong();
        return (number < firstOfMilliseconds ? number : number / 1000) >= clock.seconds;
    }
    const auto read = [](const QByteArray &text) {
        auto iso = QString::fromUtf8(text.trimmed());
        iso.replace(u' ', u'T');
        return QDateTime::fromString(iso, Qt::ISODateWithMs);
    };
    const auto time = read(end), here = read(clock.here), utc = read(clock.utc);
    if (isZeroDate(end))
        return false;
    if (!time.isValid() || !here.isValid() || !utc.isValid())
        return true;
    if (time.timeSpec() != Qt::LocalTime) // it names its zone
        return time.toSecsSinceEpoch() >= clock.seconds;
    // Of which zone it is nothing says: it has passed where it has by both.
    return time >= std::min(here, utc);
}

struct Column {
    Says says{};
    QByteArray name;
    mariadb::Rows::Cell value;
    std::optional<bool> isFree{}; // by the user's rule
};

std::vector<Column> columnsOf(const RowName &name, const mariadb::Rows &rows, std::size_t row)
{
    const auto known = mapped<QByteArrayList>(rows.columns, [&](const auto &column) { return column.toLower(); });
    const auto *layout = rowLayoutOf(name.table, known);
    std::vector<Column> all;
    for (const auto &column : rows.columns) {
        const bool isItsFlag = layout && column.toLower() == layout->flag;
        const auto says = isItsFlag ? Says::Flag : saysOf(column, isLockTable(name));
        if (says == Says::Nothing)
            continue;
        all.push_back({says, column, rows.cell(row, column)});
        if (isItsFlag && !layout->free.isEmpty())
            all.back().isFree = layout->free.contains(all.back().value.value_or(QByteArray()));
    }
    return all;
}

QString rowOwnedReason(const std::vector<Column> &columns, const ServerClock &clock)
{
    for (const auto says : {Says::Flag, Says::End, Says::Owner, Says::Since}) {
        bool decides = false;
        for (const auto &column : columns) {
            if (column.says != says || (says != Says::Flag && !column.value))
                continue;
            const auto value = column.value.value_or(QByteArray());
            const bool isTaken = says == Says::Flag  ? !column.isFree.value_or(isFalse(value))
                                 : says == Says::End ? isAhead(value, clock)
                                                     : !value.isEmpty() && !isZeroDate(value);
            if (isTaken)
                return u"%1 = %2"_s.arg(label(column.name, 60), label(value, 120));
            decides = decides || says == Says::Flag || says == Says::End;
        }
        if (decides)
            return {};
    }
    return {};
}

} // namespace

QString ownedReason(const RowName &name, const mariadb::Rows &rows, const ServerClock &clock)
{
    for (std::size_t row = 0; row < rows.rows.size(); ++row) {
        const auto why = rowOwnedReason(columnsOf(name, rows, row), clock);
        if (!why.isEmpty())
            return why;
    }
    return {};
}

bool hasEndInRow(const RowName &name, const mariadb::Rows &rows)
{
    for (std::size_t row = 0; row < rows.rows.size(); ++row) {
        const auto columns = columnsOf(name, rows, row);
        if (std::ranges::any_of(columns, [](const Column &one) { return one.says == Says::End && one.value; }))
            return true;
    }
    return false;
}

namespace {

// The times of the row that the client library could not read, as the server writes them. A transaction that has
// locked the row, or compares its version, reads the same row again.
Task<Result<mariadb::Rows>> withTimesAsText(mariadb::Session *session, RowName name, mariadb::Rows rows,
                                            std::optional<mariadb::ConnectionId> connection, Deadline deadline)
{
    QByteArrayList texts;
    QList<qsizetype> unread;
    for (qsizetype at = 0; rows.rows.size() == 1 && at < rows.columns.size(); ++at) {
        if (rows.rows.front()[static_cast<std::size_t>(at)] != mariadb::Rows::unreadableTime.toByteArray())
            continue;
        texts << "CONCAT(" + mariadb::quotedName(rows.columns[at]) + ", '')";
        unread << at;
    }
    if (unread.isEmpty())
        co_return rows;
    const mariadb::Statement select{"SELECT " + texts.join(", ") + " FROM " + name.quotedTable() + " WHERE "
                                        + name.condition(),
                                    name.values, connection, false};
    CO_TRY(const auto &answer, co_await session->execute(select, answerBy(*session, deadline)));
    for (qsizetype i = 0; answer.rows.size() == 1 && i < unread.size(); ++i)
        rows.rows.front()[static_cast<std::size_t>(unread[i])] = answer.rows.front()[static_cast<std::size_t>(i)];
    co_return rows;
}

} // namespace

Task<Result<void>> refuseOwnedRow(mariadb::Session *session, RowName name, mariadb::Rows rows,
                                  mariadb::Statement clock, Deadline deadline)
{
    if (clock.text == ownClock) {
        CO_TRY(rows, co_await withTimesAsText(session, name, std::move(rows), clock.connection, deadline));
    }
    ServerClock now;
    if (hasEndInRow(name, rows)) {
        CO_TRY(const auto &answer, co_await session->execute(clock, answerBy(*session, deadline)));
        now = {answer.cell(0, "here").value_or(QByteArray()), answer.cell(0, "utc").value_or(QByteArray()),
               answer.cell(0, "seconds").value_or(QByteArray()).toLongLong()};
    }
    const auto why = ownedReason(name, rows, now);
    if (why.isEmpty())
        co_return Result<void>();
    co_return Error{ErrorCode::Refused,
                    u"the row itself is a lock, and its column says that it is taken: %1. Nothing "
                    u"was taken. Its owner frees it by writing to the row"_s.arg(why)};
}

} // namespace lockscope::recipes
