// SPDX-License-Identifier: Apache-2.0
#include "core/contention/backendrules.h"

namespace lockscope::contention {

using recipes::RecipeInfo;

// As on MariaDB: the session is the same. But for a server that keeps who is idle for as long as that is there.
BackendRules rulesOfPostgreSql()
{
    return {.never = {FaultKind::Lag, FaultKind::RestartEmpty, FaultKind::Failover, FaultKind::LostPublish},
            .twoBelieve = [](const RecipeInfo &, FaultKind fault,
                             const QByteArray &) { return twoBelieve("PostgreSQL connection", fault); },
            .overlap = &overlapOfSqlConnection,
            .believesFor = [](const Scenario &) { return sqlSilence; }};
}

} // namespace lockscope::contention
