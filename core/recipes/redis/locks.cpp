// SPDX-License-Identifier: Apache-2.0
// The token lock on one Redis, and from a recipe's id to its class.
#include "core/recipes/make.h"
#include "core/recipes/redis/locks.h"
#include "core/recipes/redisson/scriptlock.h"
#include "core/redis/client.h"
#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/rules/turn.h"

namespace lockscope::recipes {

namespace {

// True when the key certainly does not hold our token.
Task<bool> takeAway(redis::Connection *connection, TokenKey ours)
{
    const auto never = Deadline::never();
    for (;;) {
        const auto connected = co_await untilConnected(connection, never);
        if (!connected)
            co_return false;
        const auto deleted = co_await deleteToken(*connection, ours, answerBy(*connection, never));
        if (deleted)
            co_return true;
        if (!isConnectionError(deleted.error())) {
            qCWarning(logRedis).noquote() << "cannot delete" << label(ours.key.bytes()) << "-"
                                          << deleted.error().message << "- it goes with its TTL";
            co_return false;
        }
        co_await sleepFor(connection->loop(), pauseAfterTrouble);
    }
}

} // namespace

Task<Result<bool>> holdsToken(redis::Connection *connection, TokenKey ours, Deadline deadline)
{
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(connection, deadline));
        auto asking = connection->command({"GET", ours.key.bytes()}, answerBy(*connection, deadline));
        const auto value = co_await asking;
        if (value)
            co_return !value->isNil() && value->text == ours.token.bytes();
        if (!isConnectionError(value.error()))
            co_return value.error();
        // A server that hangs keeps the connection: nothing else would end this.
        if (deadline.hasPassed(connection->loop()))
            co_return Error{ErrorCode::TimedOut, u"timed out while it was not known whether the key is ours"_s, true};
        co_await sleepFor(connection->loop(), pauseAfterTrouble);
    }
}

Reply<redis::Value> deleteToken(redis::Connection &connection, const TokenKey &ours, Deadline deadline)
{
    const auto wakes = wakeSignalsOf(ours.key.bytes());
    const QByteArrayList keys{ours.key.bytes()};
    const QByteArrayList token{ours.token.bytes()};
    if (wakes.isEmpty())
        return connection.script(redis::loadScript("compare-and-delete"), keys, token, deadline);
    return connection.script(redis::loadScript("compare-and-delete-and-wake"), keys, token + signalArguments(wakes),
                             deadline);
}

void removeToken(redis::Connection &connection, const WaitGroup &waitGroup, TokenKey ours)
{
    waitGroup.add(connection.background(), takeAway(&connection, std::move(ours)));
}

Lease::Lease(redis::Connection &connection, TokenKey ours, std::chrono::milliseconds ttl, Instant asked,
             std::function<void(Loss)> onEnd)
    : m_ours(std::move(ours)),
      m_life(
          connection.loop(), ttl, asked,
          [&connection, ours = m_ours](std::chrono::milliseconds more, Deadline deadline) {
              return whetherOne(connection.script(redis::loadScript("compare-and-expire"), {ours.key.bytes()},
                                                  {ours.token.bytes(), QByteArray::number(qint64(more.count()))},
                                                  deadline));
          },
          std::move(onEnd))
{
}

Task<Result<void>> untilConnected(redis::Connection *connection, Deadline deadline)
{
    return untilConnectedTo(u"Redis", connection, deadline);
}

Deadline answerBy(const redis::Connection &connection, Deadline deadline)
{
    const auto now = connection.loop().now();
    return Deadline::at(std::clamp<Instant>(deadline.when(), now + 500ms, now + 5s));
}

Task<Result<bool>> whetherOne(Reply<redis::Value> reply)
{
    CO_TRY(const auto &answer, co_await reply);
    co_return answer.integer == 1;
}

// So are the read/write locks of clients that are only seen.
bool standsUnderOtherKeys(const SeenHold &hold)
{
    const auto &theirs = recipeOf(hold.recipe);
    return theirs.readWrite && !theirs.acquirable && theirs.backend == BackendKind::Redis;
}

namespace {

// The token lock. Source: Redis documentation, "Distributed Locks with Redis", correct implementation
// with a single instance.
//   1. SET key token NX PX ttl, with a random token nobody else has. OK: the lock is ours, until the
//      TTL ends counted from before the command was sent.
//   2. The reply was lost: GET the key. Our token: the lock is ours.
//   3. Taken: pause, a little at random, and go to 1.
//   4. While it is held, prolong the TTL at every third of it, if the key still holds our token.
//   5. To release, delete the key, if it still holds our token, and wake those of other clients whose locks have
//      such a name and who sleep until then (turn.h); a script: all in one step.
//
// Not fair, and nobody of ours is woken: who waits finds out at the next try. No fencing token.

// redis-set-nx: the token lock on one Redis.
class SetNxLock final : public KeyLock, public Leased {
public:
    using KeyLock::KeyLock;
    ~SetNxLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override
    {
        const bool wasHeld = isHeld();
        if (!wasHeld) {
            letGo();
            co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
        }
        const TokenKey ours = m_lease->key();
        m_lease.reset();
        const auto what = name();
        TokenGuard guard(
            TokenRemoval{m_connection, m_waitGroup, ours}); // if there is no answer, or nobody to hear it
        const auto deleted = co_await deleteToken(*m_connection, ours, answerBy(*m_connection, deadline));
        if (!deleted)
            co_return Error{deleted.error().code,
                            u"%1 may still be held and is being released in the background: %2"_s.arg(
                                what, deleted.error().message)};
        guard.dismiss();
        if (deleted->integer < 1)
            co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
        co_return Result<void>();
    }

