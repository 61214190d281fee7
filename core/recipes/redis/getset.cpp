// SPDX-License-Identifier: Apache-2.0
// A lock whose value says until when it holds. Source: Redis documentation, command SETNX, "Locking
// with SETNX"; in milliseconds.
//   1. SETNX key (now + TTL), in milliseconds. Answer 1: the lock is ours.
//   2. GET the key. Its time is not past: it is taken; pause, a little at random, and go to 1.
//   3. Past: GETSET key (now + TTL). The answer is the time that 2 read: we were the first to take it
//      over, it is ours. Another time: somebody was faster; pause and go to 1.
//   4. To release, GET the key, and DEL it if its time is not past.
//
// Its flaws are kept, for they are what it is here to show. "Now" is each client's own clock. Who is
// too late in 3 has overwritten the winner's time all the same. Two that ask in the same millisecond
// write the same time: one of them who did not hear the answer takes the other's for its own. Between
// the two commands of 4 the key can become another's, and within its time nobody asks whose it is. The
// lease is not prolonged. Nobody is woken, and there is no order and no fencing token.
//
// Not kept is the guess that every number is such a time. A value is taken over or deleted only if it is a time in
// milliseconds by readMoment(), as the inspector reads it. Any other number (a time in seconds, a count) belongs to a
// lock of another kind, and taking it is refused. Any other value is waited for until it is gone.
//
// The reply to 1 lost: GET the key; our time: it is ours. The reply to 2 lost: go to 1. The reply to 3
// lost: nobody knows whom our time stands for, and it ends by itself. A try is never left halfway: when
// it is cancelled it is carried on to its end in the background and then given back.
#include "core/recipes/redis/locks.h"

#include "core/rules/catalogue.h"
#include "core/rules/keysignals.h"

namespace lockscope::recipes {

namespace {

using Milliseconds = std::chrono::milliseconds;

Milliseconds wallTime(const Loop &loop)
{
    return std::chrono::duration_cast<Milliseconds>(loop.wallNow().time_since_epoch());
}

// Until when the key is locked. Empty if its value is none of this recipe.
std::optional<Milliseconds> endIn(const QByteArray &value, const Loop &loop)
{
    const auto moment = readMoment(value, std::chrono::sys_time<Milliseconds>(wallTime(loop)));
    if (!moment || moment->form != WrittenMoment::Form::Milliseconds)
        return std::nullopt;
    return moment->at.time_since_epoch();
}

bool isPast(const QByteArray &value, const Loop &loop)
{
    const auto end = endIn(value, loop);
    return end && *end < wallTime(loop);
}

// A number that is no time of this recipe: its clients would read ours as wrongly as we theirs.
std::optional<Error> objectionToNumber(const QByteArray &value, const Loop &loop)
{
    bool isNumber = false;
    (void)value.toLongLong(&isNumber);
    const auto moment = readMoment(value, std::chrono::sys_time<Milliseconds>(wallTime(loop)));
    if (endIn(value, loop) || (!isNumber && !moment))
        return std::nullopt;
    const auto form = !moment ? u"a number that is not a time within the last day or the next year"_s
                      : moment->form == WrittenMoment::Form::Seconds ? u"a time in seconds"_s
                                                                     : u"a time with a fraction"_s;
    return Error{
        ErrorCode::Refused,
        u"the key holds %1, but redis-getset writes and reads whole milliseconds, so both would hold the lock. The key was left unchanged"_s
            .arg(form)};
}

Task<Result<bool>> takeIt(redis::Connection *connection, TokenKey stamp, Deadline deadline)
{
    const auto &key = stamp.key.bytes();
    auto setting = connection->command({"SETNX", key, stamp.token.bytes()}, deadline); // 1
    const auto set = co_await setting;
    if (!set && set.error().code == ErrorCode::UnknownOutcome) {
        auto holds = co_await holdsToken(connection, stamp, deadline);
        co_return holds;
    }
    if (!set)
        co_return set.error();
    if (set->integer == 1)
        co_return true;
    auto getting = connection->command({"GET", key}, deadline); // 2
    const auto old = co_await getting;
    if (!old && isConnectionError(old.error()))
        co_return false; // only a look, and nothing of ours is there
    if (!old)
        co_return old.error();
    if (old->isNil())
        co_return false;
    if (const auto foreign = objectionToNumber(old->text, connection->loop()))
        co_return *foreign;
    if (!isPast(old->text, connection->loop()))
        co_return false;
    auto swapping = connection->command({"GETSET", key, stamp.token.bytes()}, deadline); // 3
    CO_TRY(const auto &current, co_await swapping);
    co_return current.text == old->text;
}

Task<bool> tryOnce(redis::Connection *connection, TokenKey stamp, DetachedAttempt one, Deadline deadline)
{
    const auto got = co_await takeIt(connection, stamp, deadline);
    one.finish(got);
    co_return bool(got);
}

} // namespace

Task<Result<Grant>> GetSetLock::take(Deadline deadline)
{
    auto &loop = m_connection->loop();
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(m_connection, deadline));
        const auto asked = loop.now();
        m_stamp.token = LockValue(QByteArray::number(qint64((wallTime(loop) + m_ttl).count())));
        const DetachedAttempt one(loop, [connection = m_connection, waitGroup = m_waitGroup, stamp = m_stamp] {
            removeToken(*connection, waitGroup, stamp);
        });
        DetachedAttempt::Waiter waiter(one);
        m_waitGroup.add(m_connection->background(),
                        tryOnce(m_connection, m_stamp, one, answerBy(*m_connection, deadline)));
        const auto got = co_await one.outcome();
        if (!got && got.error().code != ErrorCode::NotConnected)
            co_return got.error();
        if (got && *got) {
            waiter.take();
            m_life.emplace(loop, m_ttl, asked, KeepAlive::Prolong(), [this](Loss loss) { lose(loss); });
            co_return Grant{m_stamp.token.bytes(), std::nullopt, {}};
        }
        if (deadline.hasPassed(loop))
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        co_await pauseBetweenTries(loop, m_random, deadline);
    }
}

