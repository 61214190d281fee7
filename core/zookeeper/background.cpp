// SPDX-License-Identifier: Apache-2.0
#include "core/zookeeper/background.h"

#include "core/async/workers.h"
#include "core/zookeeper/client.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <zookeeper/zookeeper.h>

namespace lockscope::zk {

namespace {

// Never destroyed: closing may still be under way when static objects are.
struct Background {
    Workers threads{16}; // a server that hangs holds each of them for seconds
    std::mutex mutex;
    std::condition_variable changed;
    int closing = 0;
};

Background &background()
{
    static auto *const instance = new Background;
    return *instance;
}

// Answers that have arrived and were not handed out yet are never freed by the library once it closes;
// so they are let through, unless the server does not answer at all.
void letAnswersThrough(zhandle_t *handle, const Mailbox &mailbox)
{
    constexpr std::chrono::milliseconds step{2};
    constexpr std::chrono::milliseconds longest{1000};
    for (auto waited = step; waited < longest; waited += step) {
        if (!mailbox.hasCallsOut() || zoo_state(handle) != ZOO_CONNECTED_STATE)
            return;
        std::this_thread::sleep_for(step);
    }
}

} // namespace

void runInBackground(std::function<void()> work)
{
    background().threads.start(std::move(work));
}

void closeInBackground(zhandle_t *handle, std::shared_ptr<Mailbox> mailbox)
{
    {
        const std::lock_guard lock(background().mutex);
        ++background().closing;
    }
    runInBackground([handle, keep = std::move(mailbox)]() mutable {
        letAnswersThrough(handle, *keep);
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
