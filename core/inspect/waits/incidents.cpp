// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/waits/incidents.h"

#include "core/base/text.h"
#include "core/inspect/coverage.h"
#include "core/inspect/json.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

constexpr int incidentLockLength = 100;
constexpr std::size_t mostClientsNamed = 3, mostInJson = 20;

class IncidentFinder {
public:
    IncidentFinder(const WaitGraph &graph, const std::vector<LockSnapshot> &locks)
        : m_graph(graph), m_locks(locks), m_waiters(graph.clients.size()), m_places(graph.clients.size()),
          m_edges(graph.locks.size()), m_snapshots(graph.locks.size())
    {
        for (std::size_t number = 0; number < graph.locks.size(); ++number)
            m_numbers[graph.locks[number].name] = int(number);
        for (const auto &lock : locks) {
            if (const auto number = m_numbers.find(lock.lock); number != m_numbers.end())
                m_snapshots[std::size_t(number->second)] = &lock;
        }
        for (const auto &edge : graph.edges) {
            m_edges[std::size_t(edge.lock)].push_back(&edge);
            m_places[std::size_t(edge.client)].insert(edge.lock);
            for (const int blocker : edge.behind)
                m_waiters[std::size_t(blocker)].insert(edge.client);
        }
    }

    [[nodiscard]] std::vector<Incident> find()
    {
        for (const auto &cycle : m_graph.cycles)
            addDeadlock(cycle);
        for (const auto code : {FindingCode::LostWakeup, FindingCode::WrongWatch, FindingCode::NoTtl,
                                FindingCode::HolderDisconnected, FindingCode::IdleInTransaction})
            addCauses(code);
        if (isAnyLongWaitLeft()) {
            for (const auto &root : m_graph.roots)
                addRootBlocker(root.client);
        }
        std::ranges::stable_sort(m_found, [](const Incident &a, const Incident &b) {
            return a.severity != b.severity ? a.severity > b.severity : a.blocked.size() > b.blocked.size();
        });
        return std::move(m_found);
    }

private:
    using Clients = std::set<int>; // numbers in the graph

    // What the client is called; one without a name by its session or its ID in this incident.
    [[nodiscard]] QString nameOf(int number, const std::vector<FindingPlace> &places = {}) const
    {
        const auto &client = m_graph.clients[std::size_t(number)];
        if (client.name != label(client.id))
            return client.name;
        for (const auto &place : places) {
            const auto lock = m_numbers.find(place.lock);
            const auto *edge = lock == m_numbers.end() ? nullptr : edgeOf(lock->second, place.contender);
            if (edge && edge->client == number)
                return place.session ? u"session %1"_s.arg(label(place.session->toUtf8()))
                                     : label(nameInId(place.contender));
        }
        return client.name;
    }
    [[nodiscard]] const LockName &lockOf(int number) const { return m_graph.locks[std::size_t(number)].name; }
    [[nodiscard]] const GraphEdge *edgeOf(int lock, const QByteArray &contender) const
    {
        for (const auto *edge : m_edges[std::size_t(lock)]) {
            if (edge->contender == contender)
                return edge;
        }
        return nullptr;
    }
    // The clients of those contenders; none where one of them is in no graph.
    [[nodiscard]] Clients clientsOf(const LockName &lock, const std::vector<QByteArray> &contenders) const
    {
        Clients clients;
        const auto number = m_numbers.find(lock);
        for (const auto &contender : contenders) {
            const auto *edge = number == m_numbers.end() ? nullptr : edgeOf(number->second, contender);
            if (!edge)
                return {};
            clients.insert(edge->client);
        }
        return clients;
    }
    // Those, and whoever waits for one of them.
    [[nodiscard]] Clients withWaiters(const Clients &first) const { return reachedFrom(first, m_waiters); }
    [[nodiscard]] Clients waitersOf(int lock) const
    {
        Clients waiters;
        for (const auto *edge : m_edges[std::size_t(lock)]) {
            if (edge->kind == GraphEdge::Kind::Waits)
                waiters.insert(edge->client);
        }
        return waiters;
    }

