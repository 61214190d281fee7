// SPDX-License-Identifier: Apache-2.0
// Small stand-ins for the two ports: a tree and a few keys in memory, and a list of what was sent.
#pragma once

#include "core/async/virtualloop.h"
#include "core/redis/connection.h"
#include "core/zookeeper/session.h"

#include <map>

namespace lockscope::fakes {

class Session : public zk::Session {
public:
    explicit Session(VirtualLoop &virtualLoop) : m_loop(virtualLoop) {}

    std::map<ZPath, zk::Node> nodes;
    std::map<ZPath, zk::Acls> nodeAcls; // open to anyone where there is no entry
    QStringList sent;
    // The error each method answers with instead, by its name ("remove").
    std::map<QString, Error> fails;
    // Runs before the named request is served: what another client does in between.
    std::map<QString, std::function<void()>> before;
    std::vector<std::pair<ZPath, zk::Watch>> watches;
    std::function<void(zk::SessionState)> stateListener;

    void put(const QByteArray &path, qint64 czxid, quint64 owner, const QByteArray &data = {}, qint32 version = 0)
    {
        zk::Node node;
        node.data = data;
        node.stat.czxid = czxid;
        node.stat.ephemeralOwner = zk::SessionId{owner};
        node.stat.version = version;
        nodes[ZPath(path)] = node;
    }
    void fire(const QByteArray &path, zk::EventKind kind)
    {
        for (const auto &[watched, watch] : std::exchange(watches, {}))
            watch.event().complete(zk::WatchEvent{kind, watched.bytes() == path ? watched : ZPath(path)});
    }

