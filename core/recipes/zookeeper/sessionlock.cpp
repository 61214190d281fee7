// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/locks.h"

#include "core/base/text.h"

namespace lockscope::recipes {

namespace {

// How long the session certainly lives on after its connection was lost. The client gives a silent connection up
// after two thirds of the session's timeout, so that the server has heard of us within that time: a third is left.
// A quarter of it, a twelfth of the timeout, is kept back for round trips, slow clocks and late timers. (A process
// that was stopped gives up late; it hears the truth as soon as it is connected again, unless it is cut off as well.)
Duration certainLife(const zk::Session &session)
{
    return std::chrono::duration_cast<Duration>(session.timeout()) / 4;
}

} // namespace

SessionLock::SessionLock(zk::Session &session, ZPath path, Random random)
    : LockBase(session.loop(), path.bytes()), m_session(&session), m_path(std::move(path)),
      m_random(std::move(random)), m_cleanup(session)
{
}

Task<Result<Grant>> SessionLock::take(Deadline deadline)
{
    auto entered = co_await enter(deadline);
    if (entered && isOver(m_session->state()))
        entered = Error{ErrorCode::SessionExpired, u"the session ended just as the lock was granted"_s};
    if (entered) {
        m_held.emplace(std::move(*entered));
        m_holdCount = 1;
        if (!m_states) // who waits has nothing to lose
            m_states = m_session->onState([this](zk::SessionState state) { sessionChanged(state); });
        connectionChanged();
        co_return grant();
    }
    co_await tidyUp(&entered);
    co_return entered.error();
}

// With a frame of its own: of very many who wait none needs its room.
Task<void> SessionLock::tidyUp(Result<QueueEntry> *failed)
{
    const bool clean = co_await m_cleanup.tidy(answerBy(*m_session, Deadline::at(m_session->loop().now())));
    Error why = failed->error();
    if (clean || why.code != ErrorCode::TimedOut)
        co_return;
    why.code = ErrorCode::UnknownOutcome;
    why.message += clause(u"deletion of our node is not confirmed yet and continues in the background"_s);
    *failed = std::move(why);
}

Grant SessionLock::grant() const
{
    const auto czxid = m_held->created().czxid;
    return {nodeContenderId(m_held->node(), czxid), czxid, m_held->path()};
}

Task<Result<Grant>> SessionLock::reenter(Deadline deadline)
{
    if (!isReentrant()) {
        auto refused = co_await LockBase::reenter(deadline);
        co_return refused;
    }
    ++m_holdCount;
    co_return grant();
}

Task<Result<void>> SessionLock::release(Deadline deadline)
{
    if (!m_held)
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    if (m_holdCount > 1) {
        --m_holdCount;
        co_return Result<void>();
    }
    const auto what = name();
    const auto alive = self();
    auto *const session = m_session;
    // if an answer is lost or nobody waits for it any more, the cleanup sees to it
    QueueEntry entry(std::move(*m_held));
    m_held.reset();
    const OwnNode node = entry.created();
    Result<void> removed;
    if (entry.mayBeAnothers()) {
        const auto by = answerBy(*session, deadline);
        const auto stands = co_await stillStands(session, node, by);
        if (!stands)
            removed = stands.error();
        else if (!*stands)
            removed = Error{ErrorCode::NoNode, u"its node was deleted by another client"_s};
    }
    if (removed) {
        auto removal = session->remove(node.path, zk::anyVersion, answerBy(*session, deadline));
        entry.doubt();
        const auto gone = co_await removal;
        if (!gone)
            removed = gone.error();
    }
    if (!removed && isConnectionError(removed.error()))
        co_return Error{removed.error().code,
                        u"%1 may still be held; its node is being deleted in the background: %2"_s.arg(
                            what, removed.error().message)};
    const bool notOurs =
        !removed && (removed.error().code == ErrorCode::NoNode || removed.error().code == ErrorCode::SessionExpired);
    if (!removed && !notOurs && !alive.expired() && !isAcquiring() && !isHeld()) {
        entry.trust(); // refused: it stands, and it is ours still
        m_held.emplace(std::move(entry));
        co_return removed.error();
    }
    entry.forget();
    if (notOurs)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more: %2"_s.arg(what, removed.error().message)};
    co_return removed;
}

Task<Result<bool>> SessionLock::isStillMine(Deadline deadline)
{
    if (!m_held)
        co_return false;
    const OwnNode node = m_held->created();
    const auto seen = co_await m_session->exists(node.path, std::nullopt, deadline);
    if (seen)
        co_return seen->czxid == node.czxid;
    if (seen.error().code == ErrorCode::NoNode || seen.error().code == ErrorCode::SessionExpired)
        co_return false;
    co_return seen.error();
}

void SessionLock::noteTakenAway(const Grant &grant)
{
    if (!m_held || m_held->created().czxid != grant.fencingToken)
        return;       // a hold that is over already
    m_held->forget(); // what stands there now, if anything, is another's
    m_held.reset();
    lose(Loss::TakenAway);
}

std::function<bool(const SeenHold &)> SessionLock::overlooks() const
{
    return [this](const SeenHold &hold) { return !minds(hold.node); };
}

void SessionLock::sessionChanged(zk::SessionState state)
{
    if (!isOver(state)) {
        connectionChanged();
        return;
    }
    if (!m_held)
        return;
    m_held->forget(); // the server takes it away
    m_held.reset();
    lose(Loss::SessionOver);
}

// Cut off we cannot hear that our session is over: we stop believing before it can be.
void SessionLock::connectionChanged()
{
    m_stopsBelieving.cancel();
    if (!m_held || m_session->state() != zk::SessionState::Connecting)
        return;
    const auto until = m_session->loop().now() + certainLife(*m_session);
    m_stopsBelieving = m_session->loop().callAt(until, [this] { stopBelieving(); });
}

void SessionLock::stopBelieving()
{
    if (!m_held || m_session->state() != zk::SessionState::Connecting)
        return;
    m_held->doubt(); // should the session live all the same, our node is taken away
    m_held.reset();
    lose(Loss::CutOff);
}

constexpr auto pauseBeforeReading = std::chrono::milliseconds(200);

Task<void> watchOwnNode(zk::Session *session, Lock *lock, Grant grant)
{
    for (;;) {
        const zk::Watch watch(session->loop());
        const auto read = co_await session->get(grant.node, watch, Deadline::never());
        // Another may have got the name: the czxid is the name that never comes again.
        const bool isTaken = read ? read->stat.czxid != grant.fencingToken : read.error().code == ErrorCode::NoNode;
        if (isTaken)
            break;
        if (!read) {
            if (isOver(session->state()))
                co_return;
            co_await sleepFor(session->loop(), pauseBeforeReading);
            continue;
        }
        const auto event = co_await watch.event();
        if (event.kind == zk::EventKind::SessionOver)
            co_return;
        // No need to read again, and no use: a successor's node may stand there by then.
        if (event.kind == zk::EventKind::Deleted)
            break;
    }
    lock->noteTakenAway(grant);
}

} // namespace lockscope::recipes
