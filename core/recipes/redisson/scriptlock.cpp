// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redisson/scriptlock.h"

#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/recipes/redis/locks.h"
#include "core/redis/client.h"

#include <climits>

namespace lockscope::recipes {

namespace {

Reply<redis::Value> send(redis::Connection &connection, const ScriptCall &call, Deadline deadline)
{
    return connection.script(redis::loadScript(call.script), call.keys, call.args, answerBy(connection, deadline));
}

qint64 numberAt(const redis::Value &answer, size_t i)
{
    return i < answer.items.size() ? answer.items[i].integer : 0;
}

Entered readEntered(const redis::Value &answer, bool hasToken)
{
    Entered entered;
    const qint64 verdict = numberAt(answer, 0);
    entered.count = numberAt(answer, 1);
    if (verdict == 0) {
        entered.wait = std::chrono::milliseconds(entered.count);
        return entered;
    }
    entered.kind = verdict > 0 ? Entered::Kind::Ours : Entered::Kind::OtherLimit;
    if (hasToken)
        entered.token = numberAt(answer, 2);
    return entered;
}

// Asks over broken connections until the deadline.
Task<Result<redis::Value>> ask(redis::Connection *connection, redis::Command question, Deadline deadline)
{
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(connection, deadline));
        const auto answer = co_await connection->command(question, answerBy(*connection, deadline));
        if (answer || !isConnectionError(answer.error()))
            co_return answer;
        // A server that hangs keeps the connection: nothing else would end this.
        if (deadline.hasPassed(connection->loop()))
            co_return answer;
        co_await sleepFor(connection->loop(), pauseAfterTrouble);
    }
}

Task<Result<Entered>> lookWhetherOurs(redis::Connection *connection, ScriptSet scripts, qint64 before,
                                      Deadline deadline)
{
    CO_TRY(const auto &count, co_await ask(connection, scripts.count, deadline));
    Entered entered;
    // A permit is asked for its moment, which is far greater than any count.
    const auto held = count.isNil() ? 0 : static_cast<qint64>(count.text.toDouble());
    if (held <= before) {
        entered.kind = Entered::Kind::Unsent;
        co_return entered;
    }
    entered.kind = Entered::Kind::Ours;
    entered.count = before + 1;
    if (scripts.tokenKey.isEmpty())
        co_return entered;
    // While we hold it nobody else counts it up.
    const redis::Command question{"GET", scripts.tokenKey};
    CO_TRY(const auto &token, co_await ask(connection, question, deadline));
    entered.token = token.text.toLongLong();
    co_return entered;
}

// Until the server has answered it. False when it refuses.
Task<bool> insist(redis::Connection *connection, ScriptCall call)
{
    const auto never = Deadline::never();
    for (;;) {
        const auto connected = co_await untilConnected(connection, never);
        if (!connected)
            co_return false;
        const auto answer = co_await send(*connection, call, never);
        if (answer)
            co_return true;
        if (!isConnectionError(answer.error())) {
            qCWarning(logRedis).noquote() << "cannot clear up" << label(call.keys.first()) << "-"
                                          << answer.error().message << "- it goes with its lease";
            co_return false;
        }
        co_await sleepFor(connection->loop(), pauseAfterTrouble);
    }
}

} // namespace

Task<Result<Entered>> enterOnce(redis::Connection *connection, ScriptSet scripts, ScriptCall call, qint64 before,
                                Deadline deadline)
{
    const auto answer = co_await send(*connection, call, deadline);
    if (answer)
        co_return readEntered(*answer, !scripts.tokenKey.isEmpty());
    if (answer.error().code == ErrorCode::UnknownOutcome) {
        auto found = co_await lookWhetherOurs(connection, scripts, before, deadline);
        co_return found;
    }
    if (!isConnectionError(answer.error()))
        co_return answer.error();
    Entered unsent;
    unsent.kind = Entered::Kind::Unsent;
    co_return unsent;
}

