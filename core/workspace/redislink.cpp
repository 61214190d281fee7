// SPDX-License-Identifier: Apache-2.0
// A Redis connection: client, gate, observer. The client reconnects by itself. Of one Redis, of a cluster, and of the
// primary that sentinels name: to all that stands on it these are the same.
#include "core/contention/traced/tracedport.h"
#include "core/inspect/redis/setobserver.h"
#include "core/operate/redis.h"
#include "core/recipes/redis/keywatch.h"
#include "core/redis/client.h"
#include "core/workspace/link.h"

namespace lockscope {

namespace {

// What the links of one Redis and of a Redlock set share.
class RedisLinkBase : public Link {
public:
    // A connection of one contender of ours, and the same behind the gate.
    struct OwnConnection {
        std::unique_ptr<redis::Connection> client, gated; // gated stands before client
    };

    // In the order of the URI. Gated.
    [[nodiscard]] virtual std::vector<redis::Connection *> nodes() = 0;
    // A fresh connection to each of them, for a contender of ours.
    [[nodiscard]] std::vector<OwnConnection> openConnections()
    {
        std::vector<OwnConnection> connections;
        const bool isSet = areNodesApart(m_spec.scheme);
        for (const auto &host : isSet ? m_spec.hosts : std::vector{m_spec.hosts.front()}) {
            auto &one = connections.emplace_back();
            one.client = openTo(host);
            one.gated = operate::gated(*one.client, m_gate, nameOf(host));
        }
        return connections;
    }

    [[nodiscard]] std::unique_ptr<OwnContender> openContender(const HoldRequest &request) override;
    [[nodiscard]] std::unique_ptr<ContenderPool> openPool(const ContenderPoolContext &context) override;
    [[nodiscard]] Task<Result<operate::Sent>> sendRelease(operate::ForceReleasePlan plan, Deadline deadline) override
    {
        return operate::sendRelease(std::move(plan), nodes(), deadline);
    }
    // Of a set there is no key but one on each of its nodes: those are not edited.
    [[nodiscard]] Task<Result<operate::EditState>> readForEdit(operate::EditRequest request,
                                                               Deadline deadline) override
    {
        return nodes().size() == 1 ? operate::readForEdit(std::move(request), nodes().front(), deadline)
                                   : Link::readForEdit(std::move(request), deadline);
    }
    [[nodiscard]] Task<Result<operate::EditSent>> sendEdit(operate::EditPlan plan, Deadline deadline) override
    {
        return nodes().size() == 1 ? operate::sendEdit(std::move(plan), nodes().front(), deadline)
                                   : Link::sendEdit(std::move(plan), deadline);
    }
    // Of a set, a node that is gone is not waited for.
    [[nodiscard]] bool isCleaningUp() override
    {
        const auto all = nodes();
        return std::ranges::any_of(all, [&all](redis::Connection *node) {
            return !node->background().isIdle()
                   && (all.size() == 1 || node->state() == redis::ConnectionState::Connected);
        });
    }
    [[nodiscard]] Task<QStringList> rights(Deadline deadline) override
    {
        const auto all = nodes();
        m_server = co_await inspect::redisServer(all.front(), deadline);
        auto said = co_await inspect::redisRights(all.front(), !isReplica(), deadline);
        if (all.size() > 1)
            said << u"asked of the first of %1 nodes"_s.arg(all.size());
        co_return said;
    }
    // Once its rights were asked.
    [[nodiscard]] QString serverVersion() override { return m_server; }

protected:
    using Link::Link;
    [[nodiscard]] redis::ConnectionOptions connectionOptions(const HostPort &host) const
    {
        redis::ConnectionOptions options;
        options.host = host;
        if (m_spec.transport.isTunnelled())
            options.door = [transport = m_transport](const HostPort &server) { return transport->through(server); };
        options.tls = m_spec.transport.tls;
        options.user = m_spec.user.toUtf8();
        options.password = m_password.toUtf8();
        options.passwords = m_passwords;
        options.database = m_spec.database;
        return options;
    }
    // To the node there; of a deployment that is one, to all of it.
    [[nodiscard]] std::unique_ptr<redis::Connection> openTo(const HostPort &host) const
    {
        auto &loop = m_context.loop;
        const auto options = connectionOptions(host);
        if (isCluster())
            return redis::openCluster(loop, m_spec.hosts, options);
        if (m_spec.scheme == Scheme::RedisSentinel)
            return redis::openBySentinels(loop, m_spec.hosts, m_spec.service.toUtf8(), options);
        return redis::openConnection(loop, options);
    }
    // The URI may not say so.
    [[nodiscard]] virtual bool isCluster() const { return m_spec.scheme == Scheme::RedisCluster; }
    [[nodiscard]] virtual bool isReplica() const { return false; }
    // For the log; empty of a Redis by itself.
    [[nodiscard]] virtual QString nameOf(const HostPort & /*host*/) const { return {}; }

private:
    QString m_server;
};

class RedisLink : public RedisLinkBase {
public:
    RedisLink(ConnectionSpec spec, LinkContext context) : RedisLinkBase(std::move(spec), std::move(context))
    {
        m_connection = open();
        m_gated = operate::gated(*m_connection, m_gate);
        m_observer = std::make_unique<inspect::RedisObserver>(*m_gated, m_spec.name, m_context.options.observer,
                                                              m_proxy, m_spec.database);
        m_state = m_connection->onState(
            [this](redis::ConnectionState state) { stateChanged(state == redis::ConnectionState::Connected); });
        if (m_spec.scheme == Scheme::RedisCluster)
            m_proxy.describe(u"Redis Cluster"_s);
        if (m_spec.scheme == Scheme::RedisSentinel)
            m_proxy.describe(u"the primary that the sentinels name"_s);
    }