    void addDeadlock(const WaitCycle &cycle)
    {
        Incident incident;
        incident.code = FindingCode::Deadlock;
        incident.severity = Severity::Critical;
        const Clients causes(cycle.clients.begin(), cycle.clients.end());
        for (const int lock : cycle.locks)
            incident.locks.push_back(lockOf(lock));
        std::ranges::sort(incident.locks);
        for (const auto &seat : cycle.seats) {
            const auto *edge = edgeOf(seat.lock, seat.contender);
            if (edge && !seat.holds && edge->age && (!incident.age || *edge->age < *incident.age))
                incident.age = edge->age;
        }
        incident.target = victimOf(m_graph, cycle);
        const auto names = mapped<QStringList>(cycle.clients, [&](const int client) { return nameOf(client); });
        incident.cause = names.size() == 2 ? u"%1 and %2 wait for each other."_s.arg(names.front(), names.back())
                                           : u"%1 clients wait for each other in a cycle: %2."_s.arg(
                                               QString::number(names.size()), names.join(u", "_s));
        for (const auto &assumption : cycle.assumptions)
            incident.cause += u" %1."_s.arg(assumption);
        const auto victim = nameOf(cycle.victim);
        incident.action =
            cycle.ends ? u"It ends when %1. Otherwise end %2: %3."_s.arg(*cycle.ends, victim, cycle.victimBecause)
                       : u"Nothing that is known ends it by itself. End %1: %2."_s.arg(victim, cycle.victimBecause);
        add(std::move(incident), causes, withWaiters(causes));
    }

    void addCauses(FindingCode code)
    {
        const bool isOfClient = code == FindingCode::HolderDisconnected || code == FindingCode::IdleInTransaction;
        std::map<Clients, std::vector<std::pair<const LockSnapshot *, const Finding *>>> ofClient;
        for (const auto &lock : m_locks) {
            for (const auto &finding : lock.findings) {
                const auto least = code == FindingCode::WrongWatch ? Severity::Critical : Severity::Warning;
                if (finding.code != code || finding.severity < least || (isOfClient && lock.waiterCount() == 0))
                    continue;
                const auto causes = clientsOf(lock.lock, finding.contenders);
                if (isOfClient && !causes.empty())
                    ofClient[causes].emplace_back(&lock, &finding);
                else
                    addCause({{&lock, &finding}}, causes);
            }
        }
        for (const auto &[causes, places] : ofClient)
            addCause(places, causes);
    }

    void addCause(const std::vector<std::pair<const LockSnapshot *, const Finding *>> &places, const Clients &causes)
    {
        const auto &[first, finding] = places.front();
        const bool isWaiter = finding->code == FindingCode::LostWakeup || finding->code == FindingCode::WrongWatch;
        Incident incident;
        incident.code = finding->code;
        incident.action = kindOf(finding->code).remedy.toString();
        Clients blocked;
        for (const auto &[lock, one] : places) {
            incident.severity = std::max(incident.severity, one->severity);
            incident.locks.push_back(lock->lock);
            const auto number = m_numbers.find(lock->lock);
            if (number == m_numbers.end())
                continue;
            blocked.merge(isWaiter && lock->holderCount() > 0 ? Clients(causes) : waitersOf(number->second));
            for (const auto &id : one->contenders)
                addTarget(incident, lock->lock, number->second, id);
        }
        auto all = withWaiters(blocked);
        incident.cause = causeText(incident, causes, all.size());
        all.insert(causes.begin(), causes.end());
        add(std::move(incident), isWaiter ? Clients() : causes, all);
    }

    void addTarget(Incident &incident, const LockName &lock, int number, const QByteArray &id) const
    {
        const auto *snapshot = m_snapshots[std::size_t(number)];
        const auto *contender = snapshot ? snapshot->find(id) : nullptr;
        const auto *edge = edgeOf(number, id);
        incident.target.push_back({lock, id, contender ? contender->session : std::nullopt});
        if (edge && edge->age && (!incident.age || *edge->age > *incident.age)) {
            incident.age = edge->age;
            incident.atMost = edge->atMost;
        }
    }

