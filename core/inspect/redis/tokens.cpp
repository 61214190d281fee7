// SPDX-License-Identifier: Apache-2.0
// Locks that are one string set with NX: whose client it is shows in the form of the token.
#include "core/inspect/redis/pieces.h"
#include "core/inspect/redis/tokens.h"

#include "core/inspect/lockterms.h"

#include <QDateTime>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

std::optional<LockSnapshot> setNx(const Case &about, const Token &token, Confidence confidence)
{
    LockSnapshot lock = snapshotOf(about, "redis-set-nx", token.client, confidence, token.why);
    lock.waitersKnown = false; // they poll
    Contender holder = holderOf(about, *about.main.value);
    holder.identity = token.identity;
    if (!holder.heldSince && token.madeAt) {
        holder.heldSince = token.madeAt; // made when it began to try
        holder.heldAtMost = true;
    }
    lock.contenders.push_back(std::move(holder));
    addNoTtl(lock, about);
    judgeState(lock);
    return lock;
}

} // namespace

std::optional<LockSnapshot> shedLockKey(const Case &about)
{
    // job-lock:<environment>:<name>, "ADDED:<instant>@<host>", later with ":<uuid>" behind it.
    static const QByteArray added = "ADDED:";
    if (!about.main.value || !about.name().startsWith("job-lock:") || !about.main.value->startsWith(added))
        return std::nullopt;
    Token token;
    token.client = u"ShedLock"_s;
    token.why = u"a key job-lock:… whose value begins with ADDED:"_s;
    const auto at = about.main.value->indexOf('@');
    if (at > 0)
        token.identity = about.main.value->mid(at + 1).left(256);
    auto lock = setNx(about, token, Confidence::High);
    const QString instant = QString::fromLatin1(about.main.value->mid(added.size(), at - added.size()));
    const auto since = QDateTime::fromString(instant.left(19) + u'Z', Qt::ISODate);
    if (at > 0 && since.isValid())
        lock->contenders[0].heldSince = ServerTime(std::chrono::milliseconds(since.toMSecsSinceEpoch()));
    return lock;
}

std::optional<LockSnapshot> tokenLock(const Case &about)
{
    if (!about.main.value)
        return std::nullopt;
    const bool signal = about.companion("lock-signal:" + about.name().mid(5)) != nullptr;
    const auto token = readToken(about.name(), *about.main.value, signal, about.context.observed);
    if (!token)
        return std::nullopt;
    if (token->keyProvesIt || saysLock(about.name()))
        return setNx(about, *token, token->confidence);
    if (!about.context.includeLowConfidence)
        return std::nullopt;
    auto lock = setNx(about, *token, Confidence::Low);
    lock->why += u"; the key's name does not say lock"_s;
    return lock;
}

} // namespace lockscope::inspect
