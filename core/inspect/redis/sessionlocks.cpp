// SPDX-License-Identifier: Apache-2.0
// A session that is its own lock: Cm_RedisSession's, as of Magento. Source: php-redis-session-abstract,
// src/Cm/RedisSession/Handler.php (read, _writeRawSession).
#include "core/base/text.h"
#include "core/inspect/redis/naming.h"
#include "core/inspect/redis/pieces.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 mostWaiters = 1000;

std::optional<QByteArray> fieldOf(const KeyView &view, const char *name)
{
    const auto at = std::ranges::find_if(view.fields, [name](const auto &field) { return field.first == name; });
    return at == view.fields.end() ? std::nullopt : std::optional(at->second);
}

} // namespace

bool isSessionWithLock(const KeyView &view)
{
    const auto lock = fieldOf(view, "lock");
    return view.type == KeyType::Hash && view.key.bytes().startsWith("sess_") && lock && readInteger(*lock)
           && (fieldOf(view, "pid") || fieldOf(view, "writes") || fieldOf(view, "wait"));
}

// HINCRBY lock 1 by whoever tries: who reads 1 has it and writes itself into `pid`; what is more are tries. Who waits
// is counted in `wait`. Its end writes 0.
std::optional<LockSnapshot> sessionLock(const Case &about)
{
    const auto &session = about.main;
    if (!isSessionWithLock(session) || readInteger(*fieldOf(session, "lock")).value_or(0) < 1)
        return std::nullopt; // a row for each visitor would be one for nobody
    auto lock =
        snapshotOf(about, "redis-session", &clients::cmRedisSession, Confidence::High,
                   u"a hash sess_… whose field lock is above zero: pid says who has it, wait how many wait. The "
                   u"time to live is the session's; who waits breaks the lock after 30 s, if not set otherwise"_s);
    Contender holder;
    holder.role = Role::Holder;
    holder.id = fieldOf(session, "pid").value_or("unknown");
    holder.guard = RedisIdentity{.value = holder.id};
    if (const auto request = fieldOf(session, "req"); request && !request->isEmpty())
        holder.identity = holder.id + ' ' + request->left(200);
    lock.contenders.push_back(std::move(holder));
    const auto wait = fieldOf(session, "wait");
    const auto waiting = wait ? readInteger(*wait).value_or(0) : 0;
    lock.waitersKnown = waiting <= mostWaiters;
    for (qint64 n = 1; n <= std::min(waiting, mostWaiters); ++n) {
        Contender waiter; // nobody writes down who
        waiter.id = "request " + QByteArray::number(n);
        lock.contenders.push_back(std::move(waiter));
    }
    judgeState(lock);
    return lock;
}

} // namespace lockscope::inspect
