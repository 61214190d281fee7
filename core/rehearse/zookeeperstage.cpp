// SPDX-License-Identifier: Apache-2.0
#include "core/rehearse/stage.h"

#include "core/contention/traced/tracedsession.h"
#include "core/operate/releaseact.h"
#include "core/operate/zookeeperrelease.h"
#include "core/recipes/make.h"
#include "core/world/zookeeper/session.h"

namespace lockscope::rehearse {

namespace {

namespace keeper = world::zookeeper;

class RehearsedZooKeeper final : public contention::ContenderAccess {
public:
    RehearsedZooKeeper(std::shared_ptr<zk::Session> session, const StageContext &context, int contender)
        : m_recipe(context.recipe), m_path(context.plan.before.lock.name), m_limit(context.limit),
          m_session(std::move(session)), m_traced(*m_session, context.trace, contender)
    {
    }
    [[nodiscard]] bool isReady() const override { return m_session->state() == zk::SessionState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool reads, Random random) override
    {
        recipes::AcquireOptions options;
        options.readMode = reads;
        options.limit = m_limit;
        return recipes::makeLock(m_recipe, m_traced, m_path, options, std::move(random));
    }

private:
    const QByteArray m_recipe;
    const ZPath m_path;
    const int m_limit;
    std::shared_ptr<zk::Session> m_session; // its process's
    contention::TracedSession m_traced;
};

class ZooKeeperStage final : public Stage {
public:
    explicit ZooKeeperStage(const StageContext &context)
        : m_context(context), m_ensemble(context.network, {}), m_operator(context.world, operatorProcess),
          m_session(keeper::openSession(m_operator, m_ensemble, {}))
    {
    }
    ~ZooKeeperStage() override { m_operator.kill(); }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(world::Process &process, int contender) override
    {
        auto &shared = m_sessions[process.number()];
        auto session = shared.lock();
        if (!session) {
            keeper::SessionOptions options;
            options.random = Random(static_cast<quint64>(contender) + 1);
            session = keeper::openSession(process, m_ensemble, std::move(options));
            shared = session;
        }
        return std::make_unique<RehearsedZooKeeper>(std::move(session), m_context, contender);
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int /*contender*/,
                                                      recipes::Grant grant) override
    {
        const auto node = m_ensemble.node(grant.node);
        if (!node)
            co_return operate::goneAlready(plan);
        plan.guard.path = grant.node.bytes();
        plan.guard.czxid = node->stat.czxid;
        plan.guard.owner = node->stat.ephemeralOwner.value;
        plan.guard.version = node->stat.version;
        const auto deadline = Deadline::after(m_context.world, std::chrono::seconds(5));
        auto sent = co_await operate::sendRelease(plan, m_session.get(), deadline);
        co_return sent;
    }

private:
    const StageContext m_context;
    keeper::Ensemble m_ensemble;
    std::map<int, std::weak_ptr<zk::Session>> m_sessions; // by process
    world::Process m_operator;
    std::unique_ptr<zk::Session> m_session;
};

} // namespace

std::unique_ptr<Stage> makeZooKeeperStage(const StageContext &context)
{
    return std::make_unique<ZooKeeperStage>(context);
}

} // namespace lockscope::rehearse
