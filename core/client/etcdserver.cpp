// SPDX-License-Identifier: Apache-2.0
// etcd: one client for all locks; each hold has a lease of its own.
#include "core/client/server.h"
#include "core/recipes/etcd/keywatch.h"
#include "core/recipes/make.h"

namespace lockscope::client {

namespace {

class EtcdContender : public Contender {
public:
    EtcdContender(etcd::Client &client, Request request) : m_client(client), m_request(std::move(request)) {}

    Result<std::unique_ptr<recipes::Lock>> makeLock() override
    {
        return recipes::makeLock(m_request.recipe, m_client, m_request.lock, m_request.options, Random::fromSystem());
    }
    void watchOver(const recipes::Holding &holding, const recipes::Grant &grant) override
    {
        holding.scope.launch(recipes::watchOwnKey(&m_client, m_request.lock, holding, grant));
    }

private:
    etcd::Client &m_client;
    const Request m_request;
};

class EtcdServer : public Server {
public:
    explicit EtcdServer(Reach reach) : m_reach(std::move(reach))
    {
        etcd::ClientOptions options;
        for (const auto &host : m_reach.spec.hosts)
            options.hosts.push_back(m_reach.transport->throughTls(host));
        options.names = m_reach.spec.hosts;
        options.keep = m_reach.transport;
        options.user = m_reach.spec.user;
        options.password = m_reach.spec.password;
        options.passwords = m_reach.passwords;
        m_client = etcd::openClient(m_reach.loop, std::move(options));
    }

    Task<Result<void>> connect(Deadline deadline) override
    {
        auto connected = co_await untilUp(&m_reach, m_client.get(), deadline);
        co_return connected;
    }
    std::unique_ptr<Contender> open(const Request &request) override
    {
        return std::make_unique<EtcdContender>(*m_client, request);
    }
    [[nodiscard]] bool isCleaningUp() const override { return !m_client->background().isIdle(); }

private:
    const Reach m_reach;
    std::unique_ptr<etcd::Client> m_client;
};

std::unique_ptr<Server> makeEtcdServer(Reach reach)
{
    return std::make_unique<EtcdServer>(std::move(reach));
}

} // namespace

} // namespace lockscope::client

namespace lockscope::v0::detail {

// <lockscope/etcd.h> declares it.
bool linkEtcd()
{
    return client::addBackend(BackendKind::Etcd, client::makeEtcdServer);
}

} // namespace lockscope::v0::detail
