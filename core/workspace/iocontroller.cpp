// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/iocontroller.h"

#include "core/async/dated.h"
#include "core/async/sleep.h"
#include "core/base/text.h"
#include "core/workspace/zookeeperlink.h"

namespace lockscope {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto frame = 16ms;
constexpr std::size_t mostListed = 64;
constexpr std::size_t mostLocksInBatch = 1000; // the window takes about 6 µs for each
// Counters and latencies in the status bar: nobody reads them faster.

} // namespace

IoController::IoController(LiveBackend &front, const WorkspaceOptions &options)
    : m_front(front), m_workspace(std::make_unique<Workspace>(m_loop, options, this)),
      m_deadlocks(std::make_unique<DeadlockWatch>(
          *m_workspace, options.labels,
          [this](std::vector<inspect::SnapshotChange> changes) { queueLocks(std::move(changes)); })),
      m_runs(std::make_unique<Runs>(*m_workspace,
                                    [this](quint64 id, const RealRunProgress &progress) { tellRun(id, progress); }))
{
    m_workspace->onLinkChanged([this](Link &link) { statusChanged(link.spec().name); });
    m_workspace->log().setListener([this](const operate::LogEntry &entry) { logged(entry); });
    refreshStatuses();
}

IoController::~IoController()
{
    m_feed.reset();
    m_recorder.reset();
    m_farewell.cancelAll();
    m_tasks.clear();
    m_followed.clear();
    m_runs.reset();
    m_holds.clear();
    m_deadlocks.reset();
    m_workspace->log().setListener({});
    m_workspace.reset();
}

void IoController::add(ConnectionSpec spec)
{
    const auto name = spec.name;
    if (isLeaving(name)) {
        m_leaving[name] = std::move(spec);
        return;
    }
    const auto shown = spec;
    if (const auto added = m_workspace->add(std::move(spec)); !added) {
        ConnectionStatus status;
        status.name = name;
        status.scheme = shown.scheme;
        status.uri = shown.displayUri();
        status.state = ConnectionStatus::State::Broken;
        status.message = added.error().message;
        m_pending.connections.push_back(status);
        scheduleFlush();
        return;
    }
    statusChanged(name);
}

void IoController::launch(const ConnectionName &name, Task<void> task)
{
    auto &tasks = m_tasks[name];
    if (!tasks)
        tasks = std::make_unique<Scope>(m_loop);
    tasks->launch(std::move(task));
}

void IoController::remove(const ConnectionName &name)
{
    // Whatever uses the link goes before it.
    m_tasks.erase(name);
    abandonHolds(name);
    m_followed.erase(name);
    std::erase_if(m_listed, [&name](const Listed &one) { return one.name == name; });
    if (!m_runs->areOn(name)) {
        m_workspace->remove(name);
        recordGone(name);
        return;
    }
    m_leaving.insert_or_assign(name, std::nullopt);
    m_pendingStatus.erase(name);
    m_runs->endOn(name, u"closed"_s, [this, name] { closeLink(name); });
}

void IoController::retry(const ConnectionName &name)
{
    const auto isUsed = [&name](const auto &entry) {
        const auto &hold = entry.second.hold;
        return hold.request.lock.connection == name
               && (hold.state == Hold::State::Held || hold.state == Hold::State::Waiting);
    };
    // What we hold there has a session of its own, which tries by itself.
    if (isLeaving(name) || m_runs->areOn(name) || std::ranges::any_of(m_holds, isUsed))
        return;
    m_tasks.erase(name);
    m_followed.erase(name);
    m_workspace->retry(name);
    statusChanged(name);
}

void IoController::closeLink(const ConnectionName &name)
{
    m_workspace->remove(name);
    recordGone(name);
    const auto next = std::exchange(m_leaving[name], std::nullopt);
    m_leaving.erase(name);
    if (next)
        add(*next);
}

