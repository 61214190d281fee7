// SPDX-License-Identifier: Apache-2.0
#include "core/rehearse/rehearsal.h"

#include "core/base/text.h"
#include "core/rehearse/stage.h"

namespace lockscope::rehearse {

using inspect::Contender;
using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::Role;
using recipes::recipeOf;

namespace {

constexpr std::size_t mostNamed = 8;

// Two that came closer together than the server's times tell may stand the other way round.
constexpr auto timesWaver = 20ms;

QString idsOf(const std::vector<const Contender *> &contenders)
{
    QStringList ids;
    for (std::size_t i = 0; i < std::min(contenders.size(), mostNamed); ++i)
        ids << label(contenders[i]->id, 80);
    const auto more =
        contenders.size() > mostNamed ? u" and %1 more"_s.arg(contenders.size() - mostNamed) : QString();
    return ids.join(u", "_s) + more;
}

std::vector<const Contender *> waitersOf(const LockSnapshot &lock)
{
    std::vector<const Contender *> waiters;
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Waiter)
            waiters.push_back(&contender);
    }
    return waiters;
}

// Where the server answers when a turn has come, the order in the snapshot is one of times, unless the server itself
// said who waits for whom.
bool isOrderOfTimesSure(const std::vector<const Contender *> &waiters)
{
    if (waiters.size() < 2)
        return true;
    const auto &first = *waiters[0];
    const auto &second = *waiters[1];
    const bool isSaid = std::ranges::any_of(second.watches, [&](const inspect::WatchEdge &edge) {
        return edge.target == first.id && edge.evidence == inspect::Evidence::Server;
    });
    const bool isLater =
        first.waitingSince && second.waitingSince && *second.waitingSince - *first.waitingSince >= timesWaver;
    return isSaid || isLater;
}

// Whether who is first of those who wait is known, and that nobody else can come before.
bool isOrderKnown(const LockSnapshot &lock, const std::vector<const Contender *> &waiters)
{
    const auto &recipe = recipeOf(lock.recipe);
    if (!lock.waitersKnown || lock.find(FindingCode::SequenceOverflow))
        return false;
    const bool isQueue = std::ranges::all_of(waiters, [](const auto *one) { return one->position.has_value(); });
    if (!recipe.fair || !isQueue)
        return waiters.size() == 1 && !waiters.front()->isOnlyCounted();
    return recipe.wakeUp != recipes::WakeUp::Answer || isOrderOfTimesSure(waiters);
}

// Waits, but not for what a release would tell it.
bool isDeaf(const LockSnapshot &lock, const QByteArray &id)
{
    return std::ranges::any_of(lock.findings, [&](const inspect::Finding &finding) {
        return (finding.code == FindingCode::LostWakeup || finding.code == FindingCode::WrongWatch)
               && std::ranges::count(finding.contenders, id) > 0;
    });
}

// A waiter before it in the queue without a connection. Its session lives: if its client comes back, it is the next.
const Contender *goneAhead(const LockSnapshot &lock, const RecipeMapping &cast, std::size_t next)
{
    const auto found = std::ranges::find_if(cast.parts, [&](const Part &part) {
        return part.isGone && part.contender < next && lock.contenders[part.contender].role == Role::Waiter;
    });
    return found == cast.parts.end() ? nullptr : &lock.contenders[found->contender];
}

void takeNext(Rehearsal &rehearsal, const LockSnapshot &lock, const RecipeMapping &cast, const Outcome &outcome)
{
    // Readers get in together: as they stand in the queue, for which of them is told first is chance.
    auto granted = outcome.granted;
    std::ranges::sort(granted);
    for (const auto i : granted)
        rehearsal.granted.push_back(lock.contenders[i].id);
    const auto first = rehearsal.granted.front();
    if (isDeaf(lock, first)) {
        rehearsal.granted.clear();
        const auto why = recipeOf(lock.recipe).wakeUp == recipes::WakeUp::Watch
                             ? u"does not watch the entry that it waits for"_s
                             : u"has no subscriber"_s;
        rehearsal.assumed << u"%1 is next, but %2. It is not notified, so the lock stays unused until it checks by "
                             u"itself"_s.arg(label(first, 80), why);
        return;
    }
    if (const auto *gone = goneAhead(lock, cast, granted.front())) {
        rehearsal.granted.clear();
        rehearsal.assumed << u"%1 is next if its client reconnects, else %2 when the session of %1 ends"_s.arg(
            label(gone->id, 80), label(first, 80));
        return;
    }
    rehearsal.next = Next::Certain;
    rehearsal.nextHolder = first;
}

