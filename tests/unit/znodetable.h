// SPDX-License-Identifier: Apache-2.0
// Directories and snapshots as text, for tables of recognition rules.
//
// A directory is lines of "name owner [data]": owner is s1…s9 or - for a persistent node, ? where that may not be
// known, ?s2 where only the servers' lists tell it; a name may stand below "locks/", "leases/" or "~guard/" (the
// sibling <directory>-__lock__). {u1} is a UUID,
// {h1} the same without dashes, {d1} the session s1 in decimal, {x1} in 16 hex digits. Line n is made
// at n seconds, as transaction n. A line "s2 > name" is a watch that the servers list.
//
// A snapshot is "lock recipe confidence state [!finding…]" and a line per contender:
// "id role mode position session → edges"; a proven edge is "→id", an inferred one "⇢id".
#pragma once

#include "core/inspect/json.h"
#include "core/inspect/zookeeper/recognise.h"

#include <QStringList>

namespace lockscope::inspect::table {

using namespace Qt::StringLiterals;

inline quint64 sessionNumber(int n)
{
    // s9 has its highest bit set: negative as Java's long.
    return n == 9 ? 0xff00000000000009ULL : 0x100000000000000ULL + static_cast<quint64>(n);
}

inline QByteArray expand(QByteArray text)
{
    for (int n = 1; n <= 9; ++n) {
        const QByteArray digit = QByteArray::number(n);
        const QByteArray hex = QByteArray(32, digit[0]);
        QByteArray uuid = hex;
        uuid.insert(20, '-').insert(16, '-').insert(12, '-').insert(8, '-');
        text.replace("{u" + digit + '}', uuid).replace("{h" + digit + '}', hex);
        text.replace("{d" + digit + '}', QByteArray::number(static_cast<qint64>(sessionNumber(n))));
        text.replace("{x" + digit + '}', QByteArray::number(sessionNumber(n), 16).rightJustified(16, '0'));
    }
    return text;
}

inline QByteArray shorten(QByteArray text)
{
    for (int n = 1; n <= 9; ++n) {
        const QByteArray digit = QByteArray::number(n);
        for (const char *form : {"{u", "{h", "{d", "{x"}) {
            const QByteArray short_ = form + digit + '}';
            text.replace(expand(short_), short_);
        }
        text.replace(zk::SessionId{sessionNumber(n)}.text().toLatin1(), "s" + digit);
    }
    return text;
}

struct Input {
    DirectoryView directory;
    zk::Evidence evidence;
    RecogniseContext context;

    Input(const QByteArray &path, const QByteArray &text, const QByteArray &data = {})
    {
        directory.path = ZPath(path);
        directory.data = data;
        zk::Evidence::Answer answeredByAll;
        answeredByAll.members = answeredByAll.answered = 1;
        for (const auto *command : {"cons", "wchp", "dump"})
            evidence.answers[command] = answeredByAll;
        evidence.askedAt = std::chrono::system_clock::time_point(std::chrono::seconds(900));
        for (int n = 1; n <= 9; ++n) {
            zk::ConnectionFacts facts{.endpoint = u"10.0.0.%1:1000"_s.arg(n), .timeout = std::chrono::seconds(10)};
            evidence.connections[zk::SessionId{sessionNumber(n)}] = facts;
        }
        context.connection = ConnectionName("zk");
        context.evidence = &evidence;
        context.observed = ServerTime(std::chrono::seconds(1000));
        int line = 0;
        for (const auto &row : text.split('\n')) {
            if (!row.trimmed().isEmpty())
                read(expand(row.trimmed()), ++line);
        }
    }
    Input(const Input &) = delete;
    Input &operator=(const Input &) = delete;

    [[nodiscard]] std::vector<LockSnapshot> locks() const { return recognise(directory, context); }

private:
    static quint64 owner(const QByteArray &text) { return text == "-" ? 0 : sessionNumber(text.mid(1).toInt()); }

    ZPath pathOf(const QByteArray &name) const
    {
        if (name.startsWith("~guard/"))
            return ZPath(directory.path.bytes() + "-__lock__" + name.mid(6));
        return directory.path.child(NodeName(name));
    }

    void read(const QByteArray &row, int line)
    {
        const auto words = row.split(' ');
        if (words.size() > 2 && words[1] == ">") {
            evidence.dataWatches[pathOf(words[2])].insert(zk::SessionId{owner(words[0])});
            return;
        }
        const auto slash = words[0].indexOf('/');
        ZnodeView node{.name = NodeName(words[0].mid(slash + 1))};
        node.stat.ephemeralOwner = zk::SessionId{owner(words[1])};
        node.stat.czxid = line;
        node.stat.mzxid = line;
        node.stat.ctime = node.stat.mtime = std::chrono::seconds(line);
        const auto dataAt = words[0].size() + words[1].size() + 2;
        node.data = row.mid(dataAt);
        if (words[1].startsWith('?')) {
            if (words[1].size() > 1)
                evidence.ephemerals[zk::SessionId{owner(words[1].mid(1))}].push_back(pathOf(words[0]));
            node.stat = {};
            node.data.reset();
            node.isStatKnown = false;
        }
        if (slash < 0) {
            directory.children.push_back(node);
            return;
        }
        const QByteArray part = words[0].left(slash);
        directory.parts[part == "~guard" ? directory.path.name().bytes() + "-__lock__" : part].push_back(node);
    }
};

inline QByteArray draw(const Contender &one)
{
    QByteArray out = one.id + (one.role == Role::Holder ? " holds " : " waits ") + word(one.mode).toLatin1() + ' '
                     + (one.position ? QByteArray::number(*one.position) : QByteArray("-"));
    for (const auto &edge : one.watches) {
        out += edge.evidence == Evidence::Server ? " ->" : " ~>";
        out += edge.children ? QByteArray("children") : edge.target;
    }
    return out;
}

inline QByteArray draw(const std::vector<LockSnapshot> &locks)
{
    QByteArrayList out;
    for (const auto &lock : locks) {
        QByteArray head = lock.lock.name + ' ' + lock.recipe + ' ' + word(lock.confidence).toLatin1() + ' '
                          + word(lock.state).toLatin1();
        if (lock.client)
            head += " (" + lock.client->toUtf8() + ')';
        for (const auto &finding : lock.findings)
            head += " !" + word(finding.code).toLatin1();
        out << head;
        for (const auto &contender : lock.contenders)
            out << draw(contender);
    }
    return shorten(out.join('\n'));
}

// The expected text, with the indentation of the source taken away.
inline QByteArray lines(const QByteArray &text)
{
    QByteArrayList out;
    for (const auto &line : text.split('\n')) {
        if (!line.trimmed().isEmpty())
            out << line.trimmed();
    }
    return out.join('\n');
}

} // namespace lockscope::inspect::table
