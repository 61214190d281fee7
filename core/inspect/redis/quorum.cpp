// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/setobserver.h"

#include "core/inspect/redis/naming.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

namespace {

// A key that is one string with the owner's token in it.
bool isTokenLock(const LockSnapshot &snapshot)
{
    const auto &recipe = recipes::recipeOf(snapshot.recipe);
    return recipe.shape == recipes::Shape::Key && !recipe.quorum && snapshot.contenders.size() == 1;
}

// What cannot be a Redlock's: its client knows one Redis only, or its value is no token.
bool isOfOneNode(const LockSnapshot &snapshot)
{
    const auto &recipe = recipes::recipeOf(snapshot.recipe);
    return !recipe.namesHolder || recipe.endsBy == recipes::EndsBy::Timestamp || snapshot.clientTraits.isOfOneNode;
}

// One token, or one holder's own name, and what each node that has it says of it.
struct Votes {
    struct Vote {
        const NodeSight *sight;
        const Contender *own;
        [[nodiscard]] const LockSnapshot &snapshot() const { return *sight->snapshot; }
    };
    QByteArray id;
    std::vector<Vote> on;

    [[nodiscard]] int votes() const { return static_cast<int>(on.size()); }
};

void addVote(std::vector<Votes> &all, const QByteArray &id, const NodeSight &sight, const Contender &own)
{
    const auto known = std::ranges::find(all, id, &Votes::id);
    (known == all.end() ? all.emplace_back(Votes{id, {}}) : *known).on.push_back({&sight, &own});
}

void sortByVotes(std::vector<Votes> &all)
{
    std::ranges::stable_sort(all, std::ranges::greater(), &Votes::votes);
}

struct Count {
    std::vector<Votes> candidates; // most votes first
    int nodes = 0;
    int silent = 0;
    QStringList strangers; // nodes that have a lock of another kind there

