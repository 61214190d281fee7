// SPDX-License-Identifier: Apache-2.0
#include "core/operate/lastlook.h"

#include "core/rules/catalogue.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;

Error lastLookFailed(const QString &what, const Error &why)
{
    const bool isLost = why.code == ErrorCode::UnknownOutcome;
    return Error{isLost ? ErrorCode::NotConnected : why.code,
                 u"the last look at %1 failed: %2"_s.arg(what, why.message), why.retryable};
}

Error nothingChanged(const QString &what, const Error &why)
{
    auto error = lastLookFailed(what, why);
    error.message.prepend(u"nothing was changed: "_s);
    return error;
}

bool keepsItsId(const inspect::LockSnapshot &lock)
{
    const auto &recipe = recipes::recipeOf(lock.recipe);
    return recipe.shape == recipes::Shape::NamedLock || recipe.release == recipes::ReleaseWay::RedissonUnlock;
}

bool holdsAnew(const inspect::LockSnapshot &lock, const inspect::Contender &now, inspect::ServerTime shown)
{
    return keepsItsId(lock) && now.role == inspect::Role::Holder && now.heldSince && *now.heldSince > shown;
}

} // namespace lockscope::operate
