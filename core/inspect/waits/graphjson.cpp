// SPDX-License-Identifier: Apache-2.0
// The wait-for graph as JSON (docs/command-line.md) and for Graphviz.
#include "core/inspect/waits/waitgraph.h"

#include "core/base/text.h"

#include <QJsonArray>

#include <algorithm>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

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

QJsonArray namesOf(const WaitGraph &graph, const std::set<int> &locks)
{
    QJsonArray names;
    for (const int one : locks)
        names.append(lockOf(graph, one));
    return names;
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
        QJsonArray endpoints;
        for (const auto &endpoint : client.endpoints)
            endpoints.append(escaped(endpoint.toUtf8()));
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
    QJsonArray clients, locks;
    for (const int one : cycle.clients)
        clients.append(idOf(graph, one));
    for (const int one : cycle.locks)
        locks.append(lockOf(graph, one));
    return {{u"clients"_s, clients},
            {u"locks"_s, locks},
            {u"victim"_s, idOf(graph, cycle.victim)},
            {u"victimBecause"_s, cycle.victimBecause},
            {u"ends"_s, textOrNone(cycle.ends)},
            {u"sentence"_s, harmless(cycle.sentence, 4000)}};
}

QJsonObject togetherJson(const HeldTogether &group)
{
    QJsonArray locks;
    for (const auto &name : group.locks)
        locks.append(escaped(LockName{group.connection, name}.text()));
    return {{u"thread"_s, escaped(group.thread)}, {u"locks"_s, locks}};
}

// In quotes; what Graphviz would take for an escape of its own is doubled.
QByteArray quoted(const QString &text)
{
    QString inside = text;
    inside.replace(u'\\', u"\\\\"_s).replace(u'"', u"\\\""_s);
    return '"' + inside.toUtf8() + '"';
}

} // namespace

QString word(Join join)
{
    switch (join) {
    case Join::SameSession: return u"same session"_s;
    case Join::SaysSo: return u"says so itself"_s;
    case Join::Label: return u"label"_s;
    }
    return {};
}

QJsonObject toJson(const WaitGraph &graph)
{
    QJsonArray edges, roots, cycles;
    for (const auto &edge : graph.edges) {
        QJsonArray behind;
        for (const int one : edge.behind)
            behind.append(idOf(graph, one));
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
    for (const auto &cycle : graph.cycles)
        cycles.append(cycleJson(graph, cycle));
    QJsonArray together;
    for (const auto &group : graph.together)
        together.append(togetherJson(group));
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

} // namespace lockscope::inspect
