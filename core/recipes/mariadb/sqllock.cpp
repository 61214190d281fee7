// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/mariadb/sqllock.h"

#include "core/base/logging.h"

namespace lockscope::recipes {

namespace {

// After an answer that did not come in time: longer than the session lets a connection be idle before it asks
// whether that still stands (1 s), so that it can find out.
constexpr auto pauseAfterSilence = 2s;

// True when certainly nothing is held any more: what a connection held is gone with it.
Task<bool> undoAll(Undo undo)
{
    undo.session->interrupt(undo.connection);
    for (;;) {
        const mariadb::Statement statement{undo.text, undo.parameters, undo.connection, false};
        const auto undone = co_await undo.session->execute(statement, answerBy(*undo.session, Deadline::never()));
        if (!undone && undone.error().code == ErrorCode::TimedOut) {
            co_await sleepFor(undo.session->loop(), pauseAfterSilence);
            continue; // until it has answered, or is gone with everything it held
        }
        if (!undone) {
            const auto code = undone.error().code;
            // BadInput: a name the server does not take was never locked.
            const bool isGone =
                code == ErrorCode::SessionExpired || code == ErrorCode::NotConnected || code == ErrorCode::BadInput;
            if (!isGone)
                qCWarning(logMariaDb).noquote()
                    << "connection" << undo.connection << "may hold a lock still -" << undone.error().message;
            co_return isGone;
        }
        if (undone->cell(0, "again") != QByteArray("1"))
            co_return true;
    }
}

} // namespace

void undoInBackground(const WaitGroup &waitGroup, Undo undo)
{
    waitGroup.add(undo.session->background(), undoAll(undo));
}

constexpr auto pauseBetweenLooks = 2ms; // only where an earlier attempt came to no good end
// What ends a wait comes to the server by a connection of its own, and giving back comes behind that.
constexpr auto givenBackWithin = 3s;

SqlLock::SqlLock(mariadb::Session &session, const QByteArray &lock)
    : LockBase(session.loop(), lock), m_session(&session), m_waitGroup(session.loop()),
      m_state(session.onState([this](mariadb::SessionState state) { heed(state); }))
{
}

Task<Result<Grant>> SqlLock::take(Deadline deadline)
{
    CO_TRY_VOID(co_await untilGivenBack(deadline));
    CO_TRY_VOID(co_await untilConnected(m_session, deadline));
    const auto connection = m_session->connectionId();
    auto taken = co_await takeOn(connection, deadline);
    if (taken)
        co_return taken;
    const auto patience = std::max(answerBy(*m_session, deadline).when(), m_session->loop().now() + givenBackWithin);
    const bool isClean = co_await m_waitGroup.finished(Deadline::at(patience));
    co_return isClean ? taken.error() : lateGrantError(taken.error());
}

// What is still being given back, by whatever lock of this session, must not hit what is taken now: to the server
// they are one connection's.
Task<Result<void>> SqlLock::untilGivenBack(Deadline deadline)
{
    const auto atLeast = answerBy(*m_session, deadline);
    const auto until = Deadline::at(std::max(deadline.when(), atLeast.when()));
    while (!m_session->background().isIdle()) {
        if (until.hasPassed(m_session->loop()))
            co_return Error{ErrorCode::TimedOut, u"timed out while the previous hold is being released"_s, true};
        co_await sleepFor(m_session->loop(), pauseBetweenLooks);
    }
    co_return Result<void>();
}

Task<Result<bool>> SqlLock::isStillMine(Deadline deadline)
{
    if (!isHeld())
        co_return false;
    auto question = ownershipQuery();
    question.connection = m_connection;
    const auto answer = co_await m_session->execute(question, deadline);
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

Task<Result<void>> untilConnected(mariadb::Session *session, Deadline deadline)
{
    return untilConnectedTo(u"the database", session, deadline);
}

Deadline answerBy(const mariadb::Session &session, Deadline deadline)
{
    const auto now = session.loop().now();
    return Deadline::at(std::clamp<Instant>(deadline.when(), now + 1s, now + 5s));
}

Task<Result<void>> TransactionLock::release(Deadline deadline)
{
    if (!isHeld()) {
        forget();
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    }
    const auto what = name();
    const auto connection = session().connectionId();
    forget();
    UndoGuard guard(UndoCall{waitGroup(), undoing(connection)}); // should the COMMIT not be done
    const auto committed = co_await session().commit(connection, answerBy(session(), deadline));
    if (!committed && committed.error().code == ErrorCode::SessionExpired) // before the COMMIT was sent
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more: %2"_s.arg(what, committed.error().message)};
    if (!committed)
        co_return Error{committed.error().code, u"%1: %2"_s.arg(what, committed.error().message)};
    guard.dismiss();
    co_return Result<void>();
}

// What the recipes of named locks have in common:
//   1. Ask for it (see each of them).
//   2. Whatever went wrong: give it back, so that an attempt that failed holds nothing.
//   3. Who holds it gets it again at once, and has to release it as often.
//   4. To release, give it back. Not 1: it was not ours.
Task<Result<Grant>> NamedLock::takeOn(mariadb::ConnectionId connection, Deadline deadline)
{
    UndoGuard guard(UndoCall{waitGroup(), undoing(connection)}); // 2
    CO_TRY(const auto &got, co_await ask(connection, deadline)); // 1
    if (!got)
        co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
    guard.dismiss();
    m_count = 1;
    m_mayBeMore = false;
    co_return holdOn(connection);
}

Task<Result<Grant>> NamedLock::reenter(Deadline deadline)
{
    const auto connection = session().connectionId();
    const bool mightBeMore = std::exchange(m_mayBeMore, true);
    CO_TRY(const auto &got, co_await ask(connection, deadline)); // 3
    m_mayBeMore = mightBeMore;
    if (!got)
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    ++m_count;
    co_return holdOn(connection);
}

Task<Result<void>> NamedLock::release(Deadline deadline)
{
    if (!isHeld()) {
        forget();
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    }
    const auto what = name();
    const auto connection = session().connectionId();
    const auto givingBack = undoing(connection);
    const bool mayBeMore = m_mayBeMore;
    const auto undone = waitGroup();
    std::optional<UndoGuard> guard; // should there be no answer
    if (--m_count == 0) {
        forget();
        guard.emplace(UndoCall{undone, givingBack});
    }
    const mariadb::Statement statement{givingBack.text, givingBack.parameters, connection, false};
    const auto released = co_await session().execute(statement, answerBy(session(), deadline)); // 4
    if (!released && released.error().code == ErrorCode::SessionExpired)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more: %2"_s.arg(what, released.error().message)};
    if (!released)
        co_return Error{released.error().code,
                        u"%1 may still be held and is being released in the background: %2"_s.arg(
                            what, released.error().message)};
    if (guard && !mayBeMore)
        guard->dismiss();
    if (released->cell(0, "again") != QByteArray("1"))
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
    if (guard && mayBeMore) {
        guard.reset(); // releases it until it is free
        const bool isFree = co_await undone.finished(answerBy(*givingBack.session, deadline));
        if (!isFree)
            co_return Error{ErrorCode::UnknownOutcome,
                            u"%1 may still be held and is being released in the background"_s.arg(what)};
    }
    co_return Result<void>();
}

} // namespace lockscope::recipes
