// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/mariadb/sqllock.h"

#include "core/async/sleep.h"
#include "core/recipes/mariadb/waiting.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto pauseBetweenLooks = 2ms; // only where an earlier attempt came to no good end
// What ends a wait comes to the server by a connection of its own, and giving back comes behind that.
constexpr auto givenBackWithin = 3s;

} // namespace

SqlLock::SqlLock(mariadb::Session &session, const QByteArray &lock)
    : LockBase(session.loop(), lock), m_session(&session), m_waitGroup(session.loop()),
      m_state(session.onState([this](mariadb::SessionState state) { heed(state); }))
{
}

Task<Result<Grant>> SqlLock::take(Deadline deadline)
{
    const auto isFree = co_await untilGivenBack(deadline);
    if (!isFree)
        co_return isFree.error();
    const auto connected = co_await untilConnected(m_session, deadline);
    if (!connected)
        co_return connected.error();
    const auto connection = m_session->connectionId();
    auto taken = co_await takeOn(connection, deadline);
    if (taken)
        co_return taken;
    Error why = taken.error();
    const auto patience = std::max(answerBy(*m_session, deadline).when(), m_session->loop().now() + givenBackWithin);
    auto cleaned = m_waitGroup.finished(Deadline::at(patience));
    const bool isClean = co_await cleaned;
    if (!isClean && why.code == ErrorCode::TimedOut) {
        why.code = ErrorCode::UnknownOutcome;
        why.message += u"; it may have become ours too late, it is being given back in the background"_s;
    }
    co_return why;
}

// What is still being given back, by whatever lock of this session, must not hit what is taken now: to the server
// they are one connection's.
Task<Result<void>> SqlLock::untilGivenBack(Deadline deadline)
{
    const auto atLeast = answerBy(*m_session, deadline);
    const auto until = Deadline::at(std::max(deadline.when(), atLeast.when()));
    while (!m_session->background().isIdle()) {
        if (until.hasPassed(m_session->loop()))
            co_return Error{ErrorCode::TimedOut, u"timed out while what was held before is given back"_s, true};
        const auto pause = sleepFor(m_session->loop(), pauseBetweenLooks);
        co_await pause;
    }
    co_return Result<void>();
}

Task<Result<bool>> SqlLock::isStillMine(Deadline deadline)
{
    if (!isHeld())
        co_return false;
    auto question = whetherMine();
    question.connection = m_connection;
    auto asking = m_session->execute(question, deadline);
    const auto answer = co_await asking;
    if (!answer && answer.error().code == ErrorCode::SessionExpired)
        co_return false;
    if (!answer)
        co_return answer.error();
    co_return answer->cell(0, "mine") == QByteArray("1");
}

Grant SqlLock::holdOn(mariadb::ConnectionId connection)
{
    m_connection = connection;
    return Grant{QByteArray::number(connection), std::nullopt, {}};
}

void SqlLock::letGo()
{
    if (isHeld())
        undoInBackground(m_waitGroup, undoing(*m_connection));
    m_connection.reset();
}

// The connection took everything it held with it. By its number alone that could be missed: a server that was
// started anew counts from the beginning, and this may be heard when the next connection stands already.
void SqlLock::heed(mariadb::SessionState state)
{
    if (!m_connection || (isHeld() && state == mariadb::SessionState::Connected))
        return;
    m_connection.reset();
    lose(Loss::SessionOver);
}

} // namespace lockscope::recipes
