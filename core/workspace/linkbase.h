// SPDX-License-Identifier: Apache-2.0
// What the links of all backends share: spec, gate, proxy, the telling of state changes.
#pragma once

#include "core/redis/client.h"
#include "core/workspace/observerproxy.h"
#include "core/workspace/workspace.h"

namespace lockscope {

struct LinkContext {
    Loop &loop;
    const WorkspaceOptions &options;
    operate::CommandLog &log;
    inspect::ObserverSink *sink;
    std::function<void(Link &)> changed; // tell the workspace
};

class LinkBase : public Link {
public:
    [[nodiscard]] const ConnectionSpec &spec() const override { return m_spec; }
    [[nodiscard]] operate::Gate &gate() override { return m_gate; }
    [[nodiscard]] zk::Session *zookeeper() override { return nullptr; }
    [[nodiscard]] redis::Connection *redis() override { return nullptr; }
    [[nodiscard]] std::vector<redis::Connection *> redisNodes() override { return {}; }
    [[nodiscard]] mariadb::Session *mariadb() override { return nullptr; }
    [[nodiscard]] std::unique_ptr<zk::Session> openContenderSession() override { return nullptr; }
    [[nodiscard]] std::vector<ContenderConnection> openContenderConnections() override { return {}; }
    [[nodiscard]] std::unique_ptr<mariadb::Session> openSqlSession() override { return nullptr; }
    [[nodiscard]] std::optional<Duration> latency() const override { return m_gate.latency(); }
    [[nodiscard]] const inspect::Progress &progress() const override { return m_proxy.progress(); }
    [[nodiscard]] const inspect::Cost &cost() const override { return m_proxy.cost(); }
    [[nodiscard]] std::chrono::system_clock::time_point heardAt() const override { return m_proxy.heardAt(); }
    [[nodiscard]] ObserverProxy &proxy() { return m_proxy; }

protected:
    LinkBase(ConnectionSpec spec, LinkContext context)
        : m_context(std::move(context)), m_password(spec.password), m_spec(withoutPassword(std::move(spec))),
          m_gate(m_spec.name, (m_spec.readOnly || m_spec.production) && !m_spec.armed, m_spec.production,
                 m_context.log),
          m_proxy(m_spec.name, m_context.sink)
    {
        if (m_context.options.readOnly)
            m_gate.lockReadOnly();
    }

    static ConnectionSpec withoutPassword(ConnectionSpec spec)
    {
        spec.password.clear();
        return spec;
    }

    // Of a Redis link.
    [[nodiscard]] redis::ConnectionOptions redisOptions(const HostPort &host) const
    {
        redis::ConnectionOptions options;
        options.host = host;
        options.tls = m_spec.scheme == Scheme::RedisTls;
        options.user = m_spec.user.toUtf8();
        options.password = m_password.toUtf8();
        options.database = m_spec.database;
        return options;
    }
    [[nodiscard]] ContenderConnection openContenderConnection(const HostPort &host, const QString &node)
    {
        ContenderConnection connection;
        connection.client = redis::openConnection(m_context.loop, redisOptions(host));
        connection.gated = operate::gated(*connection.client, m_gate, node);
        return connection;
    }

    LinkContext m_context;
    QString m_password;
    ConnectionSpec m_spec;
    operate::Gate m_gate;
    ObserverProxy m_proxy;
};

[[nodiscard]] std::unique_ptr<LinkBase> makeZooKeeperLink(ConnectionSpec spec, LinkContext context);
[[nodiscard]] std::unique_ptr<LinkBase> makeRedisLink(ConnectionSpec spec, LinkContext context);
[[nodiscard]] std::unique_ptr<LinkBase> makeRedisSetLink(ConnectionSpec spec, LinkContext context);
[[nodiscard]] std::unique_ptr<LinkBase> makeMariaDbLink(ConnectionSpec spec, LinkContext context);

} // namespace lockscope
