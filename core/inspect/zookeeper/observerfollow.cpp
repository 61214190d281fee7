// SPDX-License-Identifier: Apache-2.0
// Following the directories that were found: reading them, watching their children, reading them again.
#include "core/inspect/zookeeper/observerprivate.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace std::chrono_literals;

namespace {

constexpr int mostReading = 32;  // directories at a time
constexpr Duration always = 10ms; // what is read faster than this needs no rest

} // namespace

void ZooKeeperObserver::Private::enqueue(const ZPath &path)
{
    const auto at = directories.find(path);
    if (at == directories.end())
        return;
    auto &directory = at->second;
    if (directory.isReading) {
        directory.isStale = true;
        return;
    }
    if (directory.isQueued)
        return;
    directory.isQueued = true;
    const auto soonest = directory.took > always ? directory.readAt + directory.took * restPerWork : loop.now();
    if (soonest > loop.now()) {
        directory.later = loop.callAt(soonest, [this, path] {
            queue.push_back(path);
            pump();
        });
        return;
    }
    queue.push_back(path);
    pump();
}

void ZooKeeperObserver::Private::pump()
{
    while (reading < mostReading && !queue.empty()) {
        const auto path = std::move(queue.front());
        queue.pop_front();
        const auto at = directories.find(path);
        if (at == directories.end())
            continue;
        at->second.isQueued = false;
        at->second.isReading = true;
        ++reading;
        scope.launch(read(path));
    }
    if (!isIdle())
        return;
    const auto waiters = std::exchange(idleWaiters, {});
    for (const auto &waiter : waiters)
        waiter.complete(true);
}

OneShot<bool> ZooKeeperObserver::Private::whenIdle()
{
    return idleWaiters.emplace_back(loop);
}

Task<void> ZooKeeperObserver::Private::read(ZPath path)
{
    const auto started = loop.now();
    const auto request = requestFor(path);
    auto answer = co_await readDirectory(session, request);
    finish(path, started, std::move(answer));
}

ReadRequest ZooKeeperObserver::Private::requestFor(const ZPath &path)
{
    auto &directory = directories.at(path);
    ReadRequest request;
    request.path = path;
    if (loop.now() - directory.readInFullAt < readInFullEvery)
        request.known = directory.known;
    else
        directory.readInFullAt = loop.now();
    request.suspects = std::make_shared<std::set<ZPath>>(directory.suspects.begin(), directory.suspects.end());
    if (options.follow) {
        request.watchFor = [this, path](const ZPath &folder) { return watchFor(path, folder); };
        request.armed = [this, path](const ZPath &folder) { watchSet(path, folder); };
    }
    return request;
}

std::optional<zk::Watch> ZooKeeperObserver::Private::watchFor(const ZPath &directory, const ZPath &folder)
{
    const auto at = directories.find(directory);
    if (at == directories.end())
        return {};
    auto &slot = at->second.watches[folder];
    if (slot && slot->armed)
        return {};
    slot = std::make_shared<WatchSlot>();
    const zk::Watch watch(loop);
    watch.event().then([this, directory, weak = std::weak_ptr(slot)](const zk::WatchEvent &event) {
        // The slot dies with the directory, and with the observer.
        if (const auto alive = weak.lock())
            watchFired(directory, alive, event.kind);
    });
    return watch;
}

void ZooKeeperObserver::Private::watchSet(const ZPath &directory, const ZPath &folder)
{
    const auto at = directories.find(directory);
    if (at == directories.end())
        return;
    const auto slot = at->second.watches.find(folder);
    if (slot != at->second.watches.end() && slot->second)
        slot->second->armed = !slot->second->fired;
}

void ZooKeeperObserver::Private::watchFired(const ZPath &directory, const std::shared_ptr<WatchSlot> &slot,
                                            zk::EventKind event)
{
    slot->fired = true;
    slot->armed = false;
    if (event == zk::EventKind::SessionOver)
        return;
    const auto at = directories.find(directory);
    // Groups that are no lock change as they like: the next dump says whether to look again.
    if (at != directories.end() && (at->second.wasLock || at->second.isReading))
        enqueue(directory);
}

void ZooKeeperObserver::Private::finish(const ZPath &path, Instant started, Result<ReadAnswer> answer)
{
    --reading;
    // Not from here: without a connection every reading ends at once, and thousands would end on one stack.
    pumpSoon = loop.callAt(loop.now(), [this] { pump(); });
    const auto at = directories.find(path);
    if (at == directories.end())
        return;
    auto &directory = at->second;
    directory.isReading = false;
    directory.readAt = loop.now();
    directory.took = directory.readAt - started;
    const bool readAgain = std::exchange(directory.isStale, false);
    std::vector<PictureChange> changes;
    if (answer) {
        // Who got there while we could not look did so at an unknown time.
        const bool isFirstLook = !directory.known || std::exchange(directory.hadGap, false);
        requests += answer->requests;
        unreadable.erase(path);
        directory.known = std::make_shared<const ReadAnswer>(std::move(*answer));
        learnFromNodes(directory.known->view);
        changes = judge(path, directory, isFirstLook);
        if (!directory.wasLock && directory.suspects.empty())
            forget(path);
    } else if (answer.error().code == ErrorCode::NoNode) {
        changes = store.replace(path.bytes(), {});
        forget(path);
    } else if (answer.error().code == ErrorCode::NoPermission) {
        unreadable.insert_or_assign(path, answer.error().message);
    }
    // Any other error is the connection's: connectionBack() reads everything again.
    if (!changes.empty()) {
        sink.locksChanged(std::move(changes));
        wantEdges();
    }
    if (readAgain)
        enqueue(path);
}

// Where no server tells its clock: it is at least as late as the youngest node.
void ZooKeeperObserver::Private::learnFromNodes(const DirectoryView &view)
{
    if (knowsServerClock)
        return;
    auto latest = serverNow();
    for (const auto &node : view.children)
        latest = std::max(latest, ServerTime(node.stat.ctime));
    serverAhead += latest - serverNow();
}

void ZooKeeperObserver::Private::forget(const ZPath &path)
{
    directories.erase(path);
    unreadable.erase(path);
}

void ZooKeeperObserver::Private::connectionBack()
{
    if (!std::exchange(wasBroken, false))
        return;
    std::vector<ZPath> all;
    for (auto &[path, directory] : directories) {
        directory.hadGap = true;
        all.push_back(path);
    }
    for (const auto &path : all)
        enqueue(path);
    wantEdges();
}

} // namespace lockscope::inspect
