// SPDX-License-Identifier: Apache-2.0
// A lock whose holders are members of a set, taken on several nodes, as RedlockSemaphore of npm's redis-semaphore
// takes it: each member by itself is had by who put it on a majority.
#include "core/inspect/redis/quorum.h"

#include "core/base/text.h"
#include "core/rules/catalogue.h"
#include "core/rules/turn.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {

// One holder's own name, and what each node that has it says of it.
struct MemberVotes {
    QByteArray member;
    std::vector<std::pair<const LockSnapshot *, const Contender *>> on;

    [[nodiscard]] int votes() const { return static_cast<int>(on.size()); }
};

// The number of a permit is every node's own: the same on two of them says nothing.
bool isNamedByItsClient(const Contender &one)
{
    return one.role == Role::Holder && !one.guard.redis().value.isEmpty() && one.guard.redis().counterpart.isEmpty();
}

// Most votes first.
std::vector<MemberVotes> membersOf(const std::vector<NodeSight> &sights)
{
    std::vector<MemberVotes> all;
    for (const auto &sight : sights) {
        if (!sight.answered || !sight.snapshot
            || recipes::recipeOf(sight.snapshot->recipe).release != recipes::ReleaseMechanism::MemberBack)
            continue;
        for (const auto &contender : sight.snapshot->contenders) {
            if (!isNamedByItsClient(contender))
                continue;
            const auto known = std::ranges::find(all, contender.id, &MemberVotes::member);
            auto &member = known == all.end() ? all.emplace_back(MemberVotes{contender.id, {}}) : *known;
            member.on.emplace_back(&*sight.snapshot, &contender);
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const MemberVotes &a, const MemberVotes &b) { return a.votes() > b.votes(); });
    return all;
}

// By the clock of `reference`, as far as the nodes say.
std::vector<ServerTime> momentsOf(const MemberVotes &member, const LockSnapshot &reference,
                                  std::optional<ServerTime> Contender::*moment)
{
    std::vector<ServerTime> all;
    for (const auto &[snapshot, own] : member.on) {
        if (const auto &at = own->*moment)
            all.push_back(toClockOf(reference, *snapshot, *at));
    }
    return all;
}

Contender contenderOf(const MemberVotes &member, const LockSnapshot &reference, int nodes, bool holds)
{
    Contender contender = *member.on.front().second;
    contender.role = holds ? Role::Holder : Role::Waiter;
    auto ends = momentsOf(member, reference, &Contender::expiresAt);
    const bool isEndKnown = static_cast<int>(ends.size()) == member.votes();
    contender.expiresAt = isEndKnown ? recipes::quorumUntil(std::move(ends), nodes) : std::nullopt;
    auto since = momentsOf(member, reference, &Contender::heldSince);
    const auto enough = static_cast<std::size_t>(std::min(recipes::quorumOf(nodes), member.votes()));
    std::ranges::sort(since);
    const auto begun = since.size() < enough ? std::nullopt : std::optional(since[enough - 1]);
    contender.heldSince = holds ? begun : std::nullopt;
    contender.waitingSince = holds ? std::nullopt : begun;
    contender.heldAtMost = holds && contender.heldAtMost;
    return contender;
}

QString groupingReason(const std::vector<NodeSight> &sights, int claims)
{
    QStringList on;
    QStringList silent;
    for (const auto &sight : sights) {
        if (!sight.answered)
            silent << sight.node;
        else if (sight.snapshot)
            on << sight.node;
    }
    const auto nodes = static_cast<int>(sights.size());
    auto why =
        clause(u"one lock on %1 of %2 nodes (%3): who holds is a member of the set on a majority of them (%4)"_s.arg(
            QString::number(on.size()), QString::number(nodes), on.join(u", "_s),
            QString::number(recipes::quorumOf(nodes))));
    if (claims > 0)
        why += clause(claims == 1 ? u"one is on fewer: its client is trying, or left it behind"_s
                                  : u"%1 are on fewer: its client is trying, or left it behind"_s.arg(claims));
    if (!silent.isEmpty())
        why += clause(u"no answer from %1"_s.arg(silent.join(u", "_s)));
    return why;
}

} // namespace

std::optional<LockSnapshot> mergeMembers(const std::vector<NodeSight> &sights)
{
    const auto members = membersOf(sights);
    if (members.empty() || members.front().votes() < 2)
        return std::nullopt;
    const auto nodes = static_cast<int>(sights.size());
    const auto silent = static_cast<int>(std::ranges::count(sights, false, &NodeSight::answered));
    const auto &reference = *members.front().on.front().first;
    auto lock = reference;
    lock.contenders.clear();
    for (const auto &member : members) {
        // What does not answer may have it, too: whoever may have a majority is not told to have none.
        const bool holds = member.votes() + silent >= recipes::quorumOf(nodes);
        lock.contenders.push_back(contenderOf(member, reference, nodes, holds));
    }
    std::erase_if(lock.findings, [&lock](const Finding &finding) {
        return !std::ranges::all_of(finding.contenders, [&lock](const QByteArray &id) {
            const auto *one = lock.find(id);
            return one && one->role == Role::Holder;
        });
    });
    for (const auto &sight : sights) {
        if (sight.answered && sight.snapshot)
            lock.observed = std::max(lock.observed, toClockOf(reference, *sight.snapshot, sight.snapshot->observed));
    }
    lock.state = lock.holderCount() == 0  ? LockState::Free
                 : lock.waiterCount() > 0 ? LockState::Contended
                                          : LockState::Held;
    lock.why += groupingReason(sights, lock.waiterCount());
    return lock;
}

} // namespace lockscope::inspect
