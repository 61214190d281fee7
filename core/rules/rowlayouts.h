// SPDX-License-Identifier: Apache-2.0
// Rows that are locks by what stands in them, as known clients write them: which columns tell the table, and what
// each column means. One entry a layout. Sources: docs/layouts.md; a user's own are in rule files (docs/rules.md).
// Any thread.
#pragma once

#include <QByteArrayList>
#include <QString>

#include <vector>

namespace lockscope::recipes {

// How a time in a column is read.
enum class RowTime {
    Epoch,   // seconds since 1970, with or without a fraction
    Server,  // a date in the server's time zone
    Utc,     // a date in UTC
    Unclear, // a date in UTC or in another zone: told where both readings agree, or where the column has a zone
};

// How a client frees the row.
enum class RowRelease {
    Clear,     // Liquibase: flag, owner and time are emptied; sent from here, too
    EndTime,   // ShedLock: the end becomes the time when it was taken; sent from here, too
    ResetFlag, // the flag becomes 0; the row has to stay
    Delete,    // the row is deleted
};

struct RowLayout {
    QByteArray prefix{};            // of the names of its locks: "KNEX#"
    QString client{};               // whose layout it is; empty: of our own recipe
    QByteArray recipe = "row-lock"; // behind "sql-" or "pg-"
    QByteArray tableSuffix{};       // how the name of its table ends, in lower case
    QByteArray table{};             // of a user's rule: the name of its table, in lower case
    QByteArrayList columns{};       // the table has all of these, in lower case …
    QByteArrayList optional{};      // … and may have these …
    bool mayHaveMore = false;       // … or any others
    QByteArrayList name{}; // the columns that say which lock it is; empty: its rows are never locks by what they say
    QByteArray only{};     // the name of its usual row, which the name of the lock leaves out
    QByteArray flag{};     // is 1 or true while it is held; empty: the row exists only while it is held
    QByteArrayList held{}, free{}; // of a flag that is a text: what it says while it is held, and otherwise
    QByteArray owner{};
    bool isOwnerToken = false;  // no two holds of one lock have the same owner
    bool isOwnerNumber = false; // that is a number, which tells holds apart and names nobody
    QByteArray since{};         // when it was taken
    RowTime sinceTime = RowTime::Unclear;
    bool isSinceRenewed = false; // … or renewed
    QByteArray ends{};           // until when it is held
    RowTime endsTime = RowTime::Unclear;
    RowRelease release = RowRelease::Delete;
    QString why{};     // what the row says, for people
    QString notices{}; // how its holder notices that the lock was taken away; empty: not known
    friend bool operator==(const RowLayout &, const RowLayout &) = default;
};

// The built-in ones (resources/rules/row-layouts.json).
[[nodiscard]] const std::vector<RowLayout> &rowLayouts();
// Sets the layouts of the user's rules. A layout that was ever set stays where it is: rows refer to it.
void setUserRowLayouts(const std::vector<RowLayout> &layouts);
// Those in force, in their order.
[[nodiscard]] std::vector<const RowLayout *> userRowLayouts();
// The first of them whose rule names the table; null where none does.
[[nodiscard]] const RowLayout *userRowLayoutOf(const QByteArray &table);
// The columns that a table of that layout lacks; `columns` in lower case.
[[nodiscard]] QByteArrayList missingColumns(const RowLayout &layout, const QByteArrayList &columns);
// By the columns of a table, in lower case; null where none fits. A user's rule that names the table comes first.
[[nodiscard]] const RowLayout *rowLayoutOf(const QByteArray &table, const QByteArrayList &columns);
// By the prefix of a lock's name; null where that is no such lock.
[[nodiscard]] const RowLayout *rowLayoutNamed(const QByteArray &lock);

} // namespace lockscope::recipes
