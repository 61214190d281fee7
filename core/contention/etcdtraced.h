// SPDX-License-Identifier: Apache-2.0
// A client of etcd that tells the trace what one contender sends and hears. In the simulated world and on real
// servers alike; several contenders may share what stands behind it. Outlived by both.
#pragma once

#include "core/contention/trace.h"
#include "core/etcd/client.h"

namespace lockscope::contention {

class TracedEtcd final : public etcd::ForwardingClient {
public:
    TracedEtcd(etcd::Client &inner, Trace &trace, int contender)
        : ForwardingClient(inner), m_trace(std::make_shared<Trace *>(&trace)), m_contender(contender)
    {
    }

    Reply<etcd::RangeAnswer> range(etcd::RangeRequest request, Deadline deadline) override;
    Reply<etcd::TransactionAnswer> commit(etcd::Transaction transaction, Deadline deadline) override;
    Reply<etcd::LeaseAnswer> grant(etcd::LeaseId id, std::chrono::seconds ttl, Deadline deadline) override;
    Reply<etcd::LeaseAnswer> keepAlive(etcd::LeaseId id, Deadline deadline) override;
    Reply<bool> revoke(etcd::LeaseId id, Deadline deadline) override;
    Reply<etcd::LeaseAnswer> timeToLive(etcd::LeaseId id, bool withKeys, Deadline deadline) override;
    Reply<std::vector<etcd::LeaseId>> leases(Deadline deadline) override;
    Subscription watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener) override;

private:
    template <class T, class Send>
    Reply<T> pass(const QByteArray &verb, const QByteArray &where, qint64 bytes, const Send &send)
    {
        (*m_trace)->sent(m_contender, verb, where, bytes);
        auto reply = send();
        reply.observe([verb, weak = std::weak_ptr(m_trace), contender = m_contender](const Result<T> &result) {
            if (const auto trace = weak.lock())
                (*trace)->answered(contender, verb, !result, 0);
        });
        return reply;
    }

    std::shared_ptr<Trace *> m_trace; // what comes after this has gone is not written down
    const int m_contender;
};

} // namespace lockscope::contention
