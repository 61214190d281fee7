// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/mariadb/transactionlock.h"

#include "core/recipes/mariadb/waiting.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

Task<Result<void>> TransactionLock::release(Deadline deadline)
{
    if (!isHeld()) {
        forget();
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    }
    const auto what = name();
    const auto connection = session().connectionId();
    forget();
    UndoGuard guard(waitGroup(), undoing(connection)); // should the COMMIT not be done
    auto committing = session().commit(connection, answerBy(session(), deadline));
    const auto committed = co_await committing;
    if (!committed && committed.error().code == ErrorCode::SessionExpired) // before the COMMIT was sent
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more: %2"_s.arg(what, committed.error().message)};
    if (!committed)
        co_return Error{committed.error().code, u"%1: %2"_s.arg(what, committed.error().message)};
    guard.keep();
    co_return Result<void>();
}

} // namespace lockscope::recipes
