// SPDX-License-Identifier: Apache-2.0
#include "core/client/iothread.h"

#include "core/async/qtloop.h"
#include "core/async/completion.h"

#include <QCoreApplication>
#include <QEventLoop>

#include <clocale>
#include <future>
#include <thread>

namespace lockscope::client {

namespace {

thread_local bool isLoopThread = false;

// Never destroyed. Qt gives the process the locale of its environment, which is the program's to choose.
void makeApplication()
{
    static int count = 1;
    static char name[] = "lockscope";
    static char *arguments[] = {name, nullptr};
    const std::string locale = std::setlocale(LC_ALL, nullptr);
    new QCoreApplication(count, arguments); // NOLINT(cppcoreguidelines-owning-memory)
    std::setlocale(LC_ALL, locale.c_str());
}

} // namespace

IoThread &IoThread::shared()
{
    static auto *const running = new IoThread;
    return *running;
}

bool IoThread::isCurrent()
{
    return isLoopThread;
}

IoThread::IoThread()
{
    std::promise<void> started;
    std::thread([this, &started] { run([&started] { started.set_value(); }); }).detach();
    started.get_future().wait();
}

void IoThread::linger(std::function<bool()> isBusy, std::chrono::milliseconds atMost)
{
    if (isBusy())
        launch(waitWhile(std::move(isBusy), Deadline::after(*m_loop, atMost)));
}

Task<void> IoThread::waitWhile(std::function<bool()> isBusy, Deadline deadline)
{
    while (isBusy() && !deadline.hasPassed(*m_loop))
        co_await sleepFor(*m_loop, 2ms);
    isBusy = {}; // which may leave something else to linger
}

void IoThread::run(const std::function<void()> &started)
{
    isLoopThread = true;
    if (!QCoreApplication::instance())
        makeApplication();
    QEventLoop events;
    QtLoop loop;
    Scope scope(loop);
    m_loop = &loop;
    m_scope = &scope;
    started();
    events.exec();
}

} // namespace lockscope::client
