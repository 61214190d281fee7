// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/iocontroller.h"

namespace lockscope {

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

} // namespace lockscope
