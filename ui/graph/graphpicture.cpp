// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/graphlayout.h"

#include "core/base/text.h"

namespace lockscope::ui {

using inspect::GraphEdge;
using Kind = GraphNode::Kind;
using Mark = GraphNode::Mark;

namespace {

constexpr int titleLength = 220;
// So many waiters of each lock are shown: who stands in one long column is not found there. Where there are more
// nodes than these, fewer.
constexpr int usualWaiters = 8;
struct FewerWaiters {
    int nodes = 0, waiters = 0;
};
constexpr std::array fewerWaiters{FewerWaiters{30, 3}, FewerWaiters{60, 1}};

QString counted(qsizetype count, const QString &one, const QString &many)
{
    return count == 1 ? u"1 "_s + one : QString::number(count) + u' ' + many;
}

class PictureMaker {
public:
    PictureMaker(const GraphFacts &facts, const GraphChoice &choice)
        : m_facts(facts), m_graph(facts.graph), m_choice(choice), m_clients(m_graph.clients.size()),
          m_locks(m_graph.locks.size())
    {
        for (const auto &cycle : m_graph.cycles) {
            for (const auto &seat : cycle.seats) {
                lock(seat.lock).mark = client(seat.client).mark = Mark::Cycle;
                m_cycleArcs.insert({seat.client, seat.lock, seat.holds});
            }
            client(cycle.victim).isVictim = true;
        }
        for (const auto *root : blockersOf(facts)) {
            auto &one = client(root->client);
            one.root = root;
            one.mark = one.mark == Mark::Cycle ? Mark::Cycle : Mark::Root;
        }
        for (const auto &edge : m_graph.edges) {
            auto &edges = lock(edge.lock).edges;
            const bool isKnown = std::ranges::any_of(edges, [&edge](const GraphEdge *one) {
                return one->client == edge.client && one->kind == edge.kind;
            });
            if (!isKnown)
                edges.push_back(&edge); // of several claims of one client, one
            lock(edge.lock).isWaitedFor |= edge.kind == GraphEdge::Kind::Waits;
        }
    }

    GraphPicture picture()
    {
        chooseLocks();
        countEdges();
        for (const auto &[nodes, waiters] : fewerWaiters) {
            if (count() > nodes)
                m_mostWaiters = waiters;
        }
        const auto isBig = [this] { return count() > mostGraphNodes; };
        if (isBig())
            foldQuiet();
        if (isBig())
            m_mostWaiters = 0;
        if (isBig())
            leaveOutLeast();
        return drawn();
    }

private:
    struct ClientSeen {
        Mark mark = Mark::None;
        bool isVictim = false;
        const inspect::RootBlocker *root = nullptr;
        int shownEdges = 0;
        int node = -1;
    };
    struct LockSeen {
        Mark mark = Mark::None;
        std::vector<const GraphEdge *> edges;
        bool isWaitedFor = false;
        bool isShown = false;
        bool isFolded = false;
        int node = -1;
    };
    struct Shown {
        std::vector<const GraphEdge *> edges;
        std::vector<const GraphEdge *> folded; // waiters
    };

    ClientSeen &client(int at) { return m_clients[static_cast<std::size_t>(at)]; }
    LockSeen &lock(int at) { return m_locks[static_cast<std::size_t>(at)]; }
    [[nodiscard]] const inspect::LockName &nameOfLock(int at) const
    {
        return m_graph.locks[static_cast<std::size_t>(at)].name;
    }
    [[nodiscard]] const inspect::Client &clientValue(int at) const
    {
        return m_graph.clients[static_cast<std::size_t>(at)];
    }

    [[nodiscard]] bool matches(int at)
    {
        const auto has = [this](const QString &text) { return text.contains(m_choice.text, Qt::CaseInsensitive); };
        if (m_choice.text.isEmpty() || has(escaped(nameOfLock(at).text())))
            return true;
        return std::ranges::any_of(lock(at).edges, [&](const GraphEdge *edge) {
            const auto &who = clientValue(edge->client);
            return has(who.name) || std::ranges::any_of(who.endpoints, has);
        });
    }
    [[nodiscard]] bool isChosenClient(int at) const
    {
        const auto &sessions = m_facts.sessions[static_cast<std::size_t>(at)];
        return m_choice.chosenSession && std::ranges::find(sessions, *m_choice.chosenSession) != sessions.end();
    }
    [[nodiscard]] bool isChosen(int at)
    {
        return m_choice.chosen == keyOfLock(nameOfLock(at))
               || std::ranges::any_of(lock(at).edges,
                                      [this](const GraphEdge *edge) { return isChosenClient(edge->client); });
    }