    // `clients`: one name, or several.
    [[nodiscard]] static QString causeText(const Incident &incident, const QString &clients, bool areSeveral,
                                           std::size_t blocked)
    {
        const auto first = label(incident.locks.front().text(), incidentLockLength);
        const auto locks = incident.locks.size() == 1
                               ? first
                               : u"%1 and %2 more"_s.arg(first, QString::number(incident.locks.size() - 1));
        const auto waiting = blocked == 1 ? u"1 client"_s : u"%1 clients"_s.arg(blocked);
        switch (incident.code) {
        case FindingCode::NoTtl:
            if (blocked == 0)
                return (areSeveral ? u"%1 hold %2, which has no expiry."_s : u"%1 holds %2, which has no expiry."_s)
                    .arg(clients, locks);
            return (areSeveral ? u"%1 hold %2, which has no expiry, and block %3."_s
                               : u"%1 holds %2, which has no expiry, and blocks %3."_s)
                .arg(clients, locks, waiting);
        case FindingCode::HolderDisconnected:
            return (areSeveral ? u"%1 are disconnected or silent, hold %2 and block %3."_s
                               : u"%1 is disconnected or silent, holds %2 and blocks %3."_s)
                .arg(clients, locks, waiting);
        case FindingCode::IdleInTransaction:
            return (areSeveral ? u"%1 run no statement in their transactions, hold %2 and block %3."_s
                               : u"%1 runs no statement in its transaction, holds %2 and blocks %3."_s)
                .arg(clients, locks, waiting);
        case FindingCode::LostWakeup:
            return (areSeveral ? u"%1 wait for %2, and no release will wake them."_s
                               : u"%1 waits for %2, and no release will wake it."_s)
                .arg(clients, locks);
        case FindingCode::WrongWatch:
            return (areSeveral ? u"%1 wait for %2 and watch the wrong nodes."_s
                               : u"%1 waits for %2 and watches the wrong node."_s)
                .arg(clients, locks);
        default:
            return (areSeveral ? u"%1 hold %2 and block %3."_s : u"%1 holds %2 and blocks %3."_s)
                .arg(clients, locks, waiting);
        }
    }
    [[nodiscard]] QString causeText(const Incident &incident, const Clients &causes, std::size_t blocked) const
    {
        auto names = mapped<QStringList>(causes, [&](const int client) { return nameOf(client, incident.target); });
        if (names.size() > qsizetype(mostClientsNamed))
            names = {u"%1 and %2 more"_s.arg(names.front(), QString::number(names.size() - 1))};
        return causeText(incident, names.isEmpty() ? u"A client"_s : names.join(u", "_s), causes.size() > 1, blocked);
    }

    // The locks that those clients hold or wait for.
    [[nodiscard]] std::vector<const LockSnapshot *> snapshotsOf(const Clients &clients) const
    {
        Clients numbers;
        for (const int client : clients)
            numbers.insert(m_places[std::size_t(client)].begin(), m_places[std::size_t(client)].end());
        std::vector<const LockSnapshot *> snapshots;
        for (const int number : numbers) {
            if (m_snapshots[std::size_t(number)])
                snapshots.push_back(m_snapshots[std::size_t(number)]);
        }
        return snapshots;
    }

    [[nodiscard]] bool isAnyLongWaitLeft() const
    {
        return std::ranges::any_of(m_locks, [this](const LockSnapshot &lock) {
            return std::ranges::any_of(lock.findings, [&](const Finding &finding) {
                return isLongWait(finding) && !m_folded.contains(&finding);
            });
        });
    }
    [[nodiscard]] static bool isLongWait(const Finding &finding)
    {
        return finding.code == FindingCode::LongWait && finding.severity >= Severity::Warning;
    }

    // An incident only where a long wait has no other cause.
    void addRootBlocker(int client)
    {
        const Clients causes{client};
        const auto all = withWaiters(causes);
        Incident incident;
        incident.code = FindingCode::LongWait;
        const bool isDue = std::ranges::any_of(snapshotsOf(all), [&](const LockSnapshot *lock) {
            return std::ranges::any_of(lock->findings, [&](const Finding &finding) {
                return isLongWait(finding) && !m_folded.contains(&finding) && isOf(*lock, finding, all);
            });
        });
        if (!isDue)
            return;
        Clients others; // that hold such a lock, too, as readers do
        for (const int number : m_places[std::size_t(client)]) {
            const auto &edges = m_edges[std::size_t(number)];
            const bool isWaitedFor = std::ranges::any_of(edges, [&](const GraphEdge *edge) {
                return std::ranges::find(edge->behind, client) != edge->behind.end();
            });
            for (const auto *edge : edges) {
                if (edge->kind != GraphEdge::Kind::Holds || !isWaitedFor)
                    continue;
                if (edge->client != client) {
                    others.insert(edge->client);
                    continue;
                }
                if (incident.locks.empty() || incident.locks.back() != lockOf(number))
                    incident.locks.push_back(lockOf(number));
                addTarget(incident, lockOf(number), number, edge->contender);
            }
        }
        if (incident.locks.empty())
            return;
        incident.cause = causeText(incident, nameOf(client, incident.target), false, all.size() - 1);
        if (others.size() == 1)
            incident.cause = u"%1 1 other client holds it as well."_s.arg(incident.cause);
        else if (!others.empty())
            incident.cause =
                u"%1 %2 other clients hold it as well."_s.arg(incident.cause, QString::number(others.size()));
        incident.action = u"Find out what %1 does. Release the lock only if it has stopped working."_s.arg(
            nameOf(client, incident.target));
        add(std::move(incident), causes, all);
    }

