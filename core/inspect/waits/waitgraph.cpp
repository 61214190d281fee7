// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/waits/waitgraph.h"

#include "core/base/text.h"
#include "core/inspect/redis/naming.h"
#include "core/inspect/waits/waitanalysis.h"
#include "core/rules/catalogue.h"

#include <map>

namespace lockscope::inspect {

namespace {

using std::chrono::milliseconds;

// How many may hold it at once. Where nothing says so: as many as do, so that one of them is enough to get in.
int permitsOf(const LockSnapshot &lock)
{
    const auto &recipe = recipes::recipeOf(lock.recipe);
    const auto has = [&lock](Mode mode, Role role) {
        return std::ranges::any_of(lock.contenders,
                                   [&](const auto &one) { return one.mode == mode && one.role == role; });
    };
    const bool isShared = has(Mode::Read, Role::Holder) || has(Mode::Write, Role::Holder);
    if (isShared || recipe.readWrite)
        return 1;
    return std::max(1, lock.holderCount());
}

// Where the server answers who waits, it says for whom: nothing else does, as the place in a list of mixed modes.
void takeAsTold(LockWaits &contest, const LockSnapshot &lock)
{
    contest.isTold = recipes::recipeOf(lock.recipe).wakeUp == recipes::WakeUp::Answer;
    if (!contest.isTold)
        return;
    std::map<QByteArray, int> numbers;
    for (int i = static_cast<int>(lock.contenders.size()) - 1; i >= 0; --i)
        numbers[lock.contenders[static_cast<std::size_t>(i)].id] = i;
    for (std::size_t i = 0; i < lock.contenders.size(); ++i) {
        auto &request = contest.requests[i];
        for (const auto &edge : request.holds ? QList<WatchEdge>() : lock.contenders[i].watches) {
            if (const auto at = numbers.find(edge.target); at != numbers.end())
                request.behind.push_back(at->second);
        }
        // In others' way, and what it waits for itself is another lock: it goes on once it has that.
        request.holds = request.behind.empty();
    }
}

// Whom a waiter waits for: by its place in the queue, or, where that tells nothing, as a server lists its watch.
std::vector<int> blockersOf(const GraphSources &sources, const RequestAt &at)
{
    const auto &lock = sources.lock(at.contest);
    const int own = sources.client(at);
    std::vector<int> behind;
    const auto add = [&](const RequestAt &blocker) {
        const int who = sources.client(blocker);
        if (who != own && std::ranges::find(behind, who) == behind.end())
            behind.push_back(who);
    };
    std::ranges::for_each(sources.contests.blockers(at), add);
    if (!behind.empty())
        return behind;
    for (const auto &edge : sources.contender(at).watches) {
        const auto watched = std::ranges::find(lock.contenders, edge.target, &Contender::id);
        if (edge.evidence == Evidence::Server && watched != lock.contenders.end())
            add({at.contest, static_cast<int>(watched - lock.contenders.begin())});
    }
    return behind;
}

// Its own client is the one holder: another of its threads, or the same one, which waits for ever then.
bool isBehindItself(const GraphSources &sources, const RequestAt &waiter)
{
    const auto &lock = sources.lock(waiter.contest);
    int holders = 0, own = 0;
    for (int j = 0; j < static_cast<int>(lock.contenders.size()); ++j) {
        const RequestAt at{waiter.contest, j};
        const bool holds = sources.contender(at).role == Role::Holder;
        holders += holds;
        own += holds && sources.client(at) == sources.client(waiter);
    }
    return holders == 1 && own == 1;
}

QString idOf(const WaitGraph &graph, int client)
{
    return escaped(graph.clients[static_cast<std::size_t>(client)].id);
}

QString lockOf(const WaitGraph &graph, int lock)
{
    return escaped(graph.locks[static_cast<std::size_t>(lock)].name.text());
}

QJsonValue textOrNone(const std::optional<QString> &text)
{
    return text ? QJsonValue(*text) : QJsonValue(QJsonValue::Null);
}

template <class Numbers>
QJsonArray namesOf(const WaitGraph &graph, const Numbers &locks)
{
    return mapped<QJsonArray>(locks, [&](const int lock) { return lockOf(graph, lock); });
}

QJsonArray clientsJson(const WaitGraph &graph)
{
    std::vector<std::set<int>> holds(graph.clients.size()), waits(graph.clients.size());
    for (const auto &edge : graph.edges)
        (edge.kind == GraphEdge::Kind::Holds ? holds : waits)[static_cast<std::size_t>(edge.client)].insert(
            edge.lock);
    QJsonArray clients;
    for (std::size_t i = 0; i < graph.clients.size(); ++i) {
        const auto &client = graph.clients[i];
        const auto endpoints =
            mapped<QJsonArray>(client.endpoints, [&](const auto &endpoint) { return escaped(endpoint.toUtf8()); });
        const auto because = client.because.isEmpty() ? QJsonValue(QJsonValue::Null) : QJsonValue(client.because);
        clients.append(QJsonObject{{u"id"_s, escaped(client.id)},
                                   {u"label"_s, client.name},
                                   {u"endpoints"_s, endpoints},
                                   {u"holds"_s, namesOf(graph, holds[i])},
                                   {u"waits"_s, namesOf(graph, waits[i])},
                                   {u"join"_s, word(client.join)},
                                   {u"because"_s, because}});
    }
    return clients;
}

QJsonObject cycleJson(const WaitGraph &graph, const WaitCycle &cycle)
{
    return {{u"clients"_s, mapped<QJsonArray>(cycle.clients, [&](const int one) { return idOf(graph, one); })},
            {u"locks"_s, namesOf(graph, cycle.locks)},
            {u"victim"_s, idOf(graph, cycle.victim)},
            {u"victimBecause"_s, cycle.victimBecause},
            {u"ends"_s, textOrNone(cycle.ends)},
            {u"sentence"_s, harmless(cycle.sentence, 4000)}};
}

QJsonObject togetherJson(const HeldTogether &group)
{
    const auto locks = mapped<QJsonArray>(group.locks, [&](const auto &name) {
        return escaped(LockName{group.connection, name}.text());
    });
    return {{u"thread"_s, escaped(group.thread)}, {u"locks"_s, locks}};
}

// In quotes; what Graphviz would take for an escape of its own is doubled.
QByteArray quoted(const QString &text)
{
    QString inside = text;
    inside.replace(u'\\', u"\\\\"_s).replace(u'"', u"\\\""_s);
    return '"' + inside.toUtf8() + '"';
}

std::vector<LockWaits> lockWaitsOf(const std::vector<LockSnapshot> &locks, const ClientsOfLocks &clients)
{
    std::vector<LockWaits> all;
    std::map<ConnectionName, int> clocks;
    for (std::size_t i = 0; i < locks.size(); ++i) {
        const auto &lock = locks[i];
        LockWaits contest;
        contest.ordered = recipes::recipeOf(lock.recipe).fair;
        contest.permits = permitsOf(lock);
        const int clock = clocks.emplace(lock.lock.connection, static_cast<int>(clocks.size())).first->second;
        for (std::size_t j = 0; j < lock.contenders.size(); ++j) {
            const auto &one = lock.contenders[j];
            LockRequest request{clients.agent[i][j], one.role == Role::Holder, one.mode == Mode::Read, {}, clock};
            if (one.guard.creation() > 0)
                request.made = one.guard.creation();
            contest.requests.push_back(request);
        }
        takeAsTold(contest, lock);
        all.push_back(std::move(contest));
    }
    return all;
}

std::vector<RootBlocker> rootsOf(const WaitGraph &graph)
{
    const auto count = graph.clients.size();
    std::vector<std::set<int>> behind(count); // who waits for it
    std::vector<std::vector<const GraphEdge *>> waits(count);
    std::vector<char> letsGo(count, 0);
    for (const auto &edge : graph.edges) {
        if (edge.kind != GraphEdge::Kind::Waits) {
            if (!edge.isBound)
                letsGo[static_cast<std::size_t>(edge.client)] = 1;
            continue;
        }
        waits[static_cast<std::size_t>(edge.client)].push_back(&edge);
        for (const int one : edge.behind)
            behind[static_cast<std::size_t>(one)].insert(edge.client);
    }
    std::vector<RootBlocker> roots;
    for (std::size_t client = 0; client < count; ++client) {
        if (!letsGo[client] || behind[client].empty())
            continue;
        RootBlocker root{static_cast<int>(client), static_cast<int>(behind[client].size()), 0, {}};
        const auto reached = reachedFrom({root.client}, behind);
        root.total = static_cast<int>(reached.size()) - 1;
        for (const int one : reached) {
            for (const auto *edge : waits[static_cast<std::size_t>(one)]) {
                if (std::ranges::any_of(edge->behind, [&reached](int other) { return reached.contains(other); }))
                    root.waiting += edge->age.value_or(milliseconds(0));
            }
        }
        roots.push_back(root);
    }
    std::ranges::stable_sort(roots, [](const RootBlocker &a, const RootBlocker &b) {
        return a.total != b.total ? a.total > b.total : a.waiting > b.waiting;
    });
    return roots;
}

} // namespace

std::optional<milliseconds> GraphSources::age(RequestAt at) const
{
    const auto &one = contender(at);
    const auto since = one.role == Role::Holder ? one.heldSince : one.waitingSince;
    if (!since)
        return std::nullopt;
    const auto there = std::chrono::time_point_cast<milliseconds>(now) + lock(at.contest).serverAhead;
    return std::max<milliseconds>(milliseconds(0), there - *since);
}

std::vector<ConnectionName> unlinkedConnections(const WaitGraph &graph)
{
    std::map<int, std::set<ConnectionName>> places; // by client
    std::map<int, std::set<ConnectionName>> waits;
    for (const auto &edge : graph.edges) {
        const auto &connection = graph.locks[static_cast<std::size_t>(edge.lock)].name.connection;
        places[edge.client].insert(connection);
        if (edge.kind == GraphEdge::Kind::Waits)
            waits[edge.client].insert(connection);
    }
    std::set<ConnectionName> unlinked;
    for (const auto &[client, connections] : waits) {
        if (places[client].size() == 1)
            unlinked.insert(*connections.begin());
    }
    return unlinked.size() < 2 ? std::vector<ConnectionName>()
                               : std::vector<ConnectionName>(unlinked.begin(), unlinked.end());
}

QString unlinkedSentence(const WaitGraph &graph, const QString &howToLink)
{
    const auto names =
        mapped<QStringList>(unlinkedConnections(graph), [&](const auto &name) { return label(name.bytes()); });
    if (names.isEmpty())
        return {};
    return u"a deadlock across %1 would not be found: clients that wait there are not linked; %2"_s.arg(
        names.join(u", "_s), howToLink);
}

std::set<int> reachedFrom(const std::set<int> &first, const std::vector<std::set<int>> &behind)
{
    auto reached = first;
    std::vector<int> next(first.begin(), first.end());
    while (!next.empty()) {
        const int client = next.back();
        next.pop_back();
        for (const int waiter : behind[static_cast<std::size_t>(client)]) {
            if (reached.insert(waiter).second)
                next.push_back(waiter);
        }
    }
    return reached;
}

WaitGraph waitGraphOf(const std::vector<LockSnapshot> &all, const std::vector<ClientLabel> &labels,
                      std::chrono::system_clock::time_point now)
{
    std::vector<LockSnapshot> locks;
    std::ranges::copy_if(all, std::back_inserter(locks), [](const auto &lock) { return !lock.contenders.empty(); });
    std::ranges::sort(locks, {}, &LockSnapshot::lock);
    const auto clients = clientsOf(locks, labels);
    const WaitAnalysis contests(lockWaitsOf(locks, clients), clients.agents);
    const GraphSources sources{locks, clients, contests, now};
    WaitGraph graph;
    graph.clients = clients.clients;
    for (int i = 0; i < static_cast<int>(locks.size()); ++i) {
        const auto &lock = sources.lock(i);
        graph.locks.push_back({lock.lock, lock.state, lock.waitersKnown});
        for (int j = 0; j < static_cast<int>(lock.contenders.size()); ++j) {
            const RequestAt at{i, j};
            const auto &one = sources.contender(at);
            const bool holds = one.role == Role::Holder;
            GraphEdge edge;
            edge.client = sources.client(at);
            edge.lock = i;
            edge.kind = holds ? GraphEdge::Kind::Holds : GraphEdge::Kind::Waits;
            edge.contender = one.id;
            edge.mode = one.mode;
            edge.age = sources.age(at);
            edge.atMost = holds && one.heldAtMost;
            edge.isBound = holds && !contests.binding(at).empty();
            if (!holds)
                edge.behind = blockersOf(sources, at);
            edge.isBehindItself = !holds && edge.behind.empty() && isBehindItself(sources, at);
            graph.edges.push_back(std::move(edge));
        }
    }
    graph.roots = rootsOf(graph);
    graph.cycles = cyclesOf(graph, sources);
    graph.together = heldTogether(locks);
    return graph;
}

// The wait-for graph as JSON (docs/json.md) and for Graphviz.
QString word(Join join)
{
    switch (join) {
    case Join::SameSession: return u"session"_s;
    case Join::SelfReported: return u"client-name"_s;
    case Join::Label: return u"label"_s;
    }
    return {};
}

QJsonObject toJson(const WaitGraph &graph)
{
    QJsonArray edges, roots;
    for (const auto &edge : graph.edges) {
        auto behind = mapped<QJsonArray>(edge.behind, [&](const int one) { return idOf(graph, one); });
        if (edge.isBehindItself)
            behind.append(idOf(graph, edge.client));
        QJsonObject json{
            {u"client"_s, idOf(graph, edge.client)},
            {u"lock"_s, lockOf(graph, edge.lock)},
            {u"kind"_s, edge.kind == GraphEdge::Kind::Holds ? u"holds"_s : u"waits"_s},
            {u"sinceMs"_s, edge.age ? QJsonValue(qint64(edge.age->count())) : QJsonValue(QJsonValue::Null)},
            {u"contender"_s, escaped(edge.contender)}};
        if (edge.atMost)
            json.insert(u"heldAtMost"_s, true);
        if (edge.kind == GraphEdge::Kind::Waits)
            json.insert(u"behind"_s, behind);
        edges.append(json);
    }
    for (const auto &root : graph.roots)
        roots.append(QJsonObject{{u"client"_s, idOf(graph, root.client)},
                                 {u"direct"_s, root.direct},
                                 {u"total"_s, root.total},
                                 {u"waitingMs"_s, qint64(root.waiting.count())}});
    const auto cycles = mapped<QJsonArray>(graph.cycles, [&](const auto &cycle) { return cycleJson(graph, cycle); });
    const auto together = mapped<QJsonArray>(graph.together, [&](const auto &group) { return togetherJson(group); });
    return {{u"clients"_s, clientsJson(graph)},
            {u"edges"_s, edges},
            {u"roots"_s, roots},
            {u"cycles"_s, cycles},
            {u"together"_s, together}};
}

QByteArray toDot(const WaitGraph &graph)
{
    const auto isInCycle = [&graph](int client, int lock, bool holds) {
        return std::ranges::any_of(graph.cycles, [&](const WaitCycle &cycle) {
            return std::ranges::any_of(cycle.seats, [&](const GraphSeat &seat) {
                return seat.client == client && seat.lock == lock && seat.holds == holds;
            });
        });
    };
    QByteArray dot = "digraph waits {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n";
    for (std::size_t i = 0; i < graph.clients.size(); ++i)
        dot += "  c" + QByteArray::number(qulonglong(i)) + " [shape=ellipse, label=" + quoted(graph.clients[i].name)
               + "];\n";
    for (std::size_t i = 0; i < graph.locks.size(); ++i)
        dot += "  l" + QByteArray::number(qulonglong(i))
               + " [shape=box, label=" + quoted(label(graph.locks[i].name.text(), 120)) + "];\n";
    for (const auto &edge : graph.edges) {
        const bool holds = edge.kind == GraphEdge::Kind::Holds;
        const auto client = "c" + QByteArray::number(edge.client), lock = "l" + QByteArray::number(edge.lock);
        // Along the waiting: a waiter points to its lock, a lock to its holder.
        dot += "  " + (holds ? lock + " -> " + client : client + " -> " + lock)
               + " [label=" + (holds ? "\"held by\"" : "\"waits for\", style=dashed")
               + (isInCycle(edge.client, edge.lock, holds) ? ", color=red, penwidth=2" : "") + "];\n";
    }
    return dot + "}\n";
}

using namespace Qt::StringLiterals;

// Of one whose hold is a field with a name of its own, the identity says who it is.
std::optional<QByteArray> threadOf(const Contender &one)
{
    auto holder = readHolder(one.id);
    if (!holder && one.identity)
        holder = readHolder(*one.identity);
    return holder ? std::optional(holder->client + ':' + holder->thread) : std::nullopt;
}

std::vector<QByteArray> holdingThreads(const LockSnapshot &lock)
{
    std::vector<QByteArray> threads;
    if (!infoOf(lock.backend).areThreadsNamed)
        return threads;
    for (const auto &contender : lock.contenders) {
        auto thread = contender.role == Role::Holder ? threadOf(contender) : std::nullopt;
        if (thread && std::ranges::find(threads, *thread) == threads.end())
            threads.push_back(std::move(*thread));
    }
    return threads;
}

bool isHeldByAny(const LockSnapshot &lock, const std::vector<QByteArray> &threads)
{
    return std::ranges::any_of(lock.contenders, [&threads](const Contender &one) {
        return one.role == Role::Holder && std::ranges::any_of(threads, [&one](const QByteArray &thread) {
                   // Most do not even begin alike: asked of every lock there is, once a second.
                   const bool mayBe = one.id.startsWith(thread) || (one.identity && one.identity->startsWith(thread));
                   return mayBe && threadOf(one) == thread;
               });
    });
}

std::vector<HeldTogether> heldTogether(const std::vector<LockSnapshot> &locks)
{
    std::map<std::pair<ConnectionName, QByteArray>, std::set<QByteArray>> byThread;
    for (const auto &lock : locks) {
        for (const auto &thread : holdingThreads(lock))
            byThread[{lock.lock.connection, thread}].insert(lock.lock.name);
    }
    std::vector<HeldTogether> groups;
    for (const auto &[who, names] : byThread) {
        if (names.size() > 1)
            groups.push_back({who.first, who.second, {names.begin(), names.end()}});
    }
    return groups;
}

std::vector<QByteArray> heldWith(const LockSnapshot &lock, const std::vector<HeldTogether> &groups)
{
    const auto keyOfGroup = [](const HeldTogether &group) { return std::pair(group.connection, group.thread); };
    std::set<QByteArray> others;
    for (const auto &thread : holdingThreads(lock)) {
        const std::pair key(lock.lock.connection, thread);
        const auto at = std::ranges::lower_bound(groups, key, {}, keyOfGroup);
        if (at != groups.end() && keyOfGroup(*at) == key)
            others.insert(at->locks.begin(), at->locks.end());
    }
    others.erase(lock.lock.name);
    return {others.begin(), others.end()};
}

QString heldWithNames(const std::vector<QByteArray> &others)
{
    constexpr qsizetype namedAtMost = 3;
    const auto names = mapped<QStringList>(others, [](const auto &other) { return label(other, 60); });
    return names.size() > namedAtMost || names.size() < 2
               ? firstNamed(names, namedAtMost)
               : names.mid(0, names.size() - 1).join(u", "_s) + u" and "_s + names.last();
}

QString heldWithSentence(const std::vector<QByteArray> &others)
{
    if (others.empty())
        return {};
    return u"held together with %1 by one thread, as the members of a MultiLock are"_s.arg(heldWithNames(others));
}

} // namespace lockscope::inspect
