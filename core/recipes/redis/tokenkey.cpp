// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redis/tokenkey.h"

#include "core/async/completion.h"
#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/redis/client.h"
#include "core/rules/catalogue.h"
#include "core/rules/keysignals.h"

#include <algorithm>

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

} // namespace lockscope::recipes
