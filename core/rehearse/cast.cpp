// SPDX-License-Identifier: Apache-2.0
#include "core/rehearse/cast.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/rules/catalogue.h"

#include <algorithm>
#include <map>

namespace lockscope::rehearse {

using namespace Qt::StringLiterals;
using inspect::Contender;
using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::Mode;
using inspect::Role;
using recipes::recipeOf;

namespace {

// More of them change nothing in who is next, and take long.
constexpr int mostWaiters = 1000;

// Ours, or what its clients could as well queue with.
QByteArray playedAs(const LockSnapshot &lock)
{
    const auto &recipe = recipeOf(lock.recipe);
    return recipe.acquirable ? lock.recipe : recipe.playedBy;
}

bool isNamedBy(const LockSnapshot &lock, FindingCode code, const QByteArray &contender)
{
    return std::ranges::any_of(lock.findings, [&](const auto &finding) {
        return finding.code == code && std::ranges::count(finding.contenders, contender) > 0;
    });
}

bool hasNoClient(const LockSnapshot &lock, const Contender &one)
{
    return isNamedBy(lock, FindingCode::HolderDisconnected, one.id)
           || isNamedBy(lock, FindingCode::StaleQueue, one.id);
}

QString countOf(qsizetype count, const QString &one, const QString &many)
{
    return count == 1 ? one : many.arg(count);
}

void sayRecipe(Cast &cast, const LockSnapshot &lock)
{
    const auto played = label(cast.recipe);
    if (cast.recipe != lock.recipe)
        cast.assumed << u"%1 is no recipe of ours: played as %2"_s.arg(label(lock.recipe), played);
    else if (lock.client)
        cast.assumed << u"what its clients (%2) do is played by our own %1"_s.arg(played,
                                                                                  label(lock.client->toUtf8(), 80));
    else
        cast.assumed << u"what its clients do is played by our own %1"_s.arg(played);
    cast.assumed << u"those who hold and wait go on as that says, and nobody new comes before them"_s;
}

// Watches that no server told of are those of the recipe; and those it told of may differ from them.
void sayWatches(Cast &cast, const LockSnapshot &lock)
{
    if (recipeOf(lock.recipe).wakeUp != recipes::WakeUp::Watch)
        return;
    const auto isSeen = [](const Contender &one) {
        return std::ranges::any_of(one.watches,
                                   [](const auto &edge) { return edge.evidence == inspect::Evidence::Server; });
    };
    const auto unseen = std::ranges::count_if(
        lock.contenders, [&](const auto &one) { return one.role == Role::Waiter && !isSeen(one); });
    cast.hasUnseenWatches = unseen > 0;
    if (unseen > 0)
        cast.assumed << countOf(unseen, u"the watch of 1 waiter was not seen: taken from the recipe"_s,
                                u"the watches of %1 waiters were not seen: taken from the recipe"_s);
}

// A semaphore that somebody waits for is full.
void setLimit(Cast &cast, const LockSnapshot &lock)
{
    if (!recipeOf(cast.recipe).counted)
        return;
    cast.limit = std::max(1, lock.holderCount());
    cast.assumed << countOf(cast.limit, u"it has 1 permit, the one that is out"_s,
                            u"it has %1 permits, those that are out"_s);
}

} // namespace

Result<Cast> castOf(const operate::ForceReleasePlan &plan, bool unknownRead)
{
    const auto &lock = plan.before;
    Cast cast;
    cast.recipe = playedAs(lock);
    if (cast.recipe.isEmpty() || !recipeOf(cast.recipe).acquirable)
        return Error{ErrorCode::Unsupported,
                     u"the release of %1 cannot be rehearsed: %2 is a recipe that is only seen, "
                     u"and none of ours is like it"_s.arg(label(lock.lock.text()), label(lock.recipe))};
    const auto &recipe = recipeOf(cast.recipe);
    if (!recipe.simulated)
        return Error{ErrorCode::Unsupported, u"the release of %1 cannot be rehearsed: there is no simulated %2"_s.arg(
                                                 label(lock.lock.text()), infoOf(recipe.backend).title)};
    sayRecipe(cast, lock);
    sayWatches(cast, lock);
    setLimit(cast, lock);
    std::map<QString, int> processes; // by session
    int waiters = 0;
    int left = 0;
    int stale = 0;
    for (std::size_t i = 0; i < lock.contenders.size(); ++i) {
        const auto &one = lock.contenders[i];
        const bool waits = one.role == Role::Waiter;
        // Who polls leaves no trace; what a claim below the majority is, nobody gets a lock by.
        if (waits && recipe.wakeUp == recipes::WakeUp::Polling && one.id != plan.holder)
            continue;
        Part part{i, static_cast<int>(cast.parts.size()), one.mode == Mode::Read, hasNoClient(lock, one),
                  one.reentry};
        // The next one who asks drops whoever is past its moment.
        if (waits && part.isGone && recipe.lastingQueue) {
            ++stale;
            continue;
        }
        if (waits && ++waiters > mostWaiters) {
            ++left;
            continue;
        }
        if (waits && recipe.readWrite && one.mode == Mode::Exclusive) {
            cast.hasUnknownModes = true;
            part.reads = unknownRead;
        }
        if (one.session)
            part.process = processes.try_emplace(*one.session, part.process).first->second;
        if (part.isGone && one.id != plan.holder)
            cast.assumed << u"%1 has no live connection: its place goes to the next when its session ends"_s.arg(
                label(one.id, 80));
        cast.parts.push_back(part);
    }
    if (stale > 0)
        cast.assumed << countOf(stale, u"1 of the queue is past its moment and left out"_s,
                                u"%1 of the queue are past their moment and left out"_s);
    if (left > 0)
        cast.assumed
            << u"only the first %1 of those who wait were played; %2 more may be woken"_s.arg(mostWaiters).arg(left);
    if (recipe.lastingQueue && waiters > 0)
        cast.assumed << u"those in the queue live: one that died would keep its place until its moment is past"_s;
    return cast;
}

} // namespace lockscope::rehearse
