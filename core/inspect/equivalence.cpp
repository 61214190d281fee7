// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/equivalence.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {

bool isAbout(const std::optional<ServerTime> &a, const std::optional<ServerTime> &b,
             std::chrono::milliseconds wavering)
{
    if (!a || !b)
        return a.has_value() == b.has_value();
    return std::chrono::abs(*a - *b) <= wavering;
}

bool sameContender(const Contender &before, Contender now, std::chrono::milliseconds wavering)
{
    if (!isAbout(before.expiresAt, now.expiresAt, wavering))
        return false;
    now.expiresAt = before.expiresAt;
    return before == now;
}

bool sameNode(const NodeSaid &before, const NodeSaid &now)
{
    return before.node == now.node && before.answered == now.answered && before.value == now.value;
}

// Measured anew at each look, a little off; more than that, and what counts from it would be wrong.
bool isAboutThen(const SpokenMoment &a, const SpokenMoment &b, std::chrono::milliseconds wavering)
{
    constexpr std::chrono::milliseconds always{1000};
    return a.isAhead == b.isAhead && std::chrono::abs(a.moment - b.moment) <= std::max(always, wavering);
}

bool sameFinding(const Finding &before, const Finding &now, std::chrono::milliseconds wavering)
{
    const auto sameMoment = [wavering](const auto &a, const auto &b) { return isAboutThen(a, b, wavering); };
    return before.code == now.code && before.severity == now.severity && before.contenders == now.contenders
           && std::ranges::equal(before.moments, now.moments, sameMoment);
}

} // namespace

bool isEquivalent(const LockSnapshot &before, const LockSnapshot &now, std::chrono::milliseconds wavering)
{
    const auto sameOne = [wavering](const Contender &a, const Contender &b) { return sameContender(a, b, wavering); };
    const auto sameFault = [wavering](const Finding &a, const Finding &b) { return sameFinding(a, b, wavering); };
    return before.lock == now.lock && before.backend == now.backend && before.recipe == now.recipe
           && before.client == now.client && before.why == now.why && before.confidence == now.confidence
           && before.state == now.state && before.waitersKnown == now.waitersKnown
           && before.companions == now.companions && std::ranges::equal(before.nodes, now.nodes, sameNode)
           && std::ranges::equal(before.contenders, now.contenders, sameOne)
           && std::ranges::equal(before.findings, now.findings, sameFault);
}

} // namespace lockscope::inspect
