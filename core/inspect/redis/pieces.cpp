// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/pieces.h"

#include "core/inspect/findings.h"
#include "core/rules/contenderid.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {
// A channel with thousands of subscribers is shown as that many waiters up to here.
constexpr qint64 mostSubscribers = 1000;
} // namespace

const KeyView *Case::companion(const QByteArray &key) const
{
    const auto found = std::ranges::find(companions, RedisKey(key), &KeyView::key);
    return found == companions.end() || found->type == KeyType::None ? nullptr : &*found;
}

std::optional<qint64> Case::subscribers(const QByteArray &channel) const
{
    const auto found = context.subscribers.find(channel);
    return found == context.subscribers.end() ? std::nullopt : std::optional(found->second);
}

Behaviour Case::behaviour() const
{
    const auto found = context.behaviour.find(main.key);
    return found == context.behaviour.end() ? Behaviour() : found->second;
}

bool isMistakenTtl(std::chrono::milliseconds ttl)
{
    return ttl > std::chrono::years(10);
}

std::optional<ServerTime> Case::expiry(const KeyView &key) const
{
    if (key.ttl && isMistakenTtl(*key.ttl))
        return std::nullopt;
    if (key.expiresAt)
        return key.expiresAt;
    return key.ttl ? std::optional(context.observed + *key.ttl) : std::nullopt;
}

LockSnapshot snapshotOf(const Case &about, const QByteArray &recipe, const KnownClient *client, Confidence confidence,
                        QString why)
{
    LockSnapshot lock;
    lock.lock = {about.context.connection, about.name()};
    lock.backend = BackendKind::Redis;
    lock.recipe = recipe;
    if (client)
        attribute(lock, *client);
    lock.confidence = confidence;
    lock.why = std::move(why);
    lock.observed = about.context.observed;
    lock.serverAhead = about.context.serverAhead;
    return lock;
}

Contender holderOf(const Case &about, const QByteArray &value)
{
    Contender holder;
    holder.id = value;
    holder.role = Role::Holder;
    holder.expiresAt = about.expiry(about.main);
    holder.guard = RedisIdentity{.value = value};
    const auto seen = about.context.firstSeen.find(about.main.key);
    if (seen != about.context.firstSeen.end())
        holder.heldSince = seen->second;
    return holder;
}

void distinguishByExpiry(Contender &holder, const KeyView &main)
{
    auto &guard = holder.guard.edit<RedisIdentity>();
    guard.comesAgain = !main.expiresAt;
    if (holder.id.isEmpty()) { // who holds it is not written; a command needs a name for it all the same
        holder.id = "unknown";
        guard.value = "";
    }
    if (!main.expiresAt)
        return;
    guard.expiryMs = main.expiresAt->time_since_epoch().count();
    holder.id = recipes::constantContenderId(holder.id, *guard.expiryMs);
}

void addSubscribers(LockSnapshot &lock, const Case &about, const QByteArray &channel, Mode mode)
{
    const auto count = about.subscribers(channel);
    lock.waitersKnown = count.has_value() && *count <= mostSubscribers;
    for (qint64 n = 1; n <= std::min(count.value_or(0), mostSubscribers); ++n) {
        Contender waiter;
        waiter.id = "subscriber " + QByteArray::number(n);
        waiter.mode = mode;
        lock.contenders.push_back(std::move(waiter));
    }
}

void addNoTtl(LockSnapshot &lock, const Case &about, Severity severity)
{
    addNoTtlOf(lock, about.main, severity);
}

void addNoTtlOf(LockSnapshot &lock, const KeyView &key, Severity severity)
{
    if ((key.ttl && !isMistakenTtl(*key.ttl)) || lock.holderCount() == 0)
        return;
    std::vector<QByteArray> holders;
    for (const auto &contender : lock.contenders) {
        if (contender.role == Role::Holder)
            holders.push_back(contender.id);
    }
    const auto message =
        key.ttl ? u"the key's time to live is %1 years, most likely a time since 1970 that EXPIRE took for "
                  u"a span. If its holder dies, the lock stays"_s.arg(
                      std::chrono::floor<std::chrono::years>(*key.ttl).count())
                : u"the key has no expiry: if its holder dies, the lock stays for ever"_s;
    addFinding(lock, FindingCode::NoTtl, severity, message, std::move(holders));
}

void judgeState(LockSnapshot &lock)
{
    if (lock.holderCount() == 0)
        lock.state = LockState::Free;
    else
        lock.state = lock.waiterCount() == 0 ? LockState::Held : LockState::Contended;
}

} // namespace lockscope::inspect
