// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/operate/gate.h"
#include "core/base/fieldreader.h"

#include <QSet>

namespace lockscope::operate {

namespace {

constexpr int mostDataShown = 60;

QString shown(const ZPath &path)
{
    return label(path.bytes());
}

QString shownData(const QByteArray &data)
{
    if (data.isEmpty())
        return u"no data"_s;
    return u"%1 \"%2\""_s.arg(amountOf(data.size(), "byte"_L1, "bytes"_L1), label(data, mostDataShown));
}

QString word(zk::CreateMode mode)
{
    switch (mode) {
    case zk::CreateMode::Persistent: return u"persistent"_s;
    case zk::CreateMode::Ephemeral: return u"ephemeral"_s;
    case zk::CreateMode::PersistentSequential: return u"persistent sequential"_s;
    case zk::CreateMode::EphemeralSequential: return u"ephemeral sequential"_s;
    case zk::CreateMode::Container: return u"container"_s;
    case zk::CreateMode::PersistentWithTtl: return u"persistent with TTL"_s;
    case zk::CreateMode::PersistentSequentialWithTtl: return u"persistent sequential with TTL"_s;
    }
    return {};
}

QString word(zk::EventKind kind)
{
    switch (kind) {
    case zk::EventKind::Created: return u"created"_s;
    case zk::EventKind::Deleted: return u"deleted"_s;
    case zk::EventKind::DataChanged: return u"data changed"_s;
    case zk::EventKind::ChildrenChanged: return u"children changed"_s;
    case zk::EventKind::SessionOver: return u"session over"_s;
    }
    return {};
}

QString versionText(qint32 version)
{
    return u' ' + (version == zk::anyVersion ? u"any version"_s : u"version %1"_s.arg(version));
}

QString opText(const zk::Op &op)
{
    switch (op.kind) {
    case zk::Op::Kind::Create: return u"create %1 %2"_s.arg(shown(op.path), word(op.mode));
    case zk::Op::Kind::Remove: return u"delete "_s + shown(op.path) + versionText(op.version);
    case zk::Op::Kind::Set: return u"setData "_s + shown(op.path) + versionText(op.version);
    case zk::Op::Kind::Check: return u"check "_s + shown(op.path) + versionText(op.version);
    }
    return {};
}

QString watchText(const std::optional<zk::Watch> &watch)
{
    return watch ? u" watch"_s : QString();
}

struct SessionWords {
    static constexpr bool repeatsStates = true;

    static QString text(const zk::CreateRequest &request)
    {
        const auto ttl = request.timeToLive ? u" of %1 ms"_s.arg(request.timeToLive->count()) : QString();
        return u"create %1 %2%3, %4"_s.arg(shown(request.path), word(request.mode), ttl, shownData(request.data));
    }
    static QString text(const zk::RemoveRequest &request)
    {
        return u"delete "_s + shown(request.path) + versionText(request.version);
    }
    static QString text(const zk::GetRequest &request)
    {
        return u"getData "_s + shown(request.path) + watchText(request.watch);
    }
    static QString text(const zk::SetRequest &request)
    {
        return u"setData "_s + shown(request.path) + versionText(request.version) + u", "_s + shownData(request.data);
    }
    static QString text(const zk::ExistsRequest &request)
    {
        return u"exists "_s + shown(request.path) + watchText(request.watch);
    }
    static QString text(const zk::ChildrenRequest &request)
    {
        return u"getChildren "_s + shown(request.path) + watchText(request.watch);
    }
    static QString text(const zk::MultiRequest &request) { return u"multi: "_s + firstTexts(request.ops, 4, opText); }
    static QString text(const zk::SyncRequest &request) { return u"sync "_s + shown(request.path); }
    static QString text(const zk::AclsRequest &request) { return u"getACL "_s + shown(request.path); }
    static QString text(const zk::SetAclsRequest &request)
    {
        // The entries stay out: a digest id is as good as a password to guess at.
        return u"setACL "_s + shown(request.path) + versionText(request.version)
               + u", %1 entries"_s.arg(request.acls.size());
    }
    static QString text(const zk::AddAuthRequest &request)
    {
        return u"addAuth %1 (credentials not shown)"_s.arg(label(request.scheme));
    }

