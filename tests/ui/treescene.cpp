#include "tests/ui/treescene.h"

#include <map>

namespace lockscope::test {

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
    ZnodeDetail detail;
    detail.stat = statOf(path.bytes());
    detail.data = dataOf(path.bytes());
    detail.stat.dataLength = static_cast<qint32>(detail.data.size());
    detail.acls = {{zk::perms::all, "digest", "ops:Zk1xQp0/9vYf8rJ1bqSg3yX6lAs="}, {zk::perms::read, "world", "anyone"}};
    return detail;
}

} // namespace

ConnectionStatus statusOf(const QByteArray &name, Scheme scheme, ConnectionStatus::State state)
{
    ConnectionStatus status;
    status.name = ConnectionName(name);
    status.scheme = scheme;
    status.state = state;
    status.asOf = std::chrono::system_clock::time_point(afternoon);
    if (state != ConnectionStatus::State::Connected)
        status.message = u"10.0.1.11:2181 refused the connection; trying again"_s;
    return status;
}

void playTrees(FakeBackend &backend)
{
    backend.onListZnodes = [](const ConnectionName &, const ZPath &path) { return list(path); };
    backend.onReadZnode = [](const ConnectionName &, const ZPath &path) { return read(path); };
}

Batch treeBatch(std::chrono::system_clock::time_point)
{
    Batch batch;
    batch.connections = {statusOf("orders-zk", Scheme::ZooKeeper), statusOf("cache-redis", Scheme::Redis)};
    return batch;
}

} // namespace lockscope::test