void IoController::setReadOnly(const ConnectionName &name, bool readOnly)
{
    if (readOnly && m_runs->areOn(name)) { // what a run made is taken away first
        m_runs->endOn(name, u"made read-only"_s, [this, name] { setReadOnly(name, true); });
        return;
    }
    if (auto *link = m_workspace->find(name)) {
        link->gate().setReadOnly(readOnly);
        statusChanged(name);
    }
}

// A session of its own lets go when it closes; what is left of a lease ends with its TTL.
void IoController::abandonHolds(const ConnectionName &name)
{
    for (auto &[id, pending] : m_holds) {
        auto &[hold, lock, scope, isReleasing, isLeft] = pending;
        if (hold.request.lock.connection != name || !lock)
            continue;
        const bool wasHeld = hold.state == Hold::State::Held;
        const bool wasWaiting = hold.state == Hold::State::Waiting;
        scope.reset();
        lock.reset();
        if (std::exchange(isReleasing, false)) {
            hold.message = u"its connection was closed while it was given back"_s;
            tellHold(hold);
        }
        if (!wasHeld && !wasWaiting)
            continue;
        hold.state = wasHeld ? Hold::State::Lost : Hold::State::Failed;
        hold.message = u"its connection was closed"_s;
        tellHold(hold);
    }
}

// --- holds -------------------------------------------------------------------------------------

void IoController::acquire(quint64 id, AcquireRequest request)
{
    PendingHold pending;
    pending.hold.id = id;
    pending.hold.request = request;
    pending.hold.since = datedNow(m_loop);
    pending.lock =
        std::make_unique<HeldLock>(*m_workspace, HoldRequest{request.lock, request.recipe, request.readMode,
                                                             request.limit, request.ttl, request.isLimitGiven});
    pending.scope = std::make_unique<Scope>(m_loop);
    const auto &kept = m_holds.emplace(id, std::move(pending)).first->second;
    tellHold(kept.hold);
    kept.scope->launch(runHold(id));
}

Task<void> IoController::runHold(quint64 id)
{
    auto *lock = m_holds[id].lock.get();
    const auto wait = m_holds[id].hold.request.wait;
    auto acquiring = lock->acquire(wait);
    const auto grant = co_await acquiring;
    const auto at = m_holds.find(id);
    if (at == m_holds.end() || at->second.hold.state != Hold::State::Waiting)
        co_return;
    auto &hold = at->second.hold;
    hold.since = datedNow(m_loop);
    if (!grant) {
        hold.state = Hold::State::Failed;
        hold.message = grant.error().message;
        tellHold(hold);
        co_return;
    }
    hold.state = Hold::State::Held;
    hold.contender = grant->id;
    hold.fencingToken = grant->fencingToken;
    tellHold(hold);
    auto losing = lock->lost();
    const auto why = co_await losing;
    const auto still = m_holds.find(id);
    if (still == m_holds.end() || still->second.hold.state != Hold::State::Held)
        co_return;
    still->second.hold.state = Hold::State::Lost;
    still->second.hold.message = why;
    tellHold(still->second.hold);
}

void IoController::release(quint64 id)
{
    const auto at = m_holds.find(id);
    if (at == m_holds.end())
        return;
    auto &[hold, lock, scope, isReleasing, isLeft] = at->second;
    const bool wasHeld = hold.state == Hold::State::Held;
    const bool wasWaiting = hold.state == Hold::State::Waiting;
    if (!wasHeld && !wasWaiting)
        return;
    hold.state = Hold::State::Released;
    if (wasHeld) {
        isReleasing = true;
        launch(hold.request.lock.connection, endHold(id));
        return;
    }
    // Still waiting: the recipe is cancelled with its coroutine, and leaves nothing behind.
    scope.reset();
    lock.reset();
    hold.message = u"given up while waiting"_s;
    tellHold(hold);
}

Task<void> IoController::endHold(quint64 id)
{
    auto *lock = m_holds[id].lock.get();
    const auto limit = Deadline::after(m_loop, 10s);
    auto releasing = lock->release(limit);
    const auto released = co_await releasing;
    const auto at = m_holds.find(id);
    if (at == m_holds.end())
        co_return;
    at->second.isReleasing = false;
    at->second.isLeft = !released && released.error().code != ErrorCode::NotHeld;
    if (!released && at->second.hold.message.isEmpty())
        at->second.hold.message = released.error().message;
    tellHold(at->second.hold);
}

