// SPDX-License-Identifier: Apache-2.0
// note: the incident note of a lock, in Markdown.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/inspect/json.h"
#include "core/workspace/past.h"

namespace lockscope::ctl {

namespace {

// From a recording what it saw and what was done meanwhile; else the audit file of this machine.
Result<void> addHistory(CommandContext &context, NoteFacts &facts)
{
    if (const auto moment = context.pictures.recorded()) {
        const auto &recording = *moment->recording;
        TRY(auto &history, recording.historyOf(facts.lock.lock, moment->asOf));
        facts.history = std::move(history);
        addRecordedActs(facts);
        facts.source = u"a recording, from %1 to %2"_s.arg(inspect::isoTime(recording.begin()),
                                                           inspect::isoTime(recording.end()));
        return {};
    }
    QStringList problems;
    TRY(const auto &records, context.workspace.audit().read(&problems));
    for (const auto &problem : problems)
        printError(u"audit: "_s + problem);
    addActs(facts, records);
    return {};
}

// A note needs a lock. Of one that was released, the audit file says by whom.
Error withAuditHint(CommandContext &context, Error error, const inspect::LockName &lock)
{
    if (error.code != ErrorCode::NoNode || context.pictures.recorded())
        return error;
    const auto records = context.workspace.audit().read(nullptr);
    const bool isAudited = records && std::ranges::count(*records, lock.text(), &operate::AuditRecord::lock) > 0;
    error.message = (isAudited ? u"%1; \"lockscopectl audit\" lists the actions on it"_s
                               : u"%1; the audit log has no action on it"_s)
                        .arg(error.message);
    return error;
}

// A ZooKeeper says it in an answer of its own, which may not be there yet.
Task<void> learnServer(CommandContext &context, ConnectionName connection)
{
    auto *link = context.pictures.recorded() ? nullptr : context.workspace.find(connection);
    if (!link || !link->serverVersion().isEmpty())
        co_return;
    co_await link->rights(Deadline::after(context.loop(), std::chrono::seconds(5)));
}

} // namespace

Task<Result<Exit>> runNote(CommandContext &context)
{
    CO_TRY(const auto &name, lockOf(context));
    const auto deadline = requestDeadline(context);
    const auto lock = co_await context.pictures.read(name, deadline);
    if (!lock)
        co_return fail(withAuditHint(context, lock.error(), name));
    NoteFacts facts;
    facts.lock = *lock;
    bool areDeadlocksKnown = true;
    if (lock->waiterCount() > 0) { // a deadlock is seen over all connections only
        const auto looked = co_await context.pictures.look(context);
        areDeadlocksKnown = looked == Exit::Done;
        const auto graph = co_await context.pictures.waits(deadline);
        addDeadlocks(facts.lock, graph, graph.cycles);
        auto locks = context.pictures.locks();
        for (auto &other : locks)
            addDeadlocks(other, graph, graph.cycles);
        facts.incidents = incidentsOf(graph, locks);
        std::erase_if(facts.incidents, [&](const inspect::Incident &incident) {
            return std::ranges::find(incident.locks, name) == incident.locks.end();
        });
    }
    co_await learnServer(context, name.connection);
    facts.labels = context.labels;
    facts.asOf = context.pictures.now();
    facts.coverage = context.pictures.coverageOf(name.connection);
    if (!areDeadlocksKnown)
        facts.coverage = inspect::withGap(std::move(facts.coverage), deadlocksUnknown(name.connection));
    for (const auto &state : context.pictures.connections()) {
        if (state.name == name.connection)
            facts.connection = state;
    }
    CO_TRY_VOID(addHistory(context, facts));
    const auto text = incidentNote(facts);
    if (context.json)
        printAnswer(context, QJsonObject{{u"lock"_s, escaped(name.text())}, {u"markdown"_s, text}});
    else
        print(text.chopped(1));
    co_return Exit::Done;
}

} // namespace lockscope::ctl
