// SPDX-License-Identifier: Apache-2.0
#include "core/rehearse/stage.h"

#include "core/contention/postgresqlaccess.h"

namespace lockscope::rehearse {

std::unique_ptr<Stage> makePostgreSqlStage(const StageContext &context)
{
    return std::make_unique<SqlStage>(context, contention::openPostgreSqlAccess, sim::postgreSqlRules);
}

} // namespace lockscope::rehearse