void IoController::giveBackAll(Duration atMost, std::function<void(QStringList)> done)
{
    m_farewell.launch(giveBack(atMost, std::move(done)));
}

Task<void> IoController::giveBack(Duration atMost, std::function<void(QStringList)> done)
{
    const auto until = m_loop.now() + atMost;
    std::vector<quint64> ids;
    for (const auto &[id, pending] : m_holds)
        ids.push_back(id);
    for (const auto id : ids)
        release(id);
    const auto isUnderWay = [this] {
        const auto links = m_workspace->links();
        return std::ranges::any_of(m_holds, [](const auto &entry) { return entry.second.isReleasing; })
               || std::ranges::any_of(links, [](Link *link) { return link->isCleaningUp(); });
    };
    while (isUnderWay() && m_loop.now() < until) {
        auto pause = sleepFor(m_loop, 5ms);
        co_await pause;
    }
    QStringList left;
    for (const auto &[id, pending] : m_holds) {
        if (pending.isReleasing || pending.isLeft)
            left << escaped(pending.hold.request.lock.text());
    }
    for (auto *link : m_workspace->links()) {
        if (link->isCleaningUp())
            left << u"an attempt on %1"_s.arg(escaped(link->spec().name.bytes()));
    }
    done(left);
}

void IoController::tellHold(const Hold &hold)
{
    QMetaObject::invokeMethod(
        &m_front, [front = &m_front, hold] { emit front->holdChanged(hold); }, Qt::QueuedConnection);
}

void IoController::tellRun(quint64 id, const RealRunProgress &progress)
{
    QMetaObject::invokeMethod(
        &m_front, [front = &m_front, id, progress] { emit front->runProgressed(id, progress); },
        Qt::QueuedConnection);
}

// --- the live tree -----------------------------------------------------------------------------

void IoController::watchZnodes(const ConnectionName &name, std::vector<ZPath> paths)
{
    auto &followed = m_followed[name];
    const std::set<ZPath> wanted(paths.begin(), paths.end());
    std::erase_if(followed, [&](const auto &entry) { return !wanted.contains(entry.first); });
    for (const auto &path : wanted) {
        auto &scope = followed[path];
        if (scope)
            continue;
        scope = std::make_unique<Scope>(m_loop);
        scope->launch(followZnode(name, path));
    }
}

void IoController::listed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder)
{
    std::erase_if(m_listed, [&](const Listed &one) { return one.name == name && one.path == path; });
    m_listed.push_front({name, path, folder.pzxid});
    if (m_listed.size() > mostListed)
        m_listed.pop_back();
}

// What changed between the list that the window has and the watch is told as well: a list of 300,000 children is on
// its way, and being sorted in, for seconds.
bool IoController::isAsListed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder) const
{
    return std::ranges::any_of(m_listed, [&](const Listed &one) {
        return one.name == name && one.path == path && one.pzxid == folder.pzxid;
    });
}

// Tells of every change of the children of one path, through reconnects.
Task<void> IoController::followZnode(ConnectionName name, ZPath path)
{
    bool first = true;
    for (;;) {
        const auto connected = co_await m_workspace->whenConnected(name, Deadline::never());
        auto *session = zooKeeperOf(m_workspace->find(name));
        if (!session)
            co_return;
        bool watching = false;
        if (connected) {
            zk::Watch watch(m_loop);
            auto reply = session->children(path, watch, Deadline::never());
            const auto listed = co_await reply;
            watching = static_cast<bool>(listed);
            const bool isNews = watching && (!first || !isAsListed(name, path, listed->stat));
            if (isNews)
                QMetaObject::invokeMethod(
                    &m_front, [front = &m_front, name, path] { emit front->znodesChanged(name, path); },
                    Qt::QueuedConnection);
            first = false;
            if (watching)
                co_await watch.event();
        }
        // A busy directory is told of at most ten times a second.
        auto pause = sleepFor(m_loop, watching ? 100ms : 1000ms);
        co_await pause;
    }
}

