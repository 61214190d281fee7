// SPDX-License-Identifier: Apache-2.0
// The simulated etcd as the server of a run.
#include "core/contention/access.h"
#include "core/contention/faults.h"

namespace lockscope::contention {

namespace {

using etcd::Operation;

const QByteArray etcdLockName("sim/lock");

class EtcdServers final : public Servers {
public:
    explicit EtcdServers(const ServersContext &context) : m_context(context), m_server(context.world)
    {
        m_context.trace.onEvent([this](const Event &event) {
            const auto lease = event.what.left(event.what.indexOf('@'));
            if (event.mark == Mark::Holds)
                m_granted[lease] = event.contender;
        });
    }

    [[nodiscard]] std::unique_ptr<ContenderAccess> open(sim::Process &process, int contender) override
    {
        return m_clients.open(process, contender, m_server, m_context.network, m_context.scenario, m_context.trace,
                              etcdLockName);
    }
    [[nodiscard]] int count() const override { return 1; }

    bool forceRelease(bool ofWaiter) override
    {
        const auto queue = inOrder();
        const auto place = static_cast<std::size_t>(ofWaiter);
        if (queue.size() <= place)
            return false;
        etcd::Transaction transaction;
        transaction.then.resize(1);
        transaction.then.front().kind = Operation::Kind::Remove;
        transaction.then.front().range.key = queue[place].key;
        return bool(m_server.answer(transaction));
    }
    // Its leases run by a clock that nobody sets.
    bool jumpClock(std::chrono::milliseconds /*by*/) override { return true; }

    [[nodiscard]] std::vector<ServerLine> state() const override
    {
        std::vector<ServerLine> lines;
        for (const auto &entry : inOrder()) {
            QByteArray words =
                "created at " + QByteArray::number(entry.created) + ", lease " + etcd::leaseText(entry.lease);
            const auto known = m_granted.find(etcd::leaseText(entry.lease));
            if (known != m_granted.end())
                words += " of " + contenderName(known->second, m_context.scenario.contenders);
            lines.push_back({0, entry.key, words, {}});
        }
        return lines;
    }
    [[nodiscard]] std::vector<QByteArray> leftBehind() const override
    {
        std::vector<QByteArray> left;
        for (const auto &[key, entry] : m_server.entries())
            left.push_back(key);
        const auto leases = m_server.answer(etcd::LeasesRequest());
        for (const auto lease : *leases)
            left.push_back("lease " + etcd::leaseText(lease));
        return left;
    }
    [[nodiscard]] Duration longestGap() const override { return 2 * Duration(m_context.scenario.ttl) + 10s; }
    [[nodiscard]] Duration longestLife() const override { return Duration(m_context.scenario.ttl) + 3s; }

private:
    [[nodiscard]] std::vector<etcd::KeyValue> inOrder() const
    {
        std::vector<etcd::KeyValue> queue;
        for (const auto &[key, entry] : m_server.entries())
            queue.push_back(entry);
        std::ranges::sort(queue, {}, &etcd::KeyValue::created);
        return queue;
    }

    const ServersContext m_context;
    sim::EtcdServer m_server;
    EtcdClients m_clients;
    std::map<QByteArray, int> m_granted; // by lease
};

} // namespace

std::unique_ptr<Servers> makeEtcdServers(const ServersContext &context)
{
    return std::make_unique<EtcdServers>(context);
}

// Which faults can happen there, and what they may break.
using recipes::RecipeInfo;

namespace {

std::optional<OverlapBound> overlapOnEtcd(const Scenario &scenario, FaultKind fault)
{
    switch (fault) {
    case FaultKind::Pause:
    case FaultKind::Drift: return overlapOfRenewedLease(scenario, fault);
    // Where all queue first, the first one works until they have.
    case FaultKind::ForceRelease: return OverlapBound{scenario.hold + joining(scenario), u"the rest of its work"_s};
    default: return {};
    }
}

} // namespace

// It keeps what it was told on a majority of its members, and leases run by a clock that nobody sets. A lease is one
// hold's own: none ends without its hold but by force, which is a fault of its own.
BackendRules rulesOfEtcd()
{
    return {.never = {FaultKind::Expire, FaultKind::Lag, FaultKind::RestartEmpty, FaultKind::Failover,
                      FaultKind::LostPublish},
            .twoBelieve = [](const RecipeInfo &, FaultKind fault,
                             const QByteArray &) { return twoBelieve("etcd key", fault); },
            .overlap = &overlapOnEtcd,
            .believesFor = [](const Scenario &scenario) { return std::max<Duration>(scenario.ttl, scenario.hold); }};
}

} // namespace lockscope::contention
