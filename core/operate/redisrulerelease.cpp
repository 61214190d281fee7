// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/operate/redis.h"
#include "core/operate/texts.h"
#include "core/redis/client.h"
#include "core/rules/keysignals.h"

namespace lockscope::operate {

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

QString wokenByRule(const recipes::RuleFit &fit)
{
    QStringList how;
    if (!fit.rule->wakeList.isEmpty())
        how << u"a push to %1"_s.arg(escaped(fit.name(fit.rule->wakeList)));
    if (!fit.rule->wakeChannel.isEmpty())
        how << u"a publish on %1"_s.arg(escaped(fit.name(fit.rule->wakeChannel)));
    return sentence("woken-by-rule", {how.join(u" and "_s), fit.rule->name});
}

QString wokenByItsRule(const inspect::LockSnapshot &snapshot, const inspect::Contender &)
{
    const auto fit = recipes::wakingRule(snapshot.lock.name);
    return fit ? wokenByRule(*fit) : u"no client is notified; waiting clients poll"_s;
}

void planByRule(ForceReleasePlan &plan, const inspect::Contender &holder)
{
    if (recipes::wakingRule(plan.before.lock.name))
        plan.wakeUps = recipes::wakeSignalsOf(plan.before.lock.name);
    const auto &key = holder.guard.redis();
    addTexts(plan, key.counterpart.isEmpty() ? "by-rule-from-set" : "by-rule-from-hash",
             {escaped(plan.before.lock.name), escaped(key.value), escaped(key.counterpart)});
    planWakeUps(plan);
}

Task<Result<Sent>> releaseByRule(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto script = redis::loadScript("rule-release");
    QByteArrayList arguments{plan.guard.redis().counterpart, plan.guard.redis().value, plan.wakeUps.list};
    arguments << plan.wakeUps.published();
    auto reply = connection->script(script, {plan.before.lock.name}, arguments, deadline);
    const auto answer = co_await reply;
    co_return sentAndWoken(plan, answer, sentence("by-rule-changed"));
}

} // namespace lockscope::operate