Task<Result<qint64>> leaveOnce(redis::Connection *connection, ScriptSet scripts, QByteArray request,
                               Deadline deadline)
{
    auto &loop = connection->loop();
    const bool hasLatch = !scripts.latchPrefix.isEmpty();
    const QByteArray latch = scripts.latchPrefix + request;
    if (hasLatch)
        scripts.leave.keys[1] = latch;
    bool mayHaveLanded = false;
    for (;;) {
        const auto connected = co_await untilConnected(connection, deadline);
        if (!connected && mayHaveLanded)
            co_return Error{ErrorCode::UnknownOutcome, connected.error().message, true};
        if (!connected)
            co_return connected.error();
        const auto answer = co_await send(*connection, scripts.leave, deadline);
        if (answer && hasLatch) {
            // Heard: nobody will ask again. Nobody waits for this, either.
            (void)connection->command({"DEL", latch}, answerBy(*connection, deadline));
            co_return answer->integer;
        }
        if (answer) {
            // A permit that was ours, and is gone: the request before this one did it.
            const qint64 verdict = numberAt(*answer, 0);
            const bool wasUs = verdict < 0 && mayHaveLanded;
            co_return qint64(wasUs || verdict > 0 ? 1 : -1);
        }
        if (!isConnectionError(answer.error()) || deadline.hasPassed(loop))
            co_return answer.error();
        mayHaveLanded = mayHaveLanded || answer.error().code == ErrorCode::UnknownOutcome;
        co_await sleepFor(loop, pauseAfterTrouble);
    }
}

Task<bool> clearUp(redis::Connection *connection, ScriptSet scripts, bool mayHold)
{
    bool isDone = true;
    if (scripts.leaveQueue) {
        const ScriptCall leaving = *scripts.leaveQueue;
        isDone = co_await insist(connection, leaving);
    }
    if (!mayHold)
        co_return isDone;
    const ScriptCall takingAway = scripts.takeAway;
    const bool isAway = co_await insist(connection, takingAway);
    co_return isDone &&isAway;
}

namespace {

// The server said no, and did nothing.
bool wasRefused(const Error &error)
{
    return error.code == ErrorCode::Server || error.code == ErrorCode::NoPermission;
}

} // namespace

ScriptLock::ScriptLock(redis::Connection &connection, const RedisKey &key, std::chrono::milliseconds ttl,
                       Random random, Recipe recipe)
    : LockBase(connection.loop(), key.bytes()), m_connection(&connection), m_ttl(ttl), m_random(std::move(random)),
      m_recipe(std::move(recipe)), m_scripts(m_recipe()), m_waitGroup(connection.loop())
{
}

Task<Result<Grant>> ScriptLock::take(Deadline deadline)
{
    // A lease of before that ran out may have left something, too.
    const auto &loop = m_connection->loop();
    if (m_needsNewId || m_held)
        m_scripts = m_recipe();
    m_held.reset();
    m_needsNewId = m_scripts.isForOneHold;
    if (m_scripts.setWait)
        m_scripts.setWait(m_scripts, deadline.isNever() ? std::nullopt : std::optional(deadline.remaining(loop)));
    auto entered = co_await enter(deadline);
    if (entered)
        co_return entered;
    auto cleaned = m_waitGroup.finished(answerBy(*m_connection, Deadline::at(m_connection->loop().now())));
    const bool clean = co_await cleaned;
    m_needsNewId = m_needsNewId || !clean;
    co_return clean ? entered.error() : lateGrantError(entered.error());
}

