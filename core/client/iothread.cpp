// SPDX-License-Identifier: Apache-2.0
#include "core/client/iothread.h"

#include "core/async/qtloop.h"
#include "core/async/completion.h"

#include <QCoreApplication>
#include <QEventLoop>

#include <future>

namespace lockscope::client {

namespace {

// Held while a thread starts or ends: of two, the second would use the first one's QCoreApplication.
std::mutex startMutex;

} // namespace

std::shared_ptr<IoThread> IoThread::shared()
{
    static std::weak_ptr<IoThread> running;
    const std::lock_guard guard(startMutex);
    auto thread = running.lock();
    if (!thread) {
        // The last owner may be a callback on this very thread, which cannot wait for itself.
        thread = std::shared_ptr<IoThread>(new IoThread, [](IoThread *last) {
            const auto end = [last] {
                const std::lock_guard ending(startMutex);
                delete last; // NOLINT(cppcoreguidelines-owning-memory): made above
            };
            if (last->isCurrent())
                std::thread(end).detach();
            else
                end();
        });
        running = thread;
    }
    return thread;
}

IoThread::IoThread()
{
    std::promise<void> started;
    m_thread = std::thread([this, &started] { run([&started] { started.set_value(); }); });
    started.get_future().wait();
    m_id = m_thread.get_id();
}

IoThread::~IoThread()
{
    post([this] {
        m_isEnding = true;
        if (m_lingering == 0)
            m_quit();
    });
    m_thread.join();
    waitForClosing(m_closeTime);
}

void IoThread::linger(std::function<bool()> isBusy, std::chrono::milliseconds atMost)
{
    m_closeTime = std::max(m_closeTime, atMost);
    if (!isBusy())
        return;
    ++m_lingering;
    launch(waitWhile(std::move(isBusy), Deadline::after(*m_loop, atMost)));
}

Task<void> IoThread::waitWhile(std::function<bool()> isBusy, Deadline deadline)
{
    while (isBusy() && !deadline.hasPassed(*m_loop))
        co_await sleepFor(*m_loop, 2ms);
    isBusy = {}; // which may leave something else to linger
    if (--m_lingering == 0 && m_isEnding)
        m_quit();
}

void IoThread::run(const std::function<void()> &started)
{
    int count = 1;
    char name[] = "lockscope";
    char *arguments[] = {name, nullptr};
    std::optional<QCoreApplication> application;
    if (!QCoreApplication::instance())
        application.emplace(count, arguments);
    QEventLoop events;
    QtLoop loop;
    Scope scope(loop);
    m_loop = &loop;
    m_scope = &scope;
    m_quit = [&events] { events.quit(); };
    started();
    events.exec();
    // What the last sessions posted while they were destroyed.
    QCoreApplication::sendPostedEvents();
}

} // namespace lockscope::client