    [[nodiscard]] bool isConnected() const override
    {
        return m_connection->state() == redis::ConnectionState::Connected;
    }
    [[nodiscard]] std::optional<Error> problem() const override { return problemOf(*m_connection); }
    [[nodiscard]] std::vector<redis::Connection *> nodes() override { return {m_gated.get()}; }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }
    [[nodiscard]] QString remark() const override { return m_remark; }

private:
    [[nodiscard]] bool isCluster() const override { return m_isCluster || RedisLinkBase::isCluster(); }
    [[nodiscard]] bool isReplica() const override { return m_isReplica; }

    [[nodiscard]] std::unique_ptr<redis::Connection> open()
    {
        const auto &host = m_spec.hosts.front();
        if (schemeInfoOf(m_spec.scheme)->isOneDeployment)
            return openTo(host);
        return redis::openFinding(m_context.loop, connectionOptions(host),
                                  [this](const redis::ServerPlace &place) { found(place); });
    }
    void found(const redis::ServerPlace &place)
    {
        m_isCluster = place.isInCluster;
        m_isReplica = !m_isCluster && !place.replicaOf.isEmpty();
        m_remark.clear();
        if (m_isCluster)
            m_remark = u"this is a node of a Redis Cluster: the entire cluster is read"_s;
        else if (m_isReplica)
            m_remark = u"this is a replica of %1: it shows what has reached it, which may be late, and takes no "
                       u"writes"_s.arg(place.replicaOf);
        m_proxy.describe(m_isCluster ? u"Redis Cluster"_s : QString());
        m_proxy.addGap(m_isCluster ? QString() : m_remark);
        if (!m_remark.isEmpty())
            m_gate.event(m_remark);
    }

    std::unique_ptr<redis::Connection> m_connection;
    std::unique_ptr<redis::Connection> m_gated;
    std::unique_ptr<inspect::RedisObserver> m_observer;
    Subscription m_state;
    QString m_remark;
    bool m_isCluster = false;
    bool m_isReplica = false;
};

// A mute node neither connects nor fails.
constexpr std::chrono::seconds settlingTime(1);

// A Redlock set: independent Redis nodes, each with a client of its own, all behind one gate. Connected
// when a majority is, and the others had a moment to say what is the matter with them.
class RedisSetLink : public RedisLinkBase {
public:
    RedisSetLink(ConnectionSpec spec, LinkContext context) : RedisLinkBase(std::move(spec), std::move(context))
    {
        std::vector<inspect::RedisSetObserver::Node> observed;
        for (const auto &host : m_spec.hosts) {
            Node node;
            node.name = displayHost(host);
            node.client = redis::openConnection(m_context.loop, connectionOptions(host));
            node.gated = operate::gated(*node.client, m_gate, node.name);
            node.state = node.client->onState([this](redis::ConnectionState) { stateChanged(isConnected()); });
            observed.push_back({node.name, node.gated.get(), m_spec.database});
            m_nodes.push_back(std::move(node));
        }
        m_observer = std::make_unique<inspect::RedisSetObserver>(std::move(observed), m_spec.name,
                                                                 m_context.options.observer, m_proxy);
        m_settling = m_context.loop.callAt(m_context.loop.now() + settlingTime, [this] {
            m_settled = true;
            stateChanged(isConnected());
        });
    }

