// SPDX-License-Identifier: Apache-2.0
// findings: everything that is wrong anywhere, gravest first.
#include "app/lockscopectl/findingalerts.h"
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

namespace lockscope::ctl {

namespace {

using inspect::Severity;

QString messageWords(const FoundFinding &found)
{
    const auto message = harmless(found.finding.message);
    return found.muted ? u"muted until %1: %2 · %3"_s.arg(isoSeconds(found.muted->until.time_since_epoch()),
                                                          harmless(found.muted->reason), message)
                       : message;
}

QString lockWords(const FoundFinding &found)
{
    const auto names = mapped<QStringList>(found.locks, [&](const auto &lock) { return escaped(lock.text()); });
    return names.isEmpty() ? escaped(found.connection.bytes()) : names.join(u", "_s);
}

// An incident says it already.
bool isIn(const std::vector<inspect::Incident> &incidents, const FoundFinding &found)
{
    if (found.finding.code == inspect::FindingCode::DeadlockEnded)
        return !found.muted;
    return !found.muted && std::ranges::any_of(incidents, [&](const inspect::Incident &incident) {
        return std::ranges::all_of(
                   found.locks,
                   [&](const inspect::LockName &lock) {
                       const bool isCause = incident.code == found.finding.code
                                            && std::ranges::find(incident.locks, lock) != incident.locks.end();
                       return isCause
                              || std::ranges::find(incident.folded, inspect::FoldedFinding{lock, found.finding.code})
                                     != incident.folded.end();
                   })
               && !found.locks.empty();
    });
}

bool isAmong(const std::vector<FoundFinding> &all, const inspect::Incident &incident)
{
    return std::ranges::any_of(all, [&incident](const FoundFinding &found) {
        return found.finding.code == incident.code && std::ranges::any_of(found.locks, [&](const auto &lock) {
                   return std::ranges::find(incident.locks, lock) != incident.locks.end();
               });
    });
}

// Incidents, then what none of them explains. What is worth no more than a note is counted by its code.
void printReport(const CommandContext &context, const std::vector<FoundFinding> &all,
                 const std::vector<inspect::Incident> &incidents, bool isWhole)
{
    const int width = terminalWidth();
    std::vector<Line> lines;
    addIncidents(lines, incidents, context, width);
    std::map<QString, int> notes;
    for (const auto &found : all) {
        if (isIn(incidents, found))
            continue;
        if (found.finding.severity == Severity::Info && !isWhole) {
            ++notes[inspect::word(found.finding.code)];
            continue;
        }
        const auto &kind = inspect::kindOf(found.finding.code);
        QStringList texts{messageWords(found)};
        if (found.finding.severity != Severity::Info)
            texts << u"Confirm: %1"_s.arg(kind.confirm) << u"Action: %1"_s.arg(kind.remedy);
        add(lines, {statusOf(found.finding), lockWords(found), texts, {inspect::word(found.finding.severity)}},
            width);
    }
    QStringList counts;
    for (const auto &[code, count] : notes)
        counts << u"%1 %2"_s.arg(QString::number(count), code);
    if (!counts.isEmpty())
        lines.push_back({{u"INFO  "_s, Ink::Bold}, {u"%1 (--severity info lists them)"_s.arg(counts.join(u", "_s))}});
    printLines(lines);
}

} // namespace

Task<Result<Exit>> runFindings(CommandContext &context)
{
    CO_TRY(const auto &options, alertOptionsOf(context));
    if (context.has(u"watch"_s)) {
        const auto watched = co_await watchFindings(context, options);
        co_return watched;
    }
    const auto looked = co_await context.pictures.look(context);
    auto look = co_await lookForLastingFindings(context, options);
    const auto status = alertStatus(context, options, look, looked);
    if (status == Exit::Warning || status == Exit::Critical) {
        AlertCommand command(options.command);
        command.tell(failingJson(options, look), {});
        const auto idle = command.whenIdle(context.loop());
        (void)co_await idle;
    }
    auto &[locks, graph, all] = look;
    for (auto &lock : locks)
        addDeadlocks(lock, graph, graph.cycles);
    auto incidents = inspect::incidentsOf(graph, locks, context.pictures.coverage());
    removeMuted(incidents, mutesAt(context.pictures.now()));
    const auto total = qint64(all.size());
    const bool isNarrowed = options.lasting > 0ms || context.has(u"match"_s);
    const auto isLess = [least = options.least](Severity one) { return one < least; };
    std::erase_if(all, [&](const FoundFinding &found) { return isLess(found.finding.severity); });
    std::erase_if(incidents, [&](const inspect::Incident &incident) {
        return isLess(incident.severity) || (isNarrowed && !isAmong(all, incident));
    });
    if (context.json) {
        const auto array = mapped<QJsonArray>(all, [&](const auto &found) { return findingJson(found); });
        printClosedAnswer(context, QJsonObject{{u"incidents"_s, inspect::toJson(incidents)},
                                               {u"findings"_s, array},
                                               {u"waitersUnknown"_s, waitersUnknownJson(graph)},
                                               {u"unlinked"_s, unlinkedJson(graph)}});
        co_return status;
    }
    const auto unlinked = unlinkedWords(graph);
    Table table({});
    for (const auto &found : all)
        table.add({inspect::word(found.finding.severity), inspect::word(found.finding.code), lockWords(found),
                   messageWords(found)});
    if (all.empty() && total > 0)
        print(u"no finding is %1; %2"_s.arg(
            options.least == Severity::Critical ? u"critical"_s : u"a warning or critical"_s,
            amountOf(total, "less severe finding exists"_L1, "less severe findings exist"_L1)));
    else if (all.empty() && isNarrowed)
        print(options.lasting > 0ms ? u"no finding lasted for %1"_s.arg(formatDuration(options.lasting))
                                    : u"no finding concerns a lock that --match selects"_s);
    else if (all.empty())
        print(inspect::noneFound(inspect::Question::Findings, context.pictures.isAnySeen(),
                                 context.pictures.coverage(), unlinked.isEmpty()));
    else if (terminalWidth() > 0)
        printReport(context, all, incidents, context.has(u"severity"_s));
    else
        print(table.text(0));
    // What a deadlock would not be found for, and what else was not seen.
    for (const auto &line : unseenWaiterWords(graph) + unlinked + coverageWords(context))
        print(line);
    co_return status;
}

} // namespace lockscope::ctl
