// SPDX-License-Identifier: Apache-2.0
#include "core/operate/gentler.h"

#include "core/base/text.h"
#include "core/operate/releasemethod.h"
#include "core/rules/catalogue.h"

#include <algorithm>
#include <array>

namespace lockscope::operate {

using namespace Qt::StringLiterals;
using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

struct WayWord {
    Way way;
    const char *word;
};
constexpr std::array wayWords{WayWord{Way::Revoke, "revoke"},          WayWord{Way::ShortenTtl, "shorten-ttl"},
                              WayWord{Way::KillWaiter, "kill-waiter"}, WayWord{Way::KillQuery, "kill-query"},
                              WayWord{Way::Release, "release"},        WayWord{Way::EndLease, "end-lease"}};

QString namesOf(const std::vector<const Contender *> &contenders)
{
    constexpr std::size_t most = 5;
    QStringList names;
    for (std::size_t i = 0; i < std::min(most, contenders.size()); ++i)
        names << label(contenders[i]->id, 80);
    const auto more = contenders.size() - std::size_t(names.size());
    return names.join(u", "_s) + (more > 0 ? u" and %1 more"_s.arg(more) : QString());
}

const std::vector<GentlerMethod> &gentlerMethods(BackendKind backend)
{
    static const auto all = [] {
        std::vector<std::vector<GentlerMethod>> methods;
#define LOCKSCOPE_GENTLER(Name) methods.push_back(gentlerMethodsOf##Name());
        LOCKSCOPE_BACKENDS(LOCKSCOPE_GENTLER)
#undef LOCKSCOPE_GENTLER
        return methods;
    }();
    return all[static_cast<std::size_t>(backend)];
}

bool isFor(const GentlerMethod &method, const LockSnapshot &snapshot, const Contender &contender)
{
    const auto wanted = method.way == Way::KillWaiter ? Role::Waiter : Role::Holder;
    return contender.role == wanted && snapshot.nodes.empty() && method.fits(snapshot, contender);
}

QString wordsOf(const std::vector<WayOffer> &ways)
{
    QStringList words;
    for (const auto &offer : ways)
        words << QString::fromLatin1(wordOf(offer.way));
    return words.isEmpty() ? u"none"_s : words.join(u", "_s);
}

Error refusedWay(const LockSnapshot &snapshot, const Contender &contender, Way way)
{
    const auto who = label(contender.id, 80);
    const auto lock = label(snapshot.lock.text());
    const bool isForWaiters = way == Way::KillWaiter;
    if (isForWaiters == (contender.role == Role::Holder))
        return Error{ErrorCode::Refused,
                     isForWaiters ? u"\"%1\" holds %2, and kill-waiter is for one that waits; nothing was sent"_s.arg(
                         who, lock)
                                  : u"\"%1\" waits for %2 and does not hold it; nothing was sent"_s.arg(who, lock)};
    return Error{ErrorCode::Unsupported, u"%1 is no way for \"%2\" in %3 (%4); nothing was sent; there is: %5"_s.arg(
                                             QString::fromLatin1(wordOf(way)), who, lock, label(snapshot.recipe),
                                             wordsOf(waysFor(snapshot, contender)))};
}

} // namespace

QByteArray wordOf(Way way)
{
    return std::ranges::find(wayWords, way, &WayWord::way)->word;
}

QString whoGetsInWithout(const LockSnapshot &snapshot, const Contender &waiter)
{
    const auto in = snapshot.letInWithout(waiter.id);
    return in.empty() ? u"nobody: the lock stays where it is"_s
                      : u"beside those that share it now, the readers that it kept out: "_s + namesOf(in);
}

QString wokenWithout(const LockSnapshot &snapshot, const Contender &waiter)
{
    const auto in = snapshot.letInWithout(waiter.id);
    return in.empty() ? u"nobody"_s : u"the readers right behind it, by the server: "_s + namesOf(in);
}

std::optional<Way> wayNamed(const QString &word)
{
    const auto at = std::ranges::find_if(wayWords, [&](const auto &one) { return word == QLatin1String(one.word); });
    return at == wayWords.end() ? std::nullopt : std::optional(at->way);
}

QString actionOf(Way way)
{
    return way == Way::Release ? u"force-release"_s : QString::fromLatin1(wordOf(way));
}

std::vector<WayOffer> waysFor(const LockSnapshot &snapshot, const Contender &contender)
{
    std::vector<WayOffer> ways;
    for (const auto &method : gentlerMethods(snapshot.backend)) {
        if (isFor(method, snapshot, contender))
            ways.push_back({method.way, contender.id, method.what(snapshot, contender)});
    }
    if (contender.role == Role::Holder && releaseWay(snapshot))
        ways.push_back({Way::Release, contender.id, u"take the lock from its holder"_s});
    std::ranges::stable_sort(ways, {}, &WayOffer::way);
    return ways;
}

Result<ForceReleasePlan> planWay(const LockSnapshot &snapshot, const QByteArray &contender, Way way)
{
    if (way == Way::Release)
        return planForceRelease(snapshot, contender);
    const auto who = meant(snapshot, contender);
    if (!who)
        return who.error();
    const auto &one = **who;
    const auto &methods = gentlerMethods(snapshot.backend);
    const auto method = std::ranges::find(methods, way, &GentlerMethod::way);
    if (method == methods.end() || !isFor(*method, snapshot, one))
        return refusedWay(snapshot, one, way);
    ForceReleasePlan plan;
    plan.way = way;
    plan.before = snapshot;
    plan.holder = one.id;
    plan.guard = one.guard;
    if (const auto *next = one.role == Role::Holder ? snapshot.nextAfter(one.id) : nullptr)
        plan.nextHolder = next->id;
    method->plan(plan, one);
    plan.ways = waysFor(snapshot, one);
    if (snapshot.confidence == inspect::Confidence::Low)
        plan.warnings << u"that this is a lock is a guess (%1): look at the raw %2 first"_s.arg(
            snapshot.why, infoOf(snapshot.backend).words.entry);
    return plan;
}

} // namespace lockscope::operate
