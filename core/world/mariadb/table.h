// SPDX-License-Identifier: Apache-2.0
// A table of the simulated MariaDB, and which of its rows a statement looks at.
//
// One column names its rows, a number; `code` is the same as text; and `version`. The first two have an index each,
// or neither has.
#pragma once

#include "core/async/virtualloop.h"
#include "core/world/mariadb/locks.h"
#include "core/world/mariadb/statements.h"

#include <cstddef>
#include <map>
#include <vector>

namespace lockscope::world {

struct SqlTable {
    // The order in which a statement looks at them.
    struct ByNumber {
        bool operator()(const QByteArray &one, const QByteArray &other) const
        {
            return one.size() != other.size() ? one.size() < other.size() : one < other;
        }
    };

    QByteArray key;
    bool isIndexed = true;
    std::map<QByteArray, qint64, ByNumber> versions; // by row, with what is not committed yet

    [[nodiscard]] bool hasColumn(const SqlStatement &what) const;
    [[nodiscard]] static bool isWanted(const SqlStatement &what, const QByteArrayList &parameters,
                                       const QByteArray &row);
    [[nodiscard]] std::vector<QByteArray> wanted(const SqlStatement &what, const QByteArrayList &parameters) const;
    // What the statement reads, and so locks, one after the other: by an index the rows that it wants, else all.
    [[nodiscard]] std::vector<QByteArray> lookedAt(const SqlStatement &what, const QByteArrayList &parameters) const;
};

// Which rows a statement looks at, and so locks: what the optimiser of MariaDB 10.11 chooses for a range of an index
// that is not the primary key, where more columns are wanted than the index has.
//
// It compares two prices. By the index each row that is found costs one, to read it, and a fifth, to compare it; the
// whole table costs a fifth for each of its rows, and 2.9 for all else. EXPLAIN chose so for every range from one
// row to all, of tables of 3 to 200 rows (tests/live/tst_simulated_mariadb_rows.cpp asks again). Larger tables have
// indexes of several pages, whose rows in a range are only estimated: of those this says less.
[[nodiscard]] constexpr bool readsByIndex(std::size_t found, std::size_t rows)
{
    return 12 * found <= 2 * rows + 29; // ten times the prices
}

// The tables of the simulated MariaDB whose rows are locks by what stands in them, with ShedLock's columns: a name,
// an owner, and until when. Each statement is a transaction of its own, and over at once; the time is the server's.
class LeasedRows {
public:
    struct Seen {
        RowId id;
        QByteArray by;
        std::optional<Duration> left; // none: its time is over
    };

    explicit LeasedRows(VirtualLoop &world) : m_world(world) {}

    void addTable(const QByteArray &table) { m_tables.insert(table); }
    [[nodiscard]] bool hasTable(const QByteArray &table) const { return m_tables.contains(table); }
    [[nodiscard]] static bool isAbout(SqlStatement::Kind kind);
    // Of a kind that this is about, on a table that is there.
    [[nodiscard]] SqlAnswer run(const SqlStatement &what, const QByteArrayList &parameters);

    [[nodiscard]] std::vector<Seen> rows() const;
    [[nodiscard]] QByteArrayList leftBehind() const; // whose time is not over, in words
    // As an operator does it. False: its time is over already, or there is none.
    bool end(const RowId &row);
    void jumpClock(std::chrono::milliseconds by) { m_ahead += by; }

private:
    struct Row {
        std::chrono::milliseconds until{0};
        QByteArray by;
    };
    // By the server's clock, without what is less than a millisecond.
    [[nodiscard]] std::chrono::milliseconds now() const;
    [[nodiscard]] Row *ownedBy(const RowId &row, const QByteArray &owner);

    VirtualLoop &m_world;
    Duration m_ahead{0};
    std::set<QByteArray> m_tables;
    std::map<RowId, Row> m_rows;
};

} // namespace lockscope::world