void judge(Rehearsal &rehearsal, const LockSnapshot &lock, const RecipeMapping &cast, const Outcome &outcome)
{
    const auto waiters = waitersOf(lock);
    if (recipeOf(lock.recipe).wakeUp == recipes::WakeUp::Answer)
        rehearsal.woken = static_cast<int>(outcome.granted.size());
    else
        rehearsal.woken = static_cast<int>(outcome.woken.size());
    rehearsal.wokenInVain = static_cast<int>(std::ranges::count_if(
        outcome.woken, [&](std::size_t i) { return std::ranges::count(outcome.granted, i) == 0; }));
    if (waiters.empty() && lock.waitersKnown) {
        rehearsal.next = Next::NoOne;
    } else if (waiters.empty() || (outcome.granted.empty() && !lock.waitersKnown)) {
        rehearsal.next = Next::Chance;
        rehearsal.assumed << u"not all waiters are visible: the first client that asks gets it"_s;
    } else if (outcome.granted.empty()) {
        rehearsal.next = Next::NoOne;
    } else if (isOrderKnown(lock, waiters)) {
        takeNext(rehearsal, lock, cast, outcome);
    } else {
        rehearsal.next = Next::Chance;
        const bool isQueue = std::ranges::all_of(waiters, [](const auto *one) { return one->position.has_value(); });
        const bool isListener = waiters.size() == 1 && waiters.front()->isOnlyCounted();
        const auto why = isListener ? u"only the number of listeners is known"_s
                         : isQueue && !recipeOf(lock.recipe).fair
                             ? u"a client that arrives at the release may be faster than the queue"_s
                             : u"no order of the waiters was observed"_s;
        rehearsal.assumed << (lock.waitersKnown
                                  ? u"%1, so the next holder is a matter of chance: %2"_s
                                  : u"%1, so the next holder is a matter of chance: %2, or a hidden client"_s)
                                 .arg(why, idsOf(waiters));
    }
    if (recipeOf(lock.recipe).shape == recipes::Shape::Row && recipeOf(lock.recipe).fair && waiters.size() > 1)
        rehearsal.assumed << u"the server grants in order of arrival; MySQL 8 may prefer a client that blocks more"_s;
}

Rehearsal begun(const operate::ForceReleasePlan &plan)
{
    Rehearsal rehearsal;
    rehearsal.lock = plan.before.lock;
    rehearsal.holder = plan.holder;
    for (const auto &name : plan.otherLocksLost)
        rehearsal.alsoLost.push_back({plan.before.lock.connection, name});
    rehearsal.isAlsoLostKnown = plan.otherLocksKnown;
    if (!plan.otherLocksKnown)
        rehearsal.assumed << u"the server does not list everything else that is lost"_s;
    return rehearsal;
}

// What a contender's recipe does not know: then nothing can be foretold.
std::optional<QString> notPlayableReason(const LockSnapshot &lock)
{
    const auto &recipe = recipeOf(lock.recipe);
    const bool readsAlone = !recipe.readWrite && std::ranges::any_of(lock.contenders, [](const auto &one) {
        return one.mode == inspect::Mode::Read;
    });
    if (readsAlone)
        return u"a client holds it or waits for it as a reader, which the simulated %1 does not support"_s.arg(
            label(lock.recipe));
    const bool isGroup = std::ranges::any_of(lock.contenders, [](const auto &one) {
        return !one.guard.redis().counterpart.isEmpty() || !one.guard.row().stamp.isEmpty();
    });
    if (isGroup)
        return u"it locks a group of values, which the simulated %1 does not support"_s.arg(label(lock.recipe));
    return std::nullopt;
}

} // namespace

QByteArray word(Next next)
{
    switch (next) {
    case Next::Certain: return "certain";
    case Next::Chance: return "chance";
    case Next::NoOne: return "none";
    case Next::NotKnown: break;
    }
    return "unknown";
}