// --- news --------------------------------------------------------------------------------------

void IoController::locksChanged(std::vector<inspect::SnapshotChange> changes)
{
    if (m_deadlocks) // not while it is torn down
        m_deadlocks->passing(changes);
    queueLocks(std::move(changes));
}

void IoController::queueLocks(std::vector<inspect::SnapshotChange> changes)
{
    if (m_recorder)
        m_recorder->locksChanged(changes);
    for (auto &change : changes) {
        if (isLeaving(change.lock.lock.connection) && change.kind != inspect::ChangeKind::Removed)
            continue;
        m_pendingLocks.add(std::move(change), datedNow(m_loop));
    }
    scheduleFlush();
}

void IoController::sessionsChanged(const ConnectionName &connection, std::vector<inspect::SessionSnapshot> sessions)
{
    if (isLeaving(connection))
        return;
    if (m_recorder)
        m_recorder->sessionsChanged(connection, sessions);
    std::erase_if(m_pending.sessions, [&](const auto &session) { return session.connection == connection; });
    m_pending.sessions.insert(m_pending.sessions.end(), sessions.begin(), sessions.end());
    std::erase(m_pending.sessionsOf, connection);
    m_pending.sessionsOf.push_back(connection);
    scheduleFlush();
}

void IoController::coverageChanged(const ConnectionName &connection, std::vector<inspect::Coverage> coverage)
{
    if (isLeaving(connection))
        return;
    if (m_recorder)
        m_recorder->coverageChanged(connection, coverage);
    std::erase_if(m_pending.coverage, [&](const auto &entry) { return entry.connection == connection; });
    m_pending.coverage.insert(m_pending.coverage.end(), coverage.begin(), coverage.end());
    std::erase(m_pending.coverageOf, connection);
    m_pending.coverageOf.push_back(connection);
    scheduleFlush();
}

void IoController::progressed(inspect::Progress progress)
{
    statusChanged(progress.connection);
}

void IoController::costChanged(const ConnectionName &connection, inspect::Cost)
{
    statusChanged(connection);
}

void IoController::logged(const operate::LogEntry &entry)
{
    m_pendingLog.insert_or_assign(entry.number, entry);
    // The window keeps no more than the log does.
    if (m_pendingLog.size() > 5000)
        m_pendingLog.erase(m_pendingLog.begin());
    scheduleFlush();
}

void IoController::scheduleFlush()
{
    if (m_flushScheduled || m_batchOnItsWay)
        return;
    m_flushScheduled = true;
    m_flushTimer = m_loop.callAt(m_loop.now() + frame, [this] { flush(); });
}

void IoController::flush()
{
    m_flushScheduled = false;
    auto batch = std::exchange(m_pending, {});
    batch.locks = m_pendingLocks.take(mostLocksInBatch);
    for (auto &[number, entry] : m_pendingLog)
        batch.log.push_back(std::move(entry));
    m_pendingLog.clear();
    for (const auto &name : std::exchange(m_pendingStatus, {})) {
        if (auto *link = m_workspace->find(name))
            batch.connections.push_back(toldStatusOf(*link));
    }
    m_batchOnItsWay = true;
    QMetaObject::invokeMethod(
        &m_front,
        [front = &m_front, batch = std::move(batch)] {
            emit front->updated(batch);
            front->onIoThread([](IoController &io) { io.batchTaken(); });
        },
        Qt::QueuedConnection);
}

void IoController::batchTaken()
{
    m_batchOnItsWay = false;
    const bool more = !m_pendingLocks.isEmpty() || !m_pendingLog.empty() || !m_pendingStatus.empty()
                      || !m_pending.sessionsOf.empty() || !m_pending.coverageOf.empty()
                      || !m_pending.connections.empty();
    if (more)
        scheduleFlush();
}

} // namespace lockscope
