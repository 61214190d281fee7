// SPDX-License-Identifier: Apache-2.0
// locks: every lock found, and with --watch every change of one.
#include "app/lockscopectl/foundfindings.h"
#include "app/lockscopectl/live.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

using inspect::LockSnapshot;

namespace {

enum class LockOrder { Worst, Name, Waiters, Held };

// By default the most severe finding first, then the longest queue, then the name.
void sortLocks(std::vector<LockSnapshot> &locks, LockOrder order = LockOrder::Worst)
{
    std::ranges::stable_sort(locks, {}, [order](const LockSnapshot &lock) {
        const auto holder = std::ranges::find(lock.contenders, inspect::Role::Holder, &inspect::Contender::role);
        const auto since =
            order == LockOrder::Held && holder != lock.contenders.end() ? holder->heldSince : std::nullopt;
        return std::tuple(since.value_or(inspect::ServerTime::max()),
                          order == LockOrder::Worst ? -int(lock.worst()) : 0,
                          order == LockOrder::Name ? 0 : -lock.waiterCount(), lock.lock);
    });
}

// On a pipe: a line for each lock.
void printRows(CommandContext &context, const std::vector<LockSnapshot> &locks)
{
    Table table({});
    for (const auto &lock : locks) {
        const auto holder = holderText(lock);
        table.add({statusOf(lock).word, escaped(lock.lock.text()), holder.isEmpty() ? u"-"_s : holder,
                   waitingWords(lock), ageWords(lock, context.pictures.serverNow(lock)), escaped(lock.recipe),
                   findingWords(lock)});
    }
    print(table.text(0));
}

// Such locks of one holder share a row: no client waits, and no finding is a warning.
bool isQuiet(const LockSnapshot &lock)
{
    return lock.state == inspect::LockState::Held && lock.holderCount() == 1 && lock.waiterCount() == 0
           && lock.waitersKnown && lock.worst() == inspect::Severity::Info;
}

ReportRow rowOf(CommandContext &context, const LockSnapshot &lock)
{
    QStringList texts;
    if (const auto holder = holderText(lock); !holder.isEmpty())
        texts << holder;
    if (const auto findings = findingWords(lock); !findings.isEmpty())
        texts << findings;
    return {statusOf(lock),
            escaped(lock.lock.name),
            texts,
            {waitingWords(lock), ageWords(lock, context.pictures.serverNow(lock))}};
}

void addLocks(std::vector<LiveBlock> &blocks, CommandContext &context, const inspect::LinkState &connection,
              const std::vector<LockSnapshot> &locks, int width, bool isEachShown)
{
    constexpr std::size_t fewest = 4; // that share a row
    std::map<QString, std::vector<const LockSnapshot *>> quiet;
    std::vector<const LockSnapshot *> here;
    for (const auto &lock : locks) {
        if (lock.lock.connection != connection.name)
            continue;
        here.push_back(&lock);
        if (isQuiet(lock) && !isEachShown)
            quiet[holderText(lock)].push_back(&lock);
    }
    if (here.empty())
        return;
    auto &head = blocks.emplace_back(std::vector<Line>(), true).lines;
    addHeading(head, connectionLine(connection), amountOf(std::ssize(here), "lock"_L1, "locks"_L1), width);
    add(head, {{u"STATE"_s, {}}, u"LOCK and HOLDER"_s, {}, {u"WAIT"_s, u"HELD"_s}}, width);
    for (const auto *lock : here) {
        const auto shared = isQuiet(*lock) ? quiet.find(holderText(*lock)) : quiet.end();
        if (shared == quiet.end() || shared->second.size() < fewest)
            add(blocks.emplace_back().lines, rowOf(context, *lock), width);
    }
    for (const auto &[holder, shared] : quiet) {
        if (shared.size() < fewest)
            continue;
        auto row = rowOf(context, *shared.front());
        row.title = u"%1 locks, no client waits"_s.arg(shared.size());
        row.texts = {holder, u"--all-held lists them"_s};
        row.amounts = {u"0"_s, u"-"_s};
        add(blocks.emplace_back().lines, row, width);
    }
    blocks.push_back({{{}}, true});
}

void printReport(CommandContext &context, const std::vector<LockSnapshot> &locks,
                 const std::vector<inspect::Incident> &incidents)
{
    const int width = terminalWidth();
    std::vector<Line> lines;
    std::vector<LiveBlock> blocks;
    addIncidents(lines, incidents, context, width);
    for (const auto &connection : context.pictures.connections())
        addLocks(blocks, context, connection, locks, width, context.has(u"all-held"_s));
    std::ranges::move(linesOf(blocks), std::back_inserter(lines));
    lines.push_back({{u"%1 as of %2."_s.arg(
        amountOf(std::ssize(locks), "lock"_L1, "locks"_L1),
        isoSeconds(std::chrono::floor<std::chrono::seconds>(context.pictures.now()).time_since_epoch()))}});
    printLines(lines);
}

// What --match selects.
struct SelectedLocks {
    std::vector<LockSnapshot> locks;
    std::vector<inspect::Incident> incidents;
};
SelectedLocks selectedLocks(CommandContext &context, const inspect::WaitGraph &graph)
{
    SelectedLocks selected{context.pictures.locks(), {}};
    auto &[locks, incidents] = selected;
    for (auto &lock : locks)
        addDeadlocks(lock, graph, graph.cycles);
    incidents = inspect::incidentsOf(graph, locks, context.pictures.coverage());
    removeMuted(incidents, mutesAt(context.pictures.now()));
    const auto isSelected = [&context](const inspect::LockName &lock) { return isMatched(context, lock); };
    std::erase_if(locks, [&](const LockSnapshot &lock) { return !isSelected(lock.lock); });
    std::erase_if(incidents, [&](const inspect::Incident &incident) {
        return !context.arguments.value(u"match"_s).isEmpty() && std::ranges::none_of(incident.locks, isSelected);
    });
    return selected;
}

void printAll(CommandContext &context, const inspect::WaitGraph &graph)
{
    auto [locks, incidents] = selectedLocks(context, graph);
    if (!context.json) {
        sortLocks(locks);
        if (locks.empty())
            print(inspect::noneFound(inspect::Question::Locks, true, context.pictures.coverage()));
        else if (terminalWidth() > 0)
            printReport(context, locks, incidents);
        else
            printRows(context, locks);
        for (const auto &line : coverageWords(context))
            print(line);
        return;
    }
    std::ranges::sort(locks, {}, &LockSnapshot::lock);
    QJsonArray array;
    for (const auto &lock : locks) {
        auto json = inspect::toJson(lock);
        const auto others = namesBeside(lock, heldWith(lock, graph.together));
        if (!others.isEmpty())
            json.insert(u"heldWith"_s, others);
        array.append(json);
    }
    printClosedAnswer(context, QJsonObject{{u"incidents"_s, inspect::toJson(incidents)}, {u"locks"_s, array}});
}

class LocksView final : public LiveView {
public:
    explicit LocksView(CommandContext &context) : m_context(context) {}
    Task<void> read() override
    {
        auto graph = co_await m_context.pictures.waits(requestDeadline(m_context));
        m_graph = std::move(graph);
    }
    void forget(const ConnectionName &) override { m_graph.reset(); }
    [[nodiscard]] QStringList orders() const override
    {
        return {u"worst first"_s, u"name"_s, u"most waiters"_s, u"longest held"_s};
    }
    [[nodiscard]] LiveContent content(int width, int order, bool isFiltered) override
    {
        auto [locks, incidents] = selectedLocks(m_context, m_graph.value_or(inspect::WaitGraph()));
        sortLocks(locks, LockOrder(order));
        const auto contended = std::ranges::count(locks, inspect::LockState::Contended, &LockSnapshot::state);
        const auto total = amountOf(std::ssize(locks), "lock"_L1, "locks"_L1);
        const bool isScanned = std::ranges::all_of(m_context.workspace.links(), [](Link *link) {
            return !link->isConnected() || link->observer().firstSnapshot().isComplete();
        });
        LiveContent content;
        content.isUnknown = !m_context.pictures.isAnySeen();
        content.isRead = m_graph.has_value();
        if (!content.isUnknown)
            content.incomplete = incompleteText(m_context.pictures.coverage());
        QStringList title{isScanned ? total : u"%1 so far"_s.arg(total), u"%1 contended"_s.arg(contended)};
        if (!content.isRead)
            title << u"deadlocks not read yet"_s;
        content.title = content.isUnknown ? u"Locks unknown"_s : title.join(u", "_s);
        addIncidents(content.pinned, incidents, m_context, width, true);
        if (!content.isRead && !content.pinned.empty())
            content.pinned.front() = {{u"INCIDENTS, deadlocks not read yet"_s, Ink::Bold}};
        for (const auto &connection : m_context.pictures.connections()) {
            if (connection.isConnected)
                addLocks(content.blocks, m_context, connection, locks, width,
                         isFiltered || m_context.has(u"all-held"_s));
        }
        for (const auto &line : coverageWords(m_context))
            content.blocks.push_back({{{{line}}}, true});
        return content;
    }
    Task<Exit> printLines() override
    {
        const std::function<bool(const inspect::LockName &)> isSelected = [this](const auto &lock) {
            return isMatched(m_context, lock);
        };
        const auto watched = co_await watchLocks(m_context, isSelected);
        co_return watched;
    }

private:
    CommandContext &m_context;
    std::optional<inspect::WaitGraph> m_graph;
};

} // namespace

Task<Result<Exit>> runLocks(CommandContext &context)
{
    CO_TRY(const bool isWatched, isWatching(context, u"locks"_s));
    if (isWatched) {
        LocksView view(context);
        const auto watched = co_await runWatch(context, view);
        co_return watched;
    }
    const auto looked = co_await context.pictures.look(context);
    if (context.pictures.isAnySeen()) {
        const auto graph = co_await context.pictures.waits(requestDeadline(context));
        printAll(context, graph);
    }
    co_return looked;
}

} // namespace lockscope::ctl
