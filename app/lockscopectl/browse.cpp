// SPDX-License-Identifier: Apache-2.0
// tree: raw znodes below a path, parents before children.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/workspace/browsequeries.h"

namespace lockscope::ctl {

namespace {

// "[CONNECTION:]WHAT": where tree and keys look.
struct BrowseTarget {
    ConnectionName connection;
    QByteArray what; // unescaped
};

// Without CONNECTION the only one of that backend; `otherwise` when there is no word at all.
Result<BrowseTarget> readTarget(CommandContext &context, BackendKind backend, const QString &otherwise)
{
    const auto &wanted = infoOf(backend).title;
    const auto word = context.word(0).isEmpty() ? otherwise : context.word(0);
    const auto raw = unescaped(word);
    if (!raw)
        return Error{ErrorCode::BadInput, u"\"%1\" holds a broken \\ escape (write \\\\ or \\xHH)"_s.arg(word)};
    // A colon may belong to a key: only the name of a connection before it makes it a separator.
    const auto colon = raw->indexOf(':');
    if (auto *link = colon > 0 ? context.workspace.find(ConnectionName(raw->left(colon))) : nullptr) {
        if (backendOf(link->spec().scheme) != backend)
            return Error{ErrorCode::BadInput,
                         u"connection %1 is not a %2 connection"_s.arg(escaped(raw->left(colon)), wanted)};
        return BrowseTarget{link->spec().name, nameAsStored(backend, raw->mid(colon + 1))};
    }
    std::vector<Link *> fitting;
    for (auto *link : context.workspace.links()) {
        if (backendOf(link->spec().scheme) == backend)
            fitting.push_back(link);
    }
    if (fitting.size() == 1)
        return BrowseTarget{fitting.front()->spec().name, nameAsStored(backend, *raw)};
    return Error{
        ErrorCode::BadInput,
        fitting.empty()
            ? u"there is no %1 connection; give one with --connect"_s.arg(wanted)
            : u"there are %1 %2 connections; say which: CONNECTION:%3"_s.arg(fitting.size()).arg(wanted, word)};
}

constexpr std::size_t mostNodes = 10'000;

struct FoundNode {
    ZPath path;
    int depth = 0;
    std::optional<zk::Stat> stat;
    std::optional<Error> error;
};

QJsonObject nodeJson(const FoundNode &node)
{
    QJsonObject json{{u"path"_s, escaped(node.path.bytes())}, {u"error"_s, QJsonValue::Null}};
    if (node.error)
        json["error"_L1] = node.error->message;
    const auto set = [&](QLatin1StringView field, const QJsonValue &value) {
        json[field] = node.stat ? value : QJsonValue(QJsonValue::Null);
    };
    const auto stat = node.stat.value_or(zk::Stat());
    set("ephemeralOwner"_L1,
        stat.ephemeralOwner.isNone() ? QJsonValue(QJsonValue::Null) : QJsonValue(stat.ephemeralOwner.text()));
    set("czxid"_L1, QString::number(stat.czxid));
    set("mzxid"_L1, QString::number(stat.mzxid));
    set("version"_L1, stat.version);
    set("children"_L1, stat.numChildren);
    set("dataBytes"_L1, stat.dataLength);
    set("ctime"_L1, isoTime(stat.ctime));
    set("mtime"_L1, isoTime(stat.mtime));
    return json;
}

FoundNode rowOf(const ZPath &path, int depth, const ZnodeRow &row)
{
    FoundNode node;
    node.path = path.child(row.name);
    node.depth = depth;
    node.error = row.error;
    if (row.statKnown && !row.error)
        node.stat = row.stat;
    return node;
}

QString line(const FoundNode &node)
{
    const auto indent = QString(2 * node.depth, u' ');
    const auto name = node.depth == 0 ? escaped(node.path.bytes()) : escaped(node.path.name().bytes());
    if (node.error)
        return indent + name + u"  ["_s + node.error->message + u']';
    if (!node.stat)
        return indent + name;
    QStringList facts;
    if (!node.stat->ephemeralOwner.isNone())
        facts << u"ephemeral of "_s + node.stat->ephemeralOwner.text();
    if (node.stat->numChildren > 0)
        facts << (node.stat->numChildren == 1 ? u"1 child"_s : u"%1 children"_s.arg(node.stat->numChildren));
    if (node.stat->dataLength > 0)
        facts << u"%1 bytes"_s.arg(node.stat->dataLength);
    return indent + name + (facts.isEmpty() ? QString() : u"  ("_s + facts.join(u", "_s) + u')');
}

// Depth first, so that children stand below their parent. A node whose children cannot be listed
// carries the reason; the rest goes on.
Task<std::vector<FoundNode>> descend(CommandContext &context, ConnectionName connection, FoundNode root,
                                     int mostDepth)
{
    std::vector<FoundNode> found;
    std::vector<FoundNode> toDo{std::move(root)};
    while (!toDo.empty() && found.size() < mostNodes) {
        found.push_back(std::move(toDo.back()));
        toDo.pop_back();
        const auto node = found.back();
        const bool isLeaf = node.error || (node.stat && node.stat->numChildren == 0);
        if (isLeaf || node.depth >= mostDepth)
            continue;
        auto listing =
            questions::answer(context.workspace, ListZnodes{connection, node.path}, requestDeadline(context));
        const auto rows = co_await listing;
        if (!rows) {
            found.back().error = rows.error();
            continue;
        }
        for (auto row = rows->rbegin(); row != rows->rend(); ++row)
            toDo.push_back(rowOf(node.path, node.depth + 1, *row));
    }
    if (!toDo.empty())
        printError(u"tree: stopped after %1 nodes; look at a deeper path, or limit it with --depth"_s.arg(mostNodes));
    co_return found;
}

} // namespace

Task<Result<Exit>> runTree(CommandContext &context)
{
    CO_TRY(const auto &target, readTarget(context, BackendKind::ZooKeeper, u"/"_s));
    bool isNumber = true;
    const int mostDepth = context.has(u"depth"_s) ? context.arguments.value(u"depth"_s).toInt(&isNumber)
                                                  : std::numeric_limits<int>::max();
    if (!isNumber || mostDepth < 0)
        co_return fail(Error{ErrorCode::BadInput, u"--depth must be a number, 0 or more"_s});
    const ZPath path(target.what);
    if (!path.bytes().startsWith('/') || (path.bytes().endsWith('/') && !path.isRoot()))
        co_return fail(
            Error{ErrorCode::BadInput,
                  u"\"%1\" is not the path of a znode; write for example zk:/locks"_s.arg(escaped(target.what))});
    const auto deadline = requestDeadline(context);
    CO_TRY_VOID(co_await context.workspace.whenConnected(target.connection, deadline));
    CO_TRY(const auto &stat,
           co_await zooKeeperOf(context.workspace.find(target.connection))->exists(path, std::nullopt, deadline));
    FoundNode root;
    root.path = path;
    root.stat = stat;
    const auto found = co_await descend(context, target.connection, root, mostDepth);
    QJsonArray array;
    QStringList lines;
    for (const auto &node : found) {
        if (context.json)
            array.append(nodeJson(node));
        else
            lines << line(node);
    }
    if (context.json)
        printJson(QJsonObject{{u"nodes"_s, array}});
    else
        print(lines.join(u'\n'));
    co_return Exit::Done;
}

// keys: raw Redis keys that match, none of them touched.
namespace {

QJsonObject keyJson(const KeyRow &row)
{
    return {{u"key"_s, escaped(row.key.bytes())},
            {u"type"_s, escaped(row.type)},
            {u"ttlMs"_s, row.ttl ? QJsonValue(qint64(row.ttl->count())) : QJsonValue(QJsonValue::Null)},
            {u"bytes"_s, row.bytes ? QJsonValue(*row.bytes) : QJsonValue(QJsonValue::Null)}};
}

// SCAN may name a key twice; each is listed once, by name.
void tidy(std::vector<KeyRow> &rows)
{
    std::ranges::sort(rows, {}, &KeyRow::key);
    const auto again = std::ranges::unique(rows, {}, &KeyRow::key);
    rows.erase(again.begin(), again.end());
}

void printRows(const std::vector<KeyRow> &rows)
{
    Table table(Table::columnsOf(u"~KEY|TYPE|>TTL|>BYTES"_s));
    for (const auto &row : rows)
        table.add({escaped(row.key.bytes()), escaped(row.type), row.ttl ? formatDuration(*row.ttl) : u"-"_s,
                   row.bytes ? QString::number(*row.bytes) : u"-"_s});
    print(table.isEmpty() ? u"no keys match"_s : table.text(terminalWidth()));
}

} // namespace

Task<Result<Exit>> runKeys(CommandContext &context)
{
    CO_TRY(const auto &target, readTarget(context, BackendKind::Redis, u"*"_s));
    std::vector<KeyRow> rows;
    quint64 cursor = 0;
    do {
        auto scanning = questions::answer(context.workspace, ScanKeys{target.connection, target.what, cursor},
                                          requestDeadline(context));
        CO_TRY(const auto &page, co_await scanning);
        if (!page.missing.isEmpty())
            printError(u"incomplete: "_s + page.missing);
        rows.insert(rows.end(), page.rows.begin(), page.rows.end());
        cursor = page.cursor;
    } while (cursor != 0);
    tidy(rows);
    if (!context.json) {
        printRows(rows);
        co_return Exit::Done;
    }
    const auto array = mapped<QJsonArray>(rows, [&](const auto &row) { return keyJson(row); });
    printJson(QJsonObject{{u"keys"_s, array}});
    co_return Exit::Done;
}

} // namespace lockscope::ctl
