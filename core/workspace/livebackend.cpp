// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/livebackend.h"

#include "core/base/logging.h"
#include "core/workspace/browsequeries.h"

#include <QSemaphore>

namespace lockscope {

constexpr int lastTidying = 5000; // ms: nobody waits longer for a window to close
constexpr auto givenBackWithin = 4s;

LiveBackend::LiveBackend(WorkspaceOptions options, std::optional<history::FlightOptions> recorder, QObject *parent)
    : Backend(parent), m_labels(options.labels), m_auditPath(options.auditPath)
{
    const auto files = recorder ? std::make_shared<history::RecordedFiles>() : nullptr;
    if (files)
        m_past = std::make_unique<Past>([files] { return files->list(); });
    m_thread.setObjectName(u"lockscope-io"_s);
    auto *starter = new QObject;
    starter->moveToThread(&m_thread);
    m_thread.start();
    // The I/O side is made in its thread, before anything is asked of it.
    QMetaObject::invokeMethod(
        starter,
        [&] {
            m_io = new IoController(*this, options);
            if (recorder)
                m_io->record(*recorder, files);
        },
        Qt::BlockingQueuedConnection);
    starter->deleteLater();
}

LiveBackend::~LiveBackend()
{
    m_rehearsals.waitForDone();
    m_readers.waitForDone();
    // Runs take away what they made before their servers are left, and what is held is given back.
    const auto areOver = std::make_shared<QSemaphore>();
    onIoThread([areOver](IoController &io) {
        io.holds().releaseAll(givenBackWithin, [areOver](const QStringList &left) {
            for (const auto &lock : left)
                qCWarning(logInspect).noquote()
                    << u"closing: %1 may not have been released: it remains until its TTL expires or its session ends"_s
                           .arg(lock);
            areOver->release();
        });
        io.runs().endAll([areOver] { areOver->release(); });
    });
    if (!areOver->tryAcquire(2, lastTidying))
        qCWarning(logInspect, "closing: a run on real servers had no time to delete what it created");
    QMetaObject::invokeMethod(
        dynamic_cast<QObject *>(&m_io->loop()), [this] { delete std::exchange(m_io, nullptr); },
        Qt::BlockingQueuedConnection);
    m_thread.quit();
    m_thread.wait();
    waitForClosing(2s);
}

void LiveBackend::onIoThread(std::function<void(IoController &)> work)
{
    m_io->loop().post([this, work = std::move(work)] { work(*m_io); });
}

template <class T>
std::function<void(T)> LiveBackend::deliveredTo(const QPointer<QObject> &context, std::function<void(T)> callback)
{
    return [front = this, context, callback = std::move(callback)](T value) {
        // Held once: a list of 300,000 children must not be copied in the GUI thread.
        auto held = std::make_shared<T>(std::move(value));
        QMetaObject::invokeMethod(
            front,
            [context, callback, held] {
                if (context)
                    callback(std::move(*held));
            },
            Qt::QueuedConnection);
    };
}

template <class Q>
void LiveBackend::start(Posted<Q> asked)
{
    asked.answer = deliveredTo(asked.context, std::move(asked.answer));
    if constexpr (std::is_same_v<Q, BulkRelease>) {
        if (asked.query.progressed)
            asked.query.progressed = deliveredTo(asked.context, std::move(asked.query.progressed));
    }
    if constexpr (std::is_same_v<Q, Rehearse>)
        m_rehearsals.start([asked = std::move(asked)] { asked.answer(rehearse::rehearse(asked.query.plan)); });
    else if constexpr (std::is_same_v<Q, ReadAudit>)
        m_readers.start([path = m_auditPath, asked = std::move(asked)] {
            asked.answer(operate::reportOf(operate::AuditFile(path), asked.query.knownStamp));
        });
    else
        onIoThread([asked = std::move(asked)](IoController &io) { io.answer(asked); });
}

void LiveBackend::execute(Command command)
{
    if (const auto *changed = std::get_if<SetClientLabels>(&command))
        m_labels = changed->labels;
    onIoThread([command = std::move(command)](IoController &io) { io.execute(command); });
}

IoController::IoController(LiveBackend &front, const WorkspaceOptions &options)
    : m_front(front), m_news(m_loop, [this](Batch batch) { deliver(std::move(batch)); }),
      m_workspace(m_loop, options, &m_news),
      m_holds(
          m_workspace,
          [this](const Hold &hold) { notifyFront([hold](LiveBackend &to) { emit to.holdChanged(hold); }); },
          [this](const ConnectionName &name, Task<void> task) { launch(name, std::move(task)); }),
      m_runs(m_workspace,
             [this](quint64 id, const RealRunProgress &progress) {
                 notifyFront([id, progress](LiveBackend &to) { emit to.runProgressed(id, progress); });
             }),
      m_znodes(m_workspace, [this](const ConnectionName &name, const ZPath &path) {
          notifyFront([name, path](LiveBackend &to) { emit to.znodesChanged(name, path); });
      })
{
    m_workspace.onLinkChanged([this](Link &link) { m_news.statusChanged(link.spec().name); });
    m_workspace.log().setListener([this](const operate::LogEntry &entry) { m_news.logged(entry); });
    m_news.start(m_workspace, options.labels);
}

IoController::~IoController()
{
    m_tasks.clear();
    m_news.stop(); // the window is told no more
    m_workspace.log().setListener({});
}

// The I/O side's part in the recorder of the window: it hears what the window is told.
void IoController::record(history::FlightOptions options, std::shared_ptr<history::RecordedFiles> files)
{
    auto *past = m_front.past();
    const auto tell = [past](auto call) { QMetaObject::invokeMethod(past, std::move(call), Qt::QueuedConnection); };
    history::FlightRecorder::Listeners listeners;
    listeners.failed = [past, tell](const Error &error) { tell([past, error] { past->recorderFailed(error); }); };
    listeners.resumed = [past, tell] { tell([past] { past->recorderResumed(); }); };
    listeners.foundLeft = [past, tell](const history::LeftRecording &left) {
        tell([past, left] { past->recorderFound(left); });
    };
    m_news.record(std::move(options), std::move(files), std::move(listeners));
}

void IoController::deliver(Batch batch)
{
    notifyFront([batch = std::move(batch)](LiveBackend &to) {
        emit to.updated(batch);
        to.onIoThread([](IoController &io) { io.m_news.delivered(); });
    });
}

void IoController::launch(const ConnectionName &name, Task<void> task)
{
    auto &tasks = m_tasks[name];
    if (!tasks)
        tasks = std::make_unique<Scope>(m_loop);
    tasks->launch(std::move(task));
}

void IoController::add(const ConnectionSpec &spec)
{
    if (const auto closing = m_closing.find(spec.name); closing != m_closing.end()) {
        closing->second = spec;
        return;
    }
    const auto added = m_workspace.add(spec);
    if (added)
        return m_news.statusChanged(spec.name);
    ConnectionStatus status;
    status.name = spec.name;
    status.scheme = spec.scheme;
    status.uri = spec.displayUri();
    status.state = ConnectionStatus::State::Broken;
    status.message = added.error().message;
    m_news.add(status);
}

void IoController::remove(const ConnectionName &name)
{
    // Whatever uses the link goes before it.
    m_tasks.erase(name);
    m_holds.abandon(name);
    m_znodes.forget(name);
    m_news.closing(name);
    m_closing.insert_or_assign(name, std::nullopt);
    if (m_runs.areOn(name))
        m_runs.endOn(name, u"closed"_s, [this, name] { close(name); });
    else
        close(name);
}

void IoController::close(const ConnectionName &name)
{
    m_workspace.remove(name);
    m_news.closed(name);
    const auto next = m_closing.extract(name);
    if (next && next.mapped())
        add(*next.mapped());
}

void IoController::retry(const ConnectionName &name)
{
    // What we hold there has a session of its own, which tries by itself.
    if (m_closing.contains(name) || m_runs.areOn(name) || m_holds.areOn(name))
        return;
    m_tasks.erase(name);
    m_znodes.stop(name);
    m_workspace.retry(name);
    m_news.statusChanged(name);
}

void IoController::setReadOnly(const ConnectionName &name, bool readOnly)
{
    if (readOnly && m_runs.areOn(name)) { // what a run made is taken away first
        m_runs.endOn(name, u"made read-only"_s, [this, name] { setReadOnly(name, true); });
        return;
    }
    if (auto *link = m_workspace.find(name)) {
        link->gate().setReadOnly(readOnly);
        m_news.statusChanged(name);
    }
}

// How the I/O thread handles what the window asks and commands: one function for each query, one line for each
// command.

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

constexpr std::size_t mostListed = 64;

void ZnodeFollower::follow(const ConnectionName &name, const std::vector<ZPath> &paths)
{
    auto &followed = m_followed[name];
    const std::set<ZPath> wanted(paths.begin(), paths.end());
    std::erase_if(followed, [&](const auto &entry) { return !wanted.contains(entry.first); });
    for (const auto &path : wanted) {
        auto &scope = followed[path];
        if (scope)
            continue;
        scope = std::make_unique<Scope>(m_workspace.loop());
        scope->launch(followOne(name, path));
    }
}

void ZnodeFollower::listed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder)
{
    std::erase_if(m_listed, [&](const Listed &one) { return one.name == name && one.path == path; });
    m_listed.push_front({name, path, folder.pzxid});
    if (m_listed.size() > mostListed)
        m_listed.pop_back();
}

