// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fakedata.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/workspace/backend.h"

namespace lockscope::testing {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using inspect::ChangeKind;
using inspect::Contender;
using inspect::Evidence;
using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::LockState;
using inspect::Role;
using inspect::ServerTime;
using std::chrono::milliseconds;

namespace {

struct Claim {
    QByteArray id;
    QString session;
    QString endpoint;
    milliseconds age{};
    Evidence evidence = Evidence::Server;
};

QString hexSession(int n)
{
    return u"0x1000009b489%1"_s.arg(n, 4, 16, QLatin1Char('0'));
}

QByteArray sequenceName(const QByteArray &base, int sequence)
{
    return base + QByteArray::number(sequence).rightJustified(10, '0');
}

void addQueue(LockSnapshot &lock, const std::vector<Claim> &claims, ServerTime now)
{
    for (const auto &claim : claims) {
        Contender c{.id = claim.id,
                    .role = lock.contenders.empty() ? Role::Holder : Role::Waiter,
                    .position = static_cast<int>(lock.contenders.size()),
                    .session = claim.session,
                    .endpoint = claim.endpoint};
        if (c.role == Role::Holder)
            c.heldSince = now - claim.age;
        else {
            c.waitingSince = now - claim.age;
            c.watches = {{lock.contenders.back().id, false, claim.evidence}};
        }
        c.guard = inspect::ZnodeIdentity{.path = lock.lock.name + '/' + claim.id,
                                         .czxid = 0x4e2 + *c.position,
                                         .owner = claim.session.mid(2).toULongLong(nullptr, 16)};
        lock.contenders.push_back(std::move(c));
    }
    lock.state = lock.contenders.size() > 1 ? LockState::Contended
                 : lock.contenders.empty()  ? LockState::Free
                                            : LockState::Held;
}

LockSnapshot zkLock(const QByteArray &connection, const QByteArray &path, const QByteArray &recipe, ServerTime now)
{
    return LockSnapshot{.lock = {ConnectionName(connection), path},
                        .backend = BackendKind::ZooKeeper,
                        .confidence = inspect::Confidence::High,
                        .recipe = recipe,
                        .observed = now};
}

} // namespace

ServerTime serverTime(std::chrono::system_clock::time_point time)
{
    return std::chrono::time_point_cast<milliseconds>(time);
}

inspect::SnapshotChange change(ChangeKind kind, LockSnapshot lock)
{
    return {kind, std::move(lock)};
}

LockSnapshot queueLock(const QByteArray &connection, const QByteArray &path, int waiters, ServerTime now)
{
    auto lock = zkLock(connection, path, "curator-mutex", now);
    lock.client = u"Curator"_s;
    lock.why = u"%1 ephemeral children are named _c_<uuid>-lock-<seq>"_s.arg(waiters + 1);
    std::vector<Claim> claims;
    for (int i = 0; i <= waiters; ++i) {
        claims.push_back({sequenceName("_c_5f0c2a9e-1f0b-4e0f-8c3b-52be0c1d20d7-lock-", 41 + i), hexSession(1 + i),
                          u"10.0.%1.%2:%3"_s.arg(3 + i / 200).arg(7 + i % 200).arg(56332 - i * 17 % 20000),
                          i == 0 ? 252s : 238s - milliseconds(235000LL * (i - 1) / std::max(1, waiters)),
                          i % 3 == 2 ? Evidence::Inferred : Evidence::Server});
    }
    addQueue(lock, claims, now);
    return lock;
}

LockSnapshot redisLock(const QByteArray &connection, const QByteArray &key, std::optional<milliseconds> ttl,
                       ServerTime now)
{
    LockSnapshot lock{.lock = {ConnectionName(connection), key},
                      .backend = BackendKind::Redis,
                      .recipe = ttl ? "redis-set-nx" : "redis-setnx-expire"};
    lock.why =
        ttl ? u"a string of 32 hex digits under a key that says lock"_s : u"value “1” under a key that says lock"_s;
    lock.confidence = inspect::Confidence::Medium;
    lock.state = LockState::Held;
    lock.waitersKnown = false;
    lock.observed = now;
    Contender holder;
    holder.id = ttl ? "b0f1c2d3e4a5968778695a4b3c2d1e0f" : "1";
    holder.role = Role::Holder;
    holder.heldSince = now - (ttl ? milliseconds(12s) : milliseconds(9h + 2min));
    holder.guard = inspect::RedisIdentity{.value = holder.id};
    if (ttl)
        holder.expiresAt = now + *ttl;
    else
        addFinding(lock, FindingCode::NoTtl, u"never expires by itself; nobody refreshes it"_s, {holder.id});
    lock.contenders = {holder};
    return lock;
}

ConnectionStatus connectedStatus(const QByteArray &name, Scheme scheme, bool production,
                                 std::chrono::system_clock::time_point asOf)
{
    ConnectionStatus status{.name = ConnectionName(name), .scheme = scheme};
    status.uri =
        (scheme == Scheme::ZooKeeper ? u"zk://%1:2181"_s : u"redis://%1:6379"_s).arg(QString::fromLatin1(name));
    status.state = ConnectionStatus::State::Connected;
    status.asOf = asOf;
    status.latency = scheme == Scheme::ZooKeeper ? 1200us : 400us;
    status.production = production;
    status.readOnly = production;
    status.progress = {
        status.name, scheme == Scheme::ZooKeeper ? u"dump every 1 s"_s : u"tracking"_s, 311420, 311420, false, true};
    status.cost = {scheme == Scheme::ZooKeeper ? 214 : 0, scheme == Scheme::ZooKeeper ? 38 * 1024 : 0,
                   scheme == Scheme::ZooKeeper ? 512 * 1024 : 0, scheme == Scheme::ZooKeeper ? 12.0 : 3.5};
    return status;
}

Batch newest(const Batch &batch)
{
    News news;
    news.add(batch);
    return news.take();
}

} // namespace lockscope::testing