    void chooseLocks()
    {
        for (int i = 0; i < static_cast<int>(m_locks.size()); ++i) {
            auto &one = lock(i);
            if (!m_choice.connection.isEmpty() && nameOfLock(i).connection != m_choice.connection
                && one.mark != Mark::Cycle)
                continue;
            const bool holdsUp = one.isWaitedFor && !m_facts.isElection[static_cast<std::size_t>(i)];
            const bool isWanted = m_choice.all || holdsUp || one.mark == Mark::Cycle || isChosen(i);
            one.isShown = isWanted && matches(i);
            m_hiddenLocks += isWanted || one.edges.empty() ? 0 : 1;
        }
    }

    void countEdges()
    {
        for (auto &one : m_clients)
            one.shownEdges = 0;
        for (const auto &one : m_locks) {
            for (const auto *edge : one.isShown ? one.edges : std::vector<const GraphEdge *>())
                ++client(edge->client).shownEdges;
        }
    }

    // Nobody reads thousands, and laying them out takes minutes: those stay that hold up most.
    void leaveOutLeast()
    {
        std::vector<std::pair<qsizetype, int>> order; // how many do not wait, and which
        for (int i = 0; i < static_cast<int>(m_locks.size()); ++i) {
            const auto &one = lock(i);
            if (one.isShown && one.isWaitedFor && one.mark != Mark::Cycle && !isChosen(i))
                order.emplace_back(-std::ranges::count(one.edges, GraphEdge::Kind::Waits, &GraphEdge::kind), i);
        }
        std::ranges::sort(order);
        const auto countWith = [&](std::size_t kept) {
            for (std::size_t i = 0; i < order.size(); ++i)
                lock(order[i].second).isShown = i < kept;
            countEdges();
            return count() + 1;
        };
        std::size_t fits = 0;
        for (auto tooMany = order.size(); fits + 1 < tooMany;) {
            const auto half = (fits + tooMany) / 2;
            (countWith(half) <= mostGraphNodes ? fits : tooMany) = half;
        }
        countWith(fits);
        m_leftOut = static_cast<qsizetype>(order.size() - fits);
    }

    // It is in nobody's way.
    [[nodiscard]] bool isLeaf(const GraphEdge *edge)
    {
        const auto &who = client(edge->client);
        return edge->kind == GraphEdge::Kind::Waits && who.shownEdges == 1 && who.mark == Mark::None
               && !isChosenClient(edge->client);
    }
    // Waiters that are in nobody's way, after those that are shown.
    [[nodiscard]] Shown shownOf(int at)
    {
        Shown shown;
        const auto &edges = lock(at).edges;
        const auto leaves = std::ranges::count_if(edges, [this](const GraphEdge *edge) { return isLeaf(edge); });
        // A few more are no reason to fold, nor to unfold when they go.
        const bool isLong = leaves > m_mostWaiters * 3 / 2 && !m_choice.unfolded.contains(keyOfWaiters(at));
        int seen = 0;
        for (const auto *edge : edges) {
            const bool isOver = isLong && isLeaf(edge) && ++seen > m_mostWaiters;
            (isOver ? shown.folded : shown.edges).push_back(edge);
        }
        if (shown.folded.size() == 1) { // it takes no more room
            shown.edges.push_back(shown.folded.front());
            shown.folded.clear();
        }
        return shown;
    }
    [[nodiscard]] QByteArray keyOfWaiters(int at) const { return "waiters " + nameOfLock(at).text(); }

    // Of what holds nobody up: what belongs to somebody who is shown anyway hangs there, all else is one.
    [[nodiscard]] std::pair<int, QByteArray> groupOf(int at)
    {
        for (const auto *edge : lock(at).edges) {
            const auto &who = client(edge->client);
            if (who.mark != Mark::None || isBusy(edge->client))
                return {edge->client, "locks " + clientValue(edge->client).id};
        }
        return {-1, "locks"};
    }
    [[nodiscard]] bool isBusy(int who) const { return m_busy.contains(who); }

    void foldQuiet()
    {
        for (auto &one : m_locks) {
            for (const auto *edge : one.isShown &&one.isWaitedFor ? one.edges : std::vector<const GraphEdge *>())
                m_busy.insert(edge->client);
        }
        std::map<QByteArray, std::vector<int>> groups;
        for (int i = 0; i < static_cast<int>(m_locks.size()); ++i) {
            auto &one = lock(i);
            if (!one.isShown || one.isWaitedFor || one.mark != Mark::None || isChosen(i))
                continue;
            const auto group = groupOf(i).second;
            if (!m_choice.unfolded.contains(group))
                groups[group].push_back(i);
        }
        for (const auto &[key, locks] : groups) {
            for (const int one : locks.size() > 1 ? locks : std::vector<int>())
                lock(one).isFolded = true;
        }
    }