    [[nodiscard]] bool isConnected() const override
    {
        return connected() >= quorum() && (m_settled || connected() + failed() == size());
    }
    [[nodiscard]] std::optional<Error> problem() const override
    {
        if (isConnected() || failed() <= size() - quorum())
            return std::nullopt;
        int refused = 0;
        bool isExplained = false;
        QStringList reasons;
        for (const auto &node : m_nodes) {
            if (!hasFailed(node))
                continue;
            refused += node.client->state() == redis::ConnectionState::AuthFailed ? 1 : 0;
            isExplained |= node.client->isExplained();
            reasons << u"%1: %2"_s.arg(node.name, reason(node.client->lastError()));
        }
        const auto text = u"%1: %2 of %3 nodes can be reached, and it takes %4: %5"_s.arg(
            m_spec.displayUri(), QString::number(size() - failed()), QString::number(size()),
            QString::number(quorum()), reasons.join(u"; "_s));
        if (refused > size() - quorum())
            return Error{ErrorCode::AuthFailed, text};
        return Error{ErrorCode::NotConnected, text, true, isExplained};
    }
    [[nodiscard]] std::vector<redis::Connection *> nodes() override
    {
        return mapped<std::vector<redis::Connection *>>(m_nodes, [&](const auto &node) { return node.gated.get(); });
    }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }

private:
    [[nodiscard]] QString nameOf(const HostPort &host) const override { return displayHost(host); }

    struct Node {
        QString name;
        std::unique_ptr<redis::Connection> client;
        std::unique_ptr<redis::Connection> gated;
        Subscription state;
    };

    [[nodiscard]] int size() const { return static_cast<int>(m_nodes.size()); }
    [[nodiscard]] int quorum() const { return recipes::quorumOf(size()); }
    [[nodiscard]] static bool hasFailed(const Node &node)
    {
        return node.client->state() != redis::ConnectionState::Connected && !node.client->lastError().isEmpty();
    }
    [[nodiscard]] int failed() const { return static_cast<int>(std::ranges::count_if(m_nodes, hasFailed)); }
    [[nodiscard]] int connected() const
    {
        return static_cast<int>(std::ranges::count_if(
            m_nodes, [](const Node &node) { return node.client->state() == redis::ConnectionState::Connected; }));
    }

    std::vector<Node> m_nodes;
    std::unique_ptr<inspect::RedisSetObserver> m_observer;
    Timer m_settling;
    bool m_settled = false;
};

class RedisPool : public ContenderPool {
public:
    RedisPool(RedisLinkBase &link, const ContenderPoolContext &context)
        : m_link(link), m_scenario(context.scenario), m_key("lockscope-simulate:" + context.name)
    {
        for (int i = 0; i < context.sessions; ++i) {
            auto &process = m_processes.emplace_back();
            process.connections = m_link.openConnections();
            for (const auto &connection : process.connections)
                process.traced.push_back(
                    std::make_unique<contention::TracedConnection>(*connection.gated, context.trace, i));
        }
    }

    [[nodiscard]] bool isReady() const override
    {
        for (const auto &process : m_processes) {
            for (const auto &connection : process.connections) {
                if (connection.gated->state() != redis::ConnectionState::Connected)
                    return false;
            }
        }
        return true;
    }

