// SPDX-License-Identifier: Apache-2.0
// A contender's way to a lock on the simulated etcd, in a run or in a rehearsal. Those of one process share its
// client; the leases are their own.
#pragma once

#include "core/contention/servers.h"
#include "core/contention/traced/tracedport.h"
#include "core/recipes/make.h"
#include "core/simservers/etcd/server.h"

namespace lockscope::contention {

// The scenario outlives it.
class EtcdAccess final : public ContenderAccess {
public:
    EtcdAccess(std::shared_ptr<etcd::Client> client, const Scenario &scenario, Trace &trace, int contender,
               QByteArray lock)
        : m_scenario(scenario), m_lock(std::move(lock)), m_client(std::move(client)),
          m_traced(*m_client, trace, contender)
    {
    }
    [[nodiscard]] bool isReady() const override { return m_client->state() == etcd::ClientState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool readMode, Random random) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        return recipes::makeLock(m_scenario.recipe, m_traced, m_lock, options, random);
    }

private:
    const Scenario &m_scenario;
    const QByteArray m_lock;
    std::shared_ptr<etcd::Client> m_client; // its process's
    TracedEtcd m_traced;
};

class EtcdClients {
public:
    [[nodiscard]] std::unique_ptr<ContenderAccess> open(sim::Process &process, int contender, sim::EtcdServer &server,
                                                        sim::Network &network, const Scenario &scenario, Trace &trace,
                                                        const QByteArray &lock)
    {
        auto &shared = m_clients[process.number()];
        auto client = shared.lock();
        if (!client) {
            client = sim::openEtcd(process, server, network);
            shared = client;
        }
        return std::make_unique<EtcdAccess>(std::move(client), scenario, trace, contender, lock);
    }

private:
    std::map<int, std::weak_ptr<etcd::Client>> m_clients; // by process
};

} // namespace lockscope::contention
