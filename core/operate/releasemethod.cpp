// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releasemethod.h"

#include "core/base/text.h"
#include "core/operate/alternatives.h"
#include "core/operate/precheck.h"
#include "core/operate/texts.h"

#include <algorithm>

namespace lockscope::operate {

namespace {

// A semaphore with expiring permits knows each of them; a plain one only how many are left. Of some clients it is not
// known what else they wrote down. And a rule may have no way of release.
bool hasPermits(const inspect::LockSnapshot &snapshot)
{
    return std::ranges::any_of(snapshot.contenders, [](const auto &one) {
        return one.role == inspect::Role::Holder && !one.guard.redis().value.isEmpty();
    });
}

// Whether it is known what of a hold stands on which node.
bool hasShares(const inspect::LockSnapshot &snapshot)
{
    return std::ranges::any_of(snapshot.contenders,
                               [&snapshot](const auto &one) { return !sharesOf(snapshot, one).empty(); });
}

} // namespace

Result<ReleaseMechanism> releaseWay(const inspect::LockSnapshot &snapshot)
{
    const auto &recipe = recipes::recipeOf(snapshot.recipe);
    const auto way = recipe.release;
    const bool isOnSet = !snapshot.nodes.empty();
    const bool isOfPermits = way == ReleaseMechanism::RedissonPermit || way == ReleaseMechanism::MemberBack
                             || way == ReleaseMechanism::ByRule;
    const bool isKnown = way != ReleaseMechanism::None && (!isOfPermits || hasPermits(snapshot));
    if (isKnown && (isOnSet == (way == ReleaseMechanism::QuorumDelete) || hasShares(snapshot)))
        return way;
    const auto on = std::ranges::count_if(snapshot.nodes, [](const auto &node) { return node.value.has_value(); });
    const auto why = on > 1                            ? sentence("set-separate-holds")
                     : isOnSet                         ? sentence("set-holder-unknown")
                     : recipe.releaseRefusal.isEmpty() ? sentence("no-release-method")
                                                       : recipe.releaseRefusal;
    return Error{ErrorCode::Unsupported, u"force-release of %1 (%2) is not possible: %3"_s.arg(
                                             label(snapshot.lock.text()), label(snapshot.recipe), why)};
}

const ReleaseMethod &methodOf(ReleaseMechanism way)
{
    static const auto all = [] {
        std::vector<ReleaseMethod> methods;
#define LOCKSCOPE_RELEASES(Name) std::ranges::copy(releaseMethodsOf##Name(), std::back_inserter(methods));
        LOCKSCOPE_BACKENDS(LOCKSCOPE_RELEASES)
#undef LOCKSCOPE_RELEASES
        return methods;
    }();
    const auto found = std::ranges::find(all, way, &ReleaseMethod::way);
    Q_ASSERT(found != all.end());
    return *found;
}

namespace {

QString holdText(const ForceReleasePlan &plan)
{
    return u"\"%1\" in %2"_s.arg(label(plan.holder, 80), label(plan.before.lock.text()));
}

} // namespace

Error goneAlready(const ForceReleasePlan &plan)
{
    return Error{ErrorCode::Refused, sentence("gone-already", {holdText(plan)})};
}

Error unseenNow(const ForceReleasePlan &plan)
{
    const auto lock = label(plan.before.lock.text());
    return Error{ErrorCode::Refused, sentence("unseen-now", {lock, label(plan.holder, 80)})};
}

QString notShownNow(const ForceReleasePlan &plan)
{
    // Who had waited alone holds it now, unseen; of several the others wait on, and are shown in a moment.
    return sentence(plan.before.waiterCount() <= 1 ? "not-shown-unawaited" : "not-shown-at-present");
}

Error changedMeanwhile(const ForceReleasePlan &plan, const QString &what)
{
    return Error{ErrorCode::Refused, sentence("differs-from-preview", {holdText(plan), what})};
}

Error nothingChanged(const ForceReleasePlan &plan, const Error &why)
{
    return nothingChanged(holdText(plan), why);
}

std::optional<Error> refusalOfAnotherHold(const ForceReleasePlan &plan, const inspect::LockSnapshot &fresh,
                                          const inspect::Contender &now)
{
    if (isAnotherHold(plan.before, fresh, now.id))
        return changedMeanwhile(plan, u"its client released it and acquired it again"_s);
    if (isLeaseWrittenEarly(plan.before, fresh, now.id))
        return changedMeanwhile(plan, sentence("lease-rewritten-early"));
    return std::nullopt;
}

Task<Result<Sent>> nothingSent(ForceReleasePlan plan)
{
    const auto way = releaseWay(plan.before);
    co_return way
        ? Error{ErrorCode::Unsupported, u"nothing was sent: %1 cannot be force-released on this kind of server"_s.arg(
                                            label(plan.before.lock.text()))}
        : way.error();
}

QString auditOutcomeOf(const Error &error)
{
    const auto word = error.code == ErrorCode::Refused          ? u"refused: "_s
                      : error.code == ErrorCode::UnknownOutcome ? u"unknown: "_s
                                                                : u"failed: "_s;
    return word + error.message;
}

QString missingInAudit(const Result<void> &recorded)
{
    return recorded ? QString()
                    : u". "_s + u"The result is missing in the audit log: %1"_s.arg(recorded.error().message);
}

} // namespace lockscope::operate
