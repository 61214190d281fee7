// SPDX-License-Identifier: Apache-2.0
// A deadlock in words: who holds what and waits for what, whose end costs least, and what may end it.
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/waits/waitanalysis.h"
#include "core/rules/catalogue.h"

#include <tuple>

namespace lockscope::inspect {

using std::chrono::milliseconds;

namespace {

constexpr int lockLength = 100;
constexpr qsizetype mostSpelled = 6;

QString nameOf(const Client &client)
{
    constexpr qsizetype mostNamed = 3;
    QStringList addresses;
    for (const auto &endpoint : client.endpoints) {
        if (endpoint != client.name)
            addresses << label(endpoint.toUtf8(), 60);
    }
    return addresses.isEmpty() ? client.name : u"%1 (%2)"_s.arg(client.name, firstNamed(addresses, mostNamed));
}

template <class T>
void addOnce(std::vector<T> &all, const T &one)
{
    if (std::ranges::find(all, one) == all.end())
        all.push_back(one);
}

class Teller {
public:
    Teller(const WaitGraph &graph, const GraphSources &sources, const DeadlockSet &knot)
        : m_graph(graph), m_sources(sources), m_knot(knot)
    {
    }

    [[nodiscard]] WaitCycle cycle()
    {
        for (const int agent : m_knot.agents)
            addOnce(m_cycle.clients, m_sources.clients.clientOfAgent[static_cast<std::size_t>(agent)]);
        for (const auto &wait : m_knot.waits) {
            addOnce(m_cycle.locks, wait.contest);
            addOnce(m_cycle.seats, seat(wait));
        }
        for (const auto &hold : m_knot.holds)
            addOnce(m_cycle.seats, seat(hold));
        chooseVictim();
        m_cycle.ends = ends(true);
        m_cycle.assumptions = assumptions();
        m_cycle.sentence = sentence();
        return m_cycle;
    }

private:
    [[nodiscard]] GraphSeat seat(RequestAt at) const
    {
        const auto &one = m_sources.contender(at);
        return {m_sources.client(at), at.contest, one.id, one.role == Role::Holder, one.session};
    }
    [[nodiscard]] QString client(int number) const
    {
        return nameOf(m_graph.clients[static_cast<std::size_t>(number)]);
    }
    [[nodiscard]] QString lock(int number) const { return label(m_sources.lock(number).lock.text(), lockLength); }

    struct Cost {
        int behind = 0;                            // others wait for it, beside those in the cycle
        milliseconds newest = milliseconds::max(); // it has held the last of its locks for so long
        int holds = 0;
        bool isSure = true; // since when it has each of them: one that may be newer than that is no proof
        [[nodiscard]] auto order() const { return std::tie(behind, newest, holds); }
    };
    [[nodiscard]] Cost costOf(int client) const
    {
        Cost cost;
        std::set<int> held, behind;
        for (const auto &edge : m_graph.edges) {
            if (edge.client != client || edge.kind != GraphEdge::Kind::Holds)
                continue;
            held.insert(edge.lock);
            cost.newest = std::min(cost.newest, edge.age.value_or(milliseconds::max()));
            cost.isSure = cost.isSure && edge.age && !edge.atMost;
        }
        for (const auto &edge : m_graph.edges) {
            const bool isPart = std::ranges::find(m_cycle.clients, edge.client) != m_cycle.clients.end();
            if (edge.kind == GraphEdge::Kind::Waits && held.contains(edge.lock) && !isPart)
                behind.insert(edge.client);
        }
        cost.holds = static_cast<int>(held.size());
        cost.behind = static_cast<int>(behind.size());
        return cost;
    }
    // Whoever others wait for least, then whoever has held the shortest, then whoever holds least.
    void chooseVictim()
    {
        std::optional<Cost> least;
        for (const int one : m_cycle.clients) {
            const auto cost = costOf(one);
            if (least && least->order() <= cost.order())
                continue;
            least = cost;
            m_cycle.victim = one;
        }
        if (!least)
            return;
        const auto others = least->behind == 0   ? u"no other client waits for it"_s
                            : least->behind == 1 ? u"1 outside waits for it"_s
                                                 : u"%1 outside wait for it"_s.arg(least->behind);
        // No ages: the sentence stands on a screen for as long as the deadlock does.
        const bool isYoungest = std::ranges::all_of(m_cycle.clients, [&](int one) {
            const auto cost = costOf(one);
            return one == m_cycle.victim || (cost.isSure && cost.newest > least->newest);
        });
        m_cycle.victimBecause =
            isYoungest ? u"%1, and its newest hold is the newest in the deadlock"_s.arg(others) : others;
    }

