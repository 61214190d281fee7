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

std::optional<ServerTime> Case::expiry(const KeyView &key) const
{
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
    holder.guard.value = value;
    const auto seen = about.context.firstSeen.find(about.main.key);
    if (seen != about.context.firstSeen.end())
        holder.heldSince = seen->second;
    return holder;
}

void tellApartByExpiry(Contender &holder, const KeyView &main)
{
    holder.guard.comesAgain = !main.expiresAt;
    if (!main.expiresAt)
        return;
    holder.guard.expiryMs = main.expiresAt->time_since_epoch().count();
    holder.id = recipes::constantContenderId(holder.guard.value, *holder.guard.expiryMs);
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
    if (about.main.ttl || lock.holderCount() == 0)
        return;
    std::vector<QByteArray> holders;
    for (const auto &one : lock.contenders) {
        if (one.role == Role::Holder)
            holders.push_back(one.id);
    }
    addFinding(lock, FindingCode::NoTtl, severity,
               u"the key has no expiry: if its holder dies, the lock stays for ever"_s, std::move(holders));
}

void judgeState(LockSnapshot &lock)
{
    if (lock.holderCount() == 0)
        lock.state = LockState::Free;
    else
        lock.state = lock.waiterCount() == 0 ? LockState::Held : LockState::Contended;
}

} // namespace lockscope::inspect
