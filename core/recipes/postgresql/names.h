// SPDX-License-Identifier: Apache-2.0
// What a lock on a PostgreSQL is called: "ADVISORY#42" or "ADVISORY#7,42" for an advisory lock, "public.stock#id=1"
// for a row (rowname.h, whose words these are), "public.jobs#state=ready" for a queue of them.
#pragma once

#include "core/recipes/mariadb/rowname.h"

namespace lockscope::recipes {

struct AdvisoryName {
    QByteArrayList keys; // one of 64 bits, or two of 32, as the server reads numbers
};
[[nodiscard]] Result<AdvisoryName> readAdvisoryName(const QByteArray &lock);

// For refuseOwnedRow().
inline const QByteArray pgClock = QByteArrayLiteral(
    "SELECT localtimestamp(3)::text AS here, (now() AT TIME ZONE 'UTC')::timestamp(3)::text AS utc, "
    "extract(epoch FROM now())::bigint::text AS seconds");

// In PostgreSQL's quotes.
[[nodiscard]] QByteArray pgTable(const RowName &row);
[[nodiscard]] QByteArray pgCondition(const RowName &row);

} // namespace lockscope::recipes
