// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fakedata.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"

namespace lockscope::test {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using inspect::ChangeKind;
using inspect::Contender;
using inspect::Evidence;
using inspect::Finding;
using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::LockState;
using inspect::Mode;
using inspect::Role;
using inspect::ServerTime;
using inspect::Severity;
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
        Contender c;
        c.id = claim.id;
        c.position = static_cast<int>(lock.contenders.size());
        c.role = lock.contenders.empty() ? Role::Holder : Role::Waiter;
        c.session = claim.session;
        c.endpoint = claim.endpoint;
        if (c.role == Role::Holder)
            c.heldSince = now - claim.age;
        else {
            c.waitingSince = now - claim.age;
            c.watches = {{lock.contenders.back().id, false, claim.evidence}};
        }
        c.guard.path = lock.lock.name + '/' + claim.id;
        c.guard.czxid = 0x4e2 + *c.position;
        c.guard.owner = claim.session.mid(2).toULongLong(nullptr, 16);
        lock.contenders.push_back(std::move(c));
    }
    lock.state = lock.contenders.size() > 1 ? LockState::Contended
                 : lock.contenders.empty()  ? LockState::Free
                                            : LockState::Held;
}

LockSnapshot zkLock(const QByteArray &connection, const QByteArray &path, const QByteArray &recipe, ServerTime now)
{
    LockSnapshot lock;
    lock.lock = {ConnectionName(connection), path};
    lock.backend = BackendKind::ZooKeeper;
    lock.recipe = recipe;
    lock.confidence = inspect::Confidence::High;
    lock.observed = now;
    return lock;
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
    LockSnapshot lock;
    lock.lock = {ConnectionName(connection), key};
    lock.backend = BackendKind::Redis;
    lock.recipe = ttl ? "redis-set-nx" : "redis-setnx-expire";
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
    holder.guard.value = holder.id;
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
    ConnectionStatus status;
    status.name = ConnectionName(name);
    status.scheme = scheme;
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

namespace {

LockSnapshot sleeping(ServerTime now)
{
    auto lock = zkLock("orders-zk", "/locks/orders", "curator-mutex", now);
    lock.client = u"Curator"_s;
    lock.why = u"4 ephemeral children are named _c_<uuid>-lock-<seq>"_s;
    const QByteArray base = "_c_5f0c2a9e-1f0b-4e0f-8c3b-52be0c1d20d7-lock-";
    addQueue(lock,
             {{sequenceName(base, 41), u"0x1000009b4890001"_s, u"10.0.3.7:56332"_s, 252s},
              {sequenceName(base, 42), u"0x1000009b4890002"_s, u"10.0.3.9:41120"_s, 238s},
              {sequenceName(base, 43), u"0x2000009b4890007"_s, u"10.0.4.2:50218"_s, 80s},
              {sequenceName(base, 44), u"0x3000009b4890003"_s, u"10.0.4.9:38830"_s, 2s, Evidence::Inferred}},
             now);
    lock.findings = {{FindingCode::LostWakeup,
                      Severity::Critical,
                      u"waits but watches nothing: no release will wake it"_s,
                      {lock.contenders[3].id}}};
    return lock;
}

LockSnapshot disconnected(ServerTime now)
{
    auto lock = zkLock("orders-zk", "/locks/billing/close", "kazoo-lock", now);
    lock.client = u"kazoo"_s;
    lock.why = u"8 ephemeral children are named <uuid>__lock__<seq>"_s;
    std::vector<Claim> claims;
    for (int i = 0; i < 8; ++i) {
        claims.push_back({sequenceName("59c1d03b2d0c4b3f8f5e7f2f6f4ab112__lock__", 18 + i), hexSession(0x700 + i),
                          u"10.0.4.%1:50218"_s.arg(i == 0 ? 21 : 1 + i),
                          i == 0 ? milliseconds(123s) : milliseconds(101s - i * 13s)});
    }
    addQueue(lock, claims, now);
    lock.contenders[0].expiresAt = now + 6400ms;
    lock.findings = {{FindingCode::HolderDisconnected,
                      Severity::Warning,
                      u"the holder's session has no connection and ends in 6.4 s"_s,
                      {lock.contenders[0].id}}};
    return lock;
}

LockSnapshot herd(ServerTime now)
{
    auto lock = zkLock("orders-zk", "/jobs/export", "zk-herd-mutex", now);
    lock.why = u"49 ephemeral children are named herd-<seq>; each watches the children"_s;
    std::vector<Claim> claims;
    for (int i = 0; i < 49; ++i) {
        claims.push_back({sequenceName("herd-", 100 + i), hexSession(0x900 + i), u"10.0.3.%1:41120"_s.arg(9 + i),
                          i == 0 ? 900ms : 640ms - milliseconds(12 * i)});
    }
    addQueue(lock, claims, now);
    for (auto &c : lock.contenders) {
        if (c.role == Role::Waiter)
            c.watches = {{{}, true, Evidence::Inferred}};
    }
    lock.findings = {{FindingCode::Herd, Severity::Info, u"one release wakes 48"_s, {}}};
    return lock;
}

LockSnapshot readWrite(ServerTime now)
{
    auto lock = zkLock("orders-zk", "/catalog/rw", "curator-rwlock", now);
    lock.client = u"Curator"_s;
    lock.why = u"children are named __READ__<seq> and __WRIT__<seq>"_s;
    const QByteArray read = "_c_77aa01d2-7e44-4f1a-9a55-0d3a7e3b8c11-__READ__";
    const QByteArray write = "_c_0be4e7c0-93a1-41d8-8c66-1f0d5a2f9a20-__WRIT__";
    addQueue(lock,
             {{sequenceName(read, 7), hexSession(0x51), u"10.0.3.5:40110"_s, 5200ms},
              {sequenceName(read, 8), hexSession(0x52), u"10.0.3.6:40111"_s, 4100ms},
              {sequenceName(write, 9), hexSession(0x53), u"10.0.3.8:40112"_s, 310ms}},
             now);
    auto &second = lock.contenders[1];
    second.role = Role::Holder;
    second.heldSince = std::exchange(second.waitingSince, {});
    second.watches.clear();
    lock.contenders[0].mode = lock.contenders[1].mode = Mode::Read;
    lock.contenders[2].mode = Mode::Write;
    return lock;
}

LockSnapshot fair(ServerTime now)
{
    LockSnapshot lock;
    lock.lock = {ConnectionName("cache-redis"), "stock"};
    lock.backend = BackendKind::Redis;
    lock.recipe = "redisson-fair-lock";
    lock.client = u"Redisson"_s;
    lock.why = u"a hash of <uuid>:<thread> with redisson_lock_queue:{stock} beside it"_s;
    lock.confidence = inspect::Confidence::High;
    lock.state = LockState::Contended;
    lock.observed = now;
    lock.companions = {"redisson_lock_queue:{stock}", "redisson_lock_timeout:{stock}"};
    for (int i = 0; i < 5; ++i) {
        Contender c;
        c.id = "6d9f1c44-2c0b-4b7e-a6c1-0d5ff9c8e7a" + QByteArray::number(i) + ":" + QByteArray::number(42 + i);
        c.position = i;
        c.role = i == 0 ? Role::Holder : Role::Waiter;
        c.endpoint = u"10.0.5.%1:39120"_s.arg(7 + i);
        if (i == 0) {
            c.heldSince = now - 2100ms;
            c.expiresAt = now + 28s;
        } else {
            c.waitingSince = now - (1800ms - milliseconds(300 * i));
        }
        c.guard.value = c.id;
        lock.contenders.push_back(c);
    }
    return lock;
}

LockSnapshot leader(ServerTime now)
{
    auto lock = zkLock("orders-zk", "/leader/scheduler", "curator-leader", now);
    lock.client = u"Curator"_s;
    lock.why = u"3 ephemeral children are named _c_<uuid>-latch-<seq>"_s;
    const QByteArray base = "_c_b7b1e6c2-8a2f-4a8e-94a5-8b3b0a3f10ff-latch-";
    addQueue(lock,
             {{sequenceName(base, 1), hexSession(0x61), u"10.0.3.2:55012"_s, 72h},
              {sequenceName(base, 2), hexSession(0x62), u"10.0.3.3:55012"_s, 71h},
              {sequenceName(base, 3), hexSession(0x63), u"10.0.3.4:55012"_s, 71h}},
             now);
    return lock;
}

} // namespace

Batch showcase(std::chrono::system_clock::time_point clock)
{
    const auto now = serverTime(clock);
    Batch batch;
    const auto add = [&batch](LockSnapshot lock) {
        batch.locks.push_back(change(ChangeKind::Added, std::move(lock)));
    };
    add(sleeping(now));
    add(disconnected(now));
    add(herd(now));
    add(readWrite(now));
    add(leader(now));
    add(fair(now));
    add(redisLock("cache-redis", "nightly-report-lock", std::nullopt, now));
    add(redisLock("cache-redis", "invoice-lock", 48s, now));
    for (int i = 0; i < 30; ++i)
        add(queueLock("orders-zk", "/locks/cart/" + QByteArray::number(1000 + i), 0, now - milliseconds(137 * i)));
    batch.connections = {connectedStatus("orders-zk", Scheme::ZooKeeper, true, clock),
                         connectedStatus("cache-redis", Scheme::Redis, true, clock),
                         connectedStatus("billing-dev", Scheme::ZooKeeper, false, clock)};
    batch.connections[2].state = ConnectionStatus::State::Connecting;
    batch.connections[2].message = u"connecting to 10.9.0.4:2181"_s;
    batch.connections[2].latency.reset();
    batch.connections[2].asOf = {};
    batch.connections[2].progress = {};
    batch.connections[2].cost = {};
    batch.coverageOf = {ConnectionName("orders-zk")};
    batch.coverage = {{ConnectionName("orders-zk"), false, u"watches: 2 of 3 members answered wchp"_s}};
    for (const auto &lock : batch.locks) {
        for (const auto &c : lock.lock.contenders) {
            if (!c.session)
                continue;
            inspect::SessionSnapshot session{
                lock.lock.lock.connection, *c.session, c.endpoint, lock.lock.client, {}, {}, c.expiresAt};
            (c.role == Role::Holder ? session.holds : session.waits) = {lock.lock.lock.name};
            batch.sessions.push_back(session);
        }
    }
    batch.sessionsOf = {ConnectionName("orders-zk")};
    return batch;
}

} // namespace lockscope::test
