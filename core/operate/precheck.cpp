// SPDX-License-Identifier: Apache-2.0
#include "core/operate/precheck.h"

#include "core/operate/texts.h"
#include "core/rules/catalogue.h"

namespace lockscope::operate {

Error lastLookFailed(const QString &what, const Error &why)
{
    const bool isLost = why.code == ErrorCode::UnknownOutcome;
    return Error{isLost ? ErrorCode::NotConnected : why.code,
                 u"the last check of %1 failed: %2"_s.arg(what, why.message), why.retryable};
}

Error nothingChanged(const QString &what, const Error &why)
{
    auto error = lastLookFailed(what, why);
    error.message = u"nothing was changed: %1"_s.arg(error.message);
    return error;
}

bool keepsItsId(const inspect::LockSnapshot &lock)
{
    const auto &recipe = recipes::recipeOf(lock.recipe);
    const bool isTokenKept = recipe.release == recipes::ReleaseMechanism::CompareAndDelete
                             && (lock.clientTraits.waitsOnList || lock.clientTraits.waitsOnChannel);
    return recipe.shape == recipes::Shape::NamedLock || recipe.release == recipes::ReleaseMechanism::RedissonUnlock
           || isTokenKept;
}

bool holdsAnew(const inspect::LockSnapshot &lock, const inspect::Contender &now, inspect::ServerTime shown)
{
    return keepsItsId(lock) && now.role == inspect::Role::Holder && now.heldSince && *now.heldSince > shown;
}

bool isAnotherHold(const inspect::LockSnapshot &before, const inspect::LockSnapshot &fresh, const QByteArray &id)
{
    const auto *then = before.find(id);
    const auto *now = fresh.find(id);
    if (!then || !now || fresh.observed < before.observed)
        return false;
    return holdsAnew(before, *now, before.observed) || inspect::isDifferentHold(then->hold, now->hold);
}

std::optional<qint64> leaseEndOf(const inspect::LockSnapshot &lock, const inspect::Contender &one)
{
    const auto &recipe = recipes::recipeOf(lock.recipe);
    const bool isItsOwn = recipe.endsBy == recipes::EndsBy::Lease && !recipe.readWrite
                          && one.guard.redis().counterpart.isEmpty() && lock.nodes.empty();
    if (!keepsItsId(lock) || !isItsOwn || !one.expiresAt)
        return std::nullopt;
    return one.expiresAt->time_since_epoch().count();
}

namespace {

// What its renewal does is not known. A value that others write, too, would not tell who has it then.
bool isOfUnknownClient(const inspect::LockSnapshot &lock, const inspect::Contender &holder)
{
    using recipes::ReleaseMechanism;
    const auto &recipe = recipes::recipeOf(lock.recipe);
    const bool isToken = recipe.release == ReleaseMechanism::CompareAndDelete && !holder.guard.redis().comesAgain;
    const bool isKey = recipe.release == ReleaseMechanism::DeleteAtRevision && recipe.shape == recipes::Shape::Key;
    return !lock.client && (isToken || isKey);
}

} // namespace

std::optional<std::chrono::milliseconds> returnWithin(const inspect::LockSnapshot &lock,
                                                      const inspect::Contender &holder)
{
    const bool mayReturn = lock.clientTraits.putsKeyBack || isOfUnknownClient(lock, holder);
    if (!mayReturn || holder.role != inspect::Role::Holder || !holder.expiresAt)
        return std::nullopt;
    return std::max(std::chrono::milliseconds(0), *holder.expiresAt - lock.observed) / 2;
}

bool isWrittenEarly(qint64 was, qint64 is, qint64 left)
{
    constexpr qint64 noise = 250; // ms: of a renewal's timer, and of what an old server says
    return is < was - noise || (is > was + noise && is < was + left / 3 - noise);
}

bool isLeaseWrittenEarly(const inspect::LockSnapshot &before, const inspect::LockSnapshot &fresh,
                         const QByteArray &id)
{
    const auto *then = before.find(id);
    const auto *now = fresh.find(id);
    const auto was = then ? leaseEndOf(before, *then) : std::nullopt;
    const auto is = now ? leaseEndOf(fresh, *now) : std::nullopt;
    if (!was || !is || then->reentry != now->reentry || fresh.observed < before.observed)
        return false;
    return isWrittenEarly(*was, *is, *is - fresh.observed.time_since_epoch().count());
}

QString leaseGuardText()
{
    return sentence("lease-guard");
}

QString leaseWrittenAnewText()
{
    return sentence("lease-rewritten");
}

} // namespace lockscope::operate
