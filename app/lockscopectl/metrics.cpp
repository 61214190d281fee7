// SPDX-License-Identifier: Apache-2.0
// metrics: locks, findings and what is unknown in the text format of OpenMetrics, once or for a scraper.
#include "app/lockscopectl/foundfindings.h"
#include "app/lockscopectl/metricsserver.h"
#include "app/lockscopectl/openmetrics.h"
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/report.h"
#include "core/base/text.h"
#include "core/inspect/json.h"

#include <ctime>

namespace lockscope::ctl {

namespace {

using inspect::FindingCode;
using namespace std::chrono_literals;

constexpr auto restsAtLeast = 5s, restsAtMost = 30s;
static_assert(CLOCKS_PER_SEC == 1'000'000);
constexpr int restPerWork = 20; // Of its processor time. Waiting for a server is no work.
constexpr std::size_t mostSeries = 2'000;
constexpr std::size_t seriesPerGroup = 5;
constexpr std::size_t seriesPerConnection = 8 + seriesPerGroup; // and its group "other"

double secondsOf(std::chrono::milliseconds span)
{
    return std::chrono::duration<double>(span).count();
}

void addLockMetrics(Exposition &metrics, CommandContext &context, const std::vector<inspect::LockSnapshot> &locks,
                    LockGroups &groups)
{
    std::vector<std::pair<inspect::LockName, LockGroup>> all;
    for (const auto &lock : locks) {
        if (isMatched(context, lock.lock))
            all.emplace_back(lock.lock, groupOf(lock, context.pictures.serverNow(lock)));
    }
    const auto taken = inspect::findingKinds().size() + 10 + context.workspace.links().size() * seriesPerConnection;
    const auto room = (mostSeries - std::min(taken, mostSeries)) / seriesPerGroup;
    const auto joined = groups.join(all, std::min(LockGroups::most, room));
    for (const auto &[key, group] : joined.groups) {
        const Exposition::Labels labels{{"connection", key.first}, {"pattern", key.second}};
        metrics.add("locks", labels, double(group.locks));
        metrics.add("locks_held", labels, double(group.held));
        if (group.areWaitersReported)
            metrics.add("waiters", labels, double(group.waiters));
        if (group.longestHold)
            metrics.add("held_seconds", labels, secondsOf(*group.longestHold));
        if (group.longestWait)
            metrics.add("oldest_wait_seconds", labels, secondsOf(*group.longestWait));
    }
    metrics.add("names_collapsed", {}, double(joined.collapsed));
    metrics.add("names_left_out", {}, double(joined.leftOut));
}

// All codes and kinds, those that do not occur too: an alert on a missing series does not fire.
void addProblems(Exposition &metrics, CommandContext &context, FindingsLook &look)
{
    std::map<std::pair<FindingCode, inspect::Severity>, int> findings;
    for (const auto &kind : inspect::findingKinds())
        findings[{kind.code, kind.severity}] = 0;
    for (const auto &found : look.all) {
        if (!found.muted)
            ++findings[{found.finding.code, found.finding.severity}];
    }
    for (const auto &[kind, count] : findings)
        metrics.add("findings", {{"code", inspect::word(kind.first)}, {"severity", inspect::word(kind.second)}},
                    count);
    metrics.add("findings_muted", {}, double(std::ranges::count_if(look.all, [](const FoundFinding &found) {
                    return found.muted.has_value();
                })));
    for (auto &lock : look.locks)
        addDeadlocks(lock, look.graph, look.graph.cycles);
    auto incidents = inspect::incidentsOf(look.graph, look.locks, context.pictures.coverage());
    removeMuted(incidents, mutesAt(context.pictures.now()));
    std::map<QString, int> kinds;
    for (const auto code :
         {FindingCode::Deadlock, FindingCode::LostWakeup, FindingCode::NoTtl, FindingCode::HolderDisconnected,
          FindingCode::IdleInTransaction, FindingCode::LongWait, FindingCode::DeadlockEnded}) {
        inspect::Incident incident;
        incident.code = code;
        kinds[inspect::kindWord(incident)] = 0;
    }
    for (const auto &incident : incidents) {
        const auto isOne = [&](const inspect::LockName &lock) { return isMatched(context, lock); };
        kinds[inspect::kindWord(incident)] +=
            incident.locks.empty() || std::ranges::any_of(incident.locks, isOne) ? 1 : 0;
    }
    for (const auto &[kind, count] : kinds)
        metrics.add("incidents", {{"kind", kind}}, count);
}

void addConnections(Exposition &metrics, CommandContext &context)
{
    const auto coverage = context.pictures.coverage();
    for (const auto *link : context.workspace.links()) {
        const auto &name = link->spec().name;
        const Exposition::Labels labels{{"connection", escaped(name.bytes())}};
        auto named = labels;
        if (const auto backend = backendOf(link->spec().scheme))
            named.emplace_back("backend", infoOf(*backend).word);
        metrics.add("up", named, link->isConnected() ? 1 : 0);
        bool isComplete = true;
        qint64 unexplained = 0, hidden = 0;
        for (const auto &part : coverage) {
            if (part.connection != name)
                continue;
            isComplete = isComplete && part.complete;
            hidden += part.hidden.count;
            for (const auto &entry : part.unexplained)
                unexplained += entry.count;
        }
        metrics.add("complete", labels, isComplete ? 1 : 0);
        metrics.add("unexplained_entries", labels, double(unexplained));
        metrics.add("hidden_locks", labels, double(hidden));
        const auto age = context.pictures.now() - std::chrono::floor<std::chrono::milliseconds>(link->heardAt());
        if (link->heardAt().time_since_epoch().count() > 0)
            metrics.add("snapshot_age_seconds", labels, secondsOf(std::max(age, std::chrono::milliseconds(0))));
        if (!context.has(u"listen"_s))
            continue; // no rate is known of a single read
        metrics.add("observer_requests_per_second", labels, link->cost().requestsPerSecond);
        metrics.add("observer_watches", labels, link->cost().watches);
        metrics.add("observer_watched_bytes", labels, double(link->cost().watchedBytes));
    }
}

QByteArray metricsOf(CommandContext &context, FindingsLook &look, LockGroups &groups)
{
    Exposition metrics;
    addConnections(metrics, context);
    addLockMetrics(metrics, context, look.locks, groups);
    addProblems(metrics, context, look);
    return metrics.text();
}

// Servers are read at their observers' pace. A scrape gets what was made last.
Task<Result<Exit>> serve(CommandContext &context)
{
    CO_TRY(const auto &address, MetricsServer::parseAddress(context.arguments.value(u"listen"_s)));
    MetricsServer server;
    CO_TRY(const auto &bound, server.listen(address));
    if (!address.host.isLoopback())
        printError(u"metrics: any host that reaches %1 can read the names of locks"_s.arg(displayHost(bound)));
    print(u"serving http://%1/metrics"_s.arg(displayHost(bound)));
    reportBreaks(context);
    LockGroups groups;
    const UntilInterrupted untilInterrupted(context.loop(), context.interrupts);
    while (!untilInterrupted.isOver()) {
        const auto begun = std::clock();
        auto look = co_await lookForFindings(context);
        server.setText(metricsOf(context, look, groups));
        const auto rest = std::chrono::microseconds((std::clock() - begun) * restPerWork);
        look = {};
        const auto rested = untilInterrupted.pause(std::clamp<Duration>(rest, restsAtLeast, restsAtMost));
        (void)co_await rested;
    }
    co_return Exit::Done;
}

} // namespace

Task<Result<Exit>> runMetrics(CommandContext &context)
{
    if (context.json)
        co_return fail({ErrorCode::BadInput, u"metrics: the format is OpenMetrics; --json does not exist here"_s});
    if (context.has(u"listen"_s)) {
        const auto served = co_await serve(context);
        co_return served;
    }
    const auto looked = co_await context.pictures.look(context);
    auto look = co_await lookForFindings(context);
    LockGroups groups;
    printStyled(QString::fromUtf8(metricsOf(context, look, groups)));
    co_return looked;
}

} // namespace lockscope::ctl
