// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/newsfeed.h"

#include "core/async/dated.h"
#include "core/base/overloaded.h"

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

} // namespace lockscope