Task<Result<Grant>> ScriptLock::enter(Deadline deadline)
{
    auto &loop = m_connection->loop();
    const bool waits = !deadline.hasPassed(loop);
    const ScriptCall call = waits ? m_scripts.enter : m_scripts.tryEnter;
    CleanupGuard cleanupGuard(*m_connection, m_waitGroup, m_scripts);
    std::optional<ReleaseSubscription::Waiter> waiter;
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(m_connection, deadline));
        cleanupGuard.mayBe(true, waits);
        const auto asked = loop.now();
        const auto entered = co_await enterOnce(m_connection, m_scripts, call, 0, deadline);
        if (!entered) {
            if (wasRefused(entered.error()))
                cleanupGuard.mayBe(false, waits);
            co_return entered.error();
        }
        if (waiter)
            waiter->tried();
        const bool isOurs = entered->kind == Entered::Kind::Ours;
        if (isOurs && loop.now() < KeepAlive::validUntil(asked, m_ttl)) {
            cleanupGuard.forget();
            co_return hold(*entered, asked);
        }
        if (isOurs)
            co_await clearUp(m_connection, m_scripts, true); // heard of it too late
        cleanupGuard.mayBe(false, waits);
        if (entered->kind == Entered::Kind::OtherLimit && entered->count == 0)
            co_return Error{
                ErrorCode::BadInput,
                u"the semaphore does not exist, or only a number shows it. Give its number of permits to create or join it. The number stays, also for its application"_s};
        if (entered->kind == Entered::Kind::OtherLimit)
            co_return Error{ErrorCode::BadInput, u"it has %1 permits, not the number given"_s.arg(entered->count)};
        if (deadline.hasPassed(loop))
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        if (!waiter) {
            // Only who did not get it at once listens, and then tries once more.
            waiter.emplace(
                RedissonProcess::of(*m_connection, m_random).subscription(m_scripts.channel, m_scripts.wakes));
            const auto heard = co_await waiter->subscription().hearing(answerBy(*m_connection, deadline));
            if (!heard && heard.error().code == ErrorCode::NoPermission)
                co_return heard.error();
            continue;
        }
        const auto known = entered->kind == Entered::Kind::Unsent ? 50ms : entered->wait;
        const auto most =
            known < 0ms ? m_ttl : std::clamp<std::chrono::milliseconds>(known, 1ms, std::max(m_ttl, 1ms));
        const bool isTold = co_await waiter->wait(std::min<Instant>(loop.now() + most, deadline.when()));
        if (!isTold && deadline.hasPassed(loop))
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
    }
}

Grant ScriptLock::hold(const Entered &entered, Instant asked)
{
    // One, also where the server counts more: then the script was sent again because its answer was lost, and what is
    // too many goes with the release.
    m_held.emplace(
        Grant{m_scripts.id, entered.token, {}}, 1, m_connection->loop(), m_ttl, asked,
        [connection = m_connection, renew = m_scripts.renew](std::chrono::milliseconds, Deadline deadline) {
            return whetherOne(connection->script(redis::loadScript(renew.script), renew.keys, renew.args, deadline));
        },
        [this](Loss loss) { lose(loss); });
    return m_held->grant;
}

std::function<bool(const SeenHold &)> ScriptLock::overlooks() const
{
    if (!m_scripts.isCounter)
        return standsUnderOtherKeys;
    return [](const SeenHold &hold) {
        bool isNumber = false;
        hold.value.toLongLong(&isNumber);
        return standsUnderOtherKeys(hold) || (isNumber && recipeOf(hold.recipe).shape != Shape::Counter);
    };
}

// Counted on the server, as all of Redisson's are.
Task<Result<Grant>> ScriptLock::reenter(Deadline deadline)
{
    if (!m_scripts.isReentrant) {
        auto refused = co_await LockBase::reenter(deadline);
        co_return refused;
    }
    const auto alive = self();
    const auto what = name();
    auto *connection = m_connection;
    auto &loop = connection->loop();
    const ScriptSet scripts = m_scripts;
    const qint64 before = m_held->count;
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(connection, deadline));
        const auto asked = loop.now();
        CO_TRY(const auto &entered, co_await enterOnce(connection, scripts, scripts.tryEnter, before, deadline));
        if (alive.expired())
            co_return Error{ErrorCode::Cancelled, u"cannot acquire %1: cancelled"_s.arg(what)};
        if (entered.kind == Entered::Kind::Ours && entered.count > before && isHeld()) {
            ++m_held->count;
            m_held->life.restart(m_ttl, asked);
            co_return m_held->grant;
        }
        if (entered.kind != Entered::Kind::Unsent)
            break;
        if (deadline.hasPassed(loop))
            co_return Error{ErrorCode::TimedOut, u"timed out acquiring %1 once more"_s.arg(what), true};
        co_await sleepFor(loop, 50ms);
        if (alive.expired())
            co_return Error{ErrorCode::Cancelled, u"cannot acquire %1: cancelled"_s.arg(what)};
    }
    // It is another's now; or it was gone, and ours is a new hold, which does not reach back to the old.
    letGo();
    forfeit();
    co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
}

