// SPDX-License-Identifier: Apache-2.0
#include "core/client/contention.h"

#include <QScopeGuard>

namespace lockscope::client {

namespace {

// After its deadline an acquire has so long to find out what it did, and to undo it.
constexpr auto graceAfterDeadline = 2s;
// And whoever only tries has so long to connect first.
constexpr auto leastToConnect = 1s;
// A hold that is shorter is not watched: that would cost it a request.
constexpr auto unwatched = 100ms;

v0::ErrorCode publicCode(ErrorCode code)
{
    switch (code) {
    case ErrorCode::BadInput:
    case ErrorCode::TooLarge: return v0::ErrorCode::BadInput;
    case ErrorCode::NotConnected: return v0::ErrorCode::NotConnected;
    case ErrorCode::UnknownOutcome: return v0::ErrorCode::UnknownOutcome;
    case ErrorCode::SessionExpired: return v0::ErrorCode::SessionLost;
    case ErrorCode::AuthFailed: return v0::ErrorCode::AuthFailed;
    case ErrorCode::NoPermission: return v0::ErrorCode::NoPermission;
    case ErrorCode::NoNode:
    case ErrorCode::NoRow: return v0::ErrorCode::NotFound;
    case ErrorCode::DeadlockVictim:
    case ErrorCode::BadVersion: return v0::ErrorCode::Conflict;
    case ErrorCode::TimedOut: return v0::ErrorCode::TimedOut;
    case ErrorCode::Cancelled: return v0::ErrorCode::Cancelled;
    case ErrorCode::Refused: return v0::ErrorCode::Refused;
    case ErrorCode::NotHeld: return v0::ErrorCode::NotHeld;
    case ErrorCode::Unsupported: return v0::ErrorCode::Unsupported;
    default: return v0::ErrorCode::Server;
    }
}

v0::Error lossError(recipes::Loss loss)
{
    switch (loss) {
    case recipes::Loss::SessionOver: return {v0::ErrorCode::SessionLost, "lock lost: the session ended", true};
    case recipes::Loss::CutOff:
        return {v0::ErrorCode::SessionLost,
                "lock lost: the connection was down for so long that the session may have expired", true};
    case recipes::Loss::TakenAway:
        return {v0::ErrorCode::NotHeld, "lock lost: another client deleted or replaced what it is held by", true};
    case recipes::Loss::LeaseOver: break;
    }
    return {v0::ErrorCode::NotHeld, "lock lost: its lease ended before it could be renewed", true};
}

// Whether nothing is left to be released.
bool isOver(const Error &error)
{
    const auto code = publicCode(error.code);
    return code == v0::ErrorCode::NotHeld || code == v0::ErrorCode::SessionLost || code == v0::ErrorCode::Conflict;
}

} // namespace

v0::Error publicError(const Error &error)
{
    return {publicCode(error.code), error.message.toStdString(), error.retryable};
}

bool Held::isHeld(bool &hasLapsed)
{
    if (m_isOver)
        return false;
    const auto now = std::chrono::time_point_cast<Duration>(v0::Clock::now()).time_since_epoch().count();
    if (m_isLease && now >= m_validUntil)
        hasLapsed = !m_isOver.exchange(true); // for good, whatever an answer that is late says
    return !m_isOver;
}

void Held::listen(std::function<void(const v0::Error &)> listener)
{
    if (m_loss && listener && !m_isReleasing)
        listener(*m_loss);
    else if (!m_loss)
        m_listener = std::move(listener);
}

void Held::lose(const v0::Error &why)
{
    m_isOver = true;
    m_loss = why;
    if (const auto listener = std::exchange(m_listener, {}); listener && !m_isReleasing)
        listener(why);
}

Contention::Contention(std::shared_ptr<Connection> connection, Request request)
    : m_connection(std::move(connection)), m_request(std::move(request)), m_releases(loop()), m_attempt(loop())
{
}

Contention::~Contention()
{
    m_attempt.cancelAll();
    drop();
}

// The lock first, which may leave work to its contender's session, or to the connection.
void Contention::drop()
{
    m_watched.reset();
    m_watching.reset();
    m_releases.cancelAll();
    m_unreleased = 0;
    m_lock.reset();
    m_isStale = false;
    if (!m_contender)
        return;
    const std::shared_ptr<Contender> contender = std::move(m_contender);
    m_connection->thread.linger([contender, kept = m_connection] { return contender->isCleaningUp(); },
                                m_connection->closeTime);
}

void Contention::acquire(Deadline deadline, Answer answer)
{
    if (m_answer) {
        answer(v0::Error{v0::ErrorCode::BadInput, "this Lock object waits already; use one for each contender"});
        return;
    }
    m_answer = std::move(answer);
    if (!deadline.isNever()) {
        const auto latest = std::max(deadline.when(), loop().now()) + graceAfterDeadline;
        m_late = loop().callAt(latest, [this] {
            cancel(v0::ErrorCode::UnknownOutcome, "no answer from the server by the deadline; what was sent is "
                                                  "undone in the background");
        });
    }
    m_attempt.launch(run(deadline));
}

// Whoever owns this contention lets go of it through the loop, so that none of its coroutines destroys it.
Task<void> Contention::run(Deadline deadline)
{
    const auto granted = co_await take(deadline);
    m_late.cancel();
    const auto answer = std::exchange(m_answer, {});
    if (!granted) {
        answer(publicError(granted.error()));
        co_return;
    }
    keep(*granted);
    answer(m_holds.back());
}

// A recipe does not take and release at once.
Task<Result<void>> Contention::untilReleased(Deadline deadline)
{
    const auto latest = Deadline::at(std::max<Instant>(deadline.when(), loop().now() + leastToConnect));
    while (m_unreleased > 0) {
        if (latest.hasPassed(loop()))
            co_return Error{ErrorCode::TimedOut, u"timed out while the previous hold is being released"_s, true};
        co_await sleepFor(loop(), 2ms);
    }
    co_return Result<void>();
}

Task<Result<recipes::Grant>> Contention::take(Deadline deadline)
{
    CO_TRY_VOID(co_await untilReleased(deadline));
    if (m_holds.empty() && (m_isStale || (m_contender && m_contender->isOver())))
        drop();
    if (!m_contender)
        m_contender = m_connection->server->open(m_request);
    const auto connectBy = Deadline::at(std::max<Instant>(deadline.when(), loop().now() + leastToConnect));
    CO_TRY_VOID(co_await m_contender->connect(connectBy));
    if (!m_lock) {
        CO_TRY(auto &made, m_contender->makeLock());
        m_lock = std::move(made);
    }
    auto granted = co_await m_lock->acquire(deadline);
    co_return granted;
}

void Contention::keep(const recipes::Grant &grant)
{
    const auto *lease = dynamic_cast<const recipes::Leased *>(m_lock.get());
    m_holds.push_back(std::make_shared<Held>(grant, lease != nullptr));
    if (lease)
        m_holds.back()->extend(lease->validUntil());
    if (m_watching)
        return; // once more, of a reentrant recipe
    m_isReleasing = false;
    m_watching = std::make_unique<Scope>(loop());
    m_watching->launch(heedRecipe());
    m_watching->launch(watchNode(grant));
    if (lease)
        m_watching->launch(renew(lease));
}

Task<void> Contention::heedRecipe()
{
    const auto loss = co_await m_lock->lost();
    lose(loss);
}

Task<void> Contention::watchNode(recipes::Grant grant)
{
    co_await sleepFor(loop(), unwatched);
    m_contender->watchOver({*m_watching, *m_lock, m_isReleasing, [this](recipes::Loss loss) { lose(loss); }}, grant);
}

// The threads of the program see the lease's end as of the last look: too early rather than too late.
Task<void> Contention::renew(const recipes::Leased *lease)
{
    for (;;) {
        co_await sleepFor(loop(), std::max<Duration>(m_request.options.ttl / 10, 2ms));
        for (const auto &held : m_holds)
            held->extend(lease->validUntil());
    }
}

void Contention::lose(recipes::Loss loss)
{
    m_isStale = true;
    m_isReleasing = true;
    if (m_watching)
        m_watched = std::move(m_watching);
    // Not from inside of a coroutine of what it ends.
    loop().post([this, alive = shared_from_this()] {
        m_watched.reset();
        if (m_isStale && m_holds.empty() && !m_answer)
            drop();
    });
    for (const auto &held : std::exchange(m_holds, {}))
        held->lose(lossError(loss));
}

void Contention::lapse(const std::shared_ptr<Held> &held)
{
    if (std::ranges::find(m_holds, held) != m_holds.end())
        lose(recipes::Loss::LeaseOver);
}

void Contention::cancel(v0::ErrorCode code, const char *why)
{
    m_late.cancel();
    if (const auto answer = std::exchange(m_answer, {})) {
        m_attempt.cancelAll();
        answer(v0::Error{code, why, true});
    }
}

void Contention::release(const std::shared_ptr<Held> &held, Deadline deadline)
{
    held->beSilent();
    held->endNow();
    if (std::erase(m_holds, held) == 0) {
        held->finish(v0::Error{v0::ErrorCode::NotHeld, "the lock was lost before it was released"});
        return;
    }
    if (m_holds.empty()) {
        m_isReleasing = true;
        m_watching.reset();
    }
    ++m_unreleased;
    m_releases.launch(give(held, deadline));
    m_connection->thread.linger([self = shared_from_this()] { return !self->m_releases.isIdle(); },
                                m_connection->closeTime);
}

Task<void> Contention::give(std::shared_ptr<Held> held, Deadline deadline)
{
    const auto unknown = qScopeGuard([held] {
        held->finish(v0::Error{v0::ErrorCode::UnknownOutcome, "the release was not confirmed", true});
    });
    const auto released = co_await m_lock->release(deadline);
    --m_unreleased;
    // What is there still goes with the lock.
    m_isStale = m_isStale || (!released && !isOver(released.error()));
    held->finish(released ? v0::Result<void>() : v0::Result<void>(publicError(released.error())));
}

} // namespace lockscope::client
