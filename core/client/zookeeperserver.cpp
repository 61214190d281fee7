// SPDX-License-Identifier: Apache-2.0
// ZooKeeper: one session for all locks of a client. When it expired, the next acquire takes a new one.
#include "core/client/server.h"
#include "core/recipes/make.h"
#include "core/recipes/zookeeper/locks.h"
#include "core/zookeeper/client.h"
#include "core/zookeeper/exchange.h"
#include "core/zookeeper/sendable.h"

namespace lockscope::client {

namespace {

class ZooKeeperContender : public Contender {
public:
    ZooKeeperContender(std::shared_ptr<zk::Session> session, Request request)
        : m_session(std::move(session)), m_request(std::move(request))
    {
    }

    Task<Result<void>> connect(Deadline deadline) override
    {
        auto connected = co_await recipes::untilConnected(m_session.get(), deadline);
        co_return connected;
    }
    Result<std::unique_ptr<recipes::Lock>> makeLock() override
    {
        return recipes::makeLock(m_request.recipe, *m_session, ZPath(m_request.lock), m_request.options,
                                 Random::fromSystem());
    }
    void watchOver(const recipes::Holding &holding, const recipes::Grant &grant) override
    {
        holding.scope.launch(recipes::watchOwnNode(m_session.get(), &holding.lock, grant)); // and the lock tells
    }
    [[nodiscard]] bool isOver() const override { return recipes::isOver(m_session->state()); }
    [[nodiscard]] bool isCleaningUp() const override { return !m_session->background().isIdle(); }

private:
    const std::shared_ptr<zk::Session> m_session;
    const Request m_request;
};

class ZooKeeperServer : public Server {
public:
    explicit ZooKeeperServer(Reach reach)
        : m_reach(std::move(reach)), m_reachability(m_reach.loop, m_reach.spec.hosts)
    {
        begin();
    }

    // The C client says nothing of why it does not connect.
    Task<Result<void>> connect(Deadline deadline) override
    {
        auto &loop = m_reach.loop;
        while (m_session->state() == zk::SessionState::Connecting && !deadline.hasPassed(loop)) {
            if (m_reach.transport->isDirect()) {
                const auto reachable = co_await m_reachability.check(deadline);
                if (!reachable && m_session->state() != zk::SessionState::Connected)
                    co_return m_reach.notConnected(reachable.error().message, false);
            }
            const auto step = std::min<Instant>(deadline.when(), loop.now() + 2s);
            (void)co_await recipes::untilConnected(m_session.get(), Deadline::at(step));
        }
        if (m_session->state() == zk::SessionState::Connected)
            co_return Result<void>();
        const bool isAuth = m_session->state() == zk::SessionState::AuthFailed;
        co_return m_reach.notConnected(isAuth ? zk::refusal() : u"no session in time"_s, isAuth);
    }
    std::unique_ptr<Contender> open(const Request &request) override
    {
        if (recipes::isOver(m_session->state()))
            begin();
        return std::make_unique<ZooKeeperContender>(m_session, request);
    }
    [[nodiscard]] bool isCleaningUp() const override { return !m_session->background().isIdle(); }

private:
    void begin()
    {
        zk::SessionOptions options;
        for (const auto &host : m_reach.spec.hosts)
            options.hosts.push_back(m_reach.transport->throughTls(host));
        options.keep = m_reach.transport;
        options.chroot = m_reach.spec.chroot;
        options.user = m_reach.spec.user.toUtf8();
        options.password = m_reach.spec.password.toUtf8();
        options.passwords = m_reach.passwords;
        options.timeout = m_reach.sessionTimeout;
        m_session = zk::openSession(m_reach.loop, std::move(options));
    }

    const Reach m_reach;
    zk::Reachability m_reachability;
    std::shared_ptr<zk::Session> m_session;
};

std::unique_ptr<Server> makeZooKeeperServer(Reach reach)
{
    return std::make_unique<ZooKeeperServer>(std::move(reach));
}

} // namespace

} // namespace lockscope::client

namespace lockscope::v0::detail {

// <lockscope/zookeeper.h> declares it.
bool linkZooKeeper()
{
    return client::addBackend(BackendKind::ZooKeeper, client::makeZooKeeperServer);
}

} // namespace lockscope::v0::detail