Task<Result<void>> GetSetLock::release(Deadline deadline)
{
    const auto what = name();
    if (!m_life)
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(what)};
    m_life.reset();
    auto *connection = m_connection;
    const QByteArray key = m_stamp.key.bytes();
    auto getting = connection->command({"GET", key}, answerBy(*connection, deadline)); // 4
    const auto value = co_await getting;
    if (!value)
        co_return Error{value.error().code,
                        u"%1 is still held, until its time is past: %2"_s.arg(what, value.error().message)};
    if (value->isNil() || isPast(value->text, connection->loop()))
        co_return Error{ErrorCode::NotHeld, u"the time of %1 had passed, or the key no longer existed"_s.arg(what)};
    if (!endIn(value->text, connection->loop()))
        co_return Error{ErrorCode::NotHeld, u"%1 holds another client's value now, which was left alone"_s.arg(what)};
    auto deleting = connection->command({"DEL", key}, answerBy(*connection, deadline));
    const auto deleted = co_await deleting;
    if (!deleted)
        co_return Error{deleted.error().code,
                        u"%1 may still be held, until its time is past: %2"_s.arg(what, deleted.error().message)};
    if (deleted->integer != 1)
        co_return Error{ErrorCode::NotHeld, u"%1 no longer existed"_s.arg(what)};
    co_return Result<void>();
}

Task<Result<bool>> GetSetLock::isStillMine(Deadline deadline)
{
    if (!m_life || m_life->isOver())
        co_return false;
    auto asking = m_connection->command({"GET", m_stamp.key.bytes()}, deadline);
    CO_TRY(const auto &value, co_await asking);
    co_return !value.isNil() && endIn(value.text, m_connection->loop()) && !isPast(value.text, m_connection->loop());
}

void GetSetLock::letGo()
{
    if (!m_life)
        return;
    m_life.reset();
    removeToken(*m_connection, m_waitGroup, m_stamp);
}

// A count is a number, too. And a time gone by may be the one since when a lock with an expiry is held.
std::function<bool(const SeenHold &)> GetSetLock::overlooks() const
{
    return [&loop = m_connection->loop()](const SeenHold &hold) {
        const auto &theirs = recipeOf(hold.recipe);
        return theirs.shape == Shape::Counter || standsUnderOtherKeys(hold)
               || (theirs.endsBy != EndsBy::Timestamp
                   && (isPast(hold.value, loop) || objectionToNumber(hold.value, loop)));
    };
}

} // namespace lockscope::recipes
