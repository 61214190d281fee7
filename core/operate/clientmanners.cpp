// SPDX-License-Identifier: Apache-2.0
#include "core/operate/clientmanners.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/operate/forcereleaseplan.h"
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::operate {

using namespace Qt::StringLiterals;
using inspect::Contender;

namespace {

struct ClientManners {
    const char16_t *client; // as the recogniser calls it, or how that begins
    const char16_t *notices;
};

// From the sources of each, as of autumn 2026.
constexpr ClientManners allManners[] = {
    {u"redis-py", u"by an exception, when it releases or extends the lock; not before"},
    {u"python-redis-lock", u"by an exception when it releases it; with auto_renewal its renewal ends before that, "
                           u"and only its log says so"},
    {u"Spring Integration", u"by an exception when it unlocks; a renewal that fails before is only logged"},
    {u"ShedLock", u"not at all: the job goes on to its end"},
    {u"Redisson", u"by an exception when it unlocks; its watchdog stops without a word"},
    {u"node-redlock", u"when it extends or releases: using() aborts its signal, release() rejects"},
    {u"redsync", u"when it unlocks or extends: both return an error"},
    {u"bsm/redislock", u"when it releases or refreshes: both return ErrLockNotHeld"},
    {u"Laravel", u"not by an error: release() returns false"},
    {u"BullMQ", u"at its next renewal, by an error event; the job is found stalled and given to another worker, so "
                u"it may run twice"},
    {u"Bull", u"at its next renewal; the job is found stalled and given to another worker, so it may run twice"},
    {u"pottery", u"by an exception (pottery) or not at all (RedLock.net, whose next renewal sets the key anew)"},
};

const ClientManners *mannersOf(const std::optional<QString> &client)
{
    const auto found = std::ranges::find_if(
        allManners, [&client](const auto &one) { return client && client->startsWith(QStringView(one.client)); });
    return found == std::end(allManners) ? nullptr : found;
}

void planBlindDelete(ForceReleasePlan &plan, const Contender &holder, const QString &who)
{
    const auto at = holder.identity ? u" (%1)"_s.arg(label(*holder.identity, 80)) : QString();
    if (holder.expiresAt) {
        const auto left = spokenDuration(*holder.expiresAt - plan.before.observed);
        plan.gentler.prepend(u"wait: its key ends by itself in %1, and earlier when its work is done"_s.arg(left));
    }
    plan.gentler.prepend(
        u"stop the client that holds it%1 first, and see that it has ended: then no release of its own follows"_s.arg(
            at));
    plan.risk = u"%1 deletes the key without comparing whose it is: taken away now, the next holder gets the lock, "
                u"and loses it when the old one%2 is done and deletes the key"_s.arg(who, at);
    plan.exact = false;
    plan.warnings << plan.risk;
}

} // namespace

void planForClient(ForceReleasePlan &plan, const Contender &holder)
{
    const auto &client = plan.before.client;
    if (const auto *manners = mannersOf(client))
        plan.warnings << u"%1's holder notices %2"_s.arg(label(client->toUtf8(), 80),
                                                         QString::fromUtf16(manners->notices));
    // Unless its safe-update option is on, which leaves no trace on the server.
    if (client && client->startsWith(u"ShedLock"_s))
        planBlindDelete(plan, holder, u"ShedLock (unless its safe-update option is on)"_s);
    else if (plan.before.backend == BackendKind::Redis && !recipes::recipeOf(plan.before.recipe).namesHolder)
        plan.warnings
            << u"a client that writes no token of its own mostly deletes the key without comparing: when the "
               u"old holder is done, it may delete the next one's lock. Stop it first, if you can"_s;
}

} // namespace lockscope::operate
