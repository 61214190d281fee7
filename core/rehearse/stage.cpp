// SPDX-License-Identifier: Apache-2.0
#include "core/rehearse/stage.h"

namespace lockscope::rehearse {

std::unique_ptr<Stage> makeStage(const StageContext &context)
{
    using Make = std::unique_ptr<Stage> (*)(const StageContext &);
    static const std::map<BackendKind, Make> makers{
        {BackendKind::ZooKeeper, &makeZooKeeperStage},
        {BackendKind::Redis, &makeRedisStage},
        {BackendKind::MariaDb, &makeMariaDbStage},
    };
    const auto found = makers.find(context.plan.before.backend);
    return found == makers.end() ? nullptr : found->second(context);
}

} // namespace lockscope::rehearse
