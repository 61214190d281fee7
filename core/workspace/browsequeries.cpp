// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/browsequeries.h"

#include "core/base/text.h"
#include "core/inspect/mariadb/reader.h"

#include <algorithm>

namespace lockscope::questions {

namespace {

constexpr qsizetype dataCapBytes = 1024 * 1024;
constexpr std::chrono::seconds nodeWithin(3); // one of several: the others have something to say, too
constexpr int itemCap = 1000;
constexpr std::size_t statsInFlight = 512;
// More children than this are not asked about one by one: their names still show.
constexpr std::size_t mostStats = 5000;

Error wrongBackend(const ConnectionName &name, const QString &wanted)
{
    return Error{ErrorCode::BadInput, u"connection %1 is not a %2 connection"_s.arg(escaped(name.bytes()), wanted)};
}

qint64 integerOf(const redis::Value &value)
{
    return value.kind == redis::Value::Kind::Integer ? value.integer : 0;
}

KeyRow rowFrom(const QByteArray &key, const redis::Value &type, const redis::Value &ttl, const redis::Value &bytes)
{
    KeyRow row;
    row.key = RedisKey(key);
    row.type = type.isError() ? QByteArray() : type.text;
    if (integerOf(ttl) >= 0 && ttl.kind == redis::Value::Kind::Integer)
        row.ttl = std::chrono::milliseconds(ttl.integer);
    if (bytes.kind == redis::Value::Kind::Integer)
        row.bytes = bytes.integer;
    return row;
}

// One cursor for the nodes of a set, one after the other: the node's number stands in the top byte, where
// Redis' own cursors never reach.
constexpr int nodeShift = 56;

quint64 cursorOn(std::size_t node, quint64 cursor)
{
    return (static_cast<quint64>(node) << nodeShift) | cursor;
}

std::vector<redis::Command> describe(const QByteArray &key)
{
    return {{"TYPE", key}, {"PTTL", key}, {"MEMORY", "USAGE", key, "SAMPLES", "1"}};
}

// The command that reads a value of this type, and how many of its items at most.
redis::Command readCommand(const QByteArray &type, const QByteArray &key)
{
    const QByteArray last = QByteArray::number(itemCap - 1);
    if (type == "string")
        return {"GETRANGE", key, "0", QByteArray::number(dataCapBytes - 1)};
    if (type == "hash")
        return {"HSCAN", key, "0", "COUNT", QByteArray::number(itemCap)};
    if (type == "list")
        return {"LRANGE", key, "0", last};
    if (type == "set")
        return {"SSCAN", key, "0", "COUNT", QByteArray::number(itemCap)};
    if (type == "zset")
        return {"ZRANGE", key, "0", last, "WITHSCORES"};
    return {};
}

} // namespace

Task<Result<std::vector<ZnodeRow>>> answer(Workspace &workspace, ListZnodes query, Deadline deadline,
                                           std::function<void(const zk::Stat &)> asOf)
{
    CO_TRY_VOID(co_await workspace.whenConnected(query.connection, deadline));
    auto *session = zooKeeperOf(workspace.find(query.connection));
    if (!session)
        co_return wrongBackend(query.connection, u"ZooKeeper"_s);
    CO_TRY(auto &listed, co_await session->children(query.path, std::nullopt, deadline));
    if (asOf)
        asOf(listed.stat);
    auto names = listed.names.toVector();
    std::sort(names.begin(), names.end());
    std::vector<ZnodeRow> rows;
    rows.reserve(names.size());
    if (names.size() > mostStats) {
        for (auto &child : names)
            rows.push_back({std::move(child), {}, false, {}});
        co_return rows;
    }
    // A window of requests in flight: neither one at a time nor all at once.
    std::vector<Reply<zk::Stat>> flying;
    for (std::size_t next = 0; rows.size() < names.size();) {
        while (next < names.size() && next < rows.size() + statsInFlight)
            flying.push_back(session->exists(query.path.child(names[next++]), std::nullopt, deadline));
        const auto stat = co_await flying[rows.size()];
        ZnodeRow row;
        row.name = names[rows.size()];
        if (stat)
            row.stat = *stat;
        else
            row.error = stat.error();
        rows.push_back(std::move(row));
    }
    // What went away between list and stat is no error worth showing.
    std::erase_if(rows, [](const ZnodeRow &row) { return row.error && row.error->code == ErrorCode::NoNode; });
    co_return rows;
}

Task<Result<ZnodeDetail>> answer(Workspace &workspace, ReadZnode query, Deadline deadline)
{
    CO_TRY_VOID(co_await workspace.whenConnected(query.connection, deadline));
    auto *session = zooKeeperOf(workspace.find(query.connection));
    if (!session)
        co_return wrongBackend(query.connection, u"ZooKeeper"_s);
    auto dataReply = session->get(query.path, std::nullopt, deadline);
    auto aclReply = session->acls(query.path, deadline);
    const auto data = co_await dataReply;
    const auto acls = co_await aclReply;
    if (!data)
        co_return data.error();
    ZnodeDetail detail;
    detail.stat = data->stat;
    detail.data = data->data.left(dataCapBytes);
    if (acls)
        detail.acls = acls->acls;
    co_return detail;
}

namespace {

Task<Result<KeyPage>> scanNode(redis::Connection *redis, QByteArray pattern, quint64 cursor, Deadline deadline)
{
    const QByteArray count = "1000";
    const redis::Command scan{"SCAN", QByteArray::number(cursor), "MATCH", pattern.isEmpty() ? "*" : pattern, "COUNT",
                              count};
    auto sizeReply = redis->command(redis::Command{"DBSIZE"}, deadline);
    auto scanReply = redis->command(scan, deadline);
    const auto size = co_await sizeReply;
    CO_TRY(const auto &page, co_await scanReply);
    if (page.items.size() != 2)
        co_return Error{ErrorCode::Server, u"SCAN answered in a form this version does not know"_s};
    KeyPage result;
    result.cursor = page.items[0].text.toULongLong();
    result.total = size ? size->integer : 0;
    result.scanned = count.toLongLong();
    std::vector<redis::Command> questions;
    for (const auto &key : page.items[1].items) {
        for (auto &command : describe(key.text))
            questions.push_back(std::move(command));
    }
    if (questions.empty())
        co_return result;
    CO_TRY(const auto &facts, co_await redis->pipeline(std::move(questions), deadline));
    for (std::size_t i = 0; i < page.items[1].items.size(); ++i) {
        const auto &key = page.items[1].items[i].text;
        result.rows.push_back(rowFrom(key, facts[i * 3], facts[i * 3 + 1], facts[i * 3 + 2]));
    }
    co_return result;
}

Task<Result<KeyDetail>> readKeyOn(redis::Connection *redis, RedisKey key, Deadline deadline)
{
    CO_TRY(const auto &facts, co_await redis->pipeline(describe(key.bytes()), deadline));
    KeyDetail detail;
    detail.row = rowFrom(key.bytes(), facts[0], facts[1], facts[2]);
    if (detail.row.type == "none")
        co_return Error{ErrorCode::NoNode, u"key %1 no longer exists"_s.arg(label(key.bytes()))};
    const auto command = readCommand(detail.row.type, key.bytes());
    if (command.isEmpty())
        co_return detail;
    CO_TRY(const auto &value, co_await redis->command(command, deadline));
    // HSCAN and SSCAN answer [cursor, items].
    const bool scanned = detail.row.type == "hash" || detail.row.type == "set";
    const auto &items = scanned && value.items.size() == 2 ? value.items[1].items : value.items;
    if (detail.row.type == "string")
        detail.items = {value.text};
    for (const auto &item : items)
        detail.items.push_back(item.text.left(dataCapBytes));
    const bool moreToScan = scanned && value.items.size() == 2 && value.items[0].text != "0";
    detail.cut = moreToScan || items.size() >= static_cast<std::size_t>(itemCap)
                 || (detail.row.type == "string" && value.text.size() == dataCapBytes);
    co_return detail;
}

} // namespace

Task<Result<KeyPage>> answer(Workspace &workspace, ScanKeys query, Deadline deadline)
{
    CO_TRY_VOID(co_await workspace.whenConnected(query.connection, deadline));
    auto *link = workspace.find(query.connection);
    const auto nodes = redisNodesOf(link);
    if (nodes.empty())
        co_return wrongBackend(query.connection, u"Redis"_s);
    const bool isSet = nodes.size() > 1;
    const auto number = isSet ? std::min(static_cast<std::size_t>(query.cursor >> nodeShift), nodes.size() - 1) : 0;
    const auto limit =
        isSet ? Deadline::at(std::min(deadline.when(), workspace.loop().now() + nodeWithin)) : deadline;
    const auto ownCursor = isSet ? query.cursor & (cursorOn(1, 0) - 1) : query.cursor;
    auto page = co_await scanNode(nodes[number], query.pattern, ownCursor, limit);
    if (!isSet)
        co_return page;
    KeyPage result;
    if (page)
        result = std::move(*page);
    else
        result.missing =
            u"node %1 did not answer: %2"_s.arg(displayHost(link->spec().hosts[number]), page.error().message);
    result.total *= static_cast<qint64>(nodes.size());
    if (result.cursor != 0)
        result.cursor = cursorOn(number, result.cursor);
    else if (number + 1 < nodes.size())
        result.cursor = cursorOn(number + 1, 0);
    co_return result;
}

Task<Result<KeyDetail>> answer(Workspace &workspace, ReadKey query, Deadline deadline)
{
    CO_TRY_VOID(co_await workspace.whenConnected(query.connection, deadline));
    const auto nodes = redisNodesOf(workspace.find(query.connection));
    Result<KeyDetail> detail = wrongBackend(query.connection, u"Redis"_s);
    // Of a set, as the first node has it that has it at all.
    for (auto *node : nodes) {
        const auto limit = nodes.size() == 1
                               ? deadline
                               : Deadline::at(std::min(deadline.when(), workspace.loop().now() + nodeWithin));
        detail = co_await readKeyOn(node, query.key, limit);
        if (detail)
            break;
    }
    co_return detail;
}

Task<Result<SessionDoing>> answer(Workspace &workspace, ReadSession query, Deadline deadline)
{
    CO_TRY_VOID(co_await workspace.whenConnected(query.connection, deadline));
    auto *port = mariaDbOf(workspace.find(query.connection));
    if (!port)
        co_return Error{ErrorCode::Unsupported, u"a server of this kind does not tell what its clients do"_s};
    auto doing = co_await inspect::readSqlDoing(port, query.session.toULongLong(), deadline);
    co_return doing;
}

} // namespace lockscope::questions
