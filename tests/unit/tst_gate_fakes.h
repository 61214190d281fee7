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

    void send(Request &&request) override
    {
        std::visit([this, index = request.index()](const auto &asked) { serve(asked, index); }, request);
    }
    qsizetype watchedBytes() const override { return 0; }
    qsizetype watchBudgetBytes() const override { return 1024; }
    int watchCount() const override { return static_cast<int>(watches.size()); }

private:
    template <class R>
    void serve(const Asked<R> &asked, std::size_t index)
    {
        static constexpr const char *names[] = {"create", "remove", "get",  "set",     "exists", "children",
                                                "multi",  "sync",   "acls", "setAcls", "addAuth"};
        const auto name = QString::fromLatin1(names[index]);
        ZPath path("/");
        if constexpr (requires { asked.request.path; })
            path = asked.request.path;
        if (const auto &watch = zk::watchOf(asked.request))
            watches.emplace_back(path, *watch);
        sent << name + QLatin1Char(' ') + QString::fromUtf8(path.bytes());
        if (const auto interloper = before.find(name); interloper != before.end())
            interloper->second();
        const auto failure = fails.find(name);
        if (failure == fails.end())
            asked.reply.complete(answer(asked.request));
        else
            asked.reply.complete(failure->second);
    }

    Result<zk::Created> answer(const zk::CreateRequest &request)
    {
        if (nodes.contains(request.path))
            return Error{ErrorCode::NodeExists, QStringLiteral("there already")};
        nodeAcls[request.path] = request.acls;
        nodes[request.path].data = request.data;
        return zk::Created{request.path, {}};
    }
    Result<bool> answer(const zk::RemoveRequest &request)
    {
        const auto at = nodes.find(request.path);
        if (at == nodes.end())
            return missing(request.path);
        if (request.version != zk::anyVersion && at->second.stat.version != request.version)
            return Error{ErrorCode::BadVersion, QStringLiteral("bad version")};
        nodes.erase(at);
        return true;
    }
    Result<zk::Node> answer(const zk::GetRequest &request)
    {
        const auto at = nodes.find(request.path);
        if (at == nodes.end())
            return missing(request.path);
        auto node = at->second;
        node.stat.numChildren = countChildren(request.path);
        return node;
    }
    Result<zk::Stat> answer(const zk::SetRequest &request)
    {
        auto &node = nodes[request.path];
        if (request.version != zk::anyVersion && node.stat.version != request.version)
            return Error{ErrorCode::BadVersion, QStringLiteral("bad version")};
        node.data = request.data;
        ++node.stat.version;
        return node.stat;
    }
    Result<zk::Stat> answer(const zk::ExistsRequest &request)
    {
        const auto node = answer(zk::GetRequest{request.path, {}});
        return node ? Result<zk::Stat>(node->stat) : Result<zk::Stat>(node.error());
    }
    Result<zk::Children> answer(const zk::ChildrenRequest &request)
    {
        std::vector<NodeName> names;
        for (const auto &[child, node] : nodes) {
            if (child != request.path && child.parent() == request.path)
                names.push_back(child.name());
        }
        return zk::Children{std::move(names), {}};
    }
    static Result<std::vector<zk::OpResult>> answer(const zk::MultiRequest &request)
    {
        return std::vector<zk::OpResult>(request.ops.size());
    }
    Result<zk::NodeAcls> answer(const zk::AclsRequest &request)
    {
        const auto at = nodeAcls.find(request.path);
        return zk::NodeAcls{at == nodeAcls.end() ? zk::openAcl() : at->second, {}};
    }
    Result<bool> answer(const zk::SetAclsRequest &request)
    {
        if (request.version != zk::anyVersion && nodes[request.path].stat.aversion != request.version)
            return Error{ErrorCode::BadVersion, QStringLiteral("bad version")};
        ++nodes[request.path].stat.aversion;
        nodeAcls[request.path] = request.acls;
        return true;
    }
    // The others change nothing here.
    template <class R>
    static Result<bool> answer(const R &)
    {
        return true;
    }

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

    void send(Request &&request) override
    {
        std::visit(
            [this](const auto &asked) {
                auto value = answer(asked.request);
                if (failure)
                    asked.reply.complete(*failure);
                else
                    asked.reply.complete(std::move(value));
            },
            request);
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

private:
    redis::Value answer(const redis::CommandRequest &request)
    {
        sent.push_back(request.command);
        return next;
    }
    std::vector<redis::Value> answer(const redis::PipelineRequest &request)
    {
        sent.insert(sent.end(), request.commands.begin(), request.commands.end());
        return std::vector<redis::Value>(request.commands.size(), next);
    }
    redis::Value answer(const redis::ScriptRequest &request)
    {
        sent.push_back(redis::Command{"EVALSHA", request.script.name} + request.keys + request.args);
        if (whenSent)
            whenSent();
        return next;
    }
    static qint64 answer(const redis::SubscriberIdRequest &) { return 7; }

    VirtualLoop &m_loop;
};

} // namespace lockscope::fakes
