// SPDX-License-Identifier: Apache-2.0
// An etcd connection: client, gate, observer. The client reconnects by itself.
#include "core/contention/traced/tracedport.h"
#include "core/inspect/etcd/observer.h"
#include "core/operate/etcd.h"
#include "core/workspace/link.h"
#include "core/recipes/etcd/keywatch.h"

namespace lockscope {

namespace {

// It uses the link's client; the lease is its own.
class EtcdContender : public OwnContender {
public:
    EtcdContender(etcd::Client &client, HoldRequest request) : m_client(client), m_request(std::move(request)) {}

    Result<std::unique_ptr<recipes::Lock>> makeLock() override
    {
        return recipes::makeLock(m_request.recipe, m_client, m_request.lock.name, m_request.options(),
                                 Random::fromSystem());
    }
    void watchOver(const Holding &holding, const recipes::Grant &grant) override
    {
        holding.scope.launch(recipes::watchOwnKey(
            &m_client, m_request.lock.name,
            recipes::Holding{holding.scope, holding.lock, holding.isReleasing, holding.lost}, grant));
    }
    // A slash at the end makes it another lock, whose keys are below the other's: that one's clients wait for them,
    // and these wait for none of that one's. There are locks called so ("/my-lock/"), so it is not taken off. Nor do
    // clients that queue wait for the key of that very name.
    [[nodiscard]] std::vector<QByteArray> otherNames() const override
    {
        const auto &name = m_request.lock.name;
        std::vector<QByteArray> names{inspect::lockOfFixed(name)};
        if (name.size() > 1 && name.endsWith('/'))
            names.push_back(name.chopped(1));
        return names;
    }

private:
    etcd::Client &m_client;
    const HoldRequest m_request;
};

// The contenders of a run share the link's client, as several locks of one program would; the leases are their own.
class EtcdPool : public ContenderPool {
public:
    EtcdPool(etcd::Client &client, const ContenderPoolContext &context)
        : m_client(client), m_scenario(context.scenario), m_lock("lockscope-simulate/" + context.name)
    {
        for (int i = 0; i < m_scenario.contenders; ++i)
            m_traced.push_back(std::make_unique<contention::TracedEtcd>(client, context.trace, i));
    }

    [[nodiscard]] bool isReady() const override { return m_client.state() == etcd::ClientState::Connected; }
    Task<Result<void>> prepare(Deadline /*deadline*/) override { co_return Result<void>(); }
    Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        return recipes::makeLock(m_scenario.recipe, *m_traced[std::size_t(contender)], m_lock, options,
                                 Random::fromSystem());
    }
    // Nothing stays but what clients left: it goes with its leases.
    Task<std::vector<QByteArray>> tidy(Deadline deadline) override
    {
        std::vector<QByteArray> left;
        etcd::RangeRequest request;
        request.key = m_lock + '/';
        request.end = etcd::endOfPrefix(request.key);
        request.keysOnly = true;
        const auto answer = co_await m_client.range(request, deadline);
        for (const auto &entry : answer ? answer->entries : std::vector<etcd::KeyValue>()) {
            left.push_back(entry.key);
            (void)co_await m_client.revoke(entry.lease, deadline);
        }
        co_return left;
    }

private:
    etcd::Client &m_client;
    const contention::Scenario m_scenario;
    const QByteArray m_lock;
    std::vector<std::unique_ptr<contention::TracedEtcd>> m_traced;
};

class EtcdLink : public Link {
public:
    EtcdLink(ConnectionSpec spec, LinkContext context) : Link(std::move(spec), std::move(context))
    {
        etcd::ClientOptions options;
        for (const auto &host : m_spec.hosts)
            options.hosts.push_back(m_transport->throughTls(host));
        options.names = m_spec.hosts;
        options.keep = m_transport;
        options.user = m_spec.user;
        options.password = m_password;
        options.passwords = m_passwords;
        m_client = etcd::openClient(m_context.loop, std::move(options));
        m_gated = operate::gated(*m_client, m_gate);
        m_observer = std::make_unique<inspect::EtcdObserver>(*m_gated, m_spec.name, m_spec.databaseName.toUtf8(),
                                                             m_context.options.observer, m_proxy);
        m_state = m_client->onState(
            [this](etcd::ClientState state) { stateChanged(state == etcd::ClientState::Connected); });
    }

    [[nodiscard]] bool isConnected() const override { return m_client->state() == etcd::ClientState::Connected; }
    [[nodiscard]] std::optional<Error> problem() const override { return problemOf(*m_client); }
    [[nodiscard]] QString serverVersion() override
    {
        const auto version = m_client->serverVersion();
        return version.isEmpty() ? QString() : u"etcd "_s + QString::fromLatin1(version);
    }
    [[nodiscard]] Task<QStringList> rights(Deadline deadline) override
    {
        return inspect::etcdRights(m_gated.get(), deadline);
    }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }
    [[nodiscard]] bool isCleaningUp() override { return !m_gated->background().isIdle(); }

    [[nodiscard]] std::unique_ptr<OwnContender> openContender(const HoldRequest &request) override
    {
        return std::make_unique<EtcdContender>(*m_gated, request);
    }
    [[nodiscard]] std::unique_ptr<ContenderPool> openPool(const ContenderPoolContext &context) override
    {
        return std::make_unique<EtcdPool>(*m_gated, context);
    }
    [[nodiscard]] Task<operate::ForceReleasePlan> withLosses(operate::ForceReleasePlan plan,
                                                             Deadline deadline) override
    {
        return operate::withLeaseKeys(std::move(plan), m_gated.get(), deadline);
    }
    [[nodiscard]] Task<Result<operate::Sent>> sendRelease(operate::ForceReleasePlan plan, Deadline deadline) override
    {
        return operate::sendRelease(std::move(plan), m_gated.get(), deadline);
    }

private:
    std::unique_ptr<etcd::Client> m_client;
    std::unique_ptr<etcd::Client> m_gated;
    std::unique_ptr<inspect::EtcdObserver> m_observer;
    Subscription m_state;
};

} // namespace

Result<std::unique_ptr<Link>> makeEtcdLink(ConnectionSpec spec, LinkContext context)
{
    return std::unique_ptr<Link>(std::make_unique<EtcdLink>(std::move(spec), std::move(context)));
}

} // namespace lockscope