Task<Result<void>> ScriptLock::release(Deadline deadline)
{
    const auto what = name();
    const bool wasHeld = isHeld();
    if (!wasHeld) {
        letGo();
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(what)};
    }
    const auto alive = self();
    const ScriptSet scripts = m_scripts;
    auto *connection = m_connection;
    const bool isLast = --m_held->count == 0;
    CleanupGuard cleanupGuard(*connection, m_waitGroup, scripts);
    if (isLast) {
        m_held.reset();
        m_needsNewId = true; // until we know better
        cleanupGuard.mayBe(true, false);
    }
    const auto request = m_random.bytes(16).toHex();
    const auto left = co_await leaveOnce(connection, scripts, request, deadline);
    if (!left)
        co_return Error{left.error().code,
                        (isLast ? u"%1 may still be held and is being released in the background: %2"_s
                                : u"%1 may be held once more than we think: %2"_s)
                            .arg(what, left.error().message)};
    // More than we know of: a reply that was lost. Then the trace takes the rest away.
    const bool isCounted = *left == (isLast ? 1 : 0);
    if (*left != 0)
        cleanupGuard.forget();
    if (isLast && *left != 0 && !alive.expired() && !m_held && !isAcquiring())
        m_needsNewId = scripts.isForOneHold;
    if (*left < 0 || (!isLast && !isCounted)) {
        if (!isLast && !alive.expired())
            forfeit();
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
    }
    co_return Result<void>();
}

Task<Result<bool>> ScriptLock::isStillMine(Deadline deadline)
{
    const bool isOurs = isHeld();
    if (!isOurs)
        co_return false;
    CO_TRY(const auto &count, co_await m_connection->command(m_scripts.count, deadline));
    co_return !count.isNil();
}

void ScriptLock::forfeit()
{
    m_held.reset();
    m_needsNewId = true;
    lose(Loss::TakenAway);
}

void ScriptLock::letGo()
{
    m_needsNewId = true;
    if (!m_held)
        return;
    m_held.reset();
    m_waitGroup.add(m_connection->background(), clearUp(m_connection, m_scripts, true));
}

ReleaseSubscription::ReleaseSubscription(redis::Connection &connection, const QByteArray &channel, Wakes wakes)
    : m_connection(&connection)
{
    // While the connection was broken messages may have been lost: everybody tries.
    m_states = connection.onState([this](redis::ConnectionState state) {
        if (state == redis::ConnectionState::Connected)
            wake(INT_MAX);
    });
    m_messages =
        connection.subscribe(channel, [this, wakes](const redis::Message &message) { wake(wakes(message.payload)); });
}

void ReleaseSubscription::wake(int most)
{
    for (auto *waiter : m_waiters) {
        if (most > 0 && waiter->isWaiting()) {
            waiter->m_isTrying = true;
            waiter->m_waiting->complete(true);
            --most;
        }
    }
    // The try that is out may have come too early for this release.
    for (auto *waiter : m_waiters) {
        if (most > 0 && !waiter->isWaiting() && !waiter->m_isTold) {
            waiter->m_isTold = true;
            --most;
        }
    }
}

ReleaseSubscription::Waiter::Waiter(std::shared_ptr<ReleaseSubscription> subscription)
    : m_subscription(std::move(subscription))
{
    m_subscription->m_waiters.push_back(this);
}

ReleaseSubscription::Waiter::~Waiter()
{
    std::erase(m_subscription->m_waiters, this);
    if (m_isTold || m_isTrying)
        m_subscription->wake(1);
}

Completion<bool> ReleaseSubscription::Waiter::wait(Instant until)
{
    m_waiting.emplace(m_subscription->m_connection->loop());
    if (std::exchange(m_isTold, false)) {
        m_isTrying = true;
        m_waiting->complete(true);
    } else {
        m_waiting->completeAt(Deadline::at(until), false);
    }
    return *m_waiting;
}

RedissonProcess &RedissonProcess::of(redis::Connection &connection, Random &random)
{
    return connection.kept<RedissonProcess>([&] { return std::make_shared<RedissonProcess>(connection, random); });
}

RedissonProcess::RedissonProcess(redis::Connection &connection, Random &random)
    : m_connection(&connection), m_uuid(uuidToken(random))
{
}

std::shared_ptr<ReleaseSubscription> RedissonProcess::subscription(const QByteArray &channel,
                                                                   ReleaseSubscription::Wakes wakes)
{
    auto subscription = m_subscriptions[channel].lock();
    if (!subscription) {
        std::erase_if(m_subscriptions, [](const auto &entry) { return entry.second.expired(); });
        subscription = std::make_shared<ReleaseSubscription>(*m_connection, channel, wakes);
        m_subscriptions[channel] = subscription;
    }
    return subscription;
}

} // namespace lockscope::recipes
