// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/hold.h"

#include "core/base/text.h"
#include "core/workspace/livebackend.h"

namespace lockscope {

namespace {

QString lossText(recipes::Loss loss)
{
    switch (loss) {
    case recipes::Loss::SessionOver: return u"the session is over"_s;
    case recipes::Loss::CutOff: return u"the connection was down for so long that the session may have expired"_s;
    case recipes::Loss::TakenAway: return u"it was removed: our node or key no longer exists"_s;
    case recipes::Loss::LeaseOver: return u"the lease ran out"_s;
    }
    return {};
}

QString recipeAndClient(const inspect::LockSnapshot &lock)
{
    const auto recipe = QString::fromUtf8(lock.recipe);
    return lock.client ? u"%1, %2"_s.arg(recipe, escaped(lock.client->toUtf8())) : recipe;
}

// Whether Redis itself keeps this recipe out while anything is at the lock's own key. A user who may not read that
// key, or those beside it, may take the lock all the same.
bool isKeptApart(const recipes::RecipeInfo &recipe)
{
    return recipe.backend == BackendKind::Redis && recipe.shape != recipes::Shape::Counter
           && recipe.endsBy != recipes::EndsBy::Timestamp;
}

// A node with a date: its clients write it whoever else is there.
bool isDated(const inspect::LockSnapshot &lock)
{
    const auto &seen = recipes::recipeOf(lock.recipe);
    return seen.shape == recipes::Shape::Node && seen.endsBy == recipes::EndsBy::Timestamp;
}

// Why a recipe of ours that overlooks such holds is not to take that lock; nothing if it may.
std::optional<QString> besideWhom(const inspect::LockSnapshot &lock, const QString &ours,
                                  const std::function<bool(const recipes::SeenHold &)> &overlooks)
{
    // Kept out by something that may hold it in its own way.
    const bool isBlocked = lock.holderCount() == 0 && lock.state == inspect::LockState::Contended;
    for (const auto &contender : lock.contenders) {
        if (isBlocked && overlooks({lock.recipe, ZPath(contender.guard.znode().path), contender.guard.text()}))
            return u"is waited for by %1 (%2). %3 does not wait for that kind of client, so both could hold the lock"_s
                .arg(escaped(contender.id), recipeAndClient(lock), ours);
        if (contender.role != inspect::Role::Holder
            || !overlooks({lock.recipe, ZPath(contender.guard.znode().path), contender.guard.text()}))
            continue;
        return u"is held by %1 (%2). %3 does not wait for that kind of holder, so both would hold the lock"_s.arg(
            escaped(contender.id), recipeAndClient(lock), ours);
    }
    if (isDated(lock) && lock.contenders.empty())
        return u"is free by its node's date (%1), and its clients do not wait for %2: both would hold the lock"_s.arg(
            recipeAndClient(lock), ours);
    return std::nullopt;
}

} // namespace

// What stands under that name and would not be waited for: refused. Who comes after this look is not seen, but shown
// (finding foreign-node).
Task<Result<void>> HeldLock::refuseBesideOthers(Link *link, Deadline deadline)
{
    if (!m_lock->overlooks())
        co_return Result<void>();
    auto names = m_contender->leasesBelow();
    names.insert(names.begin(), m_request.lock.name);
    for (const auto &name : names) {
        CO_TRY_VOID(co_await refuseBeside(link, name, deadline));
    }
    co_return Result<void>();
}

Task<Result<void>> HeldLock::refuseBeside(Link *link, QByteArray name, Deadline deadline)
{
    const auto standing = co_await link->observer().readHolds(name, deadline);
    if (!standing && standing.error().code == ErrorCode::NoNode)
        co_return Result<void>();
    const bool isForbidden = !standing && standing.error().code == ErrorCode::NoPermission;
    if (isForbidden && isKeptApart(m_recipe))
        co_return Result<void>();
    if (!standing)
        co_return couldNotLook(standing.error());
    if (name != m_request.lock.name && !isDated(*standing))
        co_return Result<void>(); // another lock
    const auto why = besideWhom(*standing, QString::fromUtf8(m_request.recipe), m_lock->overlooks());
    if (why)
        co_return Error{ErrorCode::Refused,
                        u"acquire refused: %1 %2; nothing was written"_s.arg(escaped(standing->lock.text()), *why)};
    co_return Result<void>();
}

Error HeldLock::couldNotLook(const Error &why) const
{
    return {why.code,
            u"cannot acquire: could not check who holds %1: %2"_s.arg(escaped(m_request.lock.text()), why.message),
            why.retryable};
}

// The same row or prefix, held in a way of which the server tells under another name: refused as what stands beside.
Task<Result<void>> HeldLock::refuseUnderOtherNames(Link *link, Deadline deadline)
{
    const auto names = m_contender->otherNames();
    for (const auto &name : names) {
        const auto standing = co_await link->observer().readHolds(name, deadline);
        if (!standing && operate::isNoLock(standing.error()))
            continue;
        if (!standing)
            co_return couldNotLook(standing.error());
        const auto holder = std::ranges::find(standing->contenders, inspect::Role::Holder, &inspect::Contender::role);
        if (holder != standing->contenders.end())
            co_return Error{
                ErrorCode::Refused,
                u"acquire refused: %1 is held by %2 (%3), which %4 at %5 does not wait for: both would hold the lock; "
                u"nothing was written"_s.arg(escaped(standing->lock.text()), escaped(holder->id),
                                             recipeAndClient(*standing), QString::fromUtf8(m_request.recipe),
                                             escaped(m_request.lock.text()))};
    }
    co_return Result<void>();
}

// Recipes that poll do not know for whom. What is read a moment later may be another holder: it is in the way all
// the same.
Task<Error> HeldLock::explained(Link *link, Error timedOut)
{
    if (timedOut.code != ErrorCode::TimedOut || timedOut.isExplained)
        co_return timedOut;
    const auto soon = Deadline::after(m_workspace.loop(), std::chrono::seconds(2));
    const auto standing = co_await link->observer().readHolds(m_request.lock.name, soon);
    if (!standing)
        co_return timedOut;
    const auto holder = std::ranges::find(standing->contenders, inspect::Role::Holder, &inspect::Contender::role);
    if (holder == standing->contenders.end())
        co_return timedOut;
    timedOut.message =
        u"it waits for %1, which holds it (%2)"_s.arg(label(holder->id, 80), recipeAndClient(*standing));
    timedOut.isExplained = true;
    co_return timedOut;
}

void HeldLock::watchOver(const recipes::Grant &grant)
{
    m_scope.launch(heedRecipe());
    m_contender->watchOver(
        {m_scope, *m_lock, m_releasing, [this](recipes::Loss loss) { m_lost.complete(lossText(loss)); }}, grant);
}

void HeldLock::closeSession()
{
    m_scope.cancelAll();
    m_lock.reset();
    m_contender.reset();
}

Task<void> HeldLock::heedRecipe()
{
    const auto loss = co_await m_lock->lost();
    if (!m_releasing)
        m_lost.complete(lossText(loss));
}

HeldLock::HeldLock(Workspace &workspace, HoldRequest request)
    : m_workspace(workspace), m_request(std::move(request)), m_recipe(recipes::recipeOf(m_request.recipe)),
      m_lost(workspace.loop()), m_scope(workspace.loop())
{
}

Task<Result<recipes::Grant>> HeldLock::acquire(std::optional<std::chrono::milliseconds> wait)
{
    const auto connectBy = Deadline::after(m_workspace.loop(), std::chrono::seconds(15));
    CO_TRY_VOID(co_await m_workspace.whenConnected(m_request.lock.connection, connectBy));
    auto *link = m_workspace.find(m_request.lock.connection);
    if (link->gate().isReadOnly())
        co_return Error{ErrorCode::Refused,
                        u"acquire refused: connection %1 is read-only, nothing was sent; %2"_s.arg(
                            escaped(link->spec().name.bytes()), link->gate().remedy())};
    if (m_recipe.teachingOnly && link->gate().isProduction())
        co_return Error{ErrorCode::Refused,
                        u"acquire refused: %1 is for teaching, and connection %2 is production"_s.arg(
                            QString::fromUtf8(m_recipe.id), QString::fromUtf8(link->spec().name.bytes()))};
    if (!m_contender)
        m_contender = link->openContender(m_request);
    m_releasing = false;
    CO_TRY_VOID(co_await m_contender->connect(connectBy));
    // Once more, after a conflict: the same lock, which counts them.
    if (!m_lock) {
        CO_TRY(auto &made, m_contender->makeLock());
        m_lock = std::move(made);
    }
    CO_TRY_VOID(co_await refuseBesideOthers(link, connectBy));
    CO_TRY_VOID(co_await refuseUnderOtherNames(link, connectBy));
    // The wait counts from connected.
    const auto deadline = wait ? Deadline::after(m_workspace.loop(), *wait) : Deadline::never();
    auto grant = co_await m_lock->acquire(deadline);
    if (!grant) {
        const auto error = co_await explained(link, grant.error());
        co_return error;
    }
    watchOver(*grant);
    grant->id = co_await m_contender->idOf(grant->id);
    co_return grant;
}

Task<Result<void>> HeldLock::release(Deadline deadline)
{
    m_releasing = true;
    if (!m_lock)
        co_return Result<void>();
    const auto released = co_await m_lock->release(deadline);
    const bool isRefused = !released && released.error().code == ErrorCode::Refused;
    if (isRefused && m_contender->isGivenBackBySession()) {
        closeSession();
        co_return Result<void>();
    }
    co_return released;
}

OwnHolds::OwnHolds(Workspace &workspace, Tell tell, Launch launch)
    : m_workspace(workspace), m_tell(std::move(tell)), m_launch(std::move(launch)), m_farewell(workspace.loop())
{
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
