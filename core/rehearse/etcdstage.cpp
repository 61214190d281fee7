// SPDX-License-Identifier: Apache-2.0
#include "core/rehearse/stage.h"

#include "core/contention/etcdaccess.h"
#include "core/inspect/etcd/recognise.h"
#include "core/operate/etcd.h"

namespace lockscope::rehearse {

namespace {

class EtcdStage final : public Stage {
public:
    explicit EtcdStage(const StageContext &context)
        : m_context(context), m_server(context.world), m_operator(context.world, operatorProcess(context.scenario)),
          m_client(sim::openEtcd(m_operator, m_server, context.network))
    {
    }
    ~EtcdStage() override { m_operator.kill(); }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(sim::Process &process, int contender) override
    {
        return m_clients.open(process, contender, m_server, m_context.network, m_context.scenario, m_context.trace,
                              lockPlayed());
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int /*contender*/,
                                                      recipes::Grant grant) override
    {
        const auto at = grant.id.indexOf('@');
        const auto key = lockPlayed() + '/' + grant.id.left(at);
        const auto entry = m_server.entries().find(key);
        if (entry == m_server.entries().end())
            co_return operate::goneAlready(plan);
        plan.guard =
            inspect::EtcdIdentity{.key = key, .createRevision = entry->second.created, .lease = entry->second.lease};
        const auto deadline = Deadline::after(m_context.world, std::chrono::seconds(5));
        auto sent = co_await operate::sendRelease(plan, m_client.get(), deadline);
        co_return sent;
    }

private:
    [[nodiscard]] QByteArray lockPlayed() const
    {
        const auto &name = m_context.plan.before.lock.name;
        return inspect::keyOfFixed(name).value_or(name);
    }

    const StageContext m_context;
    sim::EtcdServer m_server;
    contention::EtcdClients m_clients;
    sim::Process m_operator;
    std::unique_ptr<etcd::Client> m_client;
};

} // namespace

std::unique_ptr<Stage> makeEtcdStage(const StageContext &context)
{
    return std::make_unique<EtcdStage>(context);
}

} // namespace lockscope::rehearse
