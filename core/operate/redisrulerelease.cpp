// SPDX-License-Identifier: Apache-2.0
#include "core/operate/redisrulerelease.h"

#include "core/base/text.h"
#include "core/redis/client.h"
#include "core/rules/wakesignals.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;

void planWakeUps(ForceReleasePlan &plan)
{
    const auto &wakes = plan.wakeUps;
    if (!wakes.list.isEmpty())
        plan.commands << u"and then: DEL %1, LPUSH %1 1, PEXPIRE %1 1000"_s.arg(escaped(wakes.list));
    for (const auto &channel : wakes.published())
        plan.commands << u"and then: PUBLISH %1 %2"_s.arg(escaped(channel), escaped(plan.before.lock.name));
}

Result<Sent> sentAndWoken(const ForceReleasePlan &plan, const Result<redis::Value> &answer, const QString &changed)
{
    if (!answer)
        return answer.error();
    if (answer->integer >= 1)
        return Sent{answer->integer - 1, {}};
    if (answer->integer < 0)
        return goneAlready(plan);
    return changedMeanwhile(plan, changed);
}

void planByRule(ForceReleasePlan &plan, const inspect::Contender &holder)
{
    plan.wakeUps = recipes::wakeSignalsOf(plan.before.lock.name);
    const auto key = escaped(plan.before.lock.name);
    const auto value = escaped(holder.guard.value);
    const auto field = escaped(holder.guard.group);
    if (holder.guard.group.isEmpty()) {
        plan.commands << u"EVALSHA rule-release 1 %1 \"\" %2"_s.arg(key, value)
                      << u"in the script: ZREM (of a hash HDEL) %1 %2"_s.arg(key, value);
        plan.guardText = u"%1 must still be in it; looked and taken out in one script"_s.arg(value);
    } else {
        plan.commands << u"EVALSHA rule-release 1 %1 %2 %3"_s.arg(key, field, value)
                      << u"in the script: DEL %1, only if HGET %1 %2 is %3"_s.arg(key, field, value);
        plan.guardText =
            u"the hash's field %1 must still be %2; compared and deleted in one script"_s.arg(field, value);
    }
    planWakeUps(plan);
}

Task<Result<Sent>> releaseByRule(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto script = redis::loadScript("rule-release");
    QByteArrayList arguments{plan.guard.group, plan.guard.value, plan.wakeUps.list};
    arguments << plan.wakeUps.published();
    auto reply = connection->script(script, {plan.before.lock.name}, arguments, deadline);
    const auto answer = co_await reply;
    co_return sentAndWoken(plan, answer, u"the hash's field says another, or the key is of another type"_s);
}

} // namespace lockscope::operate