    [[nodiscard]] int count()
    {
        std::set<int> clients;
        std::set<QByteArray> groups;
        int nodes = 0;
        for (int i = 0; i < static_cast<int>(m_locks.size()); ++i) {
            if (!lock(i).isShown)
                continue;
            if (lock(i).isFolded) {
                groups.insert(groupOf(i).second);
                continue;
            }
            const auto shown = shownOf(i);
            nodes += shown.folded.empty() ? 1 : 2;
            for (const auto *edge : shown.edges)
                clients.insert(edge->client);
        }
        return nodes + static_cast<int>(clients.size() + groups.size());
    }

    // Those in a deadlock first, then who holds up most, then by name.
    [[nodiscard]] std::vector<int> inOrder()
    {
        std::vector<int> order;
        for (int i = 0; i < static_cast<int>(m_locks.size()); ++i) {
            if (lock(i).isShown)
                order.push_back(i);
        }
        const auto rank = [this](int at) {
            if (lock(at).mark == Mark::Cycle)
                return 0;
            return lock(at).isWaitedFor ? 1 : lock(at).isFolded ? 3 : 2;
        };
        std::ranges::stable_sort(order, {}, rank);
        return order;
    }

    GraphPicture drawn()
    {
        for (const int at : inOrder()) {
            if (lock(at).isFolded)
                addToFold(at);
            else
                addLock(at);
        }
        if (m_leftOut > 0) {
            GraphNode more{Kind::Locks, Mark::None, "more locks", {}, {}, {}, {}, {}};
            more.title = counted(m_leftOut, u"more lock with waiters"_s, u"more locks with waiters"_s);
            more.note = u"the find field looks for them"_s;
            add(std::move(more));
        }
        std::ranges::sort(m_picture.arcs);
        m_picture.arcs.erase(std::ranges::unique(m_picture.arcs).begin(), m_picture.arcs.end());
        m_picture.hiddenLocks = m_hiddenLocks;
        for (auto &node : m_picture.nodes)
            node.spoken = spoken(node);
        return std::move(m_picture);
    }

    int add(GraphNode node)
    {
        m_picture.nodes.push_back(std::move(node));
        return static_cast<int>(m_picture.nodes.size()) - 1;
    }

    void addLock(int at)
    {
        const auto shown = shownOf(at);
        GraphNode node{Kind::Lock, lock(at).mark, keyOfLock(nameOfLock(at)), {}, {}, {}, nameOfLock(at), {}};
        node.title = nameOf(m_facts, at);
        node.note = lockNote(at);
        const int lockNode = lock(at).node = add(std::move(node));
        for (const auto *edge : shown.edges) {
            const bool holds = edge->kind == GraphEdge::Kind::Holds;
            const bool isCycle = m_cycleArcs.contains({edge->client, at, holds});
            m_picture.arcs.push_back({clientNode(edge->client), lockNode, holds, isCycle});
        }
        if (shown.folded.empty())
            return;
        GraphNode fold{Kind::Waiters, Mark::None, keyOfWaiters(at), {}, {}, {}, nameOfLock(at), {}};
        const auto many = qsizetype(shown.folded.size());
        fold.title = m_mostWaiters > 0 ? u"%1 more waiters"_s.arg(many) : counted(many, u"waiter"_s, u"waiters"_s);
        fold.note = u"a click or Enter shows them"_s;
        m_picture.arcs.push_back({add(std::move(fold)), lockNode, false, false});
    }

    void addToFold(int at)
    {
        const auto [who, key] = groupOf(at);
        auto &[node, count] = m_folds.try_emplace(key, std::pair(-1, 0)).first->second;
        if (node < 0) {
            node = add({Kind::Locks, Mark::None, key, {}, u"a click or Enter shows them"_s, {}, {}, {}});
            if (who >= 0)
                m_picture.arcs.push_back({clientNode(who), node, true, false});
        }
        ++count;
        m_picture.nodes[static_cast<std::size_t>(node)].title = u"%1 locks without waiters"_s.arg(count);
    }

    int clientNode(int at)
    {
        auto &one = client(at);
        if (one.node >= 0)
            return one.node;
        GraphNode node{Kind::Client, one.mark, keyOfClient(clientValue(at)), {}, {}, {}, {}, {}};
        node.title = label(clientValue(at).name.toUtf8(), titleLength);
        node.note = clientNote(at);
        node.sessions = m_facts.sessions[static_cast<std::size_t>(at)];
        return one.node = add(std::move(node));
    }

