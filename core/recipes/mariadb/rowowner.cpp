// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/mariadb/rowowner.h"

#include "core/base/identifiers.h"
#include "core/base/text.h"
#include "core/recipes/mariadb/waiting.h"

#include <QDateTime>

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

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
};

std::vector<Column> columnsOf(const RowName &name, const mariadb::Rows &rows, std::size_t row)
{
    std::vector<Column> all;
    for (const auto &column : rows.columns) {
        if (const auto says = saysOf(column, isLockTable(name)); says != Says::Nothing)
            all.push_back({says, column, rows.cell(row, column)});
    }
    return all;
}

QString whyRowIsOwned(const std::vector<Column> &columns, const ServerClock &clock)
{
    for (const auto says : {Says::Flag, Says::End, Says::Owner, Says::Since}) {
        bool decides = false;
        for (const auto &column : columns) {
            if (column.says != says || (says != Says::Flag && !column.value))
                continue;
            const auto value = column.value.value_or(QByteArray());
            const bool isTaken = says == Says::Flag  ? !isFalse(value)
                                 : says == Says::End ? isAhead(value, clock)
                                                     : !value.isEmpty();
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

QString whyOwned(const RowName &name, const mariadb::Rows &rows, const ServerClock &clock)
{
    for (std::size_t row = 0; row < rows.rows.size(); ++row) {
        const auto why = whyRowIsOwned(columnsOf(name, rows, row), clock);
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

Task<Result<void>> refuseOwnedRow(mariadb::Session *session, RowName name, mariadb::Rows rows,
                                  mariadb::Statement clock, Deadline deadline)
{
    ServerClock now;
    if (hasEndInRow(name, rows)) {
        auto asking = session->execute(clock, answerBy(*session, deadline));
        const auto answer = co_await asking;
        if (!answer)
            co_return answer.error();
        now = {answer->cell(0, "here").value_or(QByteArray()), answer->cell(0, "utc").value_or(QByteArray()),
               answer->cell(0, "seconds").value_or(QByteArray()).toLongLong()};
    }
    const auto why = whyOwned(name, rows, now);
    if (why.isEmpty())
        co_return Result<void>();
    co_return Error{ErrorCode::Refused,
                    u"the row itself is a lock, and its column says that it is taken: %1. Nothing "
                    u"was taken. Its owner frees it by writing to the row"_s.arg(why)};
}

} // namespace lockscope::recipes
