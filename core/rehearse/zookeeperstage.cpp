// SPDX-License-Identifier: Apache-2.0
#include "core/rehearse/stage.h"

#include "core/contention/zookeeperaccess.h"
#include "core/operate/zookeeper.h"

namespace lockscope::rehearse {

namespace {

namespace keeper = sim::zookeeper;

class ZooKeeperStage final : public Stage {
public:
    explicit ZooKeeperStage(const StageContext &context)
        : m_context(context), m_ensemble(context.network, {}),
          m_operator(context.world, operatorProcess(context.scenario)),
          m_session(keeper::openSession(m_operator, m_ensemble, {}))
    {
    }
    ~ZooKeeperStage() override { m_operator.kill(); }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(sim::Process &process, int contender) override
    {
        auto &shared = m_sessions[process.number()];
        auto session = shared.lock();
        if (!session) {
            keeper::SessionOptions options;
            options.random = Random(static_cast<quint64>(contender) + 1);
            session = keeper::openSession(process, m_ensemble, std::move(options));
            shared = session;
        }
        const std::vector paths{ZPath(m_context.plan.before.lock.name)};
        return std::make_unique<contention::ZooKeeperAccess>(std::move(session), m_context.scenario, m_context.trace,
                                                             contender,
                                                             std::make_shared<const std::vector<ZPath>>(paths));
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int /*contender*/,
                                                      recipes::Grant grant) override
    {
        const auto node = m_ensemble.node(grant.node);
        if (!node)
            co_return operate::goneAlready(plan);
        plan.guard = inspect::ZnodeIdentity{.path = grant.node.bytes(),
                                            .czxid = node->stat.czxid,
                                            .owner = node->stat.ephemeralOwner.value,
                                            .version = node->stat.version};
        const auto deadline = Deadline::after(m_context.world, std::chrono::seconds(5));
        auto sent = co_await operate::sendRelease(plan, m_session.get(), deadline);
        co_return sent;
    }

private:
    const StageContext m_context;
    keeper::Ensemble m_ensemble;
    std::map<int, std::weak_ptr<zk::Session>> m_sessions; // by process
    sim::Process m_operator;
    std::unique_ptr<zk::Session> m_session;
};

} // namespace

std::unique_ptr<Stage> makeZooKeeperStage(const StageContext &context)
{
    return std::make_unique<ZooKeeperStage>(context);
}

} // namespace lockscope::rehearse
