// SPDX-License-Identifier: Apache-2.0
#include "tests/live/zookeeperscript.h"

#include <algorithm>

namespace lockscope::testing {

namespace {

constexpr const char *verbs[] = {"create",   "create with a time to live",
                                 "delete",   "get",
                                 "set",      "exists",
                                 "children", "multi",
                                 "sync",     "acls",
                                 "setAcls",  "addAuth",
                                 "close"};
constexpr const char *modes[] = {
    "Persistent", "Ephemeral",         "PersistentSequential",       "EphemeralSequential",
    "Container",  "PersistentWithTtl", "PersistentSequentialWithTtl"};

bool isNumbered(zk::CreateMode mode)
{
    return mode == zk::CreateMode::PersistentSequential || mode == zk::CreateMode::EphemeralSequential
           || mode == zk::CreateMode::PersistentSequentialWithTtl;
}

QByteArray textOf(const zk::Acls &acls)
{
    QByteArrayList list;
    for (const auto &acl : acls)
        list << acl.scheme + ':' + acl.id + ':' + QByteArray::number(acl.perms);
    return '[' + list.join(' ') + ']';
}

} // namespace

ScriptWriter::ScriptWriter(quint64 seed, int sessions, const ZPath &root)
    : m_random(seed), m_sessions(sessions), m_root(root.bytes())
{
}

std::vector<Burst> ScriptWriter::write(int commands)
{
    std::vector<Burst> script;
    // So that most of what follows finds something.
    for (const auto *name : {"/a", "/b", "/a/x"}) {
        Command start;
        start.kind = Command::Kind::Create;
        start.path = ZPath(m_root + name);
        start.acls = zk::openAcl();
        if (!oneIn(5))
            script.push_back({0, {start}});
    }
    while (commands > 0) {
        Burst burst;
        burst.session = static_cast<int>(m_random.below(static_cast<quint64>(m_sessions)));
        if (oneIn(15)) {
            burst.commands.resize(1);
            burst.commands.front().kind = Command::Kind::Close;
        } else {
            const auto length = oneIn(3) ? 1 + m_random.below(4) : 1;
            for (quint64 i = 0; i < length; ++i)
                burst.commands.push_back(command());
            // The client library hands on the answer to credentials before earlier ones; and until the server has
            // applied a new access list, it judges the next request by the old one.
            const auto goesAlone = [](const Command &one) {
                return one.kind == Command::Kind::AddAuth || one.kind == Command::Kind::SetAcls;
            };
            if (std::any_of(burst.commands.begin(), burst.commands.end(), goesAlone))
                burst.commands.resize(1);
        }
        commands -= static_cast<int>(burst.commands.size());
        script.push_back(std::move(burst));
    }
    return script;
}

Command ScriptWriter::command()
{
    using Kind = Command::Kind;
    // The more often, the more it does.
    static constexpr Kind kinds[] = {
        Kind::Create, Kind::Create,        Kind::Create,   Kind::Create,   Kind::Create,  Kind::Create,
        Kind::Create, Kind::CreateWithTtl, Kind::Remove,   Kind::Remove,   Kind::Remove,  Kind::Remove,
        Kind::Get,    Kind::Get,           Kind::Set,      Kind::Set,      Kind::Exists,  Kind::Exists,
        Kind::Exists, Kind::Children,      Kind::Children, Kind::Children, Kind::Multi,   Kind::Multi,
        Kind::Multi,  Kind::Sync,          Kind::Acls,     Kind::SetAcls,  Kind::AddAuth,
    };
    Command command;
    command.kind = kinds[m_random.below(std::size(kinds))];
    command.path = path();
    command.data = m_random.bytes(static_cast<qsizetype>(m_random.below(5)));
    command.version = version();
    command.watches = !oneIn(3);
    command.acls = acls();
    if (command.kind == Kind::Create)
        command.mode = mode(5);
    else if (command.kind == Kind::CreateWithTtl)
        command.mode = oneIn(2) ? zk::CreateMode::PersistentWithTtl : zk::CreateMode::PersistentSequentialWithTtl;
    if (isNumbered(command.mode) && oneIn(2)) // as recipes do: a prefix of their own
        command.path = command.path.child(NodeName(oneIn(4) ? "" : "n-"));
    if (command.kind == Kind::AddAuth)
        command.data = oneIn(2) ? "alice:secret" : "bob:secret";
    if (command.kind == Kind::Multi) {
        for (auto parts = 1 + m_random.below(4); parts > 0; --parts)
            command.ops.push_back(op());
    }
    return command;
}

zk::Op ScriptWriter::op()
{
    zk::Op op;
    op.kind = static_cast<zk::Op::Kind>(m_random.below(4));
    op.path = path();
    op.data = m_random.bytes(static_cast<qsizetype>(m_random.below(3)));
    op.version = version();
    if (op.kind == zk::Op::Kind::Create) {
        op.mode = mode(4);
        op.acls = acls();
    }
    return op;
}

ZPath ScriptWriter::path()
{
    static constexpr const char *names[] = {"", "/a", "/b", "/a/x", "/a/y", "/b/x", "/a/x/deep"};
    if (oneIn(40))
        return hostilePath();
    const QByteArray base = m_root + names[m_random.below(std::size(names))];
    if (!oneIn(5))
        return ZPath(base);
    // One that a sequential create may have made.
    const auto number = QByteArray::number(m_random.below(6)).rightJustified(10, '0');
    return ZPath(base + (oneIn(2) ? "/n-" : "") + number);
}

ZPath ScriptWriter::hostilePath()
{
    const QByteArrayList paths{"/",
                               "/zookeeper",
                               "relative",
                               "",
                               m_root + '/',
                               m_root + "//a",
                               m_root + "/../a",
                               m_root + "/a/.",
                               m_root + "/.hidden",
                               m_root + "/missing/a",
                               m_root + "/a\nb"};
    return ZPath(paths[static_cast<qsizetype>(m_random.below(static_cast<quint64>(paths.size())))]);
}

zk::CreateMode ScriptWriter::mode(int kinds)
{
    return static_cast<zk::CreateMode>(m_random.below(static_cast<quint64>(kinds)));
}

zk::Acls ScriptWriter::acls()
{
    switch (m_random.below(30)) {
    case 0: return {};
    case 1: return {{zk::perms::all, "auth", ""}};
    case 2: return {{zk::perms::read, "world", "anyone"}, {zk::perms::all, "auth", ""}};
    case 3: return {{zk::perms::read | zk::perms::create | zk::perms::write, "world", "anyone"}};
    case 4: return {{zk::perms::all, "digest", "alice:qNSb9Z+KODyOM8uIZYyUTbt0q7Q="}};
    case 5: return {{zk::perms::all, "digest", "malformed"}};
    case 6: return {{zk::perms::all, "nosuch", "id"}};
    case 7: return {{zk::perms::all, "world", "someone"}};
    case 8: return {{zk::perms::all, "world", "anyone"}, {zk::perms::all, "world", "anyone"}};
    default: return zk::openAcl();
    }
}

qint32 ScriptWriter::version()
{
    return oneIn(2) ? zk::anyVersion : static_cast<qint32>(m_random.below(4)) - (oneIn(10) ? 2 : 0);
}

QByteArray textOf(const Command &command)
{
    using Kind = Command::Kind;
    QByteArrayList words{verbs[static_cast<int>(command.kind)], command.path.bytes()};
    const auto version = 'v' + QByteArray::number(command.version);
    if (command.kind == Kind::Create || command.kind == Kind::CreateWithTtl)
        words << modes[static_cast<int>(command.mode)] << textOf(command.acls);
    else if (command.kind == Kind::SetAcls)
        words << version << textOf(command.acls);
    else if (command.kind == Kind::Remove || command.kind == Kind::Set)
        words << version;
    else if (command.kind == Kind::AddAuth)
        words << command.data;
    else if (command.watches && command.kind != Kind::Multi && command.kind != Kind::Close)
        words << "watched";
    static constexpr const char *parts[] = {"create", "delete", "set", "check"};
    for (const auto &op : command.ops) {
        words << '\n' + QByteArray(8, ' ') + parts[static_cast<int>(op.kind)] << op.path.bytes()
              << 'v' + QByteArray::number(op.version);
        if (op.kind == zk::Op::Kind::Create)
            words << modes[static_cast<int>(op.mode)] << textOf(op.acls);
    }
    return words.join(' ');
}

} // namespace lockscope::testing
