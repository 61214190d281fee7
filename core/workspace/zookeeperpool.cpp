// SPDX-License-Identifier: Apache-2.0
#include "core/contention/traced/tracedsession.h"
#include "core/workspace/zookeeperlink.h"

namespace lockscope {

namespace {

class ZooKeeperPool : public ContenderPool {
public:
    ZooKeeperPool(ZooKeeperPort &port, const ContenderPoolContext &context)
        : m_port(port), m_scenario(context.scenario), m_root("/lockscope-simulate-" + context.name),
          m_lock(m_root.bytes() + "/lock")
    {
        for (int i = 0; i < context.sessions; ++i)
            m_sessions.push_back(m_port.openSession());
        for (int i = 0; i < m_scenario.contenders; ++i)
            m_traced.push_back(std::make_unique<contention::TracedSession>(
                *m_sessions[std::size_t(i % context.sessions)], context.trace, i));
    }

    [[nodiscard]] bool isReady() const override
    {
        return std::all_of(m_sessions.begin(), m_sessions.end(),
                           [](const auto &session) { return session->state() == zk::SessionState::Connected; });
    }

    // A container goes by itself should we not get to it; before 3.5 servers know none.
    Task<Result<void>> prepare(Deadline deadline) override
    {
        const auto open = zk::openAcl();
        auto making = m_port.session().create(m_root, {}, zk::CreateMode::Container, open, deadline);
        auto made = co_await making;
        if (!made && made.error().code == ErrorCode::Unsupported) {
            auto again = m_port.session().create(m_root, {}, zk::CreateMode::Persistent, open, deadline);
            made = co_await again;
        }
        if (!made)
            co_return made.error();
        co_return Result<void>();
    }

    Result<std::unique_ptr<recipes::Lock>> makeLock(int contender, bool readMode) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        return recipes::makeLock(m_scenario.recipe, *m_traced[std::size_t(contender)], m_lock, options,
                                 Random::fromSystem());
    }

    // Nodes of contenders count; the directories that recipes keep do not.
    Task<std::vector<QByteArray>> tidy(Deadline deadline) override
    {
        std::vector<QByteArray> left;
        std::vector<ZPath> open{m_root}, all;
        auto *session = &m_port.session();
        while (!open.empty()) {
            const auto path = open.back();
            open.pop_back();
            all.push_back(path);
            auto listing = session->children(path, std::nullopt, deadline);
            const auto children = co_await listing;
            for (const auto &name : children ? children->names : std::vector<NodeName>())
                open.push_back(path.child(name));
            auto looking = session->exists(path, std::nullopt, deadline);
            const auto stat = co_await looking;
            if (stat && !stat->ephemeralOwner.isNone())
                left.push_back(path.bytes());
        }
        for (auto path = all.rbegin(); path != all.rend(); ++path) {
            auto removing = session->remove(*path, zk::anyVersion, deadline);
            const auto removed = co_await removing;
            (void)removed; // what cannot be removed goes with its session, or as an empty container
        }
        co_return left;
    }

private:
    ZooKeeperPort &m_port;
    const contention::Scenario m_scenario;
    const ZPath m_root, m_lock;
    std::vector<std::unique_ptr<zk::Session>> m_sessions;
    std::vector<std::unique_ptr<contention::TracedSession>> m_traced; // by contender
};

} // namespace

std::unique_ptr<ContenderPool> makeZooKeeperPool(ZooKeeperPort &port, const ContenderPoolContext &context)
{
    return std::make_unique<ZooKeeperPool>(port, context);
}

} // namespace lockscope
