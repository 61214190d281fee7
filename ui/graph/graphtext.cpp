// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/graphlayout.h"

#include "core/base/text.h"

namespace lockscope::ui {

using inspect::FindingCode;
using inspect::GraphEdge;
using inspect::LockSnapshot;
using inspect::RootBlocker;
using inspect::WaitCycle;
using inspect::WaitGraph;

namespace {

using LocksByName = std::map<inspect::LockName, const LockSnapshot *>;

// A deadlock is said once it was seen twice: the findings know.
bool isSaid(const WaitGraph &graph, const WaitCycle &cycle, const LocksByName &locks)
{
    return std::ranges::all_of(cycle.seats, [&](const inspect::GraphSeat &seat) {
        const auto &lock = *locks.at(graph.locks[static_cast<std::size_t>(seat.lock)].name);
        return std::ranges::any_of(lock.findings, [&seat](const inspect::Finding &finding) {
            return finding.code == FindingCode::Deadlock
                   && std::ranges::find(finding.contenders, seat.contender) != finding.contenders.end();
        });
    });
}

constexpr int nameLength = 80;
constexpr qsizetype mostNamed = 3;

QString listed(QStringList names)
{
    names.removeDuplicates();
    if (names.size() > mostNamed) {
        const auto more = names.size() - (mostNamed - 1);
        names = names.mid(0, mostNamed - 1) + QStringList(u"%1 more"_s.arg(more));
    }
    if (names.size() < 2)
        return names.join(QString());
    const auto last = names.takeLast();
    return names.join(u", "_s) + u" and "_s + last;
}

bool isHeldUp(const GraphFacts &facts, const GraphEdge &edge)
{
    return edge.kind == GraphEdge::Kind::Waits && !facts.isElection[static_cast<std::size_t>(edge.lock)];
}

QString cycleSentence(const GraphFacts &facts, const inspect::WaitCycle &cycle)
{
    QStringList clients, locks;
    for (const int client : cycle.clients)
        clients << nameOf(facts.graph.clients[static_cast<std::size_t>(client)]);
    auto numbers = cycle.locks;
    std::ranges::sort(numbers); // by name
    for (const int number : numbers)
        locks << nameOf(facts, number);
    if (cycle.clients.size() == 1)
        return u"%1 waits for itself: over %2"_s.arg(listed(clients), listed(locks));
    return u"%1 clients block each other: %2, over %3"_s.arg(QString::number(cycle.clients.size()), listed(clients),
                                                             listed(locks));
}

QString rootSentence(const GraphFacts &facts, const RootBlocker &root)
{
    QStringList locks;
    std::set<int> waitedFor;
    for (const auto &edge : facts.graph.edges) {
        if (isHeldUp(facts, edge) && std::ranges::find(edge.behind, root.client) != edge.behind.end())
            waitedFor.insert(edge.lock);
    }
    for (const auto &edge : facts.graph.edges) {
        if (edge.client == root.client && edge.kind == GraphEdge::Kind::Holds && waitedFor.contains(edge.lock))
            locks << nameOf(facts, edge.lock);
    }
    const auto &who = facts.graph.clients[static_cast<std::size_t>(root.client)];
    const auto waiting = root.waiting.count() > 0 ? u", together %1"_s.arg(formatDuration(root.waiting)) : QString();
    return u"root blocker %1 holds %2, %3 behind it%4"_s.arg(
        nameOf(who), listed(locks), root.total == 1 ? u"1 waits"_s : u"%1 wait"_s.arg(root.total), waiting);
}

GraphHeading ofCycles(const GraphFacts &facts, qsizetype blockers)
{
    const auto &cycles = facts.graph.cycles;
    const auto &first = cycles.front();
    GraphHeading heading{
        {PillShape::Cross, Tone::Critical, u"deadlock"_s}, cycleSentence(facts, first), {}, first.victim};
    heading.victim = victimOf(facts.graph, first);
    const auto &victim = facts.graph.clients[static_cast<std::size_t>(first.victim)];
    QStringList more{u"Suggested victim: %1 (%2)"_s.arg(nameOf(victim), first.victimBecause)};
    more << (first.ends ? u"it ends when %1"_s.arg(*first.ends) : u"nothing that is known ends it by itself"_s);
    if (cycles.size() > 1)
        more << (cycles.size() == 2 ? u"1 more deadlock"_s : u"%1 more deadlocks"_s.arg(cycles.size() - 1));
    if (blockers > 0)
        more << (blockers == 1 ? u"1 root blocker beside it"_s : u"%1 root blockers beside it"_s.arg(blockers));
    heading.more = more.join(u" · "_s);
    return heading;
}

GraphHeading headingOfSeen(const GraphFacts &facts)
{
    const auto blockers = blockersOf(facts);
    if (!facts.graph.cycles.empty())
        return ofCycles(facts, static_cast<qsizetype>(blockers.size()));
    if (!blockers.empty()) {
        GraphHeading heading{{PillShape::Quarter, Tone::Warning, u"blocked"_s},
                             rootSentence(facts, *blockers.front()),
                             {},
                             blockers.front()->client};
        if (blockers.size() == 2)
            heading.more = u"next: "_s + rootSentence(facts, *blockers[1]);
        if (blockers.size() > 2)
            heading.more = u"%1 more root blockers; next: %2"_s.arg(QString::number(blockers.size() - 1),
                                                                    rootSentence(facts, *blockers[1]));
        return heading;
    }
    std::set<int> waiting;
    for (const auto &edge : facts.graph.edges) {
        if (isHeldUp(facts, edge))
            waiting.insert(edge.client);
    }
    const auto who = waiting.size() == 1 ? u"1 client waits"_s : u"%1 clients wait"_s.arg(waiting.size());
    if (facts.isCycleOpen)
        return {{PillShape::Ring, Tone::Wait, u"waiting"_s},
                who,
                u"a cycle of waits was seen; it is a deadlock if it is seen again"_s};
    const auto own = std::ranges::find_if(
        facts.graph.edges, [&facts](const GraphEdge &edge) { return edge.isBehindItself && isHeldUp(facts, edge); });
    if (own != facts.graph.edges.end() && waiting.size() == 1)
        return {{PillShape::Ring, Tone::Wait, u"waiting"_s},
                u"%1 holds %2 and waits for it, too"_s.arg(
                    nameOf(facts.graph.clients[static_cast<std::size_t>(own->client)]), nameOf(facts, own->lock)),
                {},
                own->client};
    if (!waiting.empty())
        return {{PillShape::Ring, Tone::Wait, u"waiting"_s}, u"%1; no blocker is visible"_s.arg(who), {}};
    const int held = facts.graph.held();
    if (held == 0)
        return {{PillShape::Ring, Tone::Free, u"none held"_s},
                u"no client is seen waiting, and no lock is seen held"_s,
                {}};
    return {{PillShape::Disc, Tone::Hold, u"held"_s},
            u"no client is seen waiting for a lock; %1 held"_s.arg(held == 1 ? u"1 is"_s : u"%1 are"_s.arg(held)),
            {}};
}

} // namespace

GraphFacts graphFactsOf(const std::vector<LockSnapshot> &locks, const std::vector<inspect::ClientLabel> &labels,
                        std::chrono::system_clock::time_point now)
{
    GraphFacts facts;
    facts.graph = inspect::waitGraphOf(locks, labels, now);
    auto &graph = facts.graph;
    LocksByName byName;
    for (const auto &lock : locks)
        byName.emplace(lock.lock, &lock);
    const auto found = graph.cycles.size();
    std::erase_if(graph.cycles, [&](const WaitCycle &cycle) { return !isSaid(graph, cycle, byName); });
    facts.isCycleOpen = graph.cycles.size() < found;
    for (const auto &lock : graph.locks) {
        facts.isElection.push_back(recipes::recipeOf(byName.at(lock.name)->recipe).electsLeader ? 1 : 0);
        facts.unseenWaiters += lock.waitersKnown ? 0 : 1;
    }
    facts.sessions.resize(graph.clients.size());
    for (const auto &edge : graph.edges) {
        const auto &lock = *byName.at(graph.locks[static_cast<std::size_t>(edge.lock)].name);
        const auto *contender = lock.find(edge.contender);
        if (!contender || !contender->session)
            continue;
        auto &sessions = facts.sessions[static_cast<std::size_t>(edge.client)];
        const GraphFacts::Session session{lock.lock.connection, contender->session->toUtf8()};
        if (std::ranges::find(sessions, session) == sessions.end())
            sessions.push_back(session);
    }
    return facts;
}

QString nameOf(const inspect::Client &client)
{
    if (client.endpoints.empty() || client.name == client.endpoints.front())
        return client.name;
    return u"%1 (%2)"_s.arg(client.name, label(client.endpoints.front().toUtf8(), 60));
}

QString nameOf(const GraphFacts &facts, int lock)
{
    const auto &locks = facts.graph.locks;
    const auto &name = locks[static_cast<std::size_t>(lock)].name;
    const bool isOne = locks.front().name.connection == locks.back().name.connection; // they are sorted
    return label(isOne ? name.name : name.text(), nameLength);
}

std::vector<const RootBlocker *> blockersOf(const GraphFacts &facts)
{
    std::vector<const RootBlocker *> all;
    for (const auto &root : facts.graph.roots) {
        const bool isInTheWay = std::ranges::any_of(facts.graph.edges, [&](const GraphEdge &edge) {
            return isHeldUp(facts, edge) && std::ranges::find(edge.behind, root.client) != edge.behind.end();
        });
        if (isInTheWay)
            all.push_back(&root);
    }
    return all;
}

GraphHeading headingOf(const GraphFacts &facts)
{
    auto heading = headingOfSeen(facts);
    const auto unlinked = unlinkedSentence(facts.graph, u"give one name to their clients in Settings"_s);
    if (!unlinked.isEmpty())
        heading.more += (heading.more.isEmpty() ? QString() : u"; "_s) + unlinked;
    return heading;
}

} // namespace lockscope::ui