Result<Rehearsal> rehearse(const operate::ForceReleasePlan &plan)
{
    const auto &lock = plan.before;
    if (plan.way != operate::ReleaseAction::Release)
        return Error{ErrorCode::Unsupported, u"only a release can be rehearsed; see the preview of this method"_s};
    auto rehearsal = begun(plan);
    const auto *holder = lock.find(plan.holder);
    if (!holder || holder->role != Role::Holder) {
        rehearsal.next = Next::NoOne;
        rehearsal.woken = 0;
        rehearsal.assumed << u"%1 does not hold the lock, so no client gets it by this"_s.arg(label(plan.holder, 80));
        return rehearsal;
    }
    const auto beside = inspect::wakesBeside(lock, plan.holder);
    rehearsal.assumed << beside;
    for (const auto &finding : lock.findings) {
        if (finding.code == FindingCode::ForeignNode && finding.contenders.empty())
            rehearsal.assumed << finding.message; // what else clients may wait for, or lock by
    }
    const auto elsewhere = inspect::firstAwaitsElsewhere(lock);
    if (elsewhere && lock.holderCount() == 1) {
        rehearsal.next = Next::NoOne;
        rehearsal.woken = static_cast<int>(beside.size());
        rehearsal.isWokenSeen = false;
        rehearsal.assumed
            << u"the first in the queue waits for %1, which is not an entry of this lock: no client gets the lock "
               u"while that exists"_s.arg(label(*elsewhere, 120));
        return rehearsal;
    }
    if (const auto why = notPlayableReason(lock)) {
        rehearsal.assumed << *why;
        return rehearsal;
    }
    TRY(const auto &cast, castOf(plan, false));
    rehearsal.assumed << cast.assumed;
    TRY(auto &outcome, playRelease(plan, cast));
    rehearsal.isWokenSeen = lock.waitersKnown && !cast.hasUnseenWatches;
    bool isSure = outcome.isAlike;
    bool isWokenAlike = true;
    if (isSure && cast.hasUnknownModes) {
        const auto reading = castOf(plan, true);
        const auto other = reading ? playRelease(plan, *reading) : Result<Outcome>(reading.error());
        // Of several in no order nothing is said but that one of them gets it.
        isSure = other && other->granted.empty() == outcome.granted.empty();
        isWokenAlike = other && other->woken.size() == outcome.woken.size();
        rehearsal.assumed
            << u"the server does not show whether waiters want to read or to write: both were simulated"_s;
    }
    if (!isSure) {
        rehearsal.assumed << (outcome.isAlike
                                  ? u"the result depends on that"_s
                                  : u"the simulation led to other holders than the current ones, so the result is "
                                    u"unknown"_s);
        return rehearsal;
    }
    judge(rehearsal, lock, cast, outcome);
    rehearsal.woken = rehearsal.woken.value_or(0) + static_cast<int>(beside.size());
    rehearsal.isWokenSeen = rehearsal.isWokenSeen && isWokenAlike && beside.isEmpty();
    return rehearsal;
}

namespace {

QString wokenWords(const Rehearsal &rehearsal)
{
    if (!rehearsal.woken)
        return u"the woken clients are unknown"_s;
    const auto count = *rehearsal.woken;
    const auto woken = count == 0   ? u"no client is woken"_s
                       : count == 1 ? u"1 client is woken"_s
                                    : u"%1 clients are woken"_s.arg(count);
    const auto inVain = rehearsal.wokenInVain == 0 ? QString() : u", %1 unsuccessfully"_s.arg(rehearsal.wokenInVain);
    return (rehearsal.isWokenSeen ? u"%1%2"_s : u"%1%2, if the assumptions hold"_s).arg(woken, inVain);
}

QString lostWords(const Rehearsal &rehearsal)
{
    const auto names =
        mapped<QStringList>(rehearsal.alsoLost, [&](const auto &lock) { return label(lock.text(), 120); });
    if (names.isEmpty())
        return rehearsal.isAlsoLostKnown ? u"no other lock is lost"_s : u"other losses are unknown"_s;
    return u"also lost: %1"_s.arg(names.join(u", "_s))
           + clause(rehearsal.isAlsoLostKnown ? QString() : u"there may be more"_s);
}

QString nextWords(const Rehearsal &rehearsal, const LockSnapshot &lock)
{
    switch (rehearsal.next) {
    case Next::Chance: return u"the next holder is a matter of chance"_s;
    case Next::NoOne:
        return lock.holderCount() > 1    ? u"no client gets it by this: others still hold it"_s
               : lock.waiterCount() == 0 ? u"no client waits for it: then it is free"_s
                                         : u"no client gets it by this"_s;
    case Next::NotKnown: return u"the next holder is unknown"_s;
    case Next::Certain: break;
    }
    const auto *next = lock.find(*rehearsal.nextHolder);
    const auto name = next && !next->label.isEmpty() ? u" (%1)"_s.arg(label(next->label.toUtf8(), 80)) : QString();
    const auto endpoint = next && next->endpoint ? u" at %1"_s.arg(label(next->endpoint->toUtf8())) : QString();
    const auto others = rehearsal.granted.size() - 1;
    const auto sentence = u"%1%2 gets it next"_s.arg(label(*rehearsal.nextHolder, 80), name + endpoint);
    return others == 0 ? sentence : u"%1 (and %2 more with it)"_s.arg(sentence, QString::number(others));
}

} // namespace

QString sentenceOf(const Rehearsal &rehearsal, const inspect::LockSnapshot &lock)
{
    return QStringList{nextWords(rehearsal, lock), wokenWords(rehearsal), lostWords(rehearsal)}.join(u"; "_s);
}

} // namespace lockscope::rehearse
