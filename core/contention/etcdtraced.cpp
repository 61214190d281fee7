// SPDX-License-Identifier: Apache-2.0
#include "core/contention/etcdtraced.h"

namespace lockscope::contention {

qint64 EtcdMeasures::bytes(const etcd::Transaction &transaction)
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

// A request, too, as the gate counts them; that it stands is its answer.
Subscription TracedEtcd::watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener)
{
    tracer()->sent("watch", request.key, EtcdMeasures::requestBytes + request.key.size());
    return inner().watch(request, [listener = std::move(listener), tracer = tracer(),
                                   stands = false](const etcd::WatchNews &news) mutable {
        if (!std::exchange(stands, true))
            tracer->answered("watch", news.over.has_value(), 0);
        for (const auto &event : news.events)
            tracer->woken(Mark::WatchEvent, event.isRemoved ? "deleted" : "put", event.entry.key);
        listener(news);
    });
}

} // namespace lockscope::contention