    template <class R>
    static bool isWrite(const R &)
    {
        return R::isWrite;
    }
    static bool isWrite(const zk::MultiRequest &request)
    {
        return std::ranges::any_of(request.ops, [](const auto &op) { return op.kind != zk::Op::Kind::Check; });
    }

    static QString outcome(bool) { return u"ok"_s; }
    static QString outcome(const zk::Created &made) { return u"ok, "_s + shown(made.path); }
    static QString outcome(const zk::Stat &stat) { return u"ok, version %1"_s.arg(stat.version); }
    static QString outcome(const zk::Node &node)
    {
        return u"ok, "_s + amountOf(node.data.size(), "byte"_L1, "bytes"_L1);
    }
    static QString outcome(const zk::Children &list)
    {
        return list.names.size() == 1 ? u"ok, 1 child"_s : u"ok, %1 children"_s.arg(list.names.size());
    }
    static QString outcome(const zk::NodeAcls &node) { return u"ok, %1 entries"_s.arg(node.acls.size()); }
    static QString outcome(const std::vector<zk::OpResult> &results) { return u"ok, %1 parts"_s.arg(results.size()); }

    static QString stateText(const zk::Session &session, zk::SessionState state)
    {
        const auto id = session.id().isNone() ? u"session"_s : u"session "_s + session.id().text();
        return id + u": "_s + stateWord(state);
    }
};

class GatedSession final : public GatedPort<zk::ForwardingSession, SessionWords> {
public:
    using GatedPort::GatedPort;

    void send(Request &&request) override
    {
        std::visit([this](const auto &asked) { note(zk::watchOf(asked.request)); }, request);
        GatedPort::send(std::move(request));
    }

private:
    void note(const std::optional<zk::Watch> &watch) const
    {
        if (!watch)
            return;
        watch->event().observe([weak = std::weak_ptr(key())](const zk::WatchEvent &event) {
            // The end of a session fires every watch; the state says it once.
            const auto alive = weak.lock();
            if (alive && event.kind != zk::EventKind::SessionOver)
                alive->gate->event(u"watch: %1 %2"_s.arg(shown(event.path), word(event.kind)));
        });
    }
};

// A question that locks, writes a file, or changes who holds a named lock.
bool locksOrWrites(const QByteArray &select, const SqlWriteWords &words)
{
    // IS_USED_LOCK and IS_FREE_LOCK only ask.
    const QByteArray own[] = {"FOR UPDATE", "FOR SHARE",    "LOCK IN SHARE MODE", " INTO ",
                              "GET_LOCK",   "RELEASE_LOCK", "RELEASE_ALL_LOCKS",  "NEXTVAL",
                              "SETVAL"};
    const auto isSaid = [&](const QByteArray &word) { return select.contains(word); };
    return std::ranges::any_of(own, isSaid) || std::ranges::any_of(words, isSaid);
}

QString statementText(const mariadb::Statement &statement)
{
    const auto values =
        mapped<QStringList>(statement.parameters, [&](const auto &parameter) { return label(parameter, 60); });
    const auto text = label(statement.text, 300);
    return values.isEmpty() ? text : u"%1 [%2]"_s.arg(text, values.join(u", "_s));
}

// The values stay out: they may be anything, and long.
QString outcomeOfRows(const mariadb::Rows &rows)
{
    return rows.columns.isEmpty() ? u"ok, %1 changed"_s.arg(std::max<qint64>(0, rows.affected))
                                  : u"ok, "_s + amountOf(qint64(rows.rows.size()), "row"_L1, "rows"_L1);
}

struct SqlWords {
    static constexpr bool repeatsStates = false;
    SqlWriteWords writeWords;

    static QString text(const mariadb::Statement &statement) { return statementText(statement); }
    [[nodiscard]] bool isWrite(const mariadb::Statement &statement) const
    {
        return isSqlWrite(statement, writeWords);
    }
    static QString outcome(const mariadb::Rows &rows) { return outcomeOfRows(rows); }
    static QString stateText(const mariadb::Session &session, mariadb::SessionState state)
    {
        return u"session %1: "_s.arg(session.connectionId()) + stateWord(state);
    }
};

class GatedSql final : public GatedPort<mariadb::ForwardingSession, SqlWords> {
public:
    using GatedPort::GatedPort;

