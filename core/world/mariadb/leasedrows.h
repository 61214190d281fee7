// SPDX-License-Identifier: Apache-2.0
// The tables of the simulated MariaDB whose rows are locks by what stands in them, with ShedLock's columns: a name,
// an owner, and until when. Each statement is a transaction of its own, and over at once; the time is the server's.
#pragma once

#include "core/async/virtualloop.h"
#include "core/world/mariadb/answer.h"
#include "core/world/mariadb/rowlocks.h"
#include "core/world/mariadb/statements.h"

namespace lockscope::world {

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
