// SPDX-License-Identifier: Apache-2.0
#include "core/contention/etcdtraced.h"

namespace lockscope::contention {

namespace {

// What a request takes beside its keys and values, about: good enough to compare recipes.
constexpr qint64 requestBytes = 40;

qint64 sizeOf(const etcd::Transaction &transaction)
{
    auto bytes = requestBytes;
    for (const auto &one : transaction.conditions)
        bytes += one.key.size();
    for (const auto &one : transaction.then)
        bytes += one.range.key.size() + one.value.size();
    for (const auto &one : transaction.otherwise)
        bytes += one.range.key.size() + one.value.size();
    return bytes;
}

QByteArray keyOf(const etcd::Transaction &transaction)
{
    return transaction.then.empty() ? QByteArray() : transaction.then.front().range.key;
}

} // namespace

Reply<etcd::RangeAnswer> TracedEtcd::range(etcd::RangeRequest request, Deadline deadline)
{
    return pass<etcd::RangeAnswer>("range", request.key, requestBytes + request.key.size() + request.end.size(),
                                   [&] { return inner().range(request, deadline); });
}

Reply<etcd::TransactionAnswer> TracedEtcd::commit(etcd::Transaction transaction, Deadline deadline)
{
    return pass<etcd::TransactionAnswer>("txn", keyOf(transaction), sizeOf(transaction),
                                         [&] { return inner().commit(transaction, deadline); });
}

Reply<etcd::LeaseAnswer> TracedEtcd::grant(etcd::LeaseId id, std::chrono::seconds ttl, Deadline deadline)
{
    return pass<etcd::LeaseAnswer>("lease grant", etcd::leaseText(id), requestBytes,
                                   [&] { return inner().grant(id, ttl, deadline); });
}

Reply<etcd::LeaseAnswer> TracedEtcd::keepAlive(etcd::LeaseId id, Deadline deadline)
{
    return pass<etcd::LeaseAnswer>("lease keep-alive", etcd::leaseText(id), requestBytes,
                                   [&] { return inner().keepAlive(id, deadline); });
}

Reply<bool> TracedEtcd::revoke(etcd::LeaseId id, Deadline deadline)
{
    return pass<bool>("lease revoke", etcd::leaseText(id), requestBytes,
                      [&] { return inner().revoke(id, deadline); });
}

Reply<etcd::LeaseAnswer> TracedEtcd::timeToLive(etcd::LeaseId id, bool withKeys, Deadline deadline)
{
    return pass<etcd::LeaseAnswer>("lease timetolive", etcd::leaseText(id), requestBytes,
                                   [&] { return inner().timeToLive(id, withKeys, deadline); });
}

Reply<std::vector<etcd::LeaseId>> TracedEtcd::leases(Deadline deadline)
{
    return pass<std::vector<etcd::LeaseId>>("lease list", {}, requestBytes, [&] { return inner().leases(deadline); });
}

// A request, too, as the gate counts them; that it stands is its answer.
Subscription TracedEtcd::watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener)
{
    (*m_trace)->sent(m_contender, "watch", request.key, requestBytes + request.key.size());
    return inner().watch(request, [listener = std::move(listener), weak = std::weak_ptr(m_trace),
                                   contender = m_contender, stands = false](const etcd::WatchNews &news) mutable {
        const auto trace = weak.lock();
        if (trace && !std::exchange(stands, true))
            (*trace)->answered(contender, "watch", news.over.has_value(), 0);
        for (const auto &event : trace ? news.events : std::vector<etcd::WatchEvent>())
            (*trace)->woken(contender, Mark::WatchEvent, event.isRemoved ? "deleted" : "put", event.entry.key);
        listener(news);
    });
}

} // namespace lockscope::contention
