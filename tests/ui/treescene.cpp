// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/treescene.h"

#include "core/async/loop.h"

#include <map>

namespace lockscope::testing {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

// 2026-11-20 13:58:04 UTC
constexpr auto afternoon = std::chrono::milliseconds(1'795'183'084'000LL);

struct Leaf {
    QByteArray data;
    quint64 owner = 0;
};

const std::map<QByteArray, QByteArrayList> &folders()
{
    static const std::map<QByteArray, QByteArrayList> tree{
        {"/", {"app", "jobs", "leader", "locks", "secrets", "zookeeper"}},
        {"/app", {"config", "features"}},
        {"/jobs", {"export"}},
        {"/jobs/export", {}},
        {"/leader", {"scheduler"}},
        {"/leader/scheduler", {"_c_1f0b4e0f-lock-0000000007"}},
        {"/locks", {"billing", "catalog", "orders", "strange name\x1b[31m "}},
        {"/locks/billing", {"close"}},
        {"/locks/billing/close", {}},
        {"/locks/catalog", {"__READ__0000000012", "__READ__0000000013", "__WRIT__0000000014"}},
        {"/locks/orders",
         {"_c_5f0c2a9e-lock-0000000041", "_c_8a1d7733-lock-0000000042", "_c_0b9e41cc-lock-0000000043",
          "_c_77aa0f52-lock-0000000044"}},
        {"/zookeeper", {"config", "quota"}},
    };
    return tree;
}

qint32 numberOf(const QByteArray &path)
{
    return static_cast<qint32>(qHash(path, 7) % 997);
}

zk::Stat statOf(const QByteArray &path)
{
    zk::Stat stat;
    const auto number = numberOf(path);
    stat.czxid = 0x4e2 + number;
    stat.mzxid = stat.czxid + number % 5;
    stat.pzxid = stat.mzxid + 3;
    stat.ctime = afternoon - std::chrono::seconds(number * 60);
    stat.mtime = stat.ctime + std::chrono::seconds(number % 50);
    stat.version = number % 5;
    stat.dataLength = path.contains("lock-") ? 13 : number;
    const bool isContender = path.contains("-lock-") || path.contains("__");
    if (isContender)
        stat.ephemeralOwner = {0x1000009b4890000 + static_cast<quint64>(number % 9)};
    if (const auto folder = folders().find(path); folder != folders().end())
        stat.numChildren = static_cast<qint32>(folder->second.size());
    if (path == "/secrets")
        stat.numChildren = 3;
    return stat;
}

QByteArray dataOf(const QByteArray &path)
{
    if (path == "/app/config")
        return R"({"service":"orders","replicas":3,"lease":{"seconds":30,"renewEvery":10},)"
               R"("owners":["10.0.3.7","10.0.3.9"],"build":92233720368547758079,"dark":false})";
    if (path == "/app/features")
        return QByteArray::fromHex("1f8b0800000000000003ab56ca48cdc9c95728cf2fca49510200");
    return "10.0.3.7:56332";
}

Result<std::vector<ZnodeRow>> list(const ZPath &path)
{
    if (path.bytes() == "/secrets")
        return Error{ErrorCode::NoPermission, u"/secrets: the ACL gives READ only to digest:vault"_s};
    std::vector<ZnodeRow> rows;
    if (const auto folder = folders().find(path.bytes()); folder != folders().end()) {
        for (const auto &name : folder->second)
            rows.push_back({NodeName(name), statOf(path.child(NodeName(name)).bytes()), true, std::nullopt});
    }
    return rows;
}

Result<ZnodeDetail> read(const ZPath &path)
{
    if (path.bytes() == "/secrets")
        return Error{ErrorCode::NoPermission, u"/secrets: the ACL gives READ only to digest:vault"_s};
    ZnodeDetail detail{.stat = statOf(path.bytes()), .data = dataOf(path.bytes())};
    detail.stat.dataLength = static_cast<qint32>(detail.data.size());
    detail.acls = {{zk::perms::all, "digest", "ops:Zk1xQp0/9vYf8rJ1bqSg3yX6lAs="},
                   {zk::perms::read, "world", "anyone"}};
    return detail;
}

KeyRow key(const QByteArray &name, const QByteArray &type, std::optional<std::chrono::milliseconds> ttl, qint64 bytes)
{
    return {RedisKey(name), type, ttl, bytes};
}

Result<KeyPage> scan(quint64 cursor)
{
    KeyPage page{.cursor = cursor + 1, .scanned = 1000, .total = 2'004'112};
    if (cursor == 0)
        page.rows = {key("nightly-report-lock", "string", std::nullopt, 72),
                     key("invoice-lock", "string", 48s, 104),
                     key("stock", "hash", 28s, 152),
                     key("redisson_lock_queue:{stock}", "list", std::nullopt, 268),
                     key("redisson_lock_timeout:{stock}", "zset", std::nullopt, 268),
                     key("session:7f3a:cart", "hash", 31min, 412),
                     key("session:7f3a:user", "string", 31min, 96),
                     key("session:91bc:cart", "hash", 4min, 380),
                     key("cache:price:eu", "string", 6s, 2210),
                     key("cache:price:us", "string", 9min, 2188),
                     key("cache:stock levels\nnew", "set", 2h, 910)};
    for (int i = 0; i < 40; ++i) {
        const auto n = static_cast<int>(cursor) * 40 + i;
        page.rows.push_back(key("user:" + QByteArray::number(10000 + n * 7), "hash", std::nullopt, 240 + n % 90));
    }
    return page;
}

Result<KeyDetail> readKey(const RedisKey &name)
{
    KeyDetail detail;
    if (name.bytes() == "stock") {
        detail.row = key("stock", "hash", 28s, 152);
        detail.items = {"b983c153-4d2e-4c2f-9f4b-7e2d0f1c7a55:42", "1", "meta",
                        R"({"app":"app-7","thread":42,"since":"2026-11-20T13:57:59Z"})"};
    } else {
        detail.row = key(name.bytes(), "string", 48s, 104);
        detail.items = {"b0f1c2d3e4a5968778695a4b3c2d1e0f"};
    }
    return detail;
}

inspect::SessionSnapshot session(const QByteArray &connection, const QString &id, const QString &endpoint,
                                 const QString &client, std::vector<QByteArray> holds, std::vector<QByteArray> waits)
{
    return {ConnectionName(connection), id, endpoint, client, std::move(holds), std::move(waits), std::nullopt};
}

std::vector<inspect::SessionsSeen> sessions(std::chrono::system_clock::time_point now)
{
    const QByteArray zk = "orders-zk";
    const QByteArray redis = "cache-redis";
    std::vector<inspect::SessionSnapshot> ofZk{
        session(zk, u"0x1000009b4890001"_s, u"10.0.3.7:56332"_s, u"Curator"_s, {"/locks/orders"}, {}),
        session(zk, u"0x1000009b4890002"_s, u"10.0.3.9:41120"_s, u"Curator"_s, {"/jobs/export"}, {"/locks/orders"}),
        session(zk, u"0x2000009b4890007"_s, u"10.0.4.2:50218"_s, u"kazoo"_s, {},
                {"/locks/orders", "/locks/billing/close"}),
        session(zk, u"0x3000009b4890003"_s, u"10.0.4.9:38830"_s, u"go-zookeeper"_s, {}, {"/locks/orders"}),
        session(zk, u"0x2000009b4890009"_s, u"10.0.3.2:55012"_s, u"Curator"_s,
                {"/leader/scheduler", "/locks/catalog", "/locks/reports/daily"}, {}),
    };
    auto dying = session(zk, u"0x2000009b4890004"_s, u"10.0.4.21 (gone)"_s, u"kazoo"_s, {"/locks/billing/close"}, {});
    dying.expiresAt = std::chrono::time_point_cast<std::chrono::milliseconds>(now + 6400ms);
    ofZk.push_back(dying);
    return {{ConnectionName(zk), ofZk},
            {ConnectionName(redis),
             {session(redis, u"812"_s, u"10.0.5.4:60122"_s, u"Redisson"_s, {"stock"}, {}),
              session(redis, u"815"_s, u"10.0.5.9:60410"_s, u"Redisson"_s, {}, {"stock"})}}};
}

operate::LogEntry entry(quint64 number, const QByteArray &connection, operate::LogEntry::Kind kind,
                        const QString &text, const QString &outcome, Duration took)
{
    return operate::LogEntry{.number = number,
                             .time = std::chrono::system_clock::time_point(afternoon)
                                     + std::chrono::milliseconds(number * 137),
                             .connection = ConnectionName(connection),
                             .kind = kind,
                             .text = text,
                             .outcome = outcome,
                             .took = took};
}

std::vector<operate::LogEntry> log()
{
    using Kind = operate::LogEntry::Kind;
    const QByteArray zk = "orders-zk";
    const QByteArray redis = "cache-redis";
    std::vector<operate::LogEntry> all{
        entry(1, zk, Kind::State, u"session 0x1000009b4890021 connected to 10.0.1.12:2181"_s, {}, {}),
        entry(2, zk, Kind::Sent, u"4lw dump @ 10.0.1.11, 10.0.1.12, 10.0.1.13"_s, u"ok, 58 sessions"_s, 4100us),
        entry(3, redis, Kind::Sent, u"SCAN 0 MATCH *lock* COUNT 1000"_s, u"ok, 14 keys"_s, 640us),
        entry(4, zk, Kind::Sent, u"getChildren /locks/orders watch"_s, u"ok, 4 children"_s, 1210us),
        entry(5, zk, Kind::Sent, u"getData /secrets"_s, u"NoAuth"_s, 980us),
        entry(6, zk, Kind::Event, u"children of /locks/orders changed"_s, {}, {}),
        entry(7, zk, Kind::Sent, u"getChildren /locks/orders watch"_s, u"ok, 3 children"_s, 1180us),
        entry(8, redis, Kind::Event, u"invalidated stock"_s, {}, {}),
        entry(9, zk, Kind::Sent, u"delete /locks/billing/close/59c1e0d2__lock__0000000018 version 0"_s, u"ok"_s,
              2300us),
        entry(10, redis, Kind::Sent, u"EVALSHA compare-and-delete 1 invoice-lock …"_s, u"read-only"_s, {}),
        entry(11, redis, Kind::Sent, u"PTTL nightly-report-lock"_s, {}, {}),
    };
    all[8].write = true;
    all[9].write = all[9].refused = true;
    return all;
}

} // namespace

ConnectionStatus statusOf(const QByteArray &name, Scheme scheme, ConnectionStatus::State state)
{
    ConnectionStatus status{.name = ConnectionName(name),
                            .scheme = scheme,
                            .state = state,
                            .asOf = std::chrono::system_clock::time_point(afternoon)};
    if (state != ConnectionStatus::State::Connected)
        status.message = u"10.0.1.11:2181 refused the connection; trying again"_s;
    return status;
}

void playTrees(FakeBackend &backend)
{
    backend.on<ListZnodes>() = [](const ListZnodes &query) { return list(query.path); };
    backend.on<ScanKeys>() = [](const ScanKeys &query) { return scan(query.cursor); };
    backend.on<ReadKey>() = [](const ReadKey &query) { return readKey(query.key); };
    backend.on<ReadZnode>() = [](const ReadZnode &query) { return read(query.path); };
}

Batch treeBatch(std::chrono::system_clock::time_point now)
{
    Batch batch;
    batch.connections = {statusOf("orders-zk", Scheme::ZooKeeper), statusOf("cache-redis", Scheme::Redis)};
    batch.sessions = sessions(now);
    batch.log = log();
    return batch;
}

} // namespace lockscope::testing
