// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redis/waiting.h"

#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

Task<Result<void>> untilConnected(redis::Connection *connection, Deadline deadline)
{
    for (;;) {
        const auto state = connection->state();
        if (state == redis::ConnectionState::Connected)
            co_return Result<void>();
        if (state == redis::ConnectionState::AuthFailed)
            co_return Error{ErrorCode::AuthFailed, connection->lastError(), false, connection->isExplained()};
        if (state == redis::ConnectionState::Closed)
            co_return Error{ErrorCode::NotConnected, connection->lastError(), false, connection->isExplained()};
        const Completion<bool> changed(connection->loop());
        const auto subscription = connection->onState([changed](redis::ConnectionState) { changed.complete(true); });
        changed.completeAt(deadline, false);
        const bool inTime = co_await changed;
        if (!inTime)
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for a connection to Redis"_s, true};
    }
}

Deadline answerBy(const redis::Connection &connection, Deadline deadline)
{
    const auto now = connection.loop().now();
    return Deadline::at(std::clamp<Instant>(deadline.when(), now + 500ms, now + 5s));
}

Task<Result<bool>> whetherOne(Reply<redis::Value> reply)
{
    const auto answer = co_await reply;
    if (!answer)
        co_return answer.error();
    co_return answer->integer == 1;
}

// So are the read/write locks of clients that are only seen.
bool standsUnderOtherKeys(const SeenHold &hold)
{
    const auto &theirs = recipeOf(hold.recipe);
    return theirs.readWrite && !theirs.acquirable && theirs.backend == BackendKind::Redis;
}

} // namespace lockscope::recipes