    Task<Result<void>> prepare(Deadline) override { co_return Result<void>(); }

    Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        const auto &traced = m_processes[std::size_t(contender) % m_processes.size()].traced;
        const auto random = Random::fromSystem();
        if (!recipes::recipeOf(m_scenario.recipe).quorum)
            return recipes::makeLock(m_scenario.recipe, *traced.front(), m_key, options, random);
        const auto nodes =
            mapped<std::vector<redis::Connection *>>(traced, [&](const auto &node) { return node.get(); });
        return recipes::makeLock(m_scenario.recipe, nodes, m_key, options, random);
    }

    // Only the lock's own key counts: what stands beside it (counters, latches with a TTL) is the recipe's.
    Task<std::vector<QByteArray>> tidy(Deadline deadline) override
    {
        std::vector<QByteArray> left;
        for (auto *node : m_link.nodes()) {
            QByteArray cursor = "0";
            QByteArrayList found;
            do {
                const redis::Command scan{"SCAN", cursor, "MATCH", "*" + m_key.bytes() + "*", "COUNT", "1000"};
                const auto page = co_await node->command(scan, deadline);
                if (!page || page->items.size() != 2)
                    break;
                cursor = page->items[0].text;
                for (const auto &item : page->items[1].items)
                    found << item.text;
            } while (cursor != "0");
            for (const auto &key : found) {
                if (key == m_key.bytes())
                    left.push_back(key);
                const redis::Command remove{"DEL", key};
                (void)co_await node->command(remove, deadline);
            }
        }
        co_return left;
    }

private:
    struct Process {
        std::vector<RedisLinkBase::OwnConnection> connections; // one per node
        std::vector<std::unique_ptr<contention::TracedConnection>> traced;
    };

    RedisLinkBase &m_link;
    const contention::Scenario m_scenario;
    const RedisKey m_key;
    std::vector<Process> m_processes;
};

// A contender of ours on a Redis or a Redlock set: it uses the link's connections, and has them tell of its key.
class RedisContender : public OwnContender {
public:
    RedisContender(std::vector<redis::Connection *> nodes, HoldRequest request)
        : m_nodes(std::move(nodes)), m_loop(m_nodes.front()->loop()), m_request(std::move(request))
    {
    }

    Result<std::unique_ptr<recipes::Lock>> makeLock() override
    {
        const auto options = m_request.options();
        const RedisKey key(m_request.lock.name);
        const auto random = Random::fromSystem();
        if (m_nodes.size() == 1)
            return recipes::makeLock(m_request.recipe, *m_nodes.front(), key, options, random);
        return recipes::makeLock(m_request.recipe, m_nodes, key, options, random);
    }

    // A value that every holder writes names a hold only with the moment at which it ends.
    Task<QByteArray> idOf(QByteArray granted) override
    {
        const auto &recipe = recipes::recipeOf(m_request.recipe);
        if (m_nodes.size() > 1 || recipe.namesHolder || recipe.endsBy != recipes::EndsBy::Lease)
            co_return granted;
        const redis::Command question{"PEXPIRETIME", m_request.lock.name};
        const auto expiry =
            co_await m_nodes.front()->command(question, Deadline::after(m_loop, std::chrono::seconds(5)));
        co_return expiry && expiry->integer > 0 ? recipes::constantContenderId(granted, expiry->integer) : granted;
    }

    void watchOver(const Holding &holding, const recipes::Grant &grant) override
    {
        m_watch.emplace(m_nodes, m_request.lock.name);
        m_watch->begin({holding.scope, holding.lock, holding.isReleasing, holding.lost}, grant);
        m_watch->track(holding.scope);
    }

private:
    const std::vector<redis::Connection *> m_nodes;
    Loop &m_loop;
    const HoldRequest m_request;
    std::optional<recipes::KeyWatch> m_watch;
};

} // namespace

std::unique_ptr<OwnContender> RedisLinkBase::openContender(const HoldRequest &request)
{
    return std::make_unique<RedisContender>(nodes(), request);
}

std::unique_ptr<ContenderPool> RedisLinkBase::openPool(const ContenderPoolContext &context)
{
    return std::make_unique<RedisPool>(*this, context);
}

std::vector<redis::Connection *> redisNodesOf(Link *link)
{
    auto *redis = dynamic_cast<RedisLinkBase *>(link);
    return redis ? redis->nodes() : std::vector<redis::Connection *>();
}

Result<std::unique_ptr<Link>> makeRedisLink(ConnectionSpec spec, LinkContext context)
{
    if (spec.hosts.size() > 1 && areNodesApart(spec.scheme))
        return std::unique_ptr<Link>(std::make_unique<RedisSetLink>(std::move(spec), std::move(context)));
    return std::unique_ptr<Link>(std::make_unique<RedisLink>(std::move(spec), std::move(context)));
}

} // namespace lockscope
