// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/realrunrules.h"

#include "core/base/text.h"

namespace lockscope {

Result<void> playableOnServers(const contention::Scenario &scenario, int mostSessions, const QString &where)
{
    const auto bad = [](const QString &why) { return Error{ErrorCode::BadInput, u"simulate: "_s + why}; };
    if (!scenario.faults.empty() || !scenario.planned.empty())
        return bad(u"faults need the simulator; on %1 only contention is played"_s.arg(where));
    const auto *recipe = recipes::findRecipe(scenario.recipe);
    if (!recipe)
        return bad(u"%1 is deliberately broken and runs only in the simulator"_s.arg(label(scenario.recipe)));
    if (scenario.locks != 1)
        return bad(u"real servers play one lock; two locks need the simulator"_s);
    const contention::Scenario plain;
    const bool isOfServersAsTheyAre = scenario.acquires == plain.acquires && scenario.servers == plain.servers
                                      && scenario.aof == plain.aof && scenario.leastLatency == plain.leastLatency
                                      && scenario.mostLatency == plain.mostLatency && scenario.acts.empty()
                                      && scenario.rows == plain.rows && scenario.isIndexed;
    if (!isOfServersAsTheyAre)
        return bad(
            u"repeated acquires, several rows, server counts, server files, delays and actions need the simulator"_s);
    if (scenario.contenders > mostContendersOnServers)
        return bad(u"real servers play at most %1 contenders, not %2; the simulator takes more"_s
                       .arg(mostContendersOnServers)
                       .arg(scenario.contenders));
    if (infoOf(recipe->backend).oneLockEach && scenario.contenders > mostSessions)
        return bad(u"a session on %1 carries one lock at a time: up to %2 contenders in as many sessions"_s
                       .arg(infoOf(recipe->backend).title)
                       .arg(mostSessions));
    return {};
}

} // namespace lockscope