    void interrupt(mariadb::ConnectionId connection) override
    {
        key()->gate->event(u"ends what connection %1 of ours waits for"_s.arg(connection));
        inner().interrupt(connection);
    }
};

} // namespace

std::unique_ptr<zk::Session> gated(zk::Session &session, Gate &gate)
{
    return std::make_unique<GatedSession>(session, nullptr, gate);
}

std::unique_ptr<zk::Session> gated(std::unique_ptr<zk::Session> session, Gate &gate)
{
    auto &inner = *session;
    return std::make_unique<GatedSession>(inner, std::move(session), gate);
}

bool isSqlWrite(const mariadb::Statement &statement, const SqlWriteWords &words)
{
    const auto text = statement.text.simplified().toUpper();
    const auto first = text.left(std::max<qsizetype>(0, text.indexOf(' ')));
    if (first == "SELECT")
        return locksOrWrites(text, words);
    const QByteArray ofLooks[] = {mariadb::beginLook, mariadb::withoutReadView, mariadb::shortTableWaits,
                                  mariadb::committedNext};
    const bool isLook = std::ranges::any_of(ofLooks, [&](const auto &one) { return text == one.toUpper(); });
    return first != "SHOW" && text != "ROLLBACK" && text != "DO 0" && text != "XA RECOVER" && !isLook;
}

std::unique_ptr<mariadb::Session> gated(mariadb::Session &session, Gate &gate, SqlWriteWords words)
{
    return std::make_unique<GatedSql>(session, nullptr, gate, SqlWords{std::move(words)});
}

std::unique_ptr<mariadb::Session> gated(std::unique_ptr<mariadb::Session> session, Gate &gate, SqlWriteWords words)
{
    auto &inner = *session;
    return std::make_unique<GatedSql>(inner, std::move(session), gate, SqlWords{std::move(words)});
}

namespace {

// What a Redis command is, said for the log: without secrets, escaped and cut.

// Commands of resources/rules/redis-read-only.txt: "GET"; or, of the families, "CLIENT LIST".
QSet<QByteArray> listedCommands(bool areSubcommands)
{
    QSet<QByteArray> all;
    for (const auto &line : readResource(u"rules/redis-read-only.txt"_s).split('\n')) {
        const auto colon = line.indexOf(':');
        if (line.isEmpty() || line.startsWith('#') || (colon >= 0) != areSubcommands)
            continue;
        for (const auto &word : line.mid(colon + 1).simplified().split(' '))
            all.insert(areSubcommands ? line.first(colon) + ' ' + word : word);
    }
    return all;
}

// The index from which the arguments are secret; the size where none is.
qsizetype firstSecret(const redis::Command &command)
{
    const auto name = command.value(0).toUpper();
    const auto sub = command.value(1).toUpper();
    if (name == "AUTH")
        return 1;
    if ((name == "CONFIG" && sub == "SET") || (name == "ACL" && sub == "SETUSER"))
        return 3;
    if (name == "HELLO" || name == "MIGRATE") {
        for (qsizetype i = 1; i < command.size(); ++i) {
            const auto word = command[i].toUpper();
            if (word == "AUTH" || word == "AUTH2")
                return i + 1;
        }
    }
    return command.size();
}

QString commandText(const redis::Command &command)
{
    constexpr int mostPerArgument = 60;
    constexpr qsizetype mostArguments = 12;
    const auto secret = firstSecret(command);
    QStringList words;
    for (qsizetype i = 0; i < std::min(command.size(), mostArguments); ++i) {
        if (i >= secret) {
            words << u"(not shown)"_s;
            break;
        }
        const auto word = label(command[i], mostPerArgument);
        words << (word.isEmpty() || word.contains(u' ') ? u'"' + word + u'"' : word);
    }
    if (command.size() > mostArguments && secret > mostArguments)
        words << u"… %1 more"_s.arg(command.size() - mostArguments);
    return words.join(u' ');
}

QString outcomeOfValue(const redis::Value &value)
{
    using Kind = redis::Value::Kind;
    switch (value.kind) {
    case Kind::Nil: return u"ok, nil"_s;
    case Kind::Status: return value.text == "OK" ? u"ok"_s : u"ok, "_s + label(value.text, 40);
    case Kind::Error: return label(value.text, 120);
    case Kind::Integer: return u"ok, %1"_s.arg(value.integer);
    // The value itself stays out: it may be anything, and long.
    case Kind::Bulk: return u"ok, "_s + amountOf(value.text.size(), "byte"_L1, "bytes"_L1);
    case Kind::Array: return u"ok, "_s + amountOf(qint64(value.items.size()), "item"_L1, "items"_L1);
    }
    return {};
}

QString pipelineOutcome(const std::vector<redis::Value> &values)
{
    if (values.size() == 1)
        return outcomeOfValue(values.front());
    const auto errors = std::ranges::count_if(values, &redis::Value::isError);
    return errors == 0 ? u"ok, "_s + amountOf(qint64(values.size()), "answer"_L1, "answers"_L1)
                       : u"%1 answers, %2 of them errors"_s.arg(values.size()).arg(errors);
}

struct ConnectionWords {
    static constexpr bool repeatsStates = true;
    QString node; // "10.0.3.7:6379: " before everything in the log

