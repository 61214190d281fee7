// SPDX-License-Identifier: Apache-2.0
// The first lock everybody writes. Source: J. Carlson, "Redis in Action", 6.2.5 "Locks with timeouts",
// with the value 1 of many a tutorial in place of a token, and without its mending of a missing TTL.
//   1. SETNX key 1. Answer 1: the lock is ours.
//   2. EXPIRE key seconds, so that it ends by itself when we do not.
//   3. Answer 0: it is taken; pause, a little at random, and go to 1.
//   4. To release, DEL the key.
//
// Its flaws are kept, for they are what it is here to show. Who dies between 1 and 2, or does not hear
// the answer to 1, leaves a key that never ends: nobody can tell whose a 1 is, so nobody may take it
// away. The lease is not prolonged, and 4 does not ask whose key it deletes: who works longer than its
// TTL frees the next one's lock. Nobody is woken, and there is no order and no fencing token.
//
// Not kept is what only a program that goes on could leave behind: an acquire that is cancelled is
// carried on to its end in the background and then given back.
#include "core/recipes/redis/locks.h"

namespace lockscope::recipes {

namespace {

const QByteArray mark = "1";

Task<bool> tryOnce(redis::Connection *connection, RedisKey key, std::chrono::seconds ttl, DetachedAttempt one,
                   Deadline deadline)
{
    auto setting = connection->command({"SETNX", key.bytes(), mark}, deadline); // 1
    const auto set = co_await setting;
    if (!set) {
        one.finish(set.error());
        co_return false;
    }
    if (set->integer == 0) {
        one.finish(false);
        co_return true;
    }
    auto expiring = connection->command( // 2
        {"EXPIRE", key.bytes(), QByteArray::number(qint64(ttl.count()))}, deadline);
    const auto expiry = co_await expiring;
    if (expiry)
        one.finish(true);
    else
        one.finish(
            Error{ErrorCode::UnknownOutcome,
                  u"the key is set, but it may have no expiry and stay for ever: %1"_s.arg(expiry.error().message)});
    co_return bool(expiry);
}

void sendDelete(redis::Connection &connection, const RedisKey &key)
{
    (void)connection.command({"DEL", key.bytes()}, answerBy(connection, Deadline::never()));
}

} // namespace

Task<Result<Grant>> SetNxExpireLock::take(Deadline deadline)
{
    auto &loop = m_connection->loop();
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(m_connection, deadline));
        const auto asked = loop.now();
        const DetachedAttempt one(loop, [connection = m_connection, key = m_key] { sendDelete(*connection, key); });
        DetachedAttempt::Waiter waiter(one);
        m_waitGroup.add(m_connection->background(),
                        tryOnce(m_connection, m_key, m_seconds, one, answerBy(*m_connection, deadline)));
        const auto got = co_await one.outcome();
        if (!got && got.error().code != ErrorCode::NotConnected)
            co_return got.error();
        if (got && *got) {
            waiter.take();
            m_life.emplace(loop, m_seconds, asked, KeepAlive::Prolong(), [this](Loss loss) { lose(loss); });
            co_return Grant{mark, std::nullopt, {}};
        }
        if (deadline.hasPassed(loop))
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        co_await pauseBetweenTries(loop, m_random, deadline); // 3
    }
}

Task<Result<void>> SetNxExpireLock::release(Deadline deadline)
{
    const auto what = name();
    if (!m_life)
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(what)};
    m_life.reset();
    auto deleting = m_connection->command({"DEL", m_key.bytes()}, answerBy(*m_connection, deadline)); // 4
    const auto deleted = co_await deleting;
    if (!deleted)
        co_return Error{deleted.error().code,
                        u"%1 may still be held, until its expiry; a second DEL could be another's: %2"_s.arg(
                            what, deleted.error().message)};
    if (deleted->integer != 1)
        co_return Error{ErrorCode::NotHeld, u"%1 was not there any more"_s.arg(what)};
    co_return Result<void>();
}

Task<Result<bool>> SetNxExpireLock::isStillMine(Deadline deadline)
{
    if (!m_life || m_life->isOver())
        co_return false;
    auto asking = m_connection->command({"GET", m_key.bytes()}, deadline);
    CO_TRY(const auto &value, co_await asking);
    co_return !value.isNil() && value.text == mark;
}

// What stands there from now on is another's, and a DEL would not ask.
void SetNxExpireLock::noteTakenAway(const Grant &)
{
    if (!m_life)
        return;
    m_life.reset();
    lose(Loss::TakenAway);
}

void SetNxExpireLock::letGo()
{
    if (!m_life)
        return;
    m_life.reset();
    sendDelete(*m_connection, m_key);
}

} // namespace lockscope::recipes