    [[nodiscard]] int quorum() const { return recipes::quorumOf(nodes); }
    [[nodiscard]] int answered() const { return nodes - silent; }
    [[nodiscard]] bool hasMajority() const { return candidates.front().votes() >= quorum(); }
    // Whether the nodes that do not answer could make it one.
    [[nodiscard]] bool mayBeMajority() const { return candidates.front().votes() + silent >= quorum(); }
    [[nodiscard]] bool firstLeads() const
    {
        return candidates.size() == 1 || candidates[1].votes() < candidates[0].votes();
    }
};

Count countOf(const std::vector<NodeSight> &sights)
{
    Count count;
    count.nodes = static_cast<int>(sights.size());
    for (const auto &sight : sights) {
        count.silent += sight.answered ? 0 : 1;
        if (!sight.answered || !sight.snapshot)
            continue;
        if (!isTokenLock(*sight.snapshot)) {
            count.strangers << sight.node;
            continue;
        }
        const auto &own = sight.snapshot->contenders.front();
        addVote(count.candidates, own.guard.redis().value, sight, own);
    }
    sortByVotes(count.candidates);
    return count;
}

// By the clock of `reference`, as far as the nodes say.
std::vector<ServerTime> moments(const Votes &candidate, const LockSnapshot &reference,
                                std::optional<ServerTime> Contender::*moment)
{
    std::vector<ServerTime> all;
    for (const auto &vote : candidate.on) {
        if (const auto &at = vote.own->*moment)
            all.push_back(toClockOf(reference, vote.snapshot(), *at));
    }
    return all;
}

// When a majority's hold ends: a key that never expires outlasts all others. What is less than a majority
// ends with its last key.
std::optional<ServerTime> endOf(const Votes &candidate, const Count &count, const LockSnapshot &reference)
{
    auto ends = moments(candidate, reference, &Contender::expiresAt);
    const auto endless = static_cast<std::size_t>(candidate.votes()) - ends.size();
    if (candidate.votes() < count.quorum()) {
        const bool ending = endless == 0 && !ends.empty();
        return ending ? std::optional(*std::ranges::max_element(ends)) : std::nullopt;
    }
    ends.insert(ends.end(), endless, ServerTime::max());
    const auto end = recipes::quorumUntil(std::move(ends), count.nodes);
    return end == ServerTime::max() ? std::nullopt : end;
}

// A majority had it from the moment the quorum-th node was seen to.
std::optional<ServerTime> beginningOf(const Votes &candidate, int nodes, const LockSnapshot &reference)
{
    auto since = moments(candidate, reference, &Contender::heldSince);
    const auto enough = static_cast<std::size_t>(std::min(recipes::quorumOf(nodes), candidate.votes()));
    if (since.size() < enough)
        return std::nullopt;
    std::ranges::sort(since);
    return since[enough - 1];
}

ServerTime newest(const std::vector<NodeSight> &sights, const LockSnapshot &reference)
{
    auto observed = reference.observed;
    for (const auto &sight : sights) {
        if (sight.answered && sight.snapshot)
            observed = std::max(observed, toClockOf(reference, *sight.snapshot, sight.snapshot->observed));
    }
    return observed;
}

Contender contenderOf(const Votes &candidate, const Count &count, const LockSnapshot &reference, bool holds)
{
    const auto &own = *candidate.on.front().own;
    Contender contender;
    contender.id = candidate.id;
    contender.role = holds ? Role::Holder : Role::Waiter;
    contender.identity = own.identity;
    // The nodes' moments of expiry differ: only a value of its own tells one hold from the next.
    const auto &there = own.guard.redis();
    contender.guard = RedisIdentity{.value = there.value, .comesAgain = there.comesAgain || there.expiryMs};
    contender.expiresAt = endOf(candidate, count, reference);
    (holds ? contender.heldSince : contender.waitingSince) = beginningOf(candidate, count.nodes, reference);
    contender.heldAtMost = holds && own.heldAtMost;
    return contender;
}

QString placesOf(const Votes &candidate)
{
    const auto nodes = mapped<QStringList>(candidate.on, [](const auto &vote) { return vote.sight->node; });
    return u"%1 on %2 of them (%3)"_s.arg(label(candidate.id, 80), QString::number(candidate.votes()),
                                          nodes.join(u", "_s));
}

// "of 5 nodes: A on 3 of them (…), B on 1 of them (…), nothing on 1"
QString tally(const Count &count)
{
    QStringList parts;
    int empty = count.answered() - static_cast<int>(count.strangers.size());
    for (const auto &candidate : count.candidates) {
        parts << placesOf(candidate);
        empty -= candidate.votes();
    }
    if (!count.strangers.isEmpty())
        parts << u"a lock of another kind on %1"_s.arg(count.strangers.join(u", "_s));
    if (empty > 0)
        parts << u"nothing on %1"_s.arg(empty);
    if (count.silent > 0)
        parts << u"no answer from %1"_s.arg(count.silent);
    return u"of %1 nodes: "_s.arg(count.nodes) + parts.join(u", "_s);
}

void addNoQuorum(LockSnapshot &lock, const Count &count)
{
    const bool disagree = count.candidates.size() > 1 || !count.strangers.isEmpty();
    if (count.hasMajority() && !disagree)
        return;
    auto tokens = mapped<std::vector<QByteArray>>(count.candidates, &Votes::id);
    QString message;
    if (count.hasMajority())
        message =
            u"a majority holds one value, others are there, too (of a client that is trying, or left over): %1"_s.arg(
                tally(count));
    else if (count.mayBeMajority())
        message = u"too many nodes do not answer to tell whether a majority holds it: %1"_s.arg(tally(count));
    else
        message = u"no value is on a majority (%1), so no client holds it; its client is still trying, or left it "
                  u"over: %2"_s.arg(QString::number(count.quorum()), tally(count));
    addFinding(lock, FindingCode::NoQuorum, count.hasMajority() ? Severity::Info : Severity::Warning, message,
               std::move(tokens));
}

void addNoTtl(LockSnapshot &lock, const Count &count)
{
    std::vector<QByteArray> tokens;
    QStringList nodes;
    for (const auto &candidate : count.candidates) {
        for (const auto &vote : candidate.on) {
            if (vote.own->expiresAt)
                continue;
            nodes << vote.sight->node;
            if (tokens.empty() || tokens.back() != candidate.id)
                tokens.push_back(candidate.id);
        }
    }
    if (nodes.isEmpty())
        return;
    addFinding(lock, FindingCode::NoTtl,
               u"the key has no expiry on %1: it stays until a client deletes it"_s.arg(nodes.join(u", "_s)),
               std::move(tokens));
}

// The nodes know how long they have seen it; a majority of them decides.
void addAgreedLongHeld(LockSnapshot &lock, const Count &count, const LockSnapshot &reference)
{
    std::optional<Finding> found;
    int votes = 0;
    for (const auto &vote : count.candidates.front().on) {
        const auto *longHeld = vote.snapshot().find(FindingCode::LongHeld);
        if (!longHeld)
            continue;
        ++votes;
        found = *longHeld;
        for (auto &moment : found->moments)
            moment.moment = toClockOf(reference, vote.snapshot(), moment.moment);
    }
    if (found && votes >= count.quorum())
        lock.findings.push_back(*found);
}

// Whose it is there, and until when one of them has it at least.
void showHoldersText(NodeSaid &said, const LockSnapshot &own, const LockSnapshot &reference)
{
    for (const auto &contender : own.contenders) {
        if (contender.role != Role::Holder || contender.guard.redis().value.isEmpty())
            continue;
        said.value = said.value ? *said.value + ", " + contender.guard.redis().value : contender.guard.redis().value;
        if (contender.expiresAt)
            said.expiresAt =
                std::max(said.expiresAt.value_or(ServerTime::min()), toClockOf(reference, own, *contender.expiresAt));
    }
}

// `tokensOnly`: a lock of another kind is not what the set votes about.
std::vector<NodeSaid> whatWasSaid(const std::vector<NodeSight> &sights, const LockSnapshot &reference,
                                  bool tokensOnly)
{
    std::vector<NodeSaid> all;
    for (const auto &sight : sights) {
        NodeSaid said{sight.node, sight.answered, std::nullopt, std::nullopt};
        if (sight.answered && sight.snapshot && (!tokensOnly || isTokenLock(*sight.snapshot)))
            showHoldersText(said, *sight.snapshot, reference);
        all.push_back(std::move(said));
    }
    return all;
}

// The one thread that holds it on a majority, as a client of its own on each: so RedissonRedLock holds its locks.
std::optional<QByteArray> threadOfAll(const std::vector<NodeSight> &sights)
{
    std::optional<QByteArray> thread;
    int votes = 0;
    for (const auto &sight : sights) {
        if (!sight.answered || !sight.snapshot)
            continue;
        const bool isOne = sight.snapshot->holderCount() == 1;
        const auto holder = isOne ? readHolder(sight.snapshot->contenders.front().guard.redis().value) : std::nullopt;
        if (!holder || holder->thread != thread.value_or(holder->thread))
            return std::nullopt;
        thread = holder->thread;
        ++votes;
    }
    return votes > 1 && votes >= recipes::quorumOf(static_cast<int>(sights.size())) ? thread : std::nullopt;
}

// Whether the holders of each node are the same, others on each, or neither.
enum class HoldersOnNodes { Same, Own, Mixed };

HoldersOnNodes holdersOn(const std::vector<NodeSaid> &nodes)
{
    std::vector<QByteArray> values;
    for (const auto &node : nodes) {
        if (node.value)
            values.push_back(*node.value);
    }
    std::ranges::sort(values);
    if (!values.empty() && values.front() == values.back())
        return HoldersOnNodes::Same;
    return std::ranges::adjacent_find(values) == values.end() ? HoldersOnNodes::Own : HoldersOnNodes::Mixed;
}

QString whereItIs(const LockSnapshot &lock, const QStringList &on)
{
    if (on.size() == 1)
        return clause(u"it is on %1, one node of a set"_s.arg(on.front()));
    const auto holders = holdersOn(lock.nodes);
    const bool isRedissonLock = recipes::recipeOf(lock.recipe).release == recipes::ReleaseMechanism::RedissonUnlock;
    const auto where =
        holders == HoldersOnNodes::Same
            ? u"it is on %1 of %2 nodes (%3), on each with the same holder: this is what %4 says"_s
        : holders != HoldersOnNodes::Own ? u"it is on %1 of %2 nodes (%3): this is what %4 says"_s
        : isRedissonLock
            ? u"it is on %1 of %2 nodes (%3), on each with a holder of its own, as RedissonRedLock takes it: "
              u"this is what %4 says"_s
            : u"it is on %1 of %2 nodes (%3), on each with a holder of its own: this is what %4 says"_s;
    return clause(
        where.arg(QString::number(on.size()), QString::number(lock.nodes.size()), on.join(u", "_s), on.front()));
}

// A lock that each node keeps by itself: on one of them, or, as RedissonRedLock takes it, on several.
std::optional<LockSnapshot> strangerAmong(const std::vector<NodeSight> &sights)
{
    std::optional<LockSnapshot> lock;
    QStringList on;
    for (const auto &sight : sights) {
        if (!sight.answered || !sight.snapshot)
            continue;
        if (!lock) {
            lock = *sight.snapshot;
            for (auto &contender : lock->contenders) {
                if (contender.session)
                    *contender.session += u'@' + sight.node; // every node numbers its own clients
            }
        }
        on << sight.node;
    }
    if (!lock)
        return lock;
    lock->nodes = whatWasSaid(sights, *lock, false);
    if (const auto thread = threadOfAll(sights)) {
        lock->client = u"Redisson (RedissonRedLock)"_s;
        lock->why +=
            clause(u"one lock on %1 of %2 nodes (%3): thread %4 holds it on each, by a client of its own there, as "
                   u"RedissonRedLock does. The holder is what %5 says"_s.arg(
                       QString::number(on.size()), QString::number(sights.size()), on.join(u", "_s),
                       label(*thread, 40), on.front()));
        return lock;
    }
    lock->why += whereItIs(*lock, on);
    return lock;
}

// A lock whose holders are members of a set, taken on several nodes, as RedlockSemaphore of npm's redis-semaphore
// takes it: each member by itself is had by who put it on a majority.

// The number of a permit is every node's own: the same on two of them says nothing.
bool isNamedByItsClient(const Contender &one)
{
    return one.role == Role::Holder && !one.guard.redis().value.isEmpty() && one.guard.redis().counterpart.isEmpty();
}

// Most votes first.
std::vector<Votes> membersOf(const std::vector<NodeSight> &sights)
{
    std::vector<Votes> all;
    for (const auto &sight : sights) {
        if (!sight.answered || !sight.snapshot
            || recipes::recipeOf(sight.snapshot->recipe).release != recipes::ReleaseMechanism::MemberBack)
            continue;
        for (const auto &contender : sight.snapshot->contenders) {
            if (isNamedByItsClient(contender))
                addVote(all, contender.id, sight, contender);
        }
    }
    sortByVotes(all);
    return all;
}

Contender contenderOf(const Votes &member, const LockSnapshot &reference, int nodes, bool holds)
{
    Contender contender = *member.on.front().own;
    contender.role = holds ? Role::Holder : Role::Waiter;
    auto ends = moments(member, reference, &Contender::expiresAt);
    const bool isEndKnown = static_cast<int>(ends.size()) == member.votes();
    contender.expiresAt = isEndKnown ? recipes::quorumUntil(std::move(ends), nodes) : std::nullopt;
    const auto begun = beginningOf(member, nodes, reference);
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

std::optional<LockSnapshot> mergeMembers(const std::vector<NodeSight> &sights)
{
    const auto members = membersOf(sights);
    if (members.empty() || members.front().votes() < 2)
        return std::nullopt;
    const auto nodes = static_cast<int>(sights.size());
    const auto silent = static_cast<int>(std::ranges::count(sights, false, &NodeSight::answered));
    const auto &reference = members.front().on.front().snapshot();
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
    lock.observed = newest(sights, reference);
    judgeState(lock);
    lock.why += groupingReason(sights, lock.waiterCount());
    return lock;
}

} // namespace

std::optional<LockSnapshot> mergeNodes(const std::vector<NodeSight> &sights)
{
    const auto count = countOf(sights);
    if (count.candidates.empty()) {
        auto members = mergeMembers(sights);
        if (!members)
            return strangerAmong(sights);
        members->nodes = whatWasSaid(sights, *members, false);
        return members;
    }
    const auto &first = count.candidates.front();
    const auto &reference = first.on.front().snapshot();
    const bool isSingle = count.candidates.size() == 1 && first.votes() == 1 && count.strangers.isEmpty();
    if (isSingle && isOfOneNode(reference))
        return strangerAmong(sights);

    LockSnapshot lock;
    lock.lock = reference.lock;
    lock.backend = BackendKind::Redis;
    lock.recipe = "redlock";
    lock.client = reference.client;
    lock.clientTraits = reference.clientTraits;
    lock.confidence = first.votes() > 1 ? Confidence::High : reference.confidence;
    lock.why =
        u"the same token on %1 of %2 independent nodes; %3"_s.arg(first.votes()).arg(count.nodes).arg(reference.why);
    lock.waitersKnown = false; // they poll
    lock.serverAhead = reference.serverAhead;
    lock.observed = newest(sights, reference);
    const bool held = count.hasMajority() || (count.mayBeMajority() && count.firstLeads());
    for (const auto &candidate : count.candidates)
        lock.contenders.push_back(contenderOf(candidate, count, reference, held && &candidate == &first));
    judgeState(lock);
    addNoQuorum(lock, count);
    addNoTtl(lock, count);
    addAgreedLongHeld(lock, count, reference);
    lock.nodes = whatWasSaid(sights, reference, true);
    return lock;
}

} // namespace lockscope::inspect
