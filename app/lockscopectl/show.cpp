// SPDX-License-Identifier: Apache-2.0
// show: one lock, with its queue in order.
#include "app/lockscopectl/live.h"
#include "core/base/text.h"
#include "core/history/timeline.h"
#include "core/inspect/json.h"
#include "core/inspect/threaddump.h"

#include <QFileInfo>

namespace lockscope::ctl {

using inspect::LockSnapshot;

namespace {

// What happened to a lock, printed: show --timeline.
QJsonObject spansJson(const history::Spans &spans)
{
    const auto ms = [&spans](std::chrono::milliseconds span) {
        return spans.count > 0 ? QJsonValue(static_cast<qint64>(span.count())) : QJsonValue(QJsonValue::Null);
    };
    return {{u"count"_s, spans.count},
            {u"p50Ms"_s, ms(spans.p50)},
            {u"p90Ms"_s, ms(spans.p90)},
            {u"p99Ms"_s, ms(spans.p99)},
            {u"maxMs"_s, ms(spans.max)}};
}

QString spansLine(const QString &what, const history::Spans &spans)
{
    if (spans.count == 0)
        return u"%1: none was seen from begin to end"_s.arg(what);
    return u"%1: %2 seen from begin to end; p50 %3, p90 %4, p99 %5, longest %6"_s.arg(
        what, QString::number(spans.count), formatDuration(spans.p50), formatDuration(spans.p90),
        formatDuration(spans.p99), formatDuration(spans.max));
}

QJsonObject timelineJson(const history::Timeline &timeline)
{
    QJsonArray events;
    for (const auto &event : timeline.events) {
        const auto &who = event.contender;
        QJsonObject json{{u"at"_s, inspect::isoTime(event.at)}, {u"event"_s, history::nameOf(event.kind)}};
        json[u"id"_s] = who.id.isEmpty() ? QJsonValue() : QJsonValue(escaped(who.id));
        json[u"identity"_s] = who.identity ? QJsonValue(escaped(*who.identity)) : QJsonValue();
        if (!who.label.isEmpty())
            json[u"label"_s] = shown(who.label);
        json[u"endpoint"_s] = who.endpoint ? QJsonValue(shown(*who.endpoint)) : QJsonValue();
        json[u"spanMs"_s] = event.span ? QJsonValue(static_cast<qint64>(event.span->count())) : QJsonValue();
        json[u"words"_s] = harmless(history::wordsOf(event));
        events.append(json);
    }
    return {{u"events"_s, events},
            {u"handOffs"_s, timeline.handOffs},
            {u"forced"_s, timeline.forced},
            {u"holds"_s, spansJson(timeline.holds)},
            {u"waits"_s, spansJson(timeline.waits)},
            {u"gaps"_s, spansJson(timeline.gaps)}};
}

// The events in a table, then how long it was held and waited for.
QStringList timelineLines(const history::Timeline &timeline)
{
    auto columns = Table::columnsOf(u"SEEN AT|ID|ENDPOINT|~IDENTITY|+WHAT"_s);
    constexpr auto behindId = 2;
    const bool isCalled =
        std::ranges::any_of(timeline.events, [](const auto &event) { return !event.contender.label.isEmpty(); });
    if (isCalled)
        columns.insert(columns.begin() + behindId, {u"LABEL"_s});
    Table table(std::move(columns));
    for (const auto &event : timeline.events) {
        const auto &who = event.contender;
        QStringList cells{inspect::isoTime(event.at), who.id.isEmpty() ? u"-"_s : escaped(who.id),
                          shown(who.endpoint), who.id.isEmpty() ? u"-"_s : identityWords(who),
                          harmless(history::wordsOf(event))};
        if (isCalled)
            cells.insert(behindId, who.label.isEmpty() ? u"-"_s : shown(who.label));
        table.add(std::move(cells));
    }
    return {table.text(terminalWidth()),
            u"hand-offs: %1, forced releases: %2"_s.arg(QString::number(timeline.handOffs),
                                                        QString::number(timeline.forced)),
            spansLine(u"holds"_s, timeline.holds), spansLine(u"waits that ended in a hold"_s, timeline.waits),
            spansLine(u"gaps (not held, but waited for)"_s, timeline.gaps)};
}

QString queueTable(const LockSnapshot &lock, inspect::ServerTime now)
{
    const auto &words = infoOf(lock.backend).words;
    // Where time frees it: a key's, a lease's, a row's that says until when.
    const bool ends = std::ranges::any_of(lock.contenders, [](const auto &one) { return one.expiresAt.has_value(); });
    auto columns = Table::columnsOf(
        u">#|ROLE|MODE|ID|%1|ENDPOINT|>AGE|~%2|~IDENTITY"_s.arg(words.client.toUpper(), words.waitsFor.toUpper()));
    constexpr auto behindAge = 7;
    if (ends)
        columns.insert(columns.begin() + behindAge, {u"TTL"_s, Table::Align::Right});
    constexpr auto behindId = 4;
    const bool isCalled = std::ranges::any_of(lock.contenders, [](const auto &one) { return !one.label.isEmpty(); });
    if (isCalled)
        columns.insert(columns.begin() + behindId, {u"LABEL"_s});
    Table table(std::move(columns));
    for (const auto &contender : lock.contenders) {
        const auto role =
            roleWord(contender.role) + (contender.reentry > 1 ? u" ×%1"_s.arg(contender.reentry) : QString());
        // The id is never cut: it is what --holder takes.
        QStringList cells{contender.position ? QString::number(*contender.position) : u"-"_s,
                          role,
                          inspect::word(contender.mode),
                          escaped(contender.id),
                          shown(contender.session),
                          shown(contender.endpoint),
                          ageWords(contender, now),
                          watchWords(contender),
                          identityWords(contender)};
        if (ends)
            cells.insert(behindAge, contender.expiresAt ? formatDuration(*contender.expiresAt - now) : u"-"_s);
        if (isCalled)
            cells.insert(behindId, contender.label.isEmpty() ? u"-"_s : shown(contender.label));
        table.add(std::move(cells));
    }
    return table.text(terminalWidth());
}

QString nodeLine(const inspect::NodeSaid &said, inspect::ServerTime now)
{
    if (!said.answered)
        return u"node %1: no answer"_s.arg(shown(said.node));
    if (!said.value)
        return u"node %1: no token"_s.arg(shown(said.node));
    if (!said.expiresAt)
        return u"node %1: %2, without an expiry"_s.arg(shown(said.node), escaped(*said.value));
    const auto left = formatDuration(*said.expiresAt - now);
    return u"node %1: %2, for %3"_s.arg(shown(said.node), escaped(*said.value), left);
}

QString besideLine(const std::optional<HeldBeside> &beside)
{
    return beside ? inspect::heldWithSentence(*beside)
                  : u"other locks of its thread are unknown: the server has not been read completely yet"_s;
}

QStringList findingLines(const LockSnapshot &lock)
{
    QStringList lines;
    auto findings = lock.findings;
    std::ranges::stable_sort(findings, std::greater(), &inspect::Finding::severity);
    for (const auto &finding : findings)
        lines << u"%1 %2: %3"_s.arg(inspect::word(finding.severity), inspect::word(finding.code),
                                    harmless(finding.message));
    return lines;
}

// The facts that stand above the queue.
QStringList introduction(const LockSnapshot &lock, const std::optional<HeldBeside> &beside, inspect::ServerTime now)
{
    QStringList lines{inspect::answerSentence(lock, now)};
    const auto client = lock.client ? u" (%1)"_s.arg(shown(*lock.client)) : QString();
    lines << u"%1%2, confidence %3: %4"_s.arg(escaped(lock.recipe), client, inspect::word(lock.confidence),
                                              shown(lock.why));
    if (lock.confidence == inspect::Confidence::Low)
        lines << u"other commands hide this lock because of its low confidence; --all shows it"_s;
    if (const auto together = besideLine(beside); !together.isEmpty())
        lines << together;
    return lines;
}

QStringList partLines(const LockSnapshot &lock, inspect::ServerTime now)
{
    auto lines = mapped<QStringList>(lock.nodes, [&](const auto &said) { return nodeLine(said, now); });
    for (const auto &companion : lock.companions)
        lines << u"belongs to it: %1"_s.arg(label(companion));
    return lines;
}

// On a pipe.
void printText(const LockSnapshot &lock, const std::optional<HeldBeside> &beside, inspect::ServerTime now,
               const std::vector<inspect::Coverage> &coverage)
{
    auto lines = introduction(lock, beside, now);
    if (!lock.contenders.empty())
        lines << QString() << queueTable(lock, now);
    for (const auto &one : lock.contenders) {
        if (one.work && !inspect::workLines(*one.work, now).isEmpty())
            lines << u"%1: %2"_s.arg(escaped(one.id), inspect::workLines(*one.work, now).join(u"; "_s));
    }
    if (!lock.findings.empty())
        lines << QString();
    lines << findingLines(lock) << partLines(lock, now) << inspect::gapsIn(coverage);
    print(lines.join(u'\n'));
}

// The command that simulates the release by which a deadlock of this lock ends at the least cost.
QString suggestedCommand(const CommandContext &context, const LockSnapshot &lock)
{
    const auto *deadlock = lock.find(inspect::FindingCode::Deadlock);
    return deadlock && !deadlock->victim.empty() ? rehearsalText(context, deadlock->victim.front()) : QString();
}

// What was not read, or is not visible, for this lock.
QStringList incompleteLines(const LockSnapshot &lock, const std::vector<inspect::Coverage> &coverage)
{
    auto lines = inspect::gapsIn(coverage);
    if (!lock.waitersKnown)
        lines << u"Incomplete: the server does not report all clients that wait for this lock."_s;
    return lines;
}

// A lock, and what is known of it beside.
struct ShownLock {
    LockSnapshot lock;
    std::optional<inspect::WaitGraph> graph; // where a client waits
    std::optional<HeldBeside> beside;
    std::vector<inspect::Coverage> coverage;
};

Task<Result<ShownLock>> readShown(CommandContext *context, inspect::LockName name)
{
    const auto deadline = requestDeadline(*context);
    CO_TRY(auto &lock, co_await context->pictures.read(name, deadline));
    ShownLock shown{std::move(lock), {}, {}, {}};
    bool areDeadlocksKnown = true;
    if (shown.lock.waiterCount() > 0) { // a deadlock is seen over all connections only
        areDeadlocksKnown = co_await context->pictures.lookSoon();
        auto graph = co_await context->pictures.waits(deadline);
        addDeadlocks(shown.lock, graph, graph.cycles);
        shown.graph = std::move(graph);
    }
    auto beside = co_await context->pictures.heldWith(shown.lock);
    shown.beside = std::move(beside);
    shown.coverage = context->pictures.coverageOf(name.connection);
    for (auto &part : shown.coverage)
        part.hidden = {}; // other locks
    if (!areDeadlocksKnown)
        shown.coverage = inspect::withGap(std::move(shown.coverage), deadlocksUnknown(name.connection));
    co_return shown;
}

// On a terminal: problem first, then the queue with its rails.
std::vector<LiveBlock> reportBlocks(const CommandContext &context, const ShownLock &shown, int width)
{
    const auto &lock = shown.lock;
    const auto now = context.pictures.serverNow(lock);
    const auto status = statusOf(lock);
    Line head{{u"%1 %2"_s.arg(status.sign, status.word), status.ink}};
    for (const auto &connection : context.pictures.connections()) {
        if (connection.name == lock.lock.connection && connection.production)
            head.insert(head.end(), {{u"  "_s}, {u"PROD"_s, Ink::Reverse}});
    }
    head.push_back({u"  "_s + escaped(lock.lock.connection.bytes()), Ink::Bold});
    std::vector<LiveBlock> blocks{{{head}, true}};
    const auto addAll = [&](const QStringList &texts) {
        for (const auto &text : texts) {
            for (const auto &line : wrappedWhole(text, width))
                blocks.push_back({{{{line}}}, true});
        }
    };
    addAll(introduction(lock, shown.beside, now));
    const LiveBlock blank{{Line()}, true};
    if (!lock.findings.empty())
        blocks.push_back(blank);
    addAll(findingLines(lock));
    if (const auto command = suggestedCommand(context, lock); !command.isEmpty())
        blocks.push_back({{{{command}}}, true});
    blocks.push_back(blank);
    if (!lock.contenders.empty()) {
        for (auto &line : queueLines(lock, shown.graph ? &*shown.graph : nullptr, now, width))
            blocks.push_back({{std::move(line)}});
        blocks.push_back(blank);
    }
    const auto holder = std::ranges::find(lock.contenders, inspect::Role::Holder, &inspect::Contender::role);
    if (const auto *next = lock.holderCount() == 1 ? lock.nextAfter(holder->id) : nullptr;
        next && inspect::isSureToAcquire(lock, *next))
        addAll({u"After a release, %1 acquires the lock."_s.arg(clientText(*next, lock.backend))});
    addAll(partLines(lock, now));
    addAll({u"As of %1."_s.arg(
        isoSeconds(std::chrono::floor<std::chrono::seconds>(context.pictures.now()).time_since_epoch()))});
    addAll(incompleteLines(lock, shown.coverage));
    return blocks;
}

// What happened to it up to then, where that was asked for.
Result<std::optional<history::Timeline>> askedTimeline(CommandContext &context, const inspect::LockName &lock)
{
    if (!context.has(u"timeline"_s))
        return std::optional<history::Timeline>();
    const auto moment = context.pictures.recorded();
    if (!moment)
        return Error{ErrorCode::BadInput, u"show: --timeline is answered from a recording: lockscopectl record FILE, "
                                          u"then replay FILE show LOCK --timeline"_s};
    const auto history = moment->recording->historyOf(lock, moment->asOf);
    if (!history)
        return history.error();
    return std::optional(history::timelineOf(*history, context.labels));
}

// A thread dump of --thread-dump [CLIENT=]FILE.
struct NamedDump {
    QString file;
    QString client;
    std::vector<inspect::DumpedThread> threads;
};

// Read before anything is asked of a server.
Result<std::vector<NamedDump>> namedDumps(const CommandContext &context)
{
    constexpr qint64 largestDump = 64 << 20;
    std::vector<NamedDump> dumps;
    for (const auto &given : context.arguments.options.value(u"thread-dump"_s)) {
        const bool namesClient = !QFileInfo::exists(given) && given.contains(u'=');
        auto &dump = dumps.emplace_back();
        dump.file = namesClient ? given.section(u'=', 1) : given;
        dump.client = namesClient ? given.section(u'=', 0, 0) : QString();
        const auto bytes = readRegularFile(dump.file, largestDump);
        if (!bytes)
            return Error{ErrorCode::BadInput,
                         u"--thread-dump: %1: %2"_s.arg(shown(dump.file), bytes.error().message)};
        TRY(dump.threads, inspect::readThreadDump(*bytes));
    }
    return dumps;
}

struct DumpOfLock {
    QString file;
    inspect::JoinedThreads joined;
};

Result<std::vector<DumpOfLock>> joinDumps(const LockSnapshot &lock, const std::vector<NamedDump> &dumps)
{
    std::vector<DumpOfLock> all;
    for (const auto &dump : dumps) {
        TRY(auto joined, inspect::joinThreads(lock, dump.threads, dump.client));
        all.push_back({dump.file, std::move(joined)});
    }
    return all;
}

QJsonArray dumpsJson(const std::vector<DumpOfLock> &dumps)
{
    QJsonArray all;
    for (const auto &dump : dumps) {
        auto json = inspect::toJson(dump.joined);
        json[u"file"_s] = shown(dump.file);
        all.append(json);
    }
    return all;
}

// Reads the lock again whenever something changes.
class ShowView final : public LiveView {
public:
    ShowView(CommandContext &context, inspect::LockName name) : m_context(context), m_name(std::move(name)) {}
    Task<void> read() override
    {
        auto read = co_await readShown(&m_context, m_name);
        m_shown = std::move(read);
    }
    void forget(const ConnectionName &name) override
    {
        if (name == m_name.connection)
            m_shown.reset();
    }
    [[nodiscard]] LiveContent content(int width, int, bool) override
    {
        LiveContent content{escaped(m_name.text()), {}, {}, !m_shown || !isConnected(), m_shown.has_value()};
        if (content.isUnknown)
            return content;
        if (!*m_shown) {
            content.blocks = {{{{{m_shown->error().message}}}, true}};
            return content;
        }
        content.blocks = reportBlocks(m_context, **m_shown, width);
        if (!incompleteLines((*m_shown)->lock, (*m_shown)->coverage).isEmpty())
            content.incomplete = u"incomplete, End shows why"_s;
        return content;
    }
    Task<Exit> printLines() override
    {
        const std::function<bool(const inspect::LockName &)> isNamed = [this](const auto &lock) {
            return lock == m_name;
        };
        const auto watched = co_await watchLocks(m_context, isNamed);
        co_return watched;
    }

private:
    [[nodiscard]] bool isConnected() const
    {
        const auto all = m_context.pictures.connections();
        const auto own = std::ranges::find(all, m_name.connection, &inspect::LinkState::name);
        return own != all.end() && own->isConnected;
    }
    CommandContext &m_context;
    inspect::LockName m_name;
    std::optional<Result<ShownLock>> m_shown;
};

} // namespace

Task<Result<Exit>> runShow(CommandContext &context)
{
    CO_TRY(const auto &name, lockOf(context));
    CO_TRY(const bool isWatched, isWatching(context, u"show"_s));
    if (isWatched && (context.has(u"timeline"_s) || context.has(u"thread-dump"_s)))
        co_return Error{ErrorCode::BadInput, u"show: --watch takes neither --timeline nor --thread-dump"_s};
    if (isWatched) {
        ShowView view(context, name);
        const auto watched = co_await runWatch(context, view);
        co_return watched;
    }
    CO_TRY(const auto &timeline, askedTimeline(context, name));
    CO_TRY(const auto &dumps, namedDumps(context));
    CO_TRY(const auto &found, co_await readShown(&context, name));
    CO_TRY(const auto &threads, joinDumps(found.lock, dumps));
    if (context.json) {
        auto json = inspect::toJson(found.lock);
        if (!found.beside || !found.beside->empty())
            json[u"heldWith"_s] = found.beside ? QJsonValue(namesBeside(found.lock, *found.beside)) : QJsonValue();
        QJsonObject answer{{u"lock"_s, json}, {u"coverage"_s, inspect::toJson(found.coverage)}};
        if (timeline)
            answer[u"timeline"_s] = timelineJson(*timeline);
        if (!threads.empty())
            answer[u"threadDumps"_s] = dumpsJson(threads);
        printAnswer(context, std::move(answer));
        co_return Exit::Done;
    }
    if (terminalWidth() > 0)
        printLines(linesOf(reportBlocks(context, found, terminalWidth())));
    else
        printText(found.lock, found.beside, context.pictures.serverNow(found.lock), found.coverage);
    for (const auto &dump : threads)
        print(u"\n%1: %2"_s.arg(shown(dump.file), inspect::threadLines(dump.joined).join(u'\n')));
    if (timeline)
        print(u'\n' + timelineLines(*timeline).join(u'\n'));
    co_return Exit::Done;
}

} // namespace lockscope::ctl