    [[nodiscard]] QString clientNote(int at)
    {
        const auto &one = client(at);
        if (one.mark == Mark::Cycle)
            return one.isVictim ? u"deadlock · least lost by ending it"_s : u"deadlock"_s;
        if (one.root)
            return u"root blocker · %1 behind"_s.arg(one.root->total);
        std::optional<std::chrono::milliseconds> longest;
        int holds = 0;
        for (const auto &edge : m_graph.edges) {
            if (edge.client != at)
                continue;
            if (edge.kind == GraphEdge::Kind::Holds)
                ++holds;
            else
                longest = std::max(longest.value_or(std::chrono::milliseconds(0)),
                                   edge.age.value_or(std::chrono::milliseconds(0)));
        }
        if (longest)
            return longest->count() > 0 ? u"waits "_s + formatDuration(*longest) : u"waits"_s;
        return holds == 1 ? u"holds 1 lock"_s : u"holds %1 locks"_s.arg(holds);
    }

    [[nodiscard]] QString lockNote(int at)
    {
        int waits = 0;
        for (const auto *edge : lock(at).edges)
            waits += edge->kind == GraphEdge::Kind::Waits ? 1 : 0;
        const bool isKnown = m_graph.locks[static_cast<std::size_t>(at)].waitersKnown;
        const auto waiting = isKnown     ? counted(waits, u"waits"_s, u"wait"_s)
                             : waits > 0 ? u"%1 or more wait"_s.arg(waits)
                                         : u"who waits is not known"_s;
        const auto what = m_facts.isElection[static_cast<std::size_t>(at)] ? u"election · "_s : QString();
        return lock(at).mark == Mark::Cycle ? u"deadlock · "_s + waiting : what + waiting;
    }

    // "lock /locks/a, deadlock · 1 waits; held by app-1; app-2 waits"
    [[nodiscard]] QString spoken(const GraphNode &node) const
    {
        const auto at = static_cast<int>(&node - m_picture.nodes.data());
        const bool isLock = node.kind == Kind::Lock || node.kind == Kind::Locks;
        QStringList holds, waits;
        for (const auto &arc : m_picture.arcs) {
            if ((isLock ? arc.lock : arc.client) == at)
                (arc.holds ? holds : waits)
                    << m_picture.nodes[static_cast<std::size_t>(isLock ? arc.client : arc.lock)].title;
        }
        QString text = (node.isFold() ? QString() : isLock ? u"lock "_s : u"client "_s) + node.title;
        text += u", "_s + node.note;
        constexpr qsizetype most = 12;
        const auto list = [](QStringList names) {
            const auto more = names.size() - most;
            return names.mid(0, most).join(u", "_s) + (more > 0 ? u" and %1 more"_s.arg(more) : QString());
        };
        if (!holds.isEmpty())
            text = (isLock ? u"%1; held by %2"_s : u"%1; holds %2"_s).arg(text, list(holds));
        if (!waits.isEmpty())
            text = (isLock ? u"%1; waited for by %2"_s : u"%1; waits for %2"_s).arg(text, list(waits));
        return text;
    }

    const GraphFacts &m_facts;
    const inspect::WaitGraph &m_graph;
    const GraphChoice &m_choice;
    std::vector<ClientSeen> m_clients;
    std::vector<LockSeen> m_locks;
    std::set<std::tuple<int, int, bool>> m_cycleArcs;
    std::set<int> m_busy;                              // clients of locks that somebody waits for
    std::map<QByteArray, std::pair<int, int>> m_folds; // node and how many locks, by key
    int m_mostWaiters = usualWaiters;                  // of a lock
    int m_hiddenLocks = 0;
    qsizetype m_leftOut = 0; // of those that hold somebody up
    GraphPicture m_picture;
};

} // namespace

int GraphPicture::find(const QByteArray &key) const
{
    const auto at = std::ranges::find(nodes, key, &GraphNode::key);
    return at == nodes.end() ? -1 : static_cast<int>(at - nodes.begin());
}

QByteArray keyOfClient(const inspect::Client &client)
{
    return "client " + client.id;
}

QByteArray keyOfLock(const inspect::LockName &lock)
{
    return "lock " + lock.text();
}

GraphPicture graphPictureOf(const GraphFacts &facts, const GraphChoice &choice)
{
    return PictureMaker(facts, choice).picture();
}

} // namespace lockscope::ui
