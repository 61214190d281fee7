// SPDX-License-Identifier: Apache-2.0
// What the I/O thread tells of its connections.
#include "core/workspace/iocontroller.h"

#include "core/workspace/past.h"
#include "core/workspace/workspace.h"

namespace lockscope {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto statusEvery = 500ms;

} // namespace

ConnectionStatus IoController::statusOf(Link &link) const
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
    else if (problem || link.heardAt() != std::chrono::system_clock::time_point{})
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

// Nothing is complete, and no connection newer, than the locks of it that the window has been told of.
ConnectionStatus IoController::toldStatusOf(Link &link)
{
    auto status = statusOf(link);
    if (const auto oldest = m_pendingLocks.oldestOf(status.name))
        status.asOf = std::min(status.asOf, *oldest);
    if (!status.progress.firstSnapshotComplete) {
        m_completeBefore.erase(status.name);
        return status;
    }
    const auto at = m_completeBefore.try_emplace(status.name, m_pendingLocks.next()).first;
    if (!m_pendingLocks.isTakenBefore(at->second)) {
        status.progress.firstSnapshotComplete = false;
        m_pendingStatus.insert(status.name);
    }
    return status;
}

void IoController::statusChanged(const ConnectionName &name)
{
    if (isLeaving(name))
        return;
    m_pendingStatus.insert(name);
    scheduleFlush();
}

void IoController::refreshStatuses()
{
    for (auto *link : m_workspace->links())
        statusChanged(link->spec().name);
    m_statusTimer = m_loop.callAt(m_loop.now() + statusEvery, [this] { refreshStatuses(); });
}

// The I/O side's part in the recorder of the window: it hears what the window is told.
void IoController::record(history::FlightOptions options, std::shared_ptr<history::RecordedFiles> files)
{
    auto *past = m_front.past();
    history::FlightRecorder::Listeners listeners;
    listeners.failed = [past](const Error &error) {
        QMetaObject::invokeMethod(
            past, [past, error] { past->recorderFailed(error); }, Qt::QueuedConnection);
    };
    listeners.resumed = [past] { QMetaObject::invokeMethod(past, &Past::recorderResumed, Qt::QueuedConnection); };
    listeners.foundLeft = [past](const history::LeftRecording &left) {
        QMetaObject::invokeMethod(
            past, [past, left] { past->recorderFound(left); }, Qt::QueuedConnection);
    };
    m_recorder =
        std::make_unique<history::FlightRecorder>(m_loop, std::move(options), std::move(files), std::move(listeners));
    m_feed = std::make_unique<RecordFeed>(*m_workspace, *m_recorder);
}

void IoController::recordGone(const ConnectionName &name)
{
    history::LinkState gone;
    gone.name = name;
    gone.isGone = true;
    if (m_recorder)
        m_recorder->connectionIs(gone);
}

} // namespace lockscope
