// SPDX-License-Identifier: Apache-2.0
// findings: everything that is wrong anywhere, gravest first.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/report.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"
#include "core/inspect/json.h"
#include "core/workspace/mutes.h"

#include <algorithm>

namespace lockscope::ctl {

namespace {

using inspect::Severity;

struct FoundFinding {
    inspect::Finding finding;
    std::optional<Mute> muted{};
    std::vector<std::pair<inspect::LockName, QByteArray>> contenders;
    std::vector<inspect::LockName> locks; // one, but of a deadlock all, and of an unexplained wait none
    ConnectionName connection{};          // of an unexplained wait and an ended deadlock
    std::optional<inspect::EndedDeadlock> ended{};
};

FoundFinding foundOn(const inspect::LockName &lock, const inspect::Finding &finding)
{
    FoundFinding found{finding, {}, {}, {lock}};
    for (const auto &id : finding.contenders)
        found.contenders.emplace_back(lock, id);
    return found;
}

FoundFinding foundIn(const inspect::WaitGraph &graph, const inspect::WaitCycle &cycle)
{
    const auto code = inspect::FindingCode::Deadlock;
    FoundFinding found{{code, inspect::kindOf(code).severity, cycle.sentence, {}}, {}, {}, {}};
    found.finding.victim = victimOf(graph, cycle);
    for (const auto &seat : cycle.seats) {
        const auto &lock = graph.locks[static_cast<std::size_t>(seat.lock)].name;
        found.contenders.emplace_back(lock, seat.contender);
        if (std::ranges::find(found.locks, lock) == found.locks.end())
            found.locks.push_back(lock);
    }
    return found;
}

FoundFinding foundOf(inspect::DeadlockFinding ended)
{
    FoundFinding found{std::move(ended.finding), {}, {}, {}, ended.connection, std::move(ended.deadlock)};
    for (const auto &party : found.ended->parties) {
        const inspect::LockName lock{found.connection, party.awaited};
        if (std::ranges::find(found.locks, lock) == found.locks.end())
            found.locks.push_back(lock);
    }
    return found;
}

// What a window recorded of a deadlock is said anew, once for all its locks, where it is seen anew.
bool isSaidAnew(const inspect::LockSnapshot &lock, const inspect::Finding &finding, const inspect::WaitGraph &graph)
{
    return finding.code == inspect::FindingCode::Deadlock
           && std::ranges::any_of(graph.cycles, [&](const inspect::WaitCycle &cycle) {
                  return std::ranges::any_of(cycle.locks, [&](int number) {
                      return graph.locks[static_cast<std::size_t>(number)].name == lock.lock;
                  });
              });
}

// One of several locks is muted with all of them only.
void addMute(FoundFinding &found, const std::vector<Mute> &mutes)
{
    const Mute *first = nullptr;
    for (const auto &lock : found.locks) {
        const auto *mute = muteOf(mutes, lock, found.finding.code, found.finding.severity);
        if (!mute)
            return;
        if (!first || mute->until < first->until)
            first = mute;
    }
    if (first)
        found.muted = *first;
}

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

QJsonObject findingJson(const FoundFinding &found)
{
    const auto locks = mapped<QJsonArray>(found.locks, [](const auto &lock) { return escaped(lock.text()); });
    QJsonArray contenders;
    for (const auto &[lock, id] : found.contenders)
        contenders.append(QJsonObject{{u"lock"_s, escaped(lock.text())}, {u"id"_s, escaped(id)}});
    QJsonObject json{{u"code"_s, inspect::word(found.finding.code)},
                     {u"severity"_s, inspect::word(found.finding.severity)},
                     {u"message"_s, harmless(found.finding.message, 4000)},
                     {u"locks"_s, locks},
                     {u"contenders"_s, contenders}};
    if (!found.finding.victim.empty())
        json[u"victim"_s] = inspect::toJson(found.finding.victim);
    if (found.ended)
        json[u"deadlock"_s] = inspect::toJson(*found.ended);
    if (found.locks.empty() || found.ended)
        json[u"connection"_s] = escaped(found.connection.bytes());
    if (found.muted)
        json[u"muted"_s] = QJsonObject{{u"reason"_s, found.muted->reason},
                                       {u"until"_s, isoSeconds(found.muted->until.time_since_epoch())}};
    return json;
}

std::vector<FoundFinding> foundFindings(CommandContext &context, const std::vector<inspect::LockSnapshot> &locks,
                                        const inspect::WaitGraph &graph, const std::vector<Mute> &mutes)
{
    std::vector<FoundFinding> all;
    for (const auto &lock : locks) {
        for (const auto &finding : lock.findings) {
            if (!isSaidAnew(lock, finding, graph))
                all.push_back(foundOn(lock.lock, finding));
        }
    }
    for (const auto &cycle : graph.cycles)
        all.push_back(foundIn(graph, cycle));
    for (auto &[connection, finding] : inspect::findingsOfUnexplainedWaits(context.pictures.coverage()))
        all.push_back({std::move(finding), {}, {}, {}, connection});
    for (auto &ended : inspect::findingsOfEndedDeadlocks(context.pictures.coverage()))
        all.push_back(foundOf(std::move(ended)));
    for (auto &found : all)
        addMute(found, mutes);
    std::ranges::stable_sort(
        all, [](const FoundFinding &a, const FoundFinding &b) { return a.finding.severity > b.finding.severity; });
    return all;
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
    const auto least = context.arguments.value(u"severity"_s, u"info"_s);
    const QStringList severities{u"info"_s, u"warning"_s, u"critical"_s};
    if (!severities.contains(least))
        co_return fail({ErrorCode::BadInput, u"findings: --severity takes info, warning or critical"_s});
    const auto looked = co_await context.pictures.look(context);
    auto locks = context.pictures.locks();
    const auto graph = co_await context.pictures.waits(requestDeadline(context));
    const auto mutes = mutesAt(context.pictures.now());
    auto all = foundFindings(context, locks, graph, mutes);
    for (auto &lock : locks)
        addDeadlocks(lock, graph, graph.cycles);
    auto incidents = inspect::incidentsOf(graph, locks, context.pictures.coverage());
    removeMuted(incidents, mutes);
    const auto total = qint64(all.size());
    const auto isLess = [least = Severity(severities.indexOf(least))](Severity one) { return one < least; };
    std::erase_if(all, [&](const FoundFinding &found) { return isLess(found.finding.severity); });
    std::erase_if(incidents, [&](const inspect::Incident &incident) { return isLess(incident.severity); });
    if (context.json) {
        const auto array = mapped<QJsonArray>(all, [&](const auto &found) { return findingJson(found); });
        printClosedAnswer(context, QJsonObject{{u"incidents"_s, inspect::toJson(incidents)},
                                               {u"findings"_s, array},
                                               {u"waitersUnknown"_s, waitersUnknownJson(graph)},
                                               {u"unlinked"_s, unlinkedJson(graph)}});
        co_return looked;
    }
    const auto unlinked = unlinkedWords(graph);
    Table table({});
    for (const auto &found : all)
        table.add({inspect::word(found.finding.severity), inspect::word(found.finding.code), lockWords(found),
                   messageWords(found)});
    if (all.empty() && total > 0)
        print(u"no finding is %1; %2"_s.arg(
            least == "critical"_L1 ? u"critical"_s : u"a warning or critical"_s,
            amountOf(total, "less severe finding exists"_L1, "less severe findings exist"_L1)));
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
    co_return looked;
}

} // namespace lockscope::ctl
