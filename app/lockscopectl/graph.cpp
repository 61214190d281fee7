// SPDX-License-Identifier: Apache-2.0
// graph: who waits for whom, over all connections; deadlocks first, then trees from those who hold everybody up.
#include "app/lockscopectl/live.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

#include <QJsonDocument>

namespace lockscope::ctl {

using inspect::GraphEdge;
using inspect::WaitGraph;

namespace {

constexpr int mostWaitersShown = 20; // of one lock
constexpr int nameLength = 100;
constexpr int mostGroupsShown = 20;

// The tree of those behind one client: its locks, who waits for each, and in turn who waits for those.
class GraphTree {
public:
    explicit GraphTree(const WaitGraph &graph) : m_graph(graph)
    {
        for (const auto &edge : graph.edges) {
            if (edge.kind == GraphEdge::Kind::Holds)
                m_holds[edge.client].push_back(&edge);
            else
                m_waits[edge.lock].push_back(&edge);
        }
    }

    QStringList lines(int client, const QString &head)
    {
        m_lines = {head};
        m_told.insert(client);
        addLocks(client, u"  "_s);
        return m_lines;
    }
    [[nodiscard]] QString name(int client) const
    {
        const auto &who = m_graph.clients[static_cast<std::size_t>(client)];
        const bool isAddress = who.endpoints.empty() || who.name == who.endpoints.front();
        const auto joined = who.because.isEmpty() ? QString() : u" ["_s + inspect::word(who.join) + u']';
        return (isAddress ? who.name : u"%1 (%2)"_s.arg(who.name, shown(who.endpoints.front()))) + joined;
    }

private:
    static QString facts(const QString &line, const GraphEdge &edge)
    {
        QStringList facts{line};
        if (edge.age)
            facts[0] = (edge.atMost ? u"%1 for at most %2"_s : u"%1 for %2"_s).arg(line, formatDuration(*edge.age));
        if (edge.mode == inspect::Mode::Read || edge.mode == inspect::Mode::Permit)
            facts << (edge.mode == inspect::Mode::Read ? u"reading"_s : u"one permit"_s);
        return facts.join(u", "_s);
    }

    void addLocks(int client, const QString &indent)
    {
        std::set<int> seen;
        for (const auto *hold : m_holds[client]) {
            const auto waiting = m_waits.find(hold->lock);
            if (waiting == m_waits.end() || !seen.insert(hold->lock).second)
                continue;
            const auto &lock = m_graph.locks[static_cast<std::size_t>(hold->lock)];
            m_lines << indent + facts(u"holds %1"_s.arg(label(lock.name.text(), nameLength)), *hold);
            addWaiters(waiting->second, indent + u"  "_s);
        }
    }
    void addWaiters(const std::vector<const GraphEdge *> &waiting, const QString &indent)
    {
        int shown = 0;
        for (const auto *wait : waiting) {
            if (++shown > mostWaitersShown) {
                const auto more = qsizetype(waiting.size()) - mostWaitersShown;
                m_lines << indent + (more == 1 ? u"and 1 more waits"_s : u"and %1 more wait"_s.arg(more));
                return;
            }
            const bool isNew = m_told.insert(wait->client).second;
            const auto line = facts(u"%1 waits"_s.arg(name(wait->client)), *wait);
            m_lines << indent + (isNew ? line : u"%1 (see above)"_s.arg(line));
            if (isNew)
                addLocks(wait->client, indent + u"  "_s);
        }
    }

