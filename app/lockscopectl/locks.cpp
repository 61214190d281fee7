// SPDX-License-Identifier: Apache-2.0
// locks: every lock found, and with --watch every change of one.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/report.h"
#include "core/async/completion.h"
#include "core/base/text.h"
#include "core/inspect/coverage.h"
#include "core/inspect/json.h"
#include "core/inspect/thresholds.h"

#include <QRegularExpression>

#include <algorithm>
#include <set>

namespace lockscope::ctl {

using inspect::LockSnapshot;

namespace {

// Against CONNECTION:NAME, or NAME alone; * matches slashes and colons too.
bool matches(const QString &glob, const inspect::LockName &lock)
{
    return glob.isEmpty() || inspect::matchesGlob(lock, glob);
}

// What needs a person first: the gravest finding, then the longest queue, then the name.
void sortByNeed(std::vector<LockSnapshot> &locks)
{
    std::ranges::stable_sort(locks, {}, [](const LockSnapshot &lock) {
        return std::tuple(-int(lock.worst()), -lock.waiterCount(), lock.lock);
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

void addLocks(std::vector<Line> &lines, CommandContext &context, const inspect::LinkState &connection,
              const std::vector<LockSnapshot> &locks)
{
    constexpr std::size_t fewest = 4; // that share a row
    const int width = terminalWidth();
    std::map<QString, std::vector<const LockSnapshot *>> quiet;
    std::vector<const LockSnapshot *> here;
    for (const auto &lock : locks) {
        if (lock.lock.connection != connection.name)
            continue;
        here.push_back(&lock);
        if (isQuiet(lock) && !context.has(u"all-held"_s))
            quiet[holderText(lock)].push_back(&lock);
    }
    if (here.empty())
        return;
    addHeading(lines, connectionLine(connection), amountOf(std::ssize(here), "lock"_L1, "locks"_L1), width);
    add(lines, {{u"STATE"_s, {}}, u"LOCK and HOLDER"_s, {}, {u"WAIT"_s, u"HELD"_s}}, width);
    for (const auto *lock : here) {
        const auto shared = isQuiet(*lock) ? quiet.find(holderText(*lock)) : quiet.end();
        if (shared == quiet.end() || shared->second.size() < fewest)
            add(lines, rowOf(context, *lock), width);
    }
    for (const auto &[holder, shared] : quiet) {
        if (shared.size() < fewest)
            continue;
        auto row = rowOf(context, *shared.front());
        row.title = u"%1 locks, no client waits"_s.arg(shared.size());
        row.texts = {holder, u"--all-held lists them"_s};
        row.amounts = {u"0"_s, u"-"_s};
        add(lines, row, width);
    }
    lines.push_back({});
}

void printReport(CommandContext &context, const std::vector<LockSnapshot> &locks,
                 const std::vector<inspect::Incident> &incidents)
{
    std::vector<Line> lines;
    addIncidents(lines, incidents, context, terminalWidth());
    for (const auto &connection : context.pictures.connections())
        addLocks(lines, context, connection, locks);
    lines.push_back({{u"%1 as of %2."_s.arg(
        amountOf(std::ssize(locks), "lock"_L1, "locks"_L1),
        isoSeconds(std::chrono::floor<std::chrono::seconds>(context.pictures.now()).time_since_epoch()))}});
    printLines(lines);
}

void printAll(CommandContext &context, const inspect::WaitGraph &graph)
{
    const auto glob = context.arguments.value(u"match"_s);
    auto locks = context.pictures.locks();
    for (auto &lock : locks)
        addDeadlocks(lock, graph, graph.cycles);
    auto incidents = inspect::incidentsOf(graph, locks, context.pictures.coverage());
    removeMuted(incidents, mutesAt(context.pictures.now()));
    std::erase_if(locks, [&](const LockSnapshot &lock) { return !matches(glob, lock.lock); });
    std::erase_if(incidents, [&](const inspect::Incident &incident) {
        return !glob.isEmpty()
               && std::ranges::none_of(incident.locks, [&](const auto &lock) { return matches(glob, lock); });
    });
    if (!context.json) {
        sortByNeed(locks);
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

bool printChange(const inspect::SnapshotChange &change)
{
    const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    return printJsonLine(QJsonObject{{u"time"_s, inspect::isoTime(now)},
                                     {u"change"_s, inspect::word(change.kind)},
                                     {u"lock"_s, inspect::toJson(change.lock)}});
}

// Says on stderr what is not seen, each thing at most once a minute: how old it is changes all the time.
class CoverageTeller {
public:
    explicit CoverageTeller(Loop &loop) : m_loop(&loop) {}
    void operator()(const ConnectionName &name, const std::vector<inspect::Coverage> &coverage)
    {
        static const QRegularExpression numbers(u"[0-9]+"_s);
        for (const auto &part : coverage) {
            const auto kind = std::pair(name, QString(part.message).remove(numbers));
            const auto told = m_told.find(kind);
            if (part.complete || (told != m_told.end() && m_loop->now() - told->second < std::chrono::minutes(1)))
                continue;
            m_told[kind] = m_loop->now();
            printError(u"%1: incomplete: %2"_s.arg(escaped(name.bytes()), harmless(part.message)));
        }
    }

private:
    Loop *m_loop;
    std::map<std::pair<ConnectionName, QString>, Instant> m_told;
};

// Until interrupted, or until nobody reads our lines any more.
Task<Exit> watch(CommandContext &context)
{
    const Completion<Exit> ended(context.loop());
    const auto glob = context.arguments.value(u"match"_s);
    context.interrupts.setHandler([ended](Interrupt) { ended.complete(Exit::Done); });
    context.sink.onChange([ended, glob, labels = context.labels](inspect::SnapshotChange change) {
        addLabels(change.lock, labels);
        if (matches(glob, change.lock.lock) && !printChange(change))
            ended.complete(Exit::Done);
    });
    context.sink.onCoverage(CoverageTeller(context.loop()));
    // The sink may have heard of changes before the listener was there.
    const auto connected = co_await connectAll(context);
    if (connected != Exit::Done)
        co_return connected;
    reportBreaks(context);
    const auto status = co_await ended;
    context.sink.onChange({});
    context.sink.onCoverage({});
    co_return status;
}

} // namespace

Task<Result<Exit>> runLocks(CommandContext &context)
{
    if (context.has(u"watch"_s) && context.pictures.recorded())
        co_return fail({ErrorCode::BadInput, u"locks: --watch follows servers; a recording is over"_s});
    if (context.has(u"watch"_s)) {
        const auto watched = co_await watch(context);
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
