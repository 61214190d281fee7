// SPDX-License-Identifier: Apache-2.0
#include "core/operate/forcerelease.h"

#include "core/base/text.h"
#include "core/operate/precheck.h"

#include <algorithm>

namespace lockscope::operate {

namespace {

constexpr std::chrono::seconds eachWithin(15);

// What the same act would end that nobody chose; empty: nothing.
QString unchosen(const BulkTarget &target, const ForceReleasePlan &plan)
{
    QStringList names;
    for (const auto &name : plan.otherLocksLost) {
        const bool isChosen =
            name == plan.before.lock.name || std::ranges::count(target.goWithIt, name, &inspect::LockName::name) > 0;
        if (!isChosen)
            names << label(name, 80);
    }
    constexpr qsizetype mostNamed = 5;
    const auto more = names.size() - mostNamed;
    return more > 0 ? u"%1 and %2 more"_s.arg(names.first(mostNamed).join(u", "_s), QString::number(more))
                    : names.join(u", "_s);
}

// Empty: it was done. Else why it was not, or what else is not as expected.
Task<QString> releaseOne(BulkTarget target, BulkTools tools, QString reason)
{
    const auto deadline = Deadline::after(*tools.loop, eachWithin);
    auto planning = tools.plan(target, deadline);
    const auto plan = co_await planning;
    if (!plan)
        co_return plan.error().message;
    if (plan->holder != target.contender)
        co_return u"nothing was sent: the new plan is for %1"_s.arg(label(plan->holder, 80));
    if (!plan->risk.isEmpty())
        co_return u"nothing was sent: %1. Check and release this lock separately"_s.arg(plan->risk);
    if (const auto others = unchosen(target, *plan); !others.isEmpty())
        co_return u"nothing was sent: it also holds %1. Check and release this lock separately"_s.arg(others);
    const auto *now = plan->before.find(plan->holder);
    if (target.isStale && !(now && isLeftBehind(plan->before, *now)))
        co_return u"nothing was sent: it is no longer a leftover entry"_s;
    if (now && (holdsAnew(plan->before, *now, target.shown) || inspect::isDifferentHold(target.hold, now->hold)))
        co_return u"nothing was sent: its client released it and acquired it again"_s;
    auto acting = tools.act(*plan, reason, deadline);
    const auto outcome = co_await acting;
    if (!outcome)
        co_return outcome.error().message;
    const bool isDone = target.way == ReleaseAction::Release ? outcome->released : outcome->done;
    // What cannot be recorded ends it here, as it would have ended the next one.
    co_return isDone && outcome->isRecorded ? QString() : outcome->message;
}

} // namespace

Task<Result<BulkReport>> bulkRelease(std::vector<BulkTarget> targets, BulkTools tools, QString reason)
{
    BulkReport report;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        auto one = releaseOne(targets[i], tools, reason);
        const auto why = co_await one;
        if (!why.isEmpty()) {
            report.stoppedAt = targets[i];
            report.why = why;
            report.left.assign(targets.begin() + static_cast<std::ptrdiff_t>(i) + 1, targets.end());
            break;
        }
        report.done.push_back(targets[i]);
        if (tools.progressed)
            tools.progressed(static_cast<int>(report.done.size()));
    }
    co_return report;
}

} // namespace lockscope::operate
