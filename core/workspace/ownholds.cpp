// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/iocontroller.h"

#include "core/async/dated.h"
#include "core/async/sleep.h"
#include "core/base/text.h"

#include <algorithm>

namespace lockscope {

OwnHolds::OwnHolds(Workspace &workspace, Tell tell, Launch launch)
    : m_workspace(workspace), m_tell(std::move(tell)), m_launch(std::move(launch)), m_farewell(workspace.loop())
{
}

OwnHolds::~OwnHolds()
{
    m_farewell.cancelAll();
}

void OwnHolds::acquire(quint64 id, AcquireRequest request)
{
    OwnHold pending;
    pending.hold.id = id;
    pending.hold.request = request;
    pending.hold.since = datedNow(m_workspace.loop());
    pending.lock =
        std::make_unique<HeldLock>(m_workspace, HoldRequest{request.lock, request.recipe, request.readMode,
                                                            request.limit, request.ttl, request.isLimitGiven});
    pending.scope = std::make_unique<Scope>(m_workspace.loop());
    const auto &kept = m_holds.emplace(id, std::move(pending)).first->second;
    m_tell(kept.hold);
    kept.scope->launch(run(id));
}

Task<void> OwnHolds::run(quint64 id)
{
    auto *lock = m_holds[id].lock.get();
    const auto wait = m_holds[id].hold.request.wait;
    const auto grant = co_await lock->acquire(wait);
    const auto at = m_holds.find(id);
    if (at == m_holds.end() || at->second.hold.state != Hold::State::Waiting)
        co_return;
    auto &hold = at->second.hold;
    hold.since = datedNow(m_workspace.loop());
    if (!grant) {
        hold.state = Hold::State::Failed;
        hold.message = grant.error().message;
        m_tell(hold);
        co_return;
    }
    hold.state = Hold::State::Held;
    hold.contender = grant->id;
    hold.fencingToken = grant->fencingToken;
    m_tell(hold);
    const auto why = co_await lock->lost();
    const auto still = m_holds.find(id);
    if (still == m_holds.end() || still->second.hold.state != Hold::State::Held)
        co_return;
    still->second.hold.state = Hold::State::Lost;
    still->second.hold.message = why;
    m_tell(still->second.hold);
}

void OwnHolds::release(quint64 id)
{
    const auto at = m_holds.find(id);
    if (at == m_holds.end())
        return;
    auto &own = at->second;
    auto &hold = own.hold;
    const bool wasHeld = hold.state == Hold::State::Held;
    const bool wasWaiting = hold.state == Hold::State::Waiting;
    if (!wasHeld && !wasWaiting)
        return;
    hold.state = Hold::State::Released;
    if (wasHeld) {
        own.isReleasing = true;
        m_launch(hold.request.lock.connection, end(id));
        return;
    }
    // Still waiting: the recipe is cancelled with its coroutine, and leaves nothing behind.
    own.scope.reset();
    own.lock.reset();
    hold.message = u"given up while waiting"_s;
    m_tell(hold);
}

Task<void> OwnHolds::end(quint64 id)
{
    auto *lock = m_holds[id].lock.get();
    const auto limit = Deadline::after(m_workspace.loop(), 10s);
    const auto released = co_await lock->release(limit);
    const auto at = m_holds.find(id);
    if (at == m_holds.end())
        co_return;
    at->second.isReleasing = false;
    at->second.isLeft = !released && released.error().code != ErrorCode::NotHeld;
    if (!released && at->second.hold.message.isEmpty())
        at->second.hold.message = released.error().message;
    m_tell(at->second.hold);
}

bool OwnHolds::areOn(const ConnectionName &name) const
{
    return std::ranges::any_of(m_holds, [&name](const auto &entry) {
        const auto &hold = entry.second.hold;
        return hold.request.lock.connection == name
               && (hold.state == Hold::State::Held || hold.state == Hold::State::Waiting);
    });
}

void OwnHolds::abandon(const ConnectionName &name)
{
    for (auto &[id, own] : m_holds) {
        auto &hold = own.hold;
        if (hold.request.lock.connection != name || !own.lock)
            continue;
        const bool wasHeld = hold.state == Hold::State::Held;
        const bool wasWaiting = hold.state == Hold::State::Waiting;
        own.scope.reset();
        own.lock.reset();
        if (std::exchange(own.isReleasing, false)) {
            hold.message = u"its connection was closed while the lock was being released"_s;
            m_tell(hold);
        }
        if (!wasHeld && !wasWaiting)
            continue;
        hold.state = wasHeld ? Hold::State::Lost : Hold::State::Failed;
        hold.message = u"its connection was closed"_s;
        m_tell(hold);
    }
}

void OwnHolds::releaseAll(Duration atMost, std::function<void(QStringList)> done)
{
    m_farewell.launch(endAll(atMost, std::move(done)));
}

Task<void> OwnHolds::endAll(Duration atMost, std::function<void(QStringList)> done)
{
    const auto until = m_workspace.loop().now() + atMost;
    std::vector<quint64> ids;
    for (const auto &[id, pending] : m_holds)
        ids.push_back(id);
    for (const auto id : ids)
        release(id);
    const auto isUnderWay = [this] {
        const auto links = m_workspace.links();
        return std::ranges::any_of(m_holds, [](const auto &entry) { return entry.second.isReleasing; })
               || std::ranges::any_of(links, [](Link *link) { return link->isCleaningUp(); });
    };
    while (isUnderWay() && m_workspace.loop().now() < until)
        co_await sleepFor(m_workspace.loop(), 5ms);
    QStringList left;
    for (const auto &[id, pending] : m_holds) {
        if (pending.isReleasing || pending.isLeft)
            left << escaped(pending.hold.request.lock.text());
    }
    for (auto *link : m_workspace.links()) {
        if (link->isCleaningUp())
            left << u"an attempt on %1"_s.arg(escaped(link->spec().name.bytes()));
    }
    done(left);
}

} // namespace lockscope
