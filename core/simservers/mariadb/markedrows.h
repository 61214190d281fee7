// SPDX-License-Identifier: Apache-2.0
// The tables of the simulated MariaDB whose rows are locks that nothing ends: marks, which are there while they are
// held (name, owner, created_at), and flags (id, version, status). Each statement is a transaction of its own, and
// over at once. Belongs to the world's thread.
#pragma once

#include "core/async/virtualloop.h"
#include "core/simservers/mariadb/locks.h"
#include "core/simservers/mariadb/statements.h"

#include <map>
#include <set>

namespace lockscope::sim {

class MarkedRows {
public:
    struct Mark {
        QByteArray owner;
        Instant since{};
    };
    struct Flag {
        qint64 version = 0;
        bool isSet = false;
    };

    explicit MarkedRows(VirtualLoop &world) : m_world(world) {}

    void addMarks(const QByteArray &table) { m_tables.insert(table); }
    void addFlag(const RowId &row)
    {
        m_tables.insert(row.table);
        m_flags[row];
    }
    [[nodiscard]] static bool isAbout(SqlStatement::Kind kind);
    // Of a kind that this is about.
    [[nodiscard]] SqlAnswer run(const SqlStatement &what, const QByteArrayList &parameters);

    [[nodiscard]] const std::map<RowId, Mark> &marks() const { return m_marks; }
    [[nodiscard]] const std::map<RowId, Flag> &flags() const { return m_flags; }
    [[nodiscard]] QByteArrayList leftBehind() const; // what is held, in words
    // As an operator does it. False: nobody holds it.
    bool end(const RowId &row);

private:
    [[nodiscard]] SqlAnswer deleteOld(const QByteArray &table, std::chrono::seconds limit);

    VirtualLoop &m_world;
    std::set<QByteArray> m_tables;
    std::map<RowId, Mark> m_marks;
    std::map<RowId, Flag> m_flags;
};

} // namespace lockscope::sim
