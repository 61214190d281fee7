// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/browsequeries.h"

#include "core/inspect/mariadb/reader.h"

#include <QHostAddress>
#include <QSslSocket>

namespace lockscope {

namespace {

constexpr std::chrono::seconds rightsWithin(5);
constexpr std::chrono::seconds reachedWithin(4);

using Check = TrialCheck;
using Checks = std::vector<TrialCheck>;

// What became of one attempt to reach a server.
struct Reached {
    QString problem; // empty: it was reached
    bool isOfTls = false;
};
struct Attempt {
    std::unique_ptr<QSslSocket> socket;
    Completion<Reached> over;
};

QString problemOf(const QSslSocket &socket, QAbstractSocket::SocketError error, const HostPort &server)
{
    if (error == QAbstractSocket::HostNotFoundError)
        return u"The name %1 is not known."_s.arg(server.host);
    if (error == QAbstractSocket::ConnectionRefusedError)
        return u"Port %1 of %2 is closed."_s.arg(QString::number(server.port), server.host);
    return u"Could not reach %1: %2"_s.arg(displayHost(server), label(socket.errorString().toUtf8()));
}

// Opens the port; with `tls` also an encrypted session.
Attempt reach(Loop &loop, const HostPort &server, const TlsOptions *tls)
{
    Attempt attempt{std::make_unique<QSslSocket>(), Completion<Reached>(loop)};
    auto *socket = attempt.socket.get();
    QObject::connect(socket, tls ? &QSslSocket::encrypted : &QSslSocket::connected, socket,
                     [over = attempt.over] { over.complete({}); });
    const auto options = tls ? *tls : TlsOptions();
    QObject::connect(socket, &QSslSocket::errorOccurred, socket, [=, over = attempt.over](auto error) {
        const auto ofTls =
            options.isOn ? transport::tlsProblem(*socket, options, server.host) : transport::TlsProblem();
        over.complete({ofTls.isOfTls ? ofTls.text : problemOf(*socket, error, server), ofTls.isOfTls});
    });
    attempt.over.completeAt(
        Deadline::after(loop, reachedWithin),
        {u"No reply from %1 within %2 s."_s.arg(displayHost(server)).arg(reachedWithin.count()), false});
    const auto prepared = tls ? transport::prepareTls(*socket, *tls, server.host) : Result<void>();
    if (!prepared)
        attempt.over.complete({prepared.error().message, true});
    else if (tls)
        socket->connectToHostEncrypted(server.host, server.port);
    else
        socket->connectToHost(server.host, server.port);
    return attempt;
}

// A line for each host. What a tunnel leads to is resolved elsewhere.
Task<Checks> checkHosts(Loop &loop, const ConnectionSpec &spec)
{
    std::vector<Attempt> attempts;
    if (!spec.transport.isTunnelled()) {
        for (const auto &server : spec.hosts)
            attempts.push_back(reach(loop, server, nullptr));
    }
    Checks checks;
    for (std::size_t at = 0; at < attempts.size(); ++at) {
        const auto reached = co_await attempts[at].over;
        const QString address = attempts[at].socket->peerAddress().toString();
        const auto &server = spec.hosts[at];
        const QString resolved = address.isEmpty() || address == server.host ? QString() : u" ("_s + address + u')';
        if (reached.problem.isEmpty())
            checks.push_back({Check::State::Passed, u"Reached %1%2."_s.arg(displayHost(server), resolved)});
        else
            checks.push_back({Check::State::Failed, reached.problem, Check::Fix::Hosts});
    }
    // Without some of its servers a connection may work.
    if (std::ranges::count(checks, Check::State::Passed, &Check::state) > 0) {
        for (auto &check : checks)
            check.state = check.state == Check::State::Failed ? Check::State::Warning : check.state;
    }
    co_return checks;
}

// A server was reached, and no session came of it.
Task<Check> explain(Loop &loop, const ConnectionSpec &spec, const Error &error)
{
    Check check{Check::State::Failed, label(error.message.toUtf8(), 400)};
    if (error.code == ErrorCode::AuthFailed || error.code == ErrorCode::NoPermission) {
        check.fix = Check::Fix::Login;
        co_return check;
    }
    if (error.code == ErrorCode::NotConnected)
        check.fix = Check::Fix::Hosts;
    const auto kind = backendOf(spec.scheme);
    // A database begins its TLS later, and reports itself what is wrong with it.
    if (!kind || infoOf(*kind).isOneHost || spec.transport.isTunnelled())
        co_return check;
    TlsOptions tls = spec.transport.tls;
    if (!std::exchange(tls.isOn, true)) // any certificate will do: this only asks whether the server uses TLS
        tls.isVerified = false;
    const auto attempt = reach(loop, spec.hosts.front(), &tls);
    const auto encrypted = co_await attempt.over;
    if (!spec.transport.tls.isOn && encrypted.problem.isEmpty())
        co_return Check{Check::State::Failed, u"%1 uses TLS."_s.arg(displayHost(spec.hosts.front())),
                        Check::Fix::TurnOnTls};
    if (spec.transport.tls.isOn && encrypted.isOfTls)
        co_return Check{Check::State::Failed, encrypted.problem, Check::Fix::Tls};
    co_return check;
}

void addSession(Checks &checks, const ConnectionAccount &account, const ConnectionSpec &spec)
{
    const auto &tls = spec.transport.tls;
    if (tls.isOn && tls.isVerified)
        checks.push_back({Check::State::Passed, u"Encrypted with TLS, and the server is verified."_s});
    else if (tls.isOn)
        checks.push_back(
            {Check::State::Warning, u"Encrypted with TLS, but the server is not verified."_s, Check::Fix::Tls});
    else if (!spec.transport.isTunnelled())
        checks.push_back({Check::State::Note, u"Not encrypted."_s, Check::Fix::TurnOnTls});
    QStringList session{account.server.isEmpty() ? u"Session opened"_s : account.server};
    if (account.latency) {
        const auto latency = std::chrono::duration<double, std::milli>(*account.latency).count();
        session << u"answers in %1 ms"_s.arg(latency, 0, 'f', 1);
    }
    checks.push_back({Check::State::Passed, session.join(u", "_s) + u'.'});
    if (!spec.user.isEmpty() && spec.scheme == Scheme::ZooKeeper) // which checks it at each node
        checks.push_back(
            {Check::State::Note, u"User %1 was sent; ZooKeeper does not report whether it is right."_s.arg(
                                     label(spec.user.toUtf8(), 60))});
    else
        checks.push_back({Check::State::Passed, spec.user.isEmpty()
                                                    ? u"Connected without a user name."_s
                                                    : u"Signed in as %1."_s.arg(label(spec.user.toUtf8(), 60))});
    if (!account.remark.isEmpty())
        checks.push_back({Check::State::Note, account.remark});
}

} // namespace

Task<QStringList> Link::rights(Deadline)
{
    const auto backend = backendOf(spec().scheme);
    const auto title = backend ? infoOf(*backend).title : u"this server"_s;
    co_return QStringList{
        u"%1 does not report the user's permissions; a denied request is reported where it happens"_s.arg(title)};
}

Task<Result<ConnectionAccount>> accountOf(Workspace &workspace, ConnectionName name, Deadline deadline)
{
    auto connecting = workspace.whenConnected(name, deadline);
    CO_TRY_VOID(co_await connecting);
    auto *link = workspace.find(name);
    ConnectionAccount account;
    auto asking = link->rights(Deadline::after(workspace.loop(), rightsWithin));
    account.rights = co_await asking;
    // By another one meanwhile, where its session expired.
    const auto first = workspace.find(name)->observer().firstSnapshot();
    const Completion<bool> over(workspace.loop());
    first.then([over](bool) { over.complete(true); });
    over.completeAt(deadline, false);
    account.isFirstLookOver = co_await over;
    link = workspace.find(name);
    account.address = link->spec().displayUri();
    account.server = link->serverVersion();
    account.remark = link->remark();
    if (const auto latency = link->latency())
        account.latency = std::chrono::duration_cast<std::chrono::microseconds>(*latency);
    account.locks = int(link->observer().snapshots().size());
    account.coverage = link->coverage();
    co_return account;
}

Task<Result<Checks>> tryConnection(Loop &loop, ConnectionSpec spec, Deadline deadline)
{
    std::vector<ConnectionSpec> named{spec};
    CO_TRY_VOID(nameConnections(named));
    auto reaching = checkHosts(loop, spec);
    auto checks = co_await reaching;
    if (!isPassed(checks))
        co_return checks;
    WorkspaceOptions options;
    options.readOnly = true;
    Workspace workspace(loop, options, nullptr);
    const auto name = named.front().name;
    CO_TRY_VOID(workspace.add(std::move(named.front())));
    auto asking = accountOf(workspace, name, deadline);
    const auto account = co_await asking;
    if (!account) {
        auto explaining = explain(loop, spec, account.error());
        auto explained = co_await explaining;
        checks.push_back(std::move(explained));
        co_return checks;
    }
    addSession(checks, *account, spec);
    for (const auto &right : account->rights)
        checks.push_back({Check::State::Note, right});
    checks.push_back(account->isFirstLookOver
                         ? Check{Check::State::Passed, u"Locks in the initial scan: %1."_s.arg(account->locks)}
                         : Check{Check::State::Warning,
                                 u"Locks found so far: %1; the initial scan is incomplete."_s.arg(account->locks)});
    for (const auto &gap : inspect::gapsIn(account->coverage))
        checks.push_back({Check::State::Warning, gap});
    co_return checks;
}

bool isPassed(const Checks &checks)
{
    return std::ranges::count(checks, TrialCheck::State::Failed, &TrialCheck::state) == 0;
}

QStringList linesOf(const ConnectionAccount &account)
{
    QStringList reached{u"reached "_s + account.address};
    if (!account.server.isEmpty())
        reached << account.server;
    if (account.latency) {
        const auto latency = std::chrono::duration<double, std::milli>(*account.latency).count();
        reached << u"answers in %1 ms"_s.arg(latency, 0, 'f', 1);
    }
    QStringList lines{reached.join(u", "_s)};
    if (!account.remark.isEmpty())
        lines << account.remark;
    lines << account.rights;
    lines << (account.isFirstLookOver
                  ? u"locks at first sight: %1"_s.arg(account.locks)
                  : u"locks found so far: %1; the initial scan is incomplete"_s.arg(account.locks));
    for (const auto &part : account.coverage) {
        if (part.complete && !part.message.isEmpty())
            lines << u"is seen: "_s + part.message;
    }
    return lines + inspect::gapsIn(account.coverage);
}

namespace questions {

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

} // namespace questions

} // namespace lockscope