    Loop &loop() const override { return m_loop; }
    zk::SessionState state() const override { return zk::SessionState::Connected; }
    zk::SessionId id() const override { return zk::SessionId{0x10}; }
    std::chrono::milliseconds timeout() const override { return std::chrono::milliseconds(10'000); }
    Subscription onState(std::function<void(zk::SessionState)> listener) override
    {
        stateListener = std::move(listener);
        return {};
    }

    Reply<zk::Created> create(ZPath path, QByteArray data, zk::CreateMode, zk::Acls acls, Deadline) override
    {
        return answer<zk::Created>("create", path, [=, this]() -> Result<zk::Created> {
            if (nodes.contains(path))
                return Error{ErrorCode::NodeExists, QStringLiteral("there already")};
            nodeAcls[path] = acls;
            nodes[path].data = data;
            return zk::Created{path, {}};
        });
    }
    Reply<zk::Created> createWithTtl(ZPath path, QByteArray data, zk::CreateMode mode, std::chrono::milliseconds,
                                     zk::Acls acls, Deadline deadline) override
    {
        return create(std::move(path), std::move(data), mode, std::move(acls), deadline);
    }
    Reply<bool> remove(ZPath path, qint32 version, Deadline) override
    {
        return answer<bool>("remove", path, [=, this]() -> Result<bool> {
            const auto at = nodes.find(path);
            if (at == nodes.end())
                return missing(path);
            if (version != zk::anyVersion && at->second.stat.version != version)
                return Error{ErrorCode::BadVersion, QStringLiteral("bad version")};
            nodes.erase(at);
            return true;
        });
    }
    Reply<zk::Node> get(ZPath path, std::optional<zk::Watch> watch, Deadline) override
    {
        if (watch)
            watches.emplace_back(path, *watch);
        return answer<zk::Node>("get", path, [=, this]() -> Result<zk::Node> {
            const auto at = nodes.find(path);
            if (at == nodes.end())
                return missing(path);
            auto node = at->second;
            node.stat.numChildren = countChildren(path);
            return node;
        });
    }
    Reply<zk::Stat> set(ZPath path, QByteArray data, qint32 version, Deadline) override
    {
        return answer<zk::Stat>("set", path, [=, this]() -> Result<zk::Stat> {
            auto &node = nodes[path];
            if (version != zk::anyVersion && node.stat.version != version)
                return Error{ErrorCode::BadVersion, QStringLiteral("bad version")};
            node.data = data;
            ++node.stat.version;
            return node.stat;
        });
    }
    Reply<zk::Stat> exists(ZPath path, std::optional<zk::Watch> watch, Deadline) override
    {
        if (watch)
            watches.emplace_back(path, *watch);
        return answer<zk::Stat>("exists", path, [=, this]() -> Result<zk::Stat> {
            const auto at = nodes.find(path);
            if (at == nodes.end())
                return missing(path);
            auto stat = at->second.stat;
            stat.numChildren = countChildren(path);
            return stat;
        });
    }
    Reply<zk::Children> children(ZPath path, std::optional<zk::Watch> watch, Deadline) override
    {
        if (watch)
            watches.emplace_back(path, *watch);
        return answer<zk::Children>("children", path, [=, this]() -> Result<zk::Children> {
            std::vector<NodeName> names;
            for (const auto &[child, node] : nodes) {
                if (child != path && child.parent() == path)
                    names.push_back(child.name());
            }
            return zk::Children{std::move(names), {}};
        });
    }
    Reply<std::vector<zk::OpResult>> multi(std::vector<zk::Op> ops, Deadline) override
    {
        return answer<std::vector<zk::OpResult>>("multi", ZPath("/"), [ops]() -> Result<std::vector<zk::OpResult>> {
            return std::vector<zk::OpResult>(ops.size());
        });
    }
    Reply<bool> sync(ZPath path, Deadline) override
    {
        return answer<bool>("sync", path, []() -> Result<bool> { return true; });
    }
    Reply<zk::NodeAcls> acls(ZPath path, Deadline) override
    {
        return answer<zk::NodeAcls>("acls", path, [=, this]() -> Result<zk::NodeAcls> {
            const auto at = nodeAcls.find(path);
            return zk::NodeAcls{at == nodeAcls.end() ? zk::openAcl() : at->second, {}};
        });
    }
    Reply<bool> setAcls(ZPath path, zk::Acls acls, qint32 version, Deadline) override
    {
        return answer<bool>("setAcls", path, [=, this]() -> Result<bool> {
            if (version != zk::anyVersion && nodes[path].stat.aversion != version)
                return Error{ErrorCode::BadVersion, QStringLiteral("bad version")};
            ++nodes[path].stat.aversion;
            nodeAcls[path] = acls;
            return true;
        });
    }
    Reply<bool> addAuth(QByteArray, QByteArray, Deadline) override
    {
        return answer<bool>("addAuth", ZPath("/"), []() -> Result<bool> { return true; });
    }
    Reply<bool> removeWatches(ZPath path, zk::WatchKind, Deadline) override
    {
        return answer<bool>("removeWatches", path, []() -> Result<bool> { return true; });
    }
    qsizetype watchedBytes() const override { return 0; }
    qsizetype watchBudgetBytes() const override { return 1024; }
    int watchCount() const override { return static_cast<int>(watches.size()); }

private:
    qint32 countChildren(const ZPath &path) const
    {
        qint32 count = 0;
        for (const auto &[child, node] : nodes)
            count += child != path && child.parent() == path ? 1 : 0;
        return count;
    }
    static Error missing(const ZPath &path)
    {
        return Error{ErrorCode::NoNode, QStringLiteral("no node ") + QString::fromUtf8(path.bytes())};
    }
    template <class T, class Serve>
    Reply<T> answer(const char *method, const ZPath &path, Serve serve)
    {
        const auto name = QString::fromLatin1(method);
        sent << name + QLatin1Char(' ') + QString::fromUtf8(path.bytes());
        if (const auto interloper = before.find(name); interloper != before.end())
            interloper->second();
        Reply<T> reply(m_loop);
        const auto failure = fails.find(name);
        reply.complete(failure == fails.end() ? serve() : Result<T>(failure->second));
        return reply;
    }

    VirtualLoop &m_loop;
};

class Connection : public redis::Connection {
public:
    explicit Connection(VirtualLoop &virtualLoop) : m_loop(virtualLoop) {}

    std::vector<redis::Command> sent;
    std::optional<Error> failure;
    redis::Value next;              // what every command and script answers
    std::function<void()> whenSent; // before a script is answered
    std::function<void(const redis::Message &)> messageListener;

    Loop &loop() const override { return m_loop; }
    redis::ConnectionState state() const override { return redis::ConnectionState::Connected; }
    QString lastError() const override { return {}; }
    Subscription onState(std::function<void(redis::ConnectionState)>) override { return {}; }

    Reply<redis::Value> command(redis::Command command, Deadline) override
    {
        sent.push_back(command);
        return answer<redis::Value>(next);
    }
    Reply<std::vector<redis::Value>> pipeline(std::vector<redis::Command> commands, Deadline) override
    {
        sent.insert(sent.end(), commands.begin(), commands.end());
        return answer<std::vector<redis::Value>>(std::vector<redis::Value>(commands.size(), next));
    }
    Reply<redis::Value> script(redis::Script script, QByteArrayList keys, QByteArrayList args, Deadline) override
    {
        sent.push_back(redis::Command{"EVALSHA", script.name} + keys + args);
        if (whenSent)
            whenSent();
        return answer<redis::Value>(next);
    }
    Subscription subscribe(QByteArray, std::function<void(const redis::Message &)> listener) override
    {
        messageListener = std::move(listener);
        return {};
    }
    Subscription subscribePattern(QByteArray, std::function<void(const redis::Message &)> listener) override
    {
        messageListener = std::move(listener);
        return {};
    }
    Reply<qint64> subscriberId(Deadline) override { return answer<qint64>(7); }

private:
    template <class T>
    Reply<T> answer(T value)
    {
        Reply<T> reply(m_loop);
        reply.complete(failure ? Result<T>(*failure) : Result<T>(std::move(value)));
        return reply;
    }

    VirtualLoop &m_loop;
};

} // namespace lockscope::fakes
