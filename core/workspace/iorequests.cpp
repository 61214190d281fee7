// SPDX-License-Identifier: Apache-2.0
// How the I/O thread handles what the window asks and commands: one function for each query, one line for each
// command.
#include "core/workspace/iocontroller.h"
#include "core/workspace/browsequeries.h"
#include "core/workspace/trial.h"

namespace lockscope {

namespace {

// A query becomes a task, which ends with its connection. The query is answered with `dropped` then.
template <class Q>
struct Work {
    ConnectionName connection;
    Task<Result<typename Q::Answer>> task;
    Error dropped{ErrorCode::NotConnected, u"the connection was closed"_s};
};

Error unknownOutcome(const QString &message)
{
    return {ErrorCode::UnknownOutcome, u"the connection was closed meanwhile: %1"_s.arg(message)};
}

// The first scan of a large server may take longer: its account says that it is not over.
Deadline soon(IoController &io)
{
    return Deadline::after(io.loop(), 15s);
}

template <class Q>
Work<Q> workOf(IoController &io, const Q &query)
{
    return {query.connection, questions::answer(io.workspace(), query, soon(io))};
}

Work<ListZnodes> workOf(IoController &io, const ListZnodes &query)
{
    const auto asOf = [&io, query](const zk::Stat &folder) {
        io.znodes().listed(query.connection, query.path, folder);
    };
    return {query.connection, questions::answer(io.workspace(), query, soon(io), asOf)};
}

Work<TryConnection> workOf(IoController &io, const TryConnection &query)
{
    return {{}, tryConnection(io.loop(), query.spec, soon(io))};
}

// The plan's lock carries the user's names of clients, as every lock on screen does.
Task<Result<operate::ForceReleasePlan>> labeled(Task<Result<operate::ForceReleasePlan>> planning,
                                                std::vector<inspect::ClientLabel> labels)
{
    auto plan = co_await planning;
    if (plan)
        inspect::addLabels(plan->before, labels);
    co_return plan;
}

Work<PlanRelease> workOf(IoController &io, const PlanRelease &query)
{
    auto planning = io.workspace().planForceRelease(query.lock, query.contender, soon(io), query.way);
    return {query.lock.connection, labeled(std::move(planning), io.news().deadlocks().labels())};
}

Work<ForceRelease> workOf(IoController &io, const ForceRelease &query)
{
    return {query.plan.before.lock.connection, io.workspace().forceRelease(query.plan, query.reason, soon(io)),
            unknownOutcome(u"the lock may or may not have been released"_s)};
}

Task<Result<operate::BulkReport>> failing(Error error)
{
    co_return error;
}

Work<BulkRelease> workOf(IoController &io, const BulkRelease &query)
{
    const auto name = query.targets.empty() ? ConnectionName() : query.targets.front().lock.connection;
    // The work ends with the connection's link, which may close at any time; with several connections, one could
    // close while the other is in use.
    if (std::ranges::any_of(query.targets, [&](const auto &target) { return target.lock.connection != name; }))
        return {
            {},
            failing({ErrorCode::BadInput, u"these locks are on several connections: choose one of them first"_s})};
    return {name, io.workspace().bulkRelease(query.targets, query.reason, query.progressed),
            unknownOutcome(u"what was done stands in the audit record"_s)};
}

Work<PlanEdit> workOf(IoController &io, const PlanEdit &query)
{
    return {query.request.connection, io.workspace().planEdit(query.request, soon(io))};
}

Work<ApplyEdit> workOf(IoController &io, const ApplyEdit &query)
{
    const auto limit = Deadline::after(io.loop(), 120s); // thousands of nodes, one after the other
    return {query.plan.request.connection, io.workspace().applyEdit(query.plan, query.reason, limit),
            unknownOutcome(u"the edit may or may not have been done"_s)};
}

// Answers a query exactly once: with its result, or with `dropped` when its task ends early.
template <class Q>
class Answerer {
public:
    Answerer(AnswerTo<Q> deliver, Error dropped) : m_deliver(std::move(deliver)), m_dropped(std::move(dropped)) {}
    Q_DISABLE_COPY(Answerer)
    ~Answerer()
    {
        if (m_deliver)
            m_deliver(m_dropped);
    }
    void answer(Result<typename Q::Answer> result) { std::exchange(m_deliver, nullptr)(std::move(result)); }

private:
    AnswerTo<Q> m_deliver;
    Error m_dropped;
};

template <class Q>
Task<void> answering(Task<Result<typename Q::Answer>> task, AnswerTo<Q> deliver, Error dropped)
{
    Answerer<Q> answerer(std::move(deliver), std::move(dropped));
    auto result = co_await task;
    answerer.answer(std::move(result));
}

} // namespace

void IoController::answer(const PostedQuery &query)
{
    std::visit(
        [this]<class Q>(const Posted<Q> &asked) {
            if constexpr (AllowedInPast<Q>) {
                Q_UNREACHABLE(); // it asks no server: LiveBackend answers it on a thread for such work
            } else if constexpr (std::is_same_v<Q, PlayOnServers>) {
                m_runs.play(asked.query.run, asked.query.options, asked.answer);
            } else {
                auto work = workOf(*this, asked.query);
                launch(work.connection, answering<Q>(std::move(work.task), asked.answer, std::move(work.dropped)));
            }
        },
        query);
}

void IoController::execute(const Command &command)
{
    std::visit(Overloaded{
                   [this](const Connect &asked) { add(asked.spec); },
                   [this](const Disconnect &asked) { remove(asked.connection); },
                   [this](const Reconnect &asked) { retry(asked.connection); },
                   [this](const SetReadOnly &asked) { setReadOnly(asked.connection, asked.readOnly); },
                   [this](const SetThresholds &asked) { m_workspace.setThresholds(asked.rules); },
                   [this](const SetClientLabels &asked) { m_news.deadlocks().setLabels(asked.labels); },
                   [this](const WatchZnodes &asked) { m_znodes.follow(asked.connection, asked.paths); },
                   [this](const AcquireLock &asked) { m_holds.acquire(asked.hold, asked.request); },
                   [this](const ReleaseHold &asked) { m_holds.release(asked.hold); },
                   [this](const CancelRun &asked) { m_runs.cancel(asked.run); },
               },
               command);
}

} // namespace lockscope
