// SPDX-License-Identifier: Apache-2.0
#include "core/operate/clientmanners.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/operate/forcereleaseplan.h"
#include "core/rules/catalogue.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;
using inspect::Contender;

namespace {

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
    const auto &traits = plan.before.clientTraits;
    if (client && traits.notices)
        plan.warnings << u"%1's holder notices %2"_s.arg(label(client->toUtf8(), 80),
                                                         QString::fromUtf16(traits.notices));
    if (traits.deletesBlindly)
        planBlindDelete(plan, holder, QString::fromUtf16(traits.deletesBlindly));
    else if (!recipes::recipeOf(plan.before.recipe).namesHolder)
        plan.warnings
            << u"a client that writes no token of its own mostly deletes the key without comparing: when the "
               u"old holder is done, it may delete the next one's lock. Stop it first, if you can"_s;
}

} // namespace lockscope::operate
