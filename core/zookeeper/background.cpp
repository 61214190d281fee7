#include "core/zookeeper/background.h"

#include "core/zookeeper/client.h"

#include <QThreadPool>

#include <condition_variable>
#include <mutex>

#include <zookeeper/zookeeper.h>

namespace lockscope::zk {

namespace {

// Never destroyed: closing may still be under way when static objects are.
struct Background {
    QThreadPool threads;
    std::mutex mutex;
    std::condition_variable changed;
    int closing = 0;

    Background() { threads.setMaxThreadCount(16); } // a server that hangs holds each of them for seconds
};

Background &background()
{
    static auto *const instance = new Background;
    return *instance;
}

} // namespace

void runInBackground(std::function<void()> work)
{
    background().threads.start(std::move(work));
}

void closeInBackground(zhandle_t *handle, std::shared_ptr<void> keepAlive)
{
    {
        const std::lock_guard lock(background().mutex);
        ++background().closing;
    }
    runInBackground([handle, keep = std::move(keepAlive)]() mutable {
        zookeeper_close(handle);
        keep.reset();
        const std::lock_guard lock(background().mutex);
        --background().closing;
        background().changed.notify_all();
    });
}

void waitForClosingSessions(std::chrono::milliseconds atMost)
{
    std::unique_lock lock(background().mutex);
    background().changed.wait_for(lock, atMost, [] { return background().closing == 0; });
}

} // namespace lockscope::zk
