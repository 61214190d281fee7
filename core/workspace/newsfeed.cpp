// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/newsfeed.h"

#include "core/operate/releasemethod.h"

#include <QFileInfo>
#include <QJsonDocument>

namespace lockscope {

using inspect::SnapshotChange;

namespace {

constexpr auto frame = 16ms;
constexpr auto statusEvery = 500ms;            // counters and latencies: nobody reads them faster
constexpr std::size_t mostLocksInBatch = 1000; // the window takes about 6 µs for each

ConnectionStatus statusOf(Link &link)
{
    ConnectionStatus status;
    status.name = link.spec().name;
    status.scheme = link.spec().scheme;
    status.uri = link.spec().displayUri();
    const auto problem = link.problem();
    if (link.isConnected())
        status.state = ConnectionStatus::State::Connected;
    else if (problem && problem->code == ErrorCode::AuthFailed)
        status.state = ConnectionStatus::State::AuthFailed;
    else if (problem || link.heardAt() != WallTime{})
        status.state = ConnectionStatus::State::Broken;
    if (!link.isConnected())
        status.message = problem ? problem->message : u"connecting to %1"_s.arg(status.uri);
    status.asOf = link.heardAt();
    status.latency = link.latency();
    status.production = link.gate().isProduction();
    status.readOnly = link.gate().isReadOnly();
    status.readOnlyForGood = link.gate().isReadOnlyForGood();
    status.writesSent = link.gate().writesSent();
    status.progress = link.progress();
    status.cost = link.cost();
    return status;
}

constexpr std::size_t mostLogKept = 5000; // the window keeps no more than the log does

// Moves the values out.
template <class Key, class Value>
std::vector<Value> valuesOf(std::map<Key, Value> &map)
{
    std::vector<Value> values;
    values.reserve(map.size());
    for (auto &[key, value] : std::exchange(map, {}))
        values.push_back(std::move(value));
    return values;
}

constexpr auto feedEvery = 200ms;

QByteArray asBytes(const QJsonObject &lock)
{
    return lock.isEmpty() ? QByteArray() : QJsonDocument(lock).toJson(QJsonDocument::Compact);
}

} // namespace

NewsFeed::NewsFeed(Loop &loop, std::function<void(Batch)> deliver) : m_loop(loop), m_deliver(std::move(deliver)) {}

void NewsFeed::start(Workspace &workspace, std::vector<inspect::ClientLabel> labels)
{
    m_workspace = &workspace;
    m_deadlocks = std::make_unique<DeadlockWatch>(workspace, std::move(labels),
                                                  [this](SnapshotChange change) { tell(std::move(change)); });
    refreshStatuses();
}

void NewsFeed::stop()
{
    m_recordFeed.reset();
    m_recorder.reset();
    m_deadlocks.reset();
}

void NewsFeed::record(history::FlightOptions options, std::shared_ptr<history::RecordedFiles> files,
                      history::FlightRecorder::Listeners listeners)
{
    m_recorder =
        std::make_unique<history::FlightRecorder>(m_loop, std::move(options), std::move(files), std::move(listeners));
    m_recordFeed = std::make_unique<RecordFeed>(*m_workspace, *m_recorder);
}

void NewsFeed::recordOne(const auto &change)
{
    if (m_recorder)
        m_recorder->take(change);
}

// --- what comes --------------------------------------------------------------------------------

void NewsFeed::take(inspect::Change::What change)
{
    std::visit(Overloaded{[this](SnapshotChange &news) {
                              if (m_deadlocks) // not while it is torn down
                                  m_deadlocks->passing(news);
                              tell(std::move(news));
                          },
                          [this](const inspect::SessionsSeen &seen) { notifySeen(seen); },
                          [this](const inspect::CoverageSeen &seen) { notifySeen(seen); },
                          [this](const inspect::Progress &progress) { statusChanged(progress.connection); },
                          [this](const inspect::Cost &cost) { statusChanged(cost.connection); },
                          [this](const auto &other) { recordOne(other); }},
               change);
}

void NewsFeed::tell(SnapshotChange change)
{
    recordOne(change);
    if (change.kind == inspect::ChangeKind::Removed || !m_closing.contains(change.lock.lock.connection))
        m_news.add(std::move(change), datedNow(m_loop));
    scheduleFlush();
}

void NewsFeed::notifySeen(const auto &seen)
{
    if (m_closing.contains(seen.connection))
        return;
    recordOne(seen);
    m_news.add(seen);
    scheduleFlush();
}

void NewsFeed::add(const ConnectionStatus &status)
{
    m_news.add(status);
    scheduleFlush();
}

void NewsFeed::logged(const operate::LogEntry &entry)
{
    m_news.add(entry);
    scheduleFlush();
}

void NewsFeed::statusChanged(const ConnectionName &name)
{
    if (m_closing.contains(name))
        return;
    m_changedStatuses.insert(name);
    scheduleFlush();
}

void NewsFeed::refreshStatuses()
{
    for (auto *link : m_workspace->links())
        statusChanged(link->spec().name);
    m_statusTimer = m_loop.callAt(m_loop.now() + statusEvery, [this] { refreshStatuses(); });
}

void NewsFeed::closing(const ConnectionName &name)
{
    m_closing.insert(name);
    m_changedStatuses.erase(name);
}

void NewsFeed::closed(const ConnectionName &name)
{
    m_closing.erase(name);
    inspect::LinkState gone;
    gone.name = name;
    gone.isGone = true;
    recordOne(gone);
}

// --- what goes to the window -------------------------------------------------------------------

// Nothing is complete, and no connection newer, than the locks of it that the window has been told of.
ConnectionStatus NewsFeed::reportedStatusOf(Link &link)
{
    auto status = statusOf(link);
    if (const auto oldest = m_news.oldestOf(status.name))
        status.asOf = std::min(status.asOf, *oldest);
    if (!status.progress.firstSnapshotComplete) {
        m_completeBefore.erase(status.name);
        return status;
    }
    const auto at = m_completeBefore.try_emplace(status.name, m_news.next()).first;
    if (!m_news.isTakenBefore(at->second)) {
        status.progress.firstSnapshotComplete = false;
        m_changedStatuses.insert(status.name);
    }
    return status;
}

void NewsFeed::scheduleFlush()
{
    if (m_isFlushScheduled || m_isBatchOnItsWay)
        return;
    m_isFlushScheduled = true;
    m_flushTimer = m_loop.callAt(m_loop.now() + frame, [this] { flush(); });
}

void NewsFeed::flush()
{
    m_isFlushScheduled = false;
    auto batch = m_news.take(mostLocksInBatch);
    for (const auto &name : std::exchange(m_changedStatuses, {})) {
        if (auto *link = m_workspace->find(name))
            batch.connections.push_back(reportedStatusOf(*link));
    }
    m_isBatchOnItsWay = true;
    m_deliver(std::move(batch));
}

void NewsFeed::delivered()
{
    m_isBatchOnItsWay = false;
    if (!m_news.isEmpty() || !m_changedStatuses.empty())
        scheduleFlush();
}

using inspect::ChangeKind;

void News::add(inspect::SnapshotChange change, WallTime now)
{
    const auto at = m_locks.find(change.lock.lock);
    if (at == m_locks.end()) {
        m_order.push_back({change.lock.lock, now, m_next++});
        m_locks.emplace(change.lock.lock, std::move(change));
        return;
    }
    // Added and changed before it is told is still added; added and removed is still told (harmless).
    if (at->second.kind == ChangeKind::Added && change.kind == ChangeKind::Changed)
        change.kind = ChangeKind::Added;
    at->second = std::move(change);
}

void News::add(operate::LogEntry entry)
{
    m_log.insert_or_assign({entry.number, entry.connection}, std::move(entry));
    if (m_log.size() > mostLogKept)
        m_log.erase(m_log.begin());
}

void News::add(const Batch &batch)
{
    const auto addAll = [this](const auto &values) {
        for (const auto &value : values)
            add(value);
    };
    addAll(batch.locks);
    addAll(batch.connections);
    addAll(batch.sessions);
    addAll(batch.coverage);
    addAll(batch.log);
}

Batch News::take(std::size_t mostLocks)
{
    Batch batch;
    while (!m_order.empty() && batch.locks.size() < mostLocks) {
        batch.locks.push_back(std::move(m_locks.extract(m_order.front().lock).mapped()));
        m_order.pop_front();
    }
    batch.connections = valuesOf(m_statuses);
    batch.sessions = valuesOf(m_sessions);
    batch.coverage = valuesOf(m_coverage);
    batch.log = valuesOf(m_log);
    return batch;
}

void News::forget(const ConnectionName &name)
{
    std::erase_if(m_order, [&name](const Waiting &waiting) { return waiting.lock.connection == name; });
    std::erase_if(m_locks, [&name](const auto &entry) { return entry.first.connection == name; });
    m_statuses.erase(name);
    m_sessions.erase(name);
    m_coverage.erase(name);
}

bool News::isEmpty() const
{
    return m_locks.empty() && m_statuses.empty() && m_sessions.empty() && m_coverage.empty() && m_log.empty();
}

std::optional<WallTime> News::oldestOf(const ConnectionName &name) const
{
    const auto at =
        std::ranges::find_if(m_order, [&name](const Waiting &waiting) { return waiting.lock.connection == name; });
    return at == m_order.end() ? std::nullopt : std::optional(at->since);
}

bool News::isTakenBefore(quint64 number) const
{
    return m_order.empty() || m_order.front().number >= number;
}

inspect::LinkState stateOf(Link &link)
{
    inspect::LinkState state;
    const auto &spec = link.spec();
    state.name = spec.name;
    state.backend = backendOf(spec.scheme).value_or(BackendKind::ZooKeeper);
    state.uri = spec.displayUri();
    state.server = link.serverVersion();
    state.production = link.gate().isProduction();
    state.isConnected = link.isConnected();
    state.isLookedThrough = state.isConnected && link.observer().firstSnapshot().isComplete();
    if (const auto problem = link.problem(); problem && !state.isConnected)
        state.problem = problem->message;
    return state;
}

inspect::Act actOf(const operate::AuditRecord &record)
{
    return {std::chrono::time_point_cast<std::chrono::milliseconds>(programClock().ofWall(record.time)),
            record.actor,
            record.action,
            record.lock,
            record.holder,
            record.reason,
            record.phase,
            record.outcome,
            asBytes(record.before),
            asBytes(record.after),
            record.isDone && record.action == operate::actionOf(operate::ReleaseAction::Release)};
}

AuditFollower::AuditFollower(const operate::AuditFile &file) : m_file(file)
{
    if (QFileInfo::exists(file.path()))
        (void)news();
    else
        m_last.emplace(); // whatever comes is news
}

std::vector<inspect::Act> AuditFollower::news()
{
    const QFileInfo file(m_file.path());
    const std::pair looked(file.size(), file.lastModified());
    if (!file.exists() || looked == m_looked)
        return {};
    m_looked = looked;
    const auto records = m_file.read(nullptr);
    if (!records)
        return {};
    const bool isFirst = !m_last;
    const auto told = std::ranges::find(*records, m_last.value_or(QByteArray()), &operate::AuditRecord::hash);
    m_last = records->empty() ? QByteArray() : records->back().hash;
    std::vector<inspect::Act> acts;
    if (isFirst)
        return acts;
    // Another file than before has none that was told.
    for (auto from = told == records->end() ? records->begin() : std::next(told); from != records->end(); ++from)
        acts.push_back(actOf(*from));
    return acts;
}

RecordFeed::RecordFeed(Workspace &workspace, inspect::ObserverSink &recorder)
    : m_workspace(workspace), m_recorder(recorder), m_audit(workspace.audit())
{
    tell();
    notifyLater();
}

void RecordFeed::tell()
{
    for (auto *link : m_workspace.links())
        m_recorder.take(stateOf(*link));
    for (auto &act : m_audit.news())
        m_recorder.take(std::move(act));
}

void RecordFeed::notifyLater()
{
    auto &loop = m_workspace.loop();
    m_timer = loop.callAt(loop.now() + feedEvery, [this] {
        tell();
        notifyLater();
    });
}

} // namespace lockscope