    [[nodiscard]] QString text(const redis::CommandRequest &request) const
    {
        return node + commandText(request.command);
    }
    [[nodiscard]] QString text(const redis::PipelineRequest &request) const
    {
        return node + firstTexts(request.commands, 3, commandText);
    }
    [[nodiscard]] QString text(const redis::ScriptRequest &request) const
    {
        const redis::Command shown{"EVALSHA", request.script.name, QByteArray::number(request.keys.size())};
        return node + commandText(shown + request.keys + request.args);
    }
    [[nodiscard]] QString text(const redis::SubscriberIdRequest &) const
    {
        return node + u"CLIENT ID (subscriber)"_s;
    }

    static bool isWrite(const redis::CommandRequest &request) { return operate::isWrite(request.command); }
    static bool isWrite(const redis::PipelineRequest &request)
    {
        return std::ranges::any_of(request.commands, operate::isWrite);
    }
    // A script may do anything; nobody reads Lua here to find out.
    static bool isWrite(const redis::ScriptRequest &) { return true; }
    static bool isWrite(const redis::SubscriberIdRequest &) { return false; }

    static QString outcome(const redis::Value &value) { return outcomeOfValue(value); }
    static QString outcome(const std::vector<redis::Value> &values) { return pipelineOutcome(values); }
    static QString outcome(qint64 id) { return u"ok, %1"_s.arg(id); }

    [[nodiscard]] QString stateText(const redis::Connection &, redis::ConnectionState state) const
    {
        return node + u"connection: "_s + stateWord(state);
    }
};

class GatedConnection final : public GatedPort<redis::ForwardingConnection, ConnectionWords> {
public:
    using GatedPort::GatedPort;

    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override
    {
        logSubscription({"SUBSCRIBE", channel});
        return inner().subscribe(channel, noting(std::move(listener)));
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override
    {
        logSubscription({"PSUBSCRIBE", pattern});
        return inner().subscribePattern(pattern, noting(std::move(listener)));
    }

private:
    void logSubscription(const redis::Command &command)
    {
        if (const auto entry = key()->gate->enter(words().node + commandText(command), false))
            key()->gate->leave(*entry, u"ok"_s, Duration::zero());
    }

    std::function<void(const redis::Message &)> noting(std::function<void(const redis::Message &)> listener) const
    {
        return [weak = std::weak_ptr(key()), node = words().node,
                listener = std::move(listener)](const redis::Message &message) {
            if (const auto alive = weak.lock())
                alive->gate->event(
                    node + u"message on %1: %2"_s.arg(label(message.channel, 80), label(message.payload, 80)));
            listener(message);
        };
    }
};

} // namespace

bool isWrite(const redis::Command &command)
{
    if (command.isEmpty())
        return true;
    static const auto readOnlyCommands = listedCommands(false);
    static const auto readOnlySubcommands = listedCommands(true);
    const auto name = command[0].toUpper();
    if (readOnlyCommands.contains(name))
        return false;
    if (command.size() == 1)
        return name != "COMMAND";
    return !readOnlySubcommands.contains(name + ' ' + command[1].toUpper());
}

std::unique_ptr<redis::Connection> gated(redis::Connection &connection, Gate &gate, const QString &node)
{
    return std::make_unique<GatedConnection>(connection, nullptr, gate,
                                             ConnectionWords{node.isEmpty() ? QString() : node + u": "_s});
}

} // namespace lockscope::operate
