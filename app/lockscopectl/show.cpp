// SPDX-License-Identifier: Apache-2.0
// show: one lock, with its queue in order.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/locktext.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/report.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/history/timeline.h"
#include "core/inspect/coverage.h"
#include "core/inspect/json.h"
#include "core/inspect/waits/clients.h"

#include <QJsonArray>
#include <QJsonObject>

#include <algorithm>
#include <functional>

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
    std::vector<Table::Column> columns{{u"SEEN AT"_s},
                                       {u"ID"_s},
                                       {u"ENDPOINT"_s},
                                       {u"IDENTITY"_s, Table::Align::Left, true},
                                       {u"WHAT"_s, Table::Align::Left, false, true}};
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
    std::vector<Table::Column> columns{{u"#"_s, Table::Align::Right},
                                       {u"ROLE"_s},
                                       {u"MODE"_s},
                                       {u"ID"_s},
                                       {words.client.toUpper()},
                                       {u"ENDPOINT"_s},
                                       {u"AGE"_s, Table::Align::Right},
                                       {words.waitsFor.toUpper(), Table::Align::Left, true},
                                       {u"IDENTITY"_s, Table::Align::Left, true}};
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

// On a terminal: a row for each contender, with nothing cut.
std::vector<Line> queueLines(const LockSnapshot &lock, inspect::ServerTime now)
{
    std::vector<Line> lines;
    const int width = terminalWidth();
    add(lines, {{u"QUEUE"_s, {}}, u"CLIENT"_s, {}, {u"AGE"_s}}, width);
    for (const auto &contender : lock.contenders) {
        const bool holds = contender.role == inspect::Role::Holder;
        const auto place =
            holds || !contender.position ? inspect::word(contender.role) : QString::number(*contender.position);
        QStringList facts{u"ID %1"_s.arg(escaped(contender.id))};
        if (contender.session)
            facts << u"%1 %2"_s.arg(infoOf(lock.backend).words.client, shown(contender.session));
        if (contender.endpoint)
            facts << shown(*contender.endpoint);
        const auto name = clientText(contender, lock.backend);
        if (const auto identity = identityWords(contender); identity != u"-"_s && identity != name)
            facts << identity;
        if (contender.mode != inspect::Mode::Exclusive)
            facts << inspect::word(contender.mode);
        if (contender.reentry > 1)
            facts << u"held %1 times"_s.arg(contender.reentry);
        if (contender.expiresAt)
            facts << u"expires in %1"_s.arg(formatDuration(*contender.expiresAt - now));
        QStringList texts{facts.join(u", "_s)};
        if (!contender.watches.isEmpty())
            texts << u"%1 %2"_s.arg(infoOf(lock.backend).words.waitsFor, watchWords(contender));
        add(lines,
            {{roleSign(contender.role), place, holds ? Ink::Cyan : Ink::Yellow},
             name,
             texts,
             {ageWords(contender, now)}},
            width);
    }
    return lines;
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

void printText(const LockSnapshot &lock, const std::optional<HeldBeside> &beside, inspect::ServerTime now,
               const std::vector<inspect::Coverage> &coverage)
{
    QStringList lines;
    lines << inspect::answerSentence(lock, now);
    const auto client = lock.client ? u" (%1)"_s.arg(shown(*lock.client)) : QString();
    lines << u"%1%2, confidence %3: %4"_s.arg(escaped(lock.recipe), client, inspect::word(lock.confidence),
                                              shown(lock.why));
    if (const auto together = besideLine(beside); !together.isEmpty())
        lines << together;
    if (!lock.contenders.empty() && terminalWidth() > 0) {
        print(lines.join(u'\n') + u'\n');
        printLines(queueLines(lock, now));
        lines.clear();
    } else if (!lock.contenders.empty()) {
        lines << QString() << queueTable(lock, now);
    }
    if (!lock.findings.empty())
        lines << QString();
    auto findings = lock.findings;
    std::ranges::stable_sort(findings, std::greater(), &inspect::Finding::severity);
    for (const auto &finding : findings)
        lines << u"%1 %2: %3"_s.arg(inspect::word(finding.severity), inspect::word(finding.code),
                                    harmless(finding.message));
    for (const auto &said : lock.nodes)
        lines << nodeLine(said, now);
    for (const auto &companion : lock.companions)
        lines << u"belongs to it: %1"_s.arg(label(companion));
    lines << inspect::gapsIn(coverage);
    print(lines.join(u'\n'));
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

Task<Exit> show(CommandContext &context)
{
    const auto name = lockOf(context);
    if (!name)
        co_return fail(name.error());
    const auto timeline = askedTimeline(context, *name);
    if (!timeline)
        co_return fail(timeline.error());
    const auto deadline = requestDeadline(context);
    auto reading = context.pictures.read(*name, deadline);
    auto lock = co_await reading;
    if (!lock)
        co_return fail(lock.error());
    bool areDeadlocksKnown = true;
    if (lock->waiterCount() > 0) { // a deadlock is seen over all connections only
        auto looking = context.pictures.lookSoon();
        areDeadlocksKnown = co_await looking;
        auto following = context.pictures.waits(context, deadline);
        const auto graph = co_await following;
        addDeadlocks(*lock, graph, graph.cycles);
    }
    auto finding = context.pictures.heldWith(*lock);
    const auto beside = co_await finding;
    auto coverage = context.pictures.coverageOf(name->connection);
    for (auto &part : coverage)
        part.hidden = {}; // other locks
    if (!areDeadlocksKnown)
        coverage = inspect::withGap(std::move(coverage), deadlocksUnknown(name->connection));
    if (context.json) {
        auto json = inspect::toJson(*lock);
        if (!beside || !beside->empty())
            json[u"heldWith"_s] = beside ? QJsonValue(namesBeside(*lock, *beside)) : QJsonValue();
        QJsonObject answer{{u"lock"_s, json}, {u"coverage"_s, inspect::toJson(coverage)}};
        if (*timeline)
            answer[u"timeline"_s] = timelineJson(**timeline);
        printAnswer(context, std::move(answer));
        co_return Exit::Done;
    }
    printText(*lock, beside, context.pictures.serverNow(*lock), coverage);
    if (*timeline)
        print(u'\n' + timelineLines(**timeline).join(u'\n'));
    co_return Exit::Done;
}

} // namespace

CommandSpec showCommand()
{
    CommandSpec spec;
    spec.name = u"show"_s;
    spec.words = u"LOCK"_s;
    spec.summary = u"show a lock's holders, queue, watches and findings"_s;
    spec.options = {
        {u"timeline"_s, {}, u"add events and durations (only from a recording)"_s},
    };
    spec.fewestWords = spec.mostWords = 1;
    spec.answersSoon = spec.isReplayable = true;
    spec.examples = {u"show zk:/locks/orders"_s, u"show zk:/locks/orders --json"_s};
    spec.run = show;
    return spec;
}

} // namespace lockscope::ctl
