// SPDX-License-Identifier: Apache-2.0

#include "core/async/sleep.h"
#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/recipes/mariadb/locks.h"
#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

using mariadb::Session;
using mariadb::Statement;

bool isUncertain(const Error &error)
{
    return isConnectionError(error) || error.code == ErrorCode::TimedOut || error.code == ErrorCode::SessionExpired;
}

Task<Result<bool>> isRowOurs(Session *session, Statement asking, Deadline deadline)
{
    CO_TRY(const auto &answer, co_await session->execute(asking, deadline));
    co_return answer.cell(0, "mine") == QByteArray("1");
}

Task<Result<bool>> whoseAtLast(Session *session, Statement asking, Deadline deadline)
{
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(session, deadline));
        const auto ours = co_await isRowOurs(session, asking, answerBy(*session, deadline));
        if (ours || !isUncertain(ours.error()))
            co_return ours;
        if (deadline.hasPassed(session->loop()))
            co_return Error{ErrorCode::TimedOut, u"timed out while it was not known whether the row is ours"_s, true};
        co_await sleepFor(session->loop(), pauseAfterTrouble);
    }
}

Task<bool> giveBackRow(Session *session, Statement freeing)
{
    const auto never = Deadline::never();
    for (;;) {
        const auto connected = co_await untilConnected(session, never);
        if (!connected)
            co_return false;
        const auto freed = co_await session->execute(freeing, answerBy(*session, never));
        if (freed)
            co_return true;
        if (!isUncertain(freed.error()) && freed.error().code != ErrorCode::DeadlockVictim) {
            qCWarning(logMariaDb).noquote()
                << "cannot release a row by" << label(freeing.text) << "-" << freed.error().message;
            co_return false;
        }
        co_await sleepFor(session->loop(), pauseAfterTrouble);
    }
}

Task<Result<void>> freeRow(Session *session, WaitGroup waitGroup, Statement freeing, QString what, Deadline deadline)
{
    RowGuard guard(RowReturn{session, std::move(waitGroup), freeing});
    const auto freed = co_await session->execute(freeing, answerBy(*session, deadline));
    if (!freed)
        co_return Error{freed.error().code, u"%1 may still be held and is being released in the background: %2"_s.arg(
                                                what, freed.error().message)};
    guard.dismiss();
    if (freed->affected < 1)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
    co_return Result<void>();
}

// After a failure, once nothing of it is left, or with UnknownOutcome.
Task<Result<Grant>> RowLockBase::take(Deadline deadline)
{
    auto taken = co_await poll(deadline);
    if (taken)
        co_return taken;
    const bool isClean = co_await m_waitGroup.finished(answerBy(*m_session, Deadline::at(m_session->loop().now())));
    co_return isClean ? taken.error() : lateGrantError(taken.error());
}

} // namespace lockscope::recipes
