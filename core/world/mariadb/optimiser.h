// SPDX-License-Identifier: Apache-2.0
// Which rows a statement looks at, and so locks: what the optimiser of MariaDB 10.11 chooses for a range of an index
// that is not the primary key, where more columns are wanted than the index has.
//
// It compares two prices. By the index each row that is found costs one, to read it, and a fifth, to compare it; the
// whole table costs a fifth for each of its rows, and 2.9 for all else. EXPLAIN chose so for every range from one
// row to all, of tables of 3 to 200 rows (tests/live/tst_simulated_mariadb_rows.cpp asks again). Larger tables have
// indexes of several pages, whose rows in a range are only estimated: of those this says less.
#pragma once

#include <cstddef>

namespace lockscope::world {

[[nodiscard]] constexpr bool readsByIndex(std::size_t found, std::size_t rows)
{
    return 12 * found <= 2 * rows + 29; // ten times the prices
}

} // namespace lockscope::world
