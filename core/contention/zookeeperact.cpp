// SPDX-License-Identifier: Apache-2.0
#include "core/contention/zookeeperaccess.h"

#include "core/base/text.h"

#include <QByteArrayList>

#include <algorithm>

namespace lockscope::contention {

namespace {

struct ShellCommand {
    QByteArray verb, path, data;
    bool isEphemeral = false, isSequential = false, watches = false;
};

constexpr int mostDataBytes = 16 << 20;

// Options first, as the shell has them.
Result<ShellCommand> read(const QByteArray &command)
{
    auto words = command.simplified().split(' ');
    ShellCommand read;
    read.verb = words.takeFirst();
    std::optional<int> size;
    while (!words.isEmpty() && words.first().startsWith('-')) {
        const auto option = words.takeFirst();
        bool isKnown = true;
        if (option == "-e" && read.verb == "create")
            read.isEphemeral = true;
        else if (option == "-s" && read.verb == "create")
            read.isSequential = true;
        else if (option == "-w" && (read.verb == "get" || read.verb == "stat" || read.verb == "ls"))
            read.watches = true;
        else if (option == "-size" && (read.verb == "create" || read.verb == "set") && !words.isEmpty())
            size = words.takeFirst().toInt(&isKnown);
        else
            isKnown = false;
        if (!isKnown || (size && (*size < 0 || *size > mostDataBytes)))
            return Error{ErrorCode::BadInput, u"%1 has no option %2"_s.arg(label(read.verb), label(option))};
    }
    read.path = words.isEmpty() ? QByteArray() : words.takeFirst();
    read.data = size ? QByteArray(*size, 'x') : words.join(' ');
    return read;
}

// "v2, zxid 5": the change it is of.
QByteArray zxidWords(qint64 zxid)
{
    return "zxid " + QByteArray::number(zxid & 0xffffffff);
}

QByteArray wordsOf(const zk::Created &created)
{
    return created.path.bytes();
}
QByteArray wordsOf(bool)
{
    return "ok";
}
QByteArray wordsOf(const zk::Node &node)
{
    constexpr qsizetype most = 40;
    return node.data.left(most) + ", " + zxidWords(node.stat.mzxid);
}
QByteArray wordsOf(const zk::Stat &stat)
{
    return "version " + QByteArray::number(stat.version) + ", " + zxidWords(stat.mzxid);
}
QByteArray wordsOf(const zk::Children &children)
{
    QByteArrayList names;
    for (const auto &name : children.names)
        names << name.bytes();
    std::ranges::sort(names);
    return names.isEmpty() ? QByteArray("none") : names.join(", ");
}

template <class T>
Completion<QByteArray> wordsWhenThere(Loop &loop, const Reply<T> &reply)
{
    Completion<QByteArray> words(loop);
    reply.then([words](const Result<T> &result) {
        words.complete(result ? wordsOf(*result) : result.error().message.toUtf8());
    });
    return words;
}

zk::CreateMode modeOf(const ShellCommand &command)
{
    if (command.isSequential)
        return command.isEphemeral ? zk::CreateMode::EphemeralSequential : zk::CreateMode::PersistentSequential;
    return command.isEphemeral ? zk::CreateMode::Ephemeral : zk::CreateMode::Persistent;
}

} // namespace

Result<void> checkZooKeeperAct(const QByteArray &command)
{
    TRY(const auto &parsed, read(command));
    const QByteArrayList verbs{"create", "set", "delete", "sync", "get", "stat", "ls"};
    const bool hasPath = parsed.path.startsWith('/') || parsed.path.startsWith('{');
    const bool isTooLong = !parsed.data.isEmpty() && parsed.verb != "create" && parsed.verb != "set";
    if (verbs.contains(parsed.verb) && hasPath && !isTooLong)
        return {};
    return Error{ErrorCode::BadInput, u"unknown command \"%1\"; commands: %2, each with a path"_s.arg(
                                          label(command), QString::fromLatin1(verbs.join(", ")))};
}

Completion<QByteArray> doOnZooKeeper(zk::Session &session, const QByteArray &command)
{
    auto &loop = session.loop();
    const auto parsed = read(command);
    if (!parsed || parsed->path.startsWith('{')) {
        Completion<QByteArray> why(loop);
        why.complete(parsed ? QByteArray("it has no node") : parsed.error().message.toUtf8());
        return why;
    }
    const ZPath path(parsed->path);
    const auto never = Deadline::never();
    const auto watch = parsed->watches ? std::optional(zk::Watch(loop)) : std::nullopt;
    if (parsed->verb == "create")
        return wordsWhenThere(loop, session.create(path, parsed->data, modeOf(*parsed), zk::openAcl(), never));
    if (parsed->verb == "set")
        return wordsWhenThere(loop, session.set(path, parsed->data, zk::anyVersion, never));
    if (parsed->verb == "delete")
        return wordsWhenThere(loop, session.remove(path, zk::anyVersion, never));
    if (parsed->verb == "get")
        return wordsWhenThere(loop, session.get(path, watch, never));
    if (parsed->verb == "stat")
        return wordsWhenThere(loop, session.exists(path, watch, never));
    if (parsed->verb == "ls")
        return wordsWhenThere(loop, session.children(path, watch, never));
    return wordsWhenThere(loop, session.sync(path, never));
}

} // namespace lockscope::contention