    [[nodiscard]] Instant validUntil() const override { return m_lease ? m_lease->validUntil() : Instant(); }
    Task<Result<bool>> isStillMine(Deadline deadline) override
    {
        if (!m_lease)
            co_return false;
        const TokenKey ours = m_lease->key();
        auto asking = m_connection->command({"GET", ours.key.bytes()}, deadline);
        CO_TRY(const auto &value, co_await asking);
        co_return !value.isNil() && value.text == ours.token.bytes();
    }

private:
    Task<Result<Grant>> take(Deadline deadline) override
    {
        auto taken = co_await poll(deadline);
        if (taken)
            co_return taken;
        auto cleaned = m_waitGroup.finished(answerBy(*m_connection, Deadline::at(m_connection->loop().now())));
        const bool clean = co_await cleaned;
        co_return clean ? taken.error() : lateGrantError(taken.error());
    }

    Task<Result<Grant>> poll(Deadline deadline)
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
    Task<Result<bool>> setOnce(TokenKey ours, TokenGuard *guard, Deadline deadline)
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

    [[nodiscard]] bool isHeld() const override { return m_lease && !m_lease->isOver(); }
    void letGo() override
    {
        if (!m_lease)
            return;
        removeToken(*m_connection, m_waitGroup, m_lease->key());
        m_lease.reset();
    }

    std::optional<Lease> m_lease;
};

std::optional<Error> objectionTo(const QByteArray &id, const RedisKey &lock, const AcquireOptions &options)
{
    if (auto no = objectionTo(id, BackendKind::Redis, options))
        return no;
    if (lock.isEmpty())
        return Error{ErrorCode::BadInput, u"a lock's key cannot be empty"_s};
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one millisecond"_s};
    return std::nullopt;
}

using MadeOnRedis = std::unique_ptr<Lock> (*)(redis::Connection &, const RedisKey &, const AcquireOptions &, Random);

std::unique_ptr<Lock> setNx(redis::Connection &connection, const RedisKey &lock, const AcquireOptions &options,
                            Random random)
{
    return std::make_unique<SetNxLock>(connection, lock, options.ttl, std::move(random));
}

// Of Redisson's, those that know their holder by process and thread.
template <auto calls, auto readCalls = calls>
std::unique_ptr<Lock> scripted(redis::Connection &connection, const RedisKey &lock, const AcquireOptions &options,
                               Random random)
{
    auto &process = RedissonProcess::of(connection, random);
    const auto callsOf = options.readMode ? readCalls : calls;
    return std::make_unique<ScriptLock>(
        connection, lock, options.ttl, std::move(random),
        [&process, callsOf, lock, ttl = options.ttl] { return callsOf(lock, process.newThread(), ttl); });
}

std::unique_ptr<Lock> permit(redis::Connection &connection, const RedisKey &lock, const AcquireOptions &options,
                             Random random)
{
    auto permits = std::make_shared<Random>(random.next());
    return std::make_unique<ScriptLock>(connection, lock, options.ttl, std::move(random), [permits, lock, options] {
        return redissonPermit(lock, permits->bytes(16), {options.limit, options.isLimitGiven}, options.ttl);
    });
}

} // namespace

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, redis::Connection &connection, const RedisKey &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, lock, options))
        return *no;
    if (recipeOf(id).quorum)
        return Error{ErrorCode::BadInput,
                     u"redlock needs a set of independent nodes, and this is one Redis: connect redis://a,b,c"_s};
    static const std::map<QByteArray, MadeOnRedis> makers{
        {"redis-setnx-expire", makeSetNxExpireLock},
        {"redis-getset", makeGetSetLock},
        {"redis-set-nx", setNx},
        {"redisson-lock", scripted<redissonLock>},
        {"redisson-fair-lock", scripted<redissonFairLock>},
        {"redisson-rwlock", scripted<redissonWriteLock, redissonReadLock>},
        {"redisson-fenced-lock", scripted<redissonFencedLock>},
        {"redisson-semaphore", permit},
    };
    const auto maker = makers.find(id);
    if (maker == makers.end())
        return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(QString::fromUtf8(id))};
    return maker->second(connection, lock, options, std::move(random));
}

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, const std::vector<redis::Connection *> &nodes,
                                       const RedisKey &lock, const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, lock, options))
        return *no;
    if (!recipeOf(id).quorum)
        return Error{ErrorCode::BadInput,
                     u"recipe %1 is for one Redis, and this is a set of nodes, which takes redlock: connect one of "
                     u"them by itself"_s.arg(QString::fromUtf8(id))};
    if (nodes.empty())
        return Error{ErrorCode::BadInput, u"redlock needs at least one node"_s};
    std::unique_ptr<Lock> made = std::make_unique<RedlockLock>(nodes, lock, options.ttl, std::move(random));
    return made;
}

} // namespace lockscope::recipes
