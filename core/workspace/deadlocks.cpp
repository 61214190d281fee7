// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/newsfeed.h"

#include "core/base/text.h"

namespace lockscope {

using inspect::ChangeKind;
using inspect::LockSnapshot;
using inspect::SnapshotChange;
using inspect::WaitGraph;

namespace {

constexpr auto restAfterNews = 200ms;
// The looks take at most so much of the thread's time.
constexpr int restPerLook = 20;

std::set<QByteArray> keysOf(const WaitGraph &graph)
{
    return mapped<std::set<QByteArray>>(graph.cycles, [&](const auto &cycle) { return keyOf(graph, cycle); });
}

void keepOnly(WaitGraph &graph, const std::set<QByteArray> &keys)
{
    std::erase_if(graph.cycles, [&](const auto &cycle) { return !keys.contains(keyOf(graph, cycle)); });
}

// Whether the lock is still as it was in the cycle.
bool hasItsSeats(const LockSnapshot &lock, const WaitGraph &graph, const inspect::WaitCycle &cycle)
{
    return std::ranges::all_of(cycle.seats, [&](const inspect::GraphSeat &seat) {
        if (graph.locks[static_cast<std::size_t>(seat.lock)].name != lock.lock)
            return true;
        const auto *one = lock.find(seat.contender);
        return one && (one->role == inspect::Role::Holder) == seat.holds;
    });
}

} // namespace

void keepCyclesOf(WaitGraph &graph, const WaitGraph &before)
{
    keepOnly(graph, keysOf(before));
}

WaitGraph waitsThen(const history::FlightRecording &recording, const inspect::StateSnapshot &picture,
                    history::Moment then, const std::vector<inspect::ClientLabel> &labels)
{
    auto graph = waitGraphOf(inspect::locksAsOf(picture, then), labels, then);
    if (graph.cycles.empty())
        return graph;
    const auto earlier = then - untilSeenAgain;
    const auto before = recording.at(earlier);
    const auto locksBefore = before ? inspect::locksAsOf(*before, earlier) : std::vector<LockSnapshot>();
    keepCyclesOf(graph, waitGraphOf(locksBefore, labels, earlier));
    return graph;
}

std::vector<LockSnapshot> everySnapshot(Workspace &workspace)
{
    std::vector<LockSnapshot> all;
    for (auto *link : workspace.links()) {
        if (!link->isConnected())
            continue;
        for (auto &lock : link->observer().snapshots())
            all.push_back(std::move(lock));
    }
    return all;
}

Task<WaitGraph> lookForDeadlocks(Workspace &workspace, std::vector<inspect::ClientLabel> labels, Deadline deadline,
                                 std::set<ConnectionName> *unread)
{
    auto &loop = workspace.loop();
    auto locks = everySnapshot(workspace);
    auto graph = waitGraphOf(locks, labels, datedNow(loop));
    if (graph.cycles.empty())
        co_return graph;
    const auto seen = keysOf(graph);
    std::set<inspect::LockName> names;
    for (const auto &cycle : graph.cycles) {
        for (const auto &seat : cycle.seats)
            names.insert(graph.locks[static_cast<std::size_t>(seat.lock)].name);
    }
    co_await sleepFor(loop, untilSeenAgain);
    for (const auto &name : names) {
        auto again = co_await workspace.read(name, deadline);
        std::erase_if(locks, [&name](const LockSnapshot &one) { return one.lock == name; });
        if (again)
            locks.push_back(*again);
        else if (!operate::isNoLock(again.error()))
            unread->insert(name.connection);
    }
    graph = waitGraphOf(locks, labels, datedNow(loop));
    keepOnly(graph, seen);
    co_return graph;
}

DeadlockWatch::DeadlockWatch(Workspace &workspace, std::vector<inspect::ClientLabel> labels, Tell tell)
    : m_workspace(workspace), m_labels(std::move(labels)), m_tell(std::move(tell)), m_pause(restAfterNews)
{
}

void DeadlockWatch::passing(SnapshotChange &change)
{
    if (!m_labels.empty())
        addLabels(change.lock, m_labels);
    const bool isContended = change.kind != ChangeKind::Removed && change.lock.waiterCount() > 0;
    if (isContended) {
        m_contended.insert_or_assign(change.lock.lock, change.lock);
        addFindings(change.lock);
    }
    if (isContended || m_contended.erase(change.lock.lock) > 0)
        lookAfter(m_pause);
}

void DeadlockWatch::setLabels(std::vector<inspect::ClientLabel> labels)
{
    m_labels = std::move(labels);
    for (auto &lock : everySnapshot(m_workspace)) {
        SnapshotChange change{ChangeKind::Changed, std::move(lock)};
        passing(change);
        m_tell(std::move(change));
    }
    lookAfter(m_pause);
}

void DeadlockWatch::lookAfter(Duration pause)
{
    if (std::exchange(m_isScheduled, true)) {
        m_hasNews = true;
        return;
    }
    auto &loop = m_workspace.loop();
    m_timer = loop.callAt(loop.now() + pause, [this] { look(); });
}

void DeadlockWatch::look()
{
    m_hasNews = false;
    std::vector<LockSnapshot> locks;
    for (const auto &[name, lock] : m_contended)
        locks.push_back(lock);
    lookAt(std::move(locks), false);
}

void DeadlockWatch::lookAt(std::vector<LockSnapshot> locks, bool isWhole)
{
    auto &loop = m_workspace.loop();
    m_worker.start([this, &loop, isWhole, locks = std::move(locks), labels = m_labels, now = datedNow(loop),
                    begun = loop.now(), isAlive = std::weak_ptr<bool>(m_isAlive)] {
        auto found = std::make_shared<Found>(Found{waitGraphOf(locks, labels, now), loop.now() - begun, isWhole});
        loop.post([this, found, isAlive] {
            if (!isAlive.expired())
                seen(std::move(*found));
        });
    });
}

void DeadlockWatch::seen(Found found)
{
    // Whether a name is one client's alone is known only with all locks.
    if (!found.graph.cycles.empty() && !found.isWhole) {
        lookAt(everySnapshot(m_workspace), true);
        return;
    }
    m_isScheduled = false;
    const auto now = m_workspace.loop().now();
    const auto keys = keysOf(found.graph);
    std::erase_if(m_suspected, [&keys](const auto &one) { return !keys.contains(one.first); });
    std::set<QByteArray> confirmed;
    bool isOpen = false;
    for (const auto &key : keys) {
        const auto since = m_suspected.emplace(key, now).first->second;
        if (m_said.contains(key) || now - since >= untilSeenAgain)
            confirmed.insert(key);
        else
            isOpen = true;
    }
    m_pause = std::max<Duration>(restAfterNews, found.took * restPerLook);
    keepOnly(found.graph, confirmed);
    if (confirmed != m_said || !confirmed.empty())
        say(std::move(found.graph));
    if (isOpen)
        lookAfter(std::max<Duration>(m_pause, untilSeenAgain));
    else if (m_hasNews)
        lookAfter(m_pause);
}

void DeadlockWatch::say(WaitGraph graph)
{
    const auto said = keysOf(graph);
    std::set<inspect::LockName> concerned;
    for (const auto *of : {&m_graph, &graph}) {
        for (const auto &cycle : of->cycles) {
            if (m_said.contains(keyOf(*of, cycle)) && said.contains(keyOf(*of, cycle)))
                continue;
            for (const auto &seat : cycle.seats)
                concerned.insert(of->locks[static_cast<std::size_t>(seat.lock)].name);
        }
    }
    m_graph = std::move(graph);
    m_said = said;
    for (const auto &name : concerned) {
        const auto at = m_contended.find(name);
        if (at == m_contended.end())
            continue;
        auto lock = at->second;
        addFindings(lock);
        m_tell({ChangeKind::Changed, std::move(lock)});
    }
}

void DeadlockWatch::addFindings(LockSnapshot &lock) const
{
    std::vector<inspect::WaitCycle> standing;
    std::ranges::copy_if(m_graph.cycles, std::back_inserter(standing),
                         [&](const auto &cycle) { return hasItsSeats(lock, m_graph, cycle); });
    addDeadlocks(lock, m_graph, standing);
}

} // namespace lockscope
