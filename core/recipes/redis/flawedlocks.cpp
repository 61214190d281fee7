// SPDX-License-Identifier: Apache-2.0
// The locks on Redis that are here to show what is wrong with them.
#include "core/recipes/redis/locks.h"
#include "core/rules/turn.h"

namespace lockscope::recipes {

namespace {

// One try of several commands that is never left halfway: it runs in the background of its connection,
// and whoever started it may stop waiting. What it got then is given back. Loop thread only.
class DetachedAttempt {
    struct State {
        Completion<Result<bool>> outcome;
        std::function<void()> giveBack;
        bool isWanted;
    };

public:
    // `giveBack` is called when the try got the lock and nobody is there to have it.
    DetachedAttempt(Loop &loop, std::function<void()> giveBack)
        : m_state(std::make_shared<State>(State{Completion<Result<bool>>(loop), std::move(giveBack), true}))
    {
    }
    // For whoever tries. Whether it got the lock, or why nobody knows.
    void finish(const Result<bool> &got) const
    {
        if (m_state->isWanted)
            m_state->outcome.complete(got);
        else if (got && *got)
            m_state->giveBack();
    }
    // For whoever waits.
    [[nodiscard]] Completion<Result<bool>> outcome() const { return m_state->outcome; }

    // Stands for whoever waits, until it has taken what was got.
    class Waiter {
    public:
        explicit Waiter(const DetachedAttempt &one) : m_state(one.m_state) {}
        Q_DISABLE_COPY(Waiter)
        ~Waiter()
        {
            m_state->isWanted = false;
            if (!m_isTaken && m_state->outcome.isComplete() && m_state->outcome.value() && *m_state->outcome.value())
                m_state->giveBack();
        }
        void take() { m_isTaken = true; }

    private:
        std::shared_ptr<State> m_state;
        bool m_isTaken = false;
    };

private:
    std::shared_ptr<State> m_state;
};

const QByteArray mark = "1";

// What both locks share: a try is carried on to its end, and the lock is held until it is released; neither looks
// before that whether its time is up.
class FlawedLock : public KeyLock, public Leased {
public:
    [[nodiscard]] Instant validUntil() const final { return m_life ? m_life->validUntil() : Instant(); }

protected:
    using KeyLock::KeyLock;

    // What the next try writes into the key.
    [[nodiscard]] virtual QByteArray newValue() { return mark; }
    [[nodiscard]] virtual Task<bool> attempt(const DetachedAttempt &one, Deadline deadline) const = 0;
    // Gives back what the last try got. It may be called when the lock is gone.
    [[nodiscard]] virtual std::function<void()> undoing() const = 0;

    [[nodiscard]] bool isHeld() const override { return m_life.has_value(); }
    void letGo() override
    {
        if (!m_life)
            return;
        m_life.reset();
        undoing()();
    }

    std::optional<KeepAlive> m_life;

private:
    Task<Result<Grant>> take(Deadline deadline) override
    {
        auto &loop = m_connection->loop();
        for (;;) {
            CO_TRY_VOID(co_await untilConnected(m_connection, deadline));
            const auto asked = loop.now();
            const QByteArray value = newValue();
            const DetachedAttempt one(loop, undoing());
            DetachedAttempt::Waiter waiter(one);
            m_waitGroup.add(m_connection->background(), attempt(one, answerBy(*m_connection, deadline)));
            const auto got = co_await one.outcome();
            if (!got && got.error().code != ErrorCode::NotConnected)
                co_return got.error();
            if (got && *got) {
                waiter.take();
                m_life.emplace(loop, m_ttl, asked, KeepAlive::Prolong(), [this](Loss loss) { lose(loss); });
                co_return Grant{value, std::nullopt, {}};
            }
            if (deadline.hasPassed(loop))
                co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
            co_await pauseBetweenTries(loop, m_random, deadline); // 3
        }
    }
};

// The lock that most people write first. Source: J. Carlson, "Redis in Action", 6.2.5 "Locks with timeouts",
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

// redis-setnx-expire: the lock that most people write first, for teaching what is wrong with it.
class SetNxExpireLock final : public FlawedLock {
public:
    using FlawedLock::FlawedLock;
    ~SetNxExpireLock() override { shutDown(); }

    // True whenever there was a key to delete, whosever it was.
    Task<Result<void>> release(Deadline deadline) override
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