    [[nodiscard]] bool isOf(const LockSnapshot &lock, const Finding &finding, const Clients &clients) const
    {
        const auto its = clientsOf(lock.lock, finding.contenders);
        return !its.empty() && std::ranges::includes(clients, its);
    }

    // Folds what follows from it: the waits of all that wait, and the age of what its cause holds.
    void add(Incident incident, const Clients &causes, const Clients &all)
    {
        for (const int number : all) {
            if (!causes.contains(number))
                incident.blocked.push_back(nameOf(number));
        }
        for (const auto *lock : snapshotsOf(all)) {
            const bool isItsLock = std::ranges::find(incident.locks, lock->lock) != incident.locks.end();
            for (const auto &finding : lock->findings) {
                const bool isWait = finding.code == FindingCode::LongWait && isOf(*lock, finding, all);
                const bool isHold =
                    finding.code == FindingCode::LongHeld && isItsLock && isOf(*lock, finding, causes);
                if ((isWait || isHold) && m_folded.insert(&finding).second)
                    incident.folded.push_back({lock->lock, finding.code});
            }
        }
        m_found.push_back(std::move(incident));
    }

    const WaitGraph &m_graph;
    const std::vector<LockSnapshot> &m_locks;
    std::map<LockName, int> m_numbers;                   // in the graph
    std::vector<Clients> m_waiters;                      // by the client that they wait for
    std::vector<Clients> m_places;                       // by client: the numbers of its locks
    std::vector<std::vector<const GraphEdge *>> m_edges; // by lock
    std::vector<const LockSnapshot *> m_snapshots;       // the same
    std::set<const Finding *> m_folded;
    std::vector<Incident> m_found;
};

} // namespace

std::vector<Incident> incidentsOf(const WaitGraph &graph, const std::vector<LockSnapshot> &locks,
                                  const std::vector<Coverage> &coverage)
{
    auto incidents = IncidentFinder(graph, locks).find();
    for (const auto &[connection, deadlock, finding] : findingsOfEndedDeadlocks(coverage)) {
        Incident past;
        past.code = finding.code;
        past.severity = finding.severity;
        past.cause = u"%1: %2."_s.arg(label(connection.bytes()), finding.message);
        past.action = kindOf(finding.code).remedy.toString();
        for (const auto &party : deadlock.parties)
            past.locks.push_back({connection, party.awaited});
        incidents.push_back(std::move(past));
    }
    return incidents;
}

QString kindWord(const Incident &incident)
{
    return incident.code == FindingCode::LongWait     ? u"root-blocker"_s
           : incident.code == FindingCode::WrongWatch ? u"lost-wakeup"_s
                                                      : word(incident.code);
}

QString foldedText(const Incident &incident)
{
    std::map<FindingCode, int> counts;
    for (const auto &finding : incident.folded)
        ++counts[finding.code];
    const auto counted = [](const auto &of) { return u"%1 %2"_s.arg(QString::number(of.second), word(of.first)); };
    return mapped<QStringList>(counts, counted).join(u", "_s);
}

QJsonArray toJson(const std::vector<Incident> &incidents)
{
    QJsonArray all;
    for (const auto &incident : incidents) {
        QJsonArray blocked, folded;
        for (std::size_t i = 0; i < std::min(mostInJson, incident.blocked.size()); ++i)
            blocked.append(harmless(incident.blocked[i]));
        for (const auto &finding : incident.folded)
            folded.append(QJsonObject{{u"lock"_s, escaped(finding.lock.text())}, {u"code"_s, word(finding.code)}});
        QJsonObject json{
            {u"kind"_s, kindWord(incident)},
            {u"severity"_s, word(incident.severity)},
            {u"cause"_s, harmless(incident.cause, 4000)},
            {u"action"_s, harmless(incident.action, 4000)},
            {u"locks"_s, mapped<QJsonArray>(incident.locks, [](const auto &lock) { return escaped(lock.text()); })},
            {u"target"_s, toJson(incident.target)},
            {u"blocked"_s, qint64(incident.blocked.size())},
            {u"blockedClients"_s, blocked},
            {u"ageMs"_s, incident.age ? QJsonValue(qint64(incident.age->count())) : QJsonValue()},
            {u"folded"_s, folded}};
        if (incident.atMost)
            json[u"ageAtMost"_s] = true;
        all.append(json);
    }
    return all;
}

} // namespace lockscope::inspect
