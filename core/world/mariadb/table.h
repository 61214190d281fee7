// SPDX-License-Identifier: Apache-2.0
// A table of the simulated MariaDB, and which of its rows a statement looks at.
//
// One column names its rows, a number; `code` is the same as text; and `version`. The first two have an index each,
// or neither has.
#pragma once

#include "core/world/mariadb/statements.h"

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

} // namespace lockscope::world
