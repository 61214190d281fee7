// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releasemethod.h"

#include "core/base/text.h"

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
    const auto why =
        on > 1 ? u"several nodes of a set have it, and they may be separate holds. Connect to each node separately"_s
        : isOnSet ? u"the holder on each node of the set is unknown. Connect to each node separately"_s
        : recipe.releaseRefusal.isEmpty() ? u"this version has no safe release method for this recipe"_s
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

} // namespace lockscope::operate