    const WaitGraph &m_graph;
    std::map<int, std::vector<const GraphEdge *>> m_holds; // by client
    std::map<int, std::vector<const GraphEdge *>> m_waits; // by lock
    std::set<int> m_told;
    QStringList m_lines;
};

QStringList togetherLines(const WaitGraph &graph)
{
    QStringList lines;
    for (const auto &group : graph.together) {
        if (lines.size() == mostGroupsShown) {
            lines << u"and %1 more such threads"_s.arg(qsizetype(graph.together.size()) - mostGroupsShown);
            break;
        }
        const auto names = mapped<QStringList>(group.locks, [&](const auto &name) {
            return label(inspect::LockName{group.connection, name}.text(), nameLength);
        });
        lines << u"held by one thread (%1), as the members of a MultiLock are: %2"_s.arg(label(group.thread),
                                                                                         names.join(u", "_s));
    }
    return lines;
}

// Queues whose first waiter waits for no client: for a node or key that is none of the lock's own.
QStringList elsewhereLines(const std::vector<inspect::LockSnapshot> &locks)
{
    QStringList lines;
    for (const auto &lock : locks) {
        if (const auto elsewhere = inspect::firstAwaitsElsewhere(lock))
            lines << u"the first in the queue of %1 waits for %2, which no client is known to hold"_s.arg(
                label(lock.lock.text(), nameLength), label(*elsewhere, nameLength));
    }
    return lines;
}

// Where no client holds a lock, and yet it is known for whom its waiters wait.
QStringList unheldLines(GraphTree &tree, const WaitGraph &graph)
{
    std::set<int> held;
    for (const auto &edge : graph.edges) {
        if (edge.kind != GraphEdge::Kind::Waits)
            held.insert(edge.lock);
    }
    QStringList lines;
    for (const auto &edge : graph.edges) {
        if (edge.kind != GraphEdge::Kind::Waits || edge.behind.empty() || held.contains(edge.lock))
            continue;
        const auto &lock = graph.locks[static_cast<std::size_t>(edge.lock)];
        lines << u"%1 waits for %2 at %3, which no client holds"_s.arg(
            tree.name(edge.client), tree.name(edge.behind.front()), label(lock.name.text(), nameLength));
    }
    return lines;
}

// Clients that wait for what they hold themselves.
QStringList ownLines(GraphTree &tree, const WaitGraph &graph)
{
    QStringList lines;
    for (const auto &edge : graph.edges) {
        if (edge.isBehindItself)
            lines << u"%1 holds %2 and waits for it, too"_s.arg(
                tree.name(edge.client),
                label(graph.locks[static_cast<std::size_t>(edge.lock)].name.text(), nameLength));
    }
    return lines;
}

// Lines that a filter shows or hides together.
struct GraphPart {
    QStringList lines;
    bool isHeading = false; // is always shown
};

std::vector<GraphPart> partsOf(const WaitGraph &graph, const std::vector<inspect::Coverage> &coverage,
                               const QStringList &elsewhere)
{
    GraphTree tree(graph);
    std::vector<GraphPart> parts;
    for (const auto &cycle : graph.cycles) {
        parts.push_back({{u"deadlock: "_s + harmless(cycle.sentence, 4000)}, true});
        for (const int client : cycle.clients) {
            const auto head =
                client == cycle.victim ? u"%1, in the deadlock, least costly to end"_s : u"%1, in the deadlock"_s;
            parts.push_back({tree.lines(client, head.arg(tree.name(client)))});
        }
    }
    for (const auto &root : graph.roots) {
        const auto known = root.waiting.count() > 0;
        const auto waiting = known ? u", %1 of waiting"_s.arg(formatDuration(root.waiting)) : QString();
        parts.push_back({tree.lines(
            root.client, u"%1 holds up %2 (%3 directly)%4"_s.arg(tree.name(root.client), QString::number(root.total),
                                                                 QString::number(root.direct), waiting))});
    }
    const auto explained = ownLines(tree, graph) + unheldLines(tree, graph);
    for (const auto &line : explained)
        parts.push_back({{line}});
    if (graph.waiting() == 0) {
        const int held = graph.held();
        parts.push_back({{inspect::noneFound(inspect::Question::Waits, true, coverage) + u"; "_s
                          + (held == 1 ? u"1 lock is held"_s : u"%1 locks are held"_s.arg(held))},
                         true});
    } else if (graph.roots.empty() && graph.cycles.empty() && explained.isEmpty() && elsewhere.isEmpty()) {
        parts.push_back({{graph.waiting() == 1 ? u"1 waits, for whom cannot be seen"_s
                                               : u"%1 wait, for whom cannot be seen"_s.arg(graph.waiting())},
                         true});
    }
    for (const auto &line : elsewhere + togetherLines(graph))
        parts.push_back({{line}});
    return parts;
}

QJsonObject jsonOf(const WaitGraph &graph)
{
    auto answer = inspect::toJson(graph);
    answer.insert(u"waitersUnknown"_s, waitersUnknownJson(graph));
    answer.insert(u"unlinked"_s, unlinkedJson(graph));
    return answer;
}

// As printed, and what is not known.
std::vector<GraphPart> partsOf(CommandContext &context, const WaitGraph &graph)
{
    const auto coverage = context.pictures.coverage();
    std::vector<GraphPart> parts{{{inspect::noneFound(inspect::Question::Waits, false, coverage)}, true}};
    if (context.pictures.isAnySeen())
        parts = partsOf(graph, coverage, elsewhereLines(context.pictures.locks()));
    for (const auto &line : unseenWaiterWords(graph) + unlinkedWords(graph) + coverageWords(context))
        parts.push_back({{line}, true});
    return parts;
}

// For the title: clients that wait may be unknown.
QString summaryOf(const WaitGraph &graph)
{
    const auto deadlocks = amountOf(std::ssize(graph.cycles), "deadlock"_L1, "deadlocks"_L1);
    const auto unknown = waitersUnknownJson(graph).size();
    QStringList parts{u"No waiting client found"_s};
    if (graph.waiting() > 0)
        parts = {amountOf(graph.waiting(), "waiting client"_L1, "waiting clients"_L1), deadlocks};
    if (unknown > 0)
        parts << u"waiters unknown for %1"_s.arg(amountOf(unknown, "lock"_L1, "locks"_L1));
    return parts.join(u", "_s);
}

class GraphView final : public LiveView {
public:
    explicit GraphView(CommandContext &context) : m_context(context) {}
    Task<void> read() override
    {
        auto graph = co_await m_context.pictures.waits(requestDeadline(m_context));
        m_graph = std::move(graph);
    }
    void forget(const ConnectionName &) override { m_graph.reset(); }
    [[nodiscard]] QStringList orders() const override { return {u"most blocked"_s, u"longest wait"_s}; }
    [[nodiscard]] LiveContent content(int width, int order, bool) override
    {
        LiveContent content{
            u"Waiting clients"_s, {}, {}, !m_graph || !m_context.pictures.isAnySeen(), m_graph.has_value()};
        if (content.isUnknown)
            return content;
        auto graph = *m_graph;
        content.title = summaryOf(graph);
        content.incomplete = incompleteText(m_context.pictures.coverage());
        if (order == 1)
            std::ranges::stable_sort(graph.roots, std::greater(), &inspect::RootBlocker::waiting);
        for (const auto &part : partsOf(m_context, graph)) {
            auto &block = content.blocks.emplace_back();
            block.isHeading = part.isHeading;
            for (const auto &line : part.lines) {
                const auto indent = line.size() - line.trimmed().size();
                for (const auto &piece : wrappedWhole(line.trimmed(), width - indent))
                    block.lines.push_back({{QString(indent, u' ') + piece}});
            }
        }
        return content;
    }
    // A JSON line when the graph or its coverage changes, ages aside.
    Task<Exit> printLines() override
    {
        const auto looked = co_await m_context.pictures.look(m_context);
        if (looked == Exit::NoConnection)
            co_return looked;
        reportBreaks(m_context);
        const UntilInterrupted until(m_context.loop(), m_context.interrupts);
        for (QByteArray last; !until.isOver();) {
            co_await read();
            auto answer = jsonOf(*m_graph);
            answer[u"time"_s] = inspect::isoTime(m_context.pictures.now());
            inspect::addClosing(answer, m_context.pictures.coverage());
            if (const auto key = withoutAges(); std::exchange(last, key) != key && !printJsonLine(answer))
                break;
            const auto paused = until.pause(std::chrono::seconds(1));
            co_await paused;
        }
        co_return Exit::Done;
    }

private:
    // Of an answer; messages of the coverage have ages, too.
    [[nodiscard]] QByteArray withoutAges() const
    {
        static const QRegularExpression numbers(u"[0-9]+"_s);
        auto coverage = m_context.pictures.coverage();
        for (auto &part : coverage)
            part.message.remove(numbers);
        QJsonObject rest{{u"waitersUnknown"_s, waitersUnknownJson(*m_graph)},
                         {u"unlinked"_s, unlinkedJson(*m_graph)}};
        inspect::addClosing(rest, coverage);
        return inspect::toDot(*m_graph) + QJsonDocument(rest).toJson();
    }
    CommandContext &m_context;
    std::optional<WaitGraph> m_graph;
};

} // namespace

Task<Result<Exit>> runGraph(CommandContext &context)
{
    CO_TRY(const bool isWatched, isWatching(context, u"graph"_s));
    if (isWatched && context.has(u"dot"_s))
        co_return Error{ErrorCode::BadInput, u"graph: --dot prints one graph; remove --watch or --dot"_s};
    if (isWatched) {
        GraphView view(context);
        const auto watched = co_await runWatch(context, view);
        co_return watched;
    }
    const auto looked = co_await context.pictures.look(context);
    const auto found = co_await context.pictures.waits(requestDeadline(context));
    if (context.json) {
        printClosedAnswer(context, jsonOf(found));
        co_return looked;
    }
    if (context.has(u"dot"_s)) {
        print(QString::fromUtf8(inspect::toDot(found)).trimmed());
        for (const auto &line : unseenWaiterWords(found) + unlinkedWords(found) + coverageWords(context))
            printError(line);
        co_return looked;
    }
    for (const auto &part : partsOf(context, found))
        print(part.lines.join(u'\n'));
    co_return looked;
}

} // namespace lockscope::ctl
