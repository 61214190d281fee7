// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releaseway.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

// A semaphore with expiring permits knows each of them; a plain one only how many are left.
bool hasPermits(const inspect::LockPicture &picture)
{
    return std::ranges::any_of(picture.contenders, [](const auto &one) {
        return one.role == inspect::Role::Holder && !one.guard.value.isEmpty();
    });
}

} // namespace

Result<ReleaseWay> releaseWay(const inspect::LockPicture &picture)
{
    const auto &recipe = recipes::recipeOf(picture.recipe);
    const auto way = recipe.release;
    const bool isOnSet = !picture.nodes.empty();
    const bool isKnown = way != ReleaseWay::None && (way != ReleaseWay::RedissonPermit || hasPermits(picture));
    if (isKnown && isOnSet == (way == ReleaseWay::QuorumDelete))
        return way;
    const auto why = isOnSet                   ? u"it is on one node of a set; connect that node by itself"_s
        : recipe.releaseRefusal.isEmpty() ? u"this version knows no safe way for this recipe"_s
                                          : recipe.releaseRefusal;
    return Error{ErrorCode::Unsupported, u"force-release of %1 (%2) is not possible: %3"_s.arg(
                                             label(picture.lock.text()), label(picture.recipe), why)};
}

} // namespace lockscope::operate
