// SPDX-License-Identifier: Apache-2.0
// The token lock. Source: Redis documentation, "Distributed Locks with Redis", correct implementation
// with a single instance.
//   1. SET key token NX PX ttl, with a random token nobody else has. OK: the lock is ours, until the
//      TTL ends counted from before the command was sent.
//   2. The reply was lost: GET the key. Our token: the lock is ours.
//   3. Taken: pause, a little at random, and go to 1.
//   4. While it is held, prolong the TTL at every third of it, if the key still holds our token.
//   5. To release, delete the key, if it still holds our token, and wake those of other clients whose locks have
//      such a name and who sleep until then (keysignals.h); a script: all in one step.
//
// Not fair, and nobody of ours is woken: who waits finds out at the next try. No fencing token.
#include "core/recipes/redis/locks.h"

#include "core/redis/client.h"

namespace lockscope::recipes {

Task<Result<Grant>> SetNxLock::take(Deadline deadline)
{
    auto taken = co_await poll(deadline);
    if (taken)
        co_return taken;
    auto cleaned = m_waitGroup.finished(answerBy(*m_connection, Deadline::at(m_connection->loop().now())));
    const bool clean = co_await cleaned;
    co_return clean ? taken.error() : lateGrantError(taken.error());
}

Task<Result<Grant>> SetNxLock::poll(Deadline deadline)
{
    auto &loop = m_connection->loop();
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(m_connection, deadline));
        // A new token for every try: taking away what an earlier one left can never hit this one.
        const TokenKey ours{m_key, LockValue(uuidToken(m_random))};
        TokenGuard guard(TokenRemoval{m_connection, m_waitGroup, ours});
        const auto asked = loop.now();
        CO_TRY(const auto &set, co_await setOnce(ours, &guard, deadline)); // 1, 2
        if (set && loop.now() < KeepAlive::validUntil(asked, m_ttl)) {
            guard.dismiss();
            m_lease.emplace(*m_connection, ours, m_ttl, asked, [this](Loss loss) { lose(loss); }); // 4
            co_return Grant{ours.token.bytes(), std::nullopt, {}};
        }
        if (deadline.hasPassed(loop))
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        co_await pauseBetweenTries(loop, m_random, deadline); // 3
    }
}

// Whether the key is ours now. Relieves the guard when it certainly is not.
Task<Result<bool>> SetNxLock::setOnce(TokenKey ours, TokenGuard *guard, Deadline deadline)
{
    auto setting = m_connection->command(
        {"SET", ours.key.bytes(), ours.token.bytes(), "NX", "PX", QByteArray::number(qint64(m_ttl.count()))},
        answerBy(*m_connection, deadline));
    const auto set = co_await setting;
    if (set && !set->isNil())
        co_return true;
    if (!set && set.error().code == ErrorCode::UnknownOutcome) {
        auto holds = co_await holdsToken(m_connection, ours, deadline);
        co_return holds;
    }
    guard->dismiss();
    if (!set && !isConnectionError(set.error()))
        co_return set.error();
    co_return false;
}

Task<Result<void>> SetNxLock::release(Deadline deadline)
{
    const bool wasHeld = isHeld();
    if (!wasHeld) {
        letGo();
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    }
    const TokenKey ours = m_lease->key();
    m_lease.reset();
    const auto what = name();
    TokenGuard guard(TokenRemoval{m_connection, m_waitGroup, ours}); // if there is no answer, or nobody to hear it
    const auto deleted = co_await deleteToken(*m_connection, ours, answerBy(*m_connection, deadline));
    if (!deleted)
        co_return Error{
            deleted.error().code,
            u"%1 may still be held and is being released in the background: %2"_s.arg(what, deleted.error().message)};
    guard.dismiss();
    if (deleted->integer < 1)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
    co_return Result<void>();
}

Task<Result<bool>> SetNxLock::isStillMine(Deadline deadline)
{
    if (!m_lease)
        co_return false;
    const TokenKey ours = m_lease->key();
    auto asking = m_connection->command({"GET", ours.key.bytes()}, deadline);
    CO_TRY(const auto &value, co_await asking);
    co_return !value.isNil() && value.text == ours.token.bytes();
}

void SetNxLock::letGo()
{
    if (!m_lease)
        return;
    removeToken(*m_connection, m_waitGroup, m_lease->key());
    m_lease.reset();
}

} // namespace lockscope::recipes
