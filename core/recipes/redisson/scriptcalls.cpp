// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redisson/scriptcalls.h"

#include "core/async/sleep.h"
#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/recipes/connectionerrors.h"
#include "core/recipes/polling.h"
#include "core/recipes/redis/waiting.h"
#include "core/redis/client.h"

namespace lockscope::recipes {

using namespace std::chrono_literals;

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
        const auto connected = co_await untilConnected(connection, deadline);
        if (!connected)
            co_return connected.error();
        auto asking = connection->command(question, answerBy(*connection, deadline));
        const auto answer = co_await asking;
        if (answer || !isConnectionError(answer.error()))
            co_return answer;
        // A server that hangs keeps the connection: nothing else would end this.
        if (deadline.hasPassed(connection->loop()))
            co_return answer;
        auto pause = sleepFor(connection->loop(), pauseAfterTrouble);
        co_await pause;
    }
}

Task<Result<Entered>> lookWhetherOurs(redis::Connection *connection, ScriptSet scripts, qint64 before,
                                      Deadline deadline)
{
    const auto count = co_await ask(connection, scripts.count, deadline);
    if (!count)
        co_return count.error();
    Entered entered;
    // A permit is asked for its moment, which is far greater than any count.
    const auto held = count->isNil() ? 0 : static_cast<qint64>(count->text.toDouble());
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
    const auto token = co_await ask(connection, question, deadline);
    if (!token)
        co_return token.error();
    entered.token = token->text.toLongLong();
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
        auto sending = send(*connection, call, never);
        const auto answer = co_await sending;
        if (answer)
            co_return true;
        if (!isConnectionError(answer.error())) {
            qCWarning(logRedis).noquote() << "cannot clear up" << label(call.keys.first()) << "-"
                                          << answer.error().message << "- it goes with its lease";
            co_return false;
        }
        auto pause = sleepFor(connection->loop(), pauseAfterTrouble);
        co_await pause;
    }
}

} // namespace

Task<Result<Entered>> enterOnce(redis::Connection *connection, ScriptSet scripts, ScriptCall call, qint64 before,
                                Deadline deadline)
{
    auto entering = send(*connection, call, deadline);
    const auto answer = co_await entering;
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
        auto leaving = send(*connection, scripts.leave, deadline);
        const auto answer = co_await leaving;
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
        auto pause = sleepFor(loop, pauseAfterTrouble);
        co_await pause;
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

} // namespace lockscope::recipes
