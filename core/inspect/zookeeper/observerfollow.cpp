// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observer.h"

namespace lockscope::inspect {

namespace {

constexpr int mostReading = 128;    // directories at a time: most are small, and the server is not to wait for us
constexpr int mostReadingWide = 32; // that may have as many requests out as they like; what is read beside them may
constexpr std::size_t few = 32;     // have so many, for large ones together are not to flood a server
constexpr Duration always = 10ms;   // what is read faster than this needs no rest
constexpr Duration perRequest = 200us; // more than that a server does not work for one
constexpr Duration lateAfter = 1s;     // a change that was not read for so long is reported
constexpr int readAtOnce = 20;         // directories read again because of their age, per look
// So old may be what is known of a node: its client may change what it wrote into it.
constexpr Duration readInFullEvery = 60s;
// Of more nodes than these not all: a queue of 10,000 would be asked 170 things a second, though nothing happens.
constexpr std::size_t mostReadAgain = 600;

// How many may not be known but by their names, and the first of them.
std::pair<qint64, ZPath> hiddenIn(const DirectoryView &view)
{
    std::pair<qint64, ZPath> hidden;
    eachNode(view, [&hidden](const ZPath &folder, const ZnodeView &node) {
        if (!node.isStatKnown && hidden.first++ == 0)
            hidden.second = folder.child(node.name);
    });
    return hidden;
}

std::size_t largestFolderOf(const DirectoryView &view)
{
    std::size_t most = view.children.size();
    for (const auto &[name, nodes] : view.parts)
        most = std::max(most, nodes.size());
    return most;
}

} // namespace

void DirectoryFollower::reconcile(const Candidates &found, bool isComplete)
{
    std::vector<ZPath> toRead;
    for (const auto &[path, suspects] : found) {
        auto [at, isNew] = m_directories.try_emplace(path);
        auto &directory = at->second;
        const bool changed = directory.suspects != suspects;
        if (isComplete || isNew)
            directory.suspects = suspects;
        // A watch has told of the change already, unless we looked elsewhere.
        if (isNew
            || (isComplete && changed && directory.known
                && !std::ranges::equal(pathsOfEphemerals(directory.known->view), suspects)))
            toRead.push_back(path);
    }
    if (isComplete) {
        for (auto &[path, directory] : m_directories) {
            if (found.contains(path) || directory.suspects.empty())
                continue;
            directory.suspects.clear();
            toRead.push_back(path);
        }
    }
    for (const auto &path : toRead)
        setDue(path);
}

void DirectoryFollower::readOldOnes()
{
    const auto now = m_ensemble.loop.now();
    std::vector<std::pair<Instant, ZPath>> old;
    for (auto &[path, directory] : m_directories) {
        const bool hasFailed = directory.dueSince && !m_unreadable.contains(path);
        if (!hasFailed && (!directory.known || !m_judge.hadLock(path)))
            continue;
        const bool isUntold = hasFailed || directory.known->overBudget || m_judge.hasDates(path);
        const bool isOld = isUntold && now - directory.readAt > m_ensemble.options.pollEvery;
        if (isOld || now - directory.readInFullAt > readInFullEvery)
            old.emplace_back(directory.readAt, path);
    }
    std::ranges::sort(old);
    if (old.size() > readAtOnce)
        old.resize(readAtOnce);
    for (const auto &[readAt, path] : old)
        enqueue(path);
}

void DirectoryFollower::enqueue(const ZPath &path, When when)
{
    const auto at = m_directories.find(path);
    if (at == m_directories.end())
        return;
    auto &directory = at->second;
    if (directory.isReading) {
        directory.isStale = true;
        return;
    }
    if (directory.isQueued && !(directory.isResting && when == When::AtOnce))
        return;
    directory.isQueued = true;
    const auto now = m_ensemble.loop.now();
    const bool needsRest = when == When::Rested && directory.took > always;
    const auto soonest = needsRest ? directory.readAt + directory.took * restPerWork : now;
    directory.isResting = soonest > now;
    if (directory.isResting) {
        directory.later = m_ensemble.loop.callAt(soonest, [this, path] {
            m_directories.at(path).isResting = false;
            m_queue.push_back(path);
            pump();
        });
        return;
    }
    directory.later.cancel();
    m_queue.push_back(path);
    pump();
}

void DirectoryFollower::pump()
{
    // Without a connection every reading ends at once: they end in this loop, thousands of them would on one stack.
    if (m_isPumping)
        return;
    m_isPumping = true;
    while (m_reading < mostReading && !m_queue.empty()) {
        const auto path = std::move(m_queue.front());
        m_queue.pop_front();
        const auto at = m_directories.find(path);
        if (at == m_directories.end())
            continue;
        at->second.isQueued = false;
        at->second.isReading = true;
        ++m_reading;
        m_scope.launch(read(path));
    }
    m_isPumping = false;
    if (!isIdle())
        return;
    const auto waiters = std::exchange(m_idleWaiters, {});
    for (const auto &waiter : waiters)
        waiter.complete(true);
}

Task<void> DirectoryFollower::read(ZPath path)
{
    const auto started = m_ensemble.loop.now();
    const auto request = requestFor(path);
    auto answer = co_await readDirectory(m_ensemble.session, request);
    finish(path, started, std::move(answer));
}

ReadRequest DirectoryFollower::requestFor(const ZPath &path)
{
    auto &directory = m_directories.at(path);
    ReadRequest request;
    request.path = path;
    if (m_reading > mostReadingWide)
        request.inFlight = few;
    const bool isDue = m_ensemble.loop.now() - directory.readInFullAt >= readInFullEvery;
    const auto size = directory.known ? largestFolderOf(directory.known->view) : 0;
    if (!isDue || size > mostReadAgain)
        request.known = directory.known;
    if (isDue) {
        directory.readInFullAt = m_ensemble.loop.now();
        directory.isInFull = true;
    }
    if (isDue && request.known) {
        request.again = mostReadAgain;
        request.againFrom = directory.againFrom < size ? directory.againFrom : 0;
        directory.againFrom = request.againFrom + mostReadAgain;
    }
    request.suspects = std::make_shared<std::set<ZPath>>(directory.suspects.begin(), directory.suspects.end());
    if (m_ensemble.options.follow) {
        request.watchFor = [this, path](const ZPath &folder) { return watchFor(path, folder); };
        request.armed = [this, path](const ZPath &folder) { watchSet(path, folder); };
    }
    return request;
}

std::optional<zk::Watch> DirectoryFollower::watchFor(const ZPath &directory, const ZPath &folder)
{
    const auto at = m_directories.find(directory);
    if (at == m_directories.end())
        return {};
    auto &slot = at->second.watches[folder];
    if (slot && slot->isArmed)
        return {};
    slot = std::make_shared<WatchSlot>();
    const zk::Watch watch(m_ensemble.loop);
    watch.event().then([this, directory, weak = std::weak_ptr(slot)](const zk::WatchEvent &event) {
        // The slot dies with the directory, and with the observer.
        if (const auto alive = weak.lock())
            watchFired(directory, alive, event.kind);
    });
    return watch;
}

void DirectoryFollower::watchFired(const ZPath &directory, const std::shared_ptr<WatchSlot> &slot,
                                   zk::EventKind event)
{
    slot->hasFired = true;
    slot->isArmed = false;
    if (event == zk::EventKind::SessionOver)
        return;
    const auto at = m_directories.find(directory);
    // Groups that are no lock change as they like: the next dump says whether to look again.
    if (at != m_directories.end() && (m_judge.hadLock(directory) || at->second.isReading))
        setDue(directory);
}

void DirectoryFollower::finish(const ZPath &path, Instant started, Result<ReadAnswer> answer)
{
    --m_reading;
    pump(); // at once: while this is judged the server has the next to work at
    const auto at = m_directories.find(path);
    if (at == m_directories.end())
        return;
    auto &directory = at->second;
    directory.isReading = false;
    directory.readAt = m_ensemble.loop.now();
    // What a stall or a long way added was no work, and of a lost answer nothing is known but that time passed.
    const auto requests = answer ? answer->requests : 0;
    directory.took = std::min<Duration>(directory.readAt - started, perRequest * requests);
    // Reading it in full comes so seldom that it is within its share, and what changes next is not to wait for that.
    if (std::exchange(directory.isInFull, false) && directory.took * restPerWork <= readInFullEvery)
        directory.took = {};
    const bool readAgain = std::exchange(directory.isStale, false);
    if (!answer)
        directory.dueSince = directory.dueSince.value_or(started);
    else if (readAgain && directory.dueSince)
        directory.dueSince = std::max(*directory.dueSince, answer->view.listedAt);
    else
        directory.dueSince.reset();
    auto changes = take(path, directory, std::move(answer));
    if (!changes.empty()) {
        m_ensemble.sink.takeAll(std::move(changes));
        m_changed();
    }
    if (readAgain)
        enqueue(path);
}

// The directory may be forgotten by it.
std::vector<SnapshotChange> DirectoryFollower::take(const ZPath &path, Directory &directory,
                                                    Result<ReadAnswer> answer)
{
    if (answer) {
        // Who got there while we could not look did so at an unknown time.
        const bool isGapOver = directory.hadGap && answer->view.listedAt >= m_backAt;
        const bool isFirstLook = !directory.known || isGapOver;
        directory.hadGap = directory.hadGap && !isGapOver;
        directory.knownAt = answer->view.listedAt;
        m_requests += answer->requests;
        m_unreadable.erase(path);
        directory.known = std::make_shared<const ReadAnswer>(std::move(*answer));
        directory.hidden = hiddenIn(directory.known->view);
        if (!m_judge.hasComparedClocks())
            m_answers.learnFromNodes(directory.known->view);
        auto changes = m_judge.judge(directory.known->view, isFirstLook);
        if (!m_judge.hadLock(path) && directory.suspects.empty())
            return forget(path);
        return changes;
    }
    if (answer.error().code == ErrorCode::NoNode)
        return forget(path);
    if (answer.error().code == ErrorCode::NoPermission)
        m_unreadable.insert_or_assign(path, answer.error().message);
    // Any other error is the connection's: when it is back everything is read again. Else readOldOnes() does it.
    return {};
}

std::shared_ptr<const ReadAnswer> DirectoryFollower::readAlready(const ZPath &path) const
{
    const auto at = m_directories.find(path);
    if (at == m_directories.end())
        return nullptr;
    const auto &directory = at->second;
    if (!directory.known || directory.known->unread > 0 || directory.isQueued || directory.isReading)
        return nullptr;
    if (!m_ensemble.options.follow)
        return directory.known;
    const auto slot = directory.watches.find(path);
    const bool isTold = slot != directory.watches.end() && slot->second && slot->second->isArmed;
    return isTold && !directory.hadGap ? directory.known : nullptr;
}

const DirectoryView *DirectoryFollower::viewOf(const ZPath &path) const
{
    const auto at = m_directories.find(path);
    if (at == m_directories.end())
        return nullptr;
    const auto &directory = at->second;
    const bool isToBeRead = directory.isQueued || directory.isReading || directory.dueSince || directory.hadGap;
    return directory.known && !isToBeRead ? &directory.known->view : nullptr;
}

void DirectoryFollower::readAllAgain()
{
    m_backAt = m_ensemble.loop.now();
    std::vector<ZPath> all;
    for (auto &[path, directory] : m_directories) {
        directory.hadGap = true;
        all.push_back(path);
    }
    for (const auto &path : all)
        setDue(path, When::AtOnce);
}

bool DirectoryFollower::isTold(const ZPath &path, const Directory &directory) const
{
    if (!directory.known || directory.known->overBudget || m_judge.hasDates(path))
        return false;
    const auto isArmed = [&directory](const ZPath &folder) {
        const auto slot = directory.watches.find(folder);
        return slot != directory.watches.end() && slot->second && slot->second->isArmed;
    };
    return isArmed(path) && std::ranges::all_of(directory.known->view.parts, [&](const auto &part) {
               return isArmed(partPath(path, part.first));
           });
}

bool DirectoryFollower::isLate(const ZPath &path, const Directory &directory) const
{
    if (m_unreadable.contains(path) || (directory.known && !m_judge.hadLock(path)))
        return false;
    return directory.hadGap || (directory.dueSince && m_ensemble.loop.now() - *directory.dueSince > lateAfter);
}

void DirectoryFollower::judgeAll()
{
    std::vector<SnapshotChange> changes;
    std::vector<ZPath> toRead;
    for (const auto &[path, directory] : m_directories) {
        // What is to be read first is judged when it was: by newer answers of the servers an old list looks wrong.
        if (!directory.known || directory.hadGap || directory.dueSince)
            continue;
        std::ranges::move(m_judge.judgeAgain(directory.known->view, directory.knownAt), std::back_inserter(changes));
        if (m_judge.wantsNewerList(path))
            toRead.push_back(path);
    }
    m_ensemble.sink.takeAll(std::move(changes));
    for (const auto &path : toRead)
        enqueue(path);
}

void DirectoryFollower::addTo(SearchFacts &facts, const std::set<ZPath> &refused) const
{
    for (const auto &[path, why] : m_unreadable) {
        if (!refused.contains(path) && facts.refusedDirectories++ == 0)
            facts.firstRefused = path;
    }
    const auto now = m_ensemble.loop.now();
    auto oldest = Instant::max();
    for (const auto &[path, directory] : m_directories) {
        if (isLate(path, directory)) {
            ++facts.lateDirectories;
            const auto known = directory.known ? directory.knownAt : directory.dueSince.value_or(now);
            if (known < std::exchange(oldest, std::min(oldest, known)))
                facts.firstLate = path;
        }
        if (!directory.known)
            continue;
        const bool hadLock = m_judge.hadLock(path);
        facts.polledDirectories += hadLock && directory.known->overBudget;
        facts.unreadNodes += hadLock ? directory.known->unread : 0;
        if (facts.hiddenNodes == 0)
            facts.firstHidden = directory.hidden.second;
        facts.hiddenNodes += directory.hidden.first;
        for (const auto &[folder, slot] : directory.watches)
            facts.ownChildWatches += slot && slot->isArmed;
    }
    if (facts.lateDirectories > 0)
        facts.lateSince = datedNow(m_ensemble.loop) - (now - oldest);
}

} // namespace lockscope::inspect