    // Whether our time is not over and the key is there: it does not say whose it is.
    Task<Result<bool>> isStillMine(Deadline deadline) override
    {
        if (!m_life || m_life->isOver())
            co_return false;
        auto asking = m_connection->command({"GET", m_key.bytes()}, deadline);
        CO_TRY(const auto &value, co_await asking);
        co_return !value.isNil() && value.text == mark;
    }

    // What stands there from now on is another's, and a DEL would not ask.
    void noteTakenAway(const Grant &) override
    {
        if (!m_life)
            return;
        m_life.reset();
        lose(Loss::TakenAway);
    }

private:
    [[nodiscard]] Task<bool> attempt(const DetachedAttempt &one, Deadline deadline) const override
    {
        return tryOnce(m_connection, m_key, std::chrono::floor<std::chrono::seconds>(m_ttl), one, deadline);
    }
    [[nodiscard]] std::function<void()> undoing() const override
    {
        return [connection = m_connection, key = m_key] {
            (void)connection->command({"DEL", key.bytes()}, answerBy(*connection, Deadline::never()));
        };
    }
};

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

// redis-getset: a lock whose value says until when, for teaching what is wrong with it.
class GetSetLock final : public FlawedLock {
public:
    using FlawedLock::FlawedLock;
    ~GetSetLock() override { shutDown(); }

    // NotHeld when the time that the key says is past: then it is left alone.
    Task<Result<void>> release(Deadline deadline) override
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
            co_return Error{ErrorCode::NotHeld,
                            u"the time of %1 had passed, or the key no longer existed"_s.arg(what)};
        if (!endIn(value->text, connection->loop()))
            co_return Error{ErrorCode::NotHeld,
                            u"%1 holds another client's value now, which was left alone"_s.arg(what)};
        auto deleting = connection->command({"DEL", key}, answerBy(*connection, deadline));
        const auto deleted = co_await deleting;
        if (!deleted)
            co_return Error{deleted.error().code,
                            u"%1 may still be held, until its time is past: %2"_s.arg(what, deleted.error().message)};
        if (deleted->integer != 1)
            co_return Error{ErrorCode::NotHeld, u"%1 no longer existed"_s.arg(what)};
        co_return Result<void>();
    }

    // Whether our time is not over and the key says one that is not past: a loser may have changed it.
    Task<Result<bool>> isStillMine(Deadline deadline) override
    {
        if (!m_life || m_life->isOver())
            co_return false;
        auto asking = m_connection->command({"GET", m_stamp.key.bytes()}, deadline);
        CO_TRY(const auto &value, co_await asking);
        co_return !value.isNil() && endIn(value.text, m_connection->loop())
            && !isPast(value.text, m_connection->loop());
    }

    // A count is a number, too. And a time gone by may be the one since when a lock with an expiry is held.
    [[nodiscard]] std::function<bool(const SeenHold &)> overlooks() const override
    {
        return [&loop = m_connection->loop()](const SeenHold &hold) {
            const auto &theirs = recipeOf(hold.recipe);
            return theirs.shape == Shape::Counter || standsUnderOtherKeys(hold)
                   || (theirs.endsBy != EndsBy::Timestamp
                       && (isPast(hold.value, loop) || objectionToNumber(hold.value, loop)));
        };
    }

private:
    [[nodiscard]] QByteArray newValue() override
    {
        m_stamp.token = LockValue(QByteArray::number(qint64((wallTime(m_connection->loop()) + m_ttl).count())));
        return m_stamp.token.bytes();
    }
    [[nodiscard]] Task<bool> attempt(const DetachedAttempt &one, Deadline deadline) const override
    {
        return tryOnce(m_connection, m_stamp, one, deadline);
    }
    [[nodiscard]] std::function<void()> undoing() const override
    {
        return [connection = m_connection, waitGroup = m_waitGroup, stamp = m_stamp] {
            removeToken(*connection, waitGroup, stamp);
        };
    }

    TokenKey m_stamp{m_key, LockValue()}; // the last one we wrote
};

} // namespace

std::unique_ptr<Lock> makeSetNxExpireLock(redis::Connection &connection, const RedisKey &lock,
                                          const AcquireOptions &options, Random random)
{
    // EXPIRE takes whole seconds only.
    const auto ttl = std::chrono::ceil<std::chrono::seconds>(options.ttl);
    return std::make_unique<SetNxExpireLock>(connection, lock, ttl, std::move(random));
}

std::unique_ptr<Lock> makeGetSetLock(redis::Connection &connection, const RedisKey &lock,
                                     const AcquireOptions &options, Random random)
{
    return std::make_unique<GetSetLock>(connection, lock, options.ttl, std::move(random));
}

} // namespace lockscope::recipes