void ZnodeFollower::forget(const ConnectionName &name)
{
    stop(name);
    std::erase_if(m_listed, [&name](const Listed &one) { return one.name == name; });
}

// What changed between the list that the window has and the watch is told as well: a list of 300,000 children is on
// its way, and being sorted in, for seconds.
bool ZnodeFollower::isAsListed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder) const
{
    return std::ranges::any_of(m_listed, [&](const Listed &one) {
        return one.name == name && one.path == path && one.pzxid == folder.pzxid;
    });
}

// Tells of every change of the children of one path, through reconnects.
Task<void> ZnodeFollower::followOne(ConnectionName name, ZPath path)
{
    auto &loop = m_workspace.loop();
    bool first = true;
    for (;;) {
        const auto connected = co_await m_workspace.whenConnected(name, Deadline::never());
        auto *session = zooKeeperOf(m_workspace.find(name));
        if (!session)
            co_return;
        bool watching = false;
        if (connected) {
            zk::Watch watch(loop);
            const auto listed = co_await session->children(path, watch, Deadline::never());
            watching = static_cast<bool>(listed);
            if (watching && (!first || !isAsListed(name, path, listed->stat)))
                m_changed(name, path);
            first = false;
            if (watching)
                co_await watch.event();
        }
        // A busy directory is told of at most ten times a second.
        auto pause = sleepFor(loop, watching ? 100ms : 1000ms);
        co_await pause;
    }
}

} // namespace lockscope

#include "moc_livebackend.cpp"
#include "moc_backend.cpp"
