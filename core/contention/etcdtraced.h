// SPDX-License-Identifier: Apache-2.0
// A client of etcd that tells the trace what is sent and heard over it.
#pragma once

#include "core/contention/traced/tracedport.h"
#include "core/etcd/client.h"

namespace lockscope::contention {

struct EtcdMeasures {
    // What a request takes beside its keys and values, about: good enough to compare recipes.
    static constexpr qint64 requestBytes = 40, errorBytes = 0;

    static QByteArray verb(const etcd::RangeRequest &) { return "range"; }
    static QByteArray verb(const etcd::Transaction &) { return "txn"; }
    static QByteArray verb(const etcd::GrantRequest &) { return "lease grant"; }
    static QByteArray verb(const etcd::KeepAliveRequest &) { return "lease keep-alive"; }
    static QByteArray verb(const etcd::RevokeRequest &) { return "lease revoke"; }
    static QByteArray verb(const etcd::TimeToLiveRequest &) { return "lease timetolive"; }
    static QByteArray verb(const etcd::LeasesRequest &) { return "lease list"; }

    static QByteArray where(const etcd::RangeRequest &request) { return request.key; }
    static QByteArray where(const etcd::Transaction &transaction)
    {
        return transaction.then.empty() ? QByteArray() : transaction.then.front().range.key;
    }
    static QByteArray where(const etcd::LeasesRequest &) { return {}; }
    template <class R>
    static QByteArray where(const R &request)
    {
        return etcd::leaseText(request.id);
    }

    static qint64 bytes(const etcd::RangeRequest &request)
    {
        return requestBytes + request.key.size() + request.end.size();
    }
    static qint64 bytes(const etcd::Transaction &transaction)
    {
        auto bytes = requestBytes;
        for (const auto &one : transaction.conditions)
            bytes += one.key.size();
        for (const auto *list : {&transaction.then, &transaction.otherwise}) {
            for (const auto &one : *list)
                bytes += one.range.key.size() + one.value.size();
        }
        return bytes;
    }
    template <class R>
    static qint64 bytes(const R &)
    {
        return requestBytes;
    }
    template <class T>
    static qint64 answerBytes(const T &)
    {
        return 0;
    }
};

class TracedEtcd final : public TracedPort<etcd::ForwardingClient, EtcdMeasures> {
public:
    using TracedPort::TracedPort;

    // A request, too, as the gate counts them; that it stands is its answer.
    Subscription watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener) override
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
};

} // namespace lockscope::contention