    [[nodiscard]] std::optional<QString> ends(bool withTime) const
    {
        QStringList ways;
        for (const auto &hold : m_knot.holds) {
            const auto &recipe = recipes::recipeOf(m_sources.lock(hold.contest).recipe);
            const auto &one = m_sources.contender(hold);
            const bool isSession = recipe.endsBy == recipes::EndsBy::Session;
            // A session that is heard from is renewed for ever.
            if (!one.expiresAt || (isSession && !isSilent(hold)))
                continue;
            const auto there =
                std::chrono::time_point_cast<milliseconds>(m_sources.now) + m_sources.lock(hold.contest).serverAhead;
            const auto left = formatDuration(std::max<milliseconds>(milliseconds(0), *one.expiresAt - there));
            const auto who = client(m_sources.client(hold)), what = lock(hold.contest);
            if (isSession)
                ways << (withTime ? u"the session of %1 expires in %2, unless it is heard from again"_s.arg(who, left)
                                  : u"the session of %1 expires, unless it is heard from again"_s.arg(who));
            else if (recipe.renewed)
                ways << (withTime ? u"the lease of %1 on %2 ends in %3 unless it is renewed"_s.arg(who, what, left)
                                  : u"the lease of %1 on %2 ends unless it is renewed"_s.arg(who, what));
            else
                ways << (withTime ? u"the lease of %1 on %2 ends in %3"_s.arg(who, what, left)
                                  : u"the lease of %1 on %2 ends"_s.arg(who, what));
        }
        for (const auto &wait : m_knot.waits) {
            const auto after = givesUpAfter(wait);
            if (!after.isEmpty())
                ways << u"%1 gives up waiting for %2 after %3"_s.arg(client(m_sources.client(wait)),
                                                                     lock(wait.contest), after);
        }
        if (isOnOneServer())
            ways << brokenByServer();
        ways.removeDuplicates();
        ways.removeAll(QString());
        return ways.isEmpty() ? std::nullopt : std::optional(ways.join(u", or "_s));
    }

    [[nodiscard]] const WaitLimit *limitOf(RequestAt wait, bool isOfDeadlocks) const
    {
        const auto &all = m_sources.contender(wait).limits;
        const auto &ofDeadlocks = infoOf(m_sources.lock(wait.contest).backend).breaksCyclesAfter;
        const auto at = std::ranges::find_if(all, [&](const WaitLimit &one) {
            return (QLatin1StringView(one.setting) == ofDeadlocks) == isOfDeadlocks;
        });
        return at == all.end() ? nullptr : &*at;
    }
    // The setting that ends a wait, how long that is, and how sure it is. Nothing, where there is none.
    [[nodiscard]] QString givesUpAfter(RequestAt wait) const
    {
        const auto &recipe = recipes::recipeOf(m_sources.lock(wait.contest).recipe);
        const auto *limit = limitOf(wait, false);
        if (!limit) {
            const bool isInnoDb = recipe.shape == recipes::Shape::Row && recipe.backend == BackendKind::MariaDb;
            return isInnoDb ? u"innodb_lock_wait_timeout (its length is unknown)"_s : QString();
        }
        const auto setting = QString::fromLatin1(limit->setting), longest = formatDuration(limit->longest);
        if (limit->isOwn)
            return u"its %1 of %2"_s.arg(setting, longest);
        // Servers tell of waits in whole seconds.
        if (m_sources.age(wait).value_or(milliseconds(0)) > limit->longest + std::chrono::seconds(2))
            return u"a time of its own, which the server does not tell: it has waited longer than %1 usually lasts, %2"_s
                .arg(setting, longest);
        return u"%1 (%2 for sessions that set none of their own; whether this one did, the server does not tell)"_s
            .arg(setting, longest);
    }
    // Nothing, where the server leaves it as it is.
    [[nodiscard]] QString brokenByServer() const
    {
        const auto &server = infoOf(m_sources.lock(m_knot.waits.front().contest).backend);
        const auto &setting = server.breaksCyclesAfter;
        if (setting.isEmpty())
            return {};
        if (const auto *limit = limitOf(m_knot.waits.front(), true))
            return u"%1 ends a statement of it, %2 after a client began to wait (%3 by default; the server does not "
                   u"report sessions that changed it)"_s.arg(server.title, formatDuration(limit->longest), setting);
        return u"%1 ends a statement of it after %2, whose length is unknown"_s.arg(server.title, setting);
    }

    [[nodiscard]] bool isSilent(RequestAt at) const
    {
        const auto *found = m_sources.lock(at.contest).find(FindingCode::HolderDisconnected);
        return found && std::ranges::find(found->contenders, m_sources.contender(at).id) != found->contenders.end();
    }
    // Which sees all of it.
    [[nodiscard]] bool isOnOneServer() const
    {
        return !m_knot.waits.empty() && std::ranges::all_of(m_knot.waits, [this](const RequestAt &wait) {
            return m_sources.lock(wait.contest).lock.connection
                   == m_sources.lock(m_knot.waits.front().contest).lock.connection;
        });
    }

