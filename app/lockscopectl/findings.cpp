// SPDX-License-Identifier: Apache-2.0
// findings: everything that is wrong anywhere, gravest first.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/locktext.h"
#include "app/lockscopectl/output.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"
#include "core/inspect/json.h"
#include "core/workspace/mutes.h"

#include <algorithm>

namespace lockscope::ctl {

using namespace Qt::StringLiterals;

namespace {

struct FoundFinding {
    inspect::Finding finding;
    std::optional<Mute> muted{};
    std::vector<std::pair<inspect::LockName, QByteArray>> contenders;
    std::vector<inspect::LockName> locks; // one, but of a deadlock all, and of an unexplained wait none
    ConnectionName connection{};          // of an unexplained wait
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

// Those that were there then; of a broken file none.
std::vector<Mute> mutesAt(MuteTime now)
{
    auto mutes = readMutes();
    if (!mutes) {
        printError(mutes.error().message);
        return {};
    }
    std::erase_if(*mutes, [now](const Mute &mute) { return mute.since > now || mute.until <= now; });
    return *mutes;
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
    QStringList names;
    for (const auto &lock : found.locks)
        names << escaped(lock.text());
    if (names.isEmpty())
        return escaped(found.connection.bytes());
    return names.join(u", "_s);
}

QJsonObject findingJson(const FoundFinding &found)
{
    QJsonArray contenders, locks;
    for (const auto &lock : found.locks)
        locks.append(escaped(lock.text()));
    for (const auto &[lock, id] : found.contenders)
        contenders.append(QJsonObject{{u"lock"_s, escaped(lock.text())}, {u"id"_s, escaped(id)}});
    QJsonObject json{{u"code"_s, inspect::word(found.finding.code)},
                     {u"severity"_s, inspect::word(found.finding.severity)},
                     {u"message"_s, harmless(found.finding.message, 4000)},
                     {u"locks"_s, locks},
                     {u"contenders"_s, contenders}};
    if (!found.finding.victim.empty())
        json[u"victim"_s] = inspect::toJson(found.finding.victim);
    if (found.locks.empty())
        json[u"connection"_s] = escaped(found.connection.bytes());
    if (found.muted)
        json[u"muted"_s] = QJsonObject{{u"reason"_s, found.muted->reason},
                                       {u"until"_s, isoSeconds(found.muted->until.time_since_epoch())}};
    return json;
}

Task<Exit> findings(CommandContext &context)
{
    auto looking = context.pictures.look(context);
    const auto looked = co_await looking;
    const auto locks = context.pictures.locks();
    const auto deadline = requestDeadline(context);
    auto following = context.pictures.waits(context, deadline);
    const auto graph = co_await following;
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
    const auto mutes = mutesAt(std::chrono::floor<std::chrono::seconds>(context.pictures.now()));
    for (auto &found : all)
        addMute(found, mutes);
    std::stable_sort(all.begin(), all.end(), [](const FoundFinding &a, const FoundFinding &b) {
        return a.finding.severity > b.finding.severity;
    });
    if (context.json) {
        QJsonArray array;
        for (const auto &found : all)
            array.append(findingJson(found));
        printClosedAnswer(context, QJsonObject{{u"findings"_s, array},
                                               {u"waitersUnknown"_s, waitersUnknownJson(graph)},
                                               {u"unlinked"_s, unlinkedJson(graph)}});
        co_return looked;
    }
    Table table({{u"SEVERITY"_s},
                 {u"CODE"_s},
                 {u"LOCK"_s, Table::Align::Left, true},
                 {u"MESSAGE"_s, Table::Align::Left, false, true}});
    for (const auto &found : all)
        table.add({inspect::word(found.finding.severity), inspect::word(found.finding.code), lockWords(found),
                   messageWords(found)});
    const auto unlinked = unlinkedWords(graph);
    if (!table.isEmpty())
        print(table.text(terminalWidth()));
    else
        print(inspect::noneFound(inspect::Question::Findings, context.pictures.isAnySeen(),
                                 context.pictures.coverage(), unlinked.isEmpty()));
    // What a deadlock would not be found for, and what else was not seen.
    for (const auto &line : unseenWaiterWords(graph) + unlinked + coverageWords(context))
        print(line);
    co_return looked;
}

} // namespace

CommandSpec findingsCommand()
{
    CommandSpec spec;
    spec.name = u"findings"_s;
    spec.summary = u"list all findings, most severe first"_s;
    spec.list = u"Codes\n"_s;
    for (const auto &kind : inspect::findingKinds())
        spec.list += app::helpLine(inspect::word(kind.code), kind.meaning.toString());
    spec.more =
        u"Muted findings are listed and marked. docs/findings.md says for each code how to confirm it and what to do."_s;
    spec.options = {{u"all"_s, {}, u"also of what may be no lock (low confidence)"_s}};
    spec.observes = spec.isReplayable = true;
    spec.examples = {u"findings"_s, u"findings --all --json"_s};
    spec.run = findings;
    return spec;
}

} // namespace lockscope::ctl
