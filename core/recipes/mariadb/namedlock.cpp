// SPDX-License-Identifier: Apache-2.0
// What the recipes of named locks have in common:
//   1. Ask for it (see each of them).
//   2. Whatever went wrong: give it back, so that an attempt that failed holds nothing.
//   3. Who holds it gets it again at once, and has to release it as often.
//   4. To release, give it back. Not 1: it was not ours.
#include "core/recipes/mariadb/namedlock.h"

#include "core/recipes/mariadb/waiting.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

Task<Result<Grant>> NamedLock::takeOn(mariadb::ConnectionId connection, Deadline deadline)
{
    UndoGuard guard(waitGroup(), undoing(connection));   // 2
    const auto got = co_await ask(connection, deadline); // 1
    if (!got)
        co_return got.error();
    if (!*got)
        co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
    guard.keep();
    m_count = 1;
    co_return holdOn(connection);
}

Task<Result<Grant>> NamedLock::reenter(Deadline deadline)
{
    const auto connection = session().connectionId();
    const auto got = co_await ask(connection, deadline); // 3
    if (!got)
        co_return got.error();
    if (!*got)
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
    std::optional<UndoGuard> guard; // should there be no answer
    if (--m_count == 0) {
        forget();
        guard.emplace(waitGroup(), givingBack);
    }
    const mariadb::Statement statement{givingBack.text, givingBack.parameters, connection, false};
    auto releasing = session().execute(statement, answerBy(session(), deadline)); // 4
    const auto released = co_await releasing;
    if (!released && released.error().code == ErrorCode::SessionExpired)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more: %2"_s.arg(what, released.error().message)};
    if (!released)
        co_return Error{released.error().code,
                        u"%1 may still be held, it is being given back in the background: %2"_s.arg(
                            what, released.error().message)};
    if (guard)
        guard->keep();
    if (released->cell(0, "again") != QByteArray("1"))
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
    co_return Result<void>();
}

} // namespace lockscope::recipes