    [[nodiscard]] QString locksOf(int client, bool held) const
    {
        QStringList names;
        for (const auto &one : m_cycle.seats) {
            if (one.client == client && one.holds == held)
                names << lock(one.lock);
        }
        names.removeDuplicates();
        return names.join(u" and "_s);
    }
    [[nodiscard]] QString sentence() const
    {
        QStringList steps;
        for (const int one : m_cycle.clients) {
            if (steps.size() == mostSpelled) {
                steps << u"and %1 more"_s.arg(qsizetype(m_cycle.clients.size()) - mostSpelled);
                break;
            }
            const auto holding = locksOf(one, true), waiting = locksOf(one, false);
            steps << (holding.isEmpty() ? u"%1 waits for %2"_s.arg(client(one), waiting)
                                        : u"%1 holds %2 and waits for %3"_s.arg(client(one), holding, waiting));
        }
        QStringList all{steps.join(u"; "_s)};
        all << (m_cycle.ends ? u"It ends when %1"_s.arg(*ends(false)) : u"Nothing that is known ends it by itself"_s);
        all << u"Least is lost by ending %1: %2"_s.arg(client(m_cycle.victim), m_cycle.victimBecause);
        return (all + m_cycle.assumptions).join(u". "_s);
    }
    // What cannot be seen: threads that share a session. And what only the user said.
    [[nodiscard]] QStringList assumptions() const
    {
        QStringList reasons;
        bool isSession = false;
        for (const int one : m_cycle.clients) {
            const auto &who = m_graph.clients[static_cast<std::size_t>(one)];
            if (!who.because.isEmpty())
                reasons << u"%1 (%2)"_s.arg(who.name, who.because);
        }
        for (const auto &one : m_cycle.seats)
            isSession = isSession || infoOf(m_sources.lock(one.lock).backend).isSessionOneClient;
        reasons.removeDuplicates();
        QStringList all;
        if (!reasons.isEmpty())
            all << u"Taken for one client on several connections: %1"_s.arg(reasons.join(u", "_s));
        if (isSession)
            all << u"Threads that share a session cannot be distinguished: it is a deadlock if each client does one "
                   u"thing at a time"_s;
        return all;
    }

    const WaitGraph &m_graph;
    const GraphSources &m_sources;
    const DeadlockSet &m_knot;
    WaitCycle m_cycle;
};

} // namespace

std::vector<WaitCycle> cyclesOf(const WaitGraph &graph, const GraphSources &sources)
{
    return mapped<std::vector<WaitCycle>>(sources.contests.deadlockSets(),
                                          [&](const auto &knot) { return Teller(graph, sources, knot).cycle(); });
}

QByteArray keyOf(const WaitGraph &graph, const WaitCycle &cycle)
{
    auto seats = mapped<QByteArrayList>(cycle.seats, [&](const auto &seat) {
        return graph.locks[static_cast<std::size_t>(seat.lock)].name.text() + '\0' + seat.contender;
    });
    std::ranges::sort(seats);
    return seats.join('\n');
}

std::vector<FindingPlace> victimOf(const WaitGraph &graph, const WaitCycle &cycle)
{
    std::vector<FindingPlace> places;
    for (const bool holds : {true, false}) {
        for (const auto &seat : cycle.seats) {
            if (seat.client == cycle.victim && seat.holds == holds)
                places.push_back(
                    {graph.locks[static_cast<std::size_t>(seat.lock)].name, seat.contender, seat.session});
        }
    }
    return places;
}

void addDeadlocks(LockSnapshot &lock, const WaitGraph &graph, const std::vector<WaitCycle> &cycles)
{
    if (cycles.empty())
        return;
    auto recorded = std::exchange(lock.findings, {});
    std::ranges::copy_if(recorded, std::back_inserter(lock.findings),
                         [](const Finding &one) { return one.code != FindingCode::Deadlock; });
    const auto others = lock.findings.size();
    for (const auto &cycle : cycles) {
        std::vector<QByteArray> contenders;
        for (const auto &contender : lock.contenders) {
            const bool isPart = std::ranges::any_of(cycle.seats, [&](const GraphSeat &seat) {
                return seat.contender == contender.id
                       && graph.locks[static_cast<std::size_t>(seat.lock)].name == lock.lock;
            });
            if (isPart)
                contenders.push_back(contender.id);
        }
        if (contenders.empty())
            continue;
        addFinding(lock, FindingCode::Deadlock, cycle.sentence, std::move(contenders));
        for (const int number : cycle.locks) {
            const auto &name = graph.locks[static_cast<std::size_t>(number)].name;
            if (name != lock.lock)
                lock.findings.back().also.push_back(name);
        }
        lock.findings.back().victim = victimOf(graph, cycle);
    }
    if (lock.findings.size() == others) // what was seen then is not less true for what is in sight now
        lock.findings = std::move(recorded);
}

} // namespace lockscope::inspect
