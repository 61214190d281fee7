// SPDX-License-Identifier: Apache-2.0
// The I/O side's part in the recorder of the window: it hears what the window is told.
#include "core/workspace/iocontroller.h"
#include "core/workspace/past.h"

namespace lockscope {

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
