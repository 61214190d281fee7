// SPDX-License-Identifier: Apache-2.0
#include "core/operate/etcd.h"

#include "core/base/text.h"
#include "core/operate/gatedport.h"

#include <algorithm>

namespace lockscope::operate {

using etcd::Operation;

namespace {

QString rangeText(const etcd::RangeRequest &range)
{
    auto text = u"range "_s + (range.key.isEmpty() ? u"all keys"_s : label(range.key, 120));
    if (!range.end.isEmpty() && !range.key.isEmpty())
        text += u" …"_s;
    if (range.limit > 0)
        text += u" limit %1"_s.arg(range.limit);
    return text;
}

QString operationText(const Operation &operation)
{
    const auto key = label(operation.range.key, 120);
    switch (operation.kind) {
    case Operation::Kind::Put:
        return u"put %1 lease %2"_s.arg(key, QString::fromLatin1(etcd::leaseText(operation.lease)));
    case Operation::Kind::Remove: return u"delete "_s + key;
    case Operation::Kind::Range: break;
    }
    return rangeText(operation.range);
}

QString leaseWord(etcd::LeaseId id)
{
    return QString::fromLatin1(etcd::leaseText(id));
}

QString transactionText(const etcd::Transaction &transaction)
{
    const auto all = firstTexts(transaction.then, 3, operationText);
    QStringList conditions;
    for (const auto &condition : transaction.conditions) {
        conditions << u"create_revision(%1) = %2"_s.arg(label(condition.key, 120),
                                                        QString::number(condition.created));
        if (condition.lease != 0)
            conditions << u"lease(%1) = %2"_s.arg(label(condition.key, 120), leaseWord(condition.lease));
    }
    return conditions.isEmpty() ? u"txn "_s + all : u"txn if %1: %2"_s.arg(conditions.join(u" and "_s), all);
}

struct EtcdWords {
    static constexpr bool repeatsStates = false;

    static QString text(const etcd::RangeRequest &request) { return rangeText(request); }
    static QString text(const etcd::Transaction &transaction) { return transactionText(transaction); }
    static QString text(const etcd::GrantRequest &request)
    {
        return u"lease grant %1 %2 s"_s.arg(leaseWord(request.id), QString::number(request.ttl.count()));
    }
    static QString text(const etcd::KeepAliveRequest &request)
    {
        return u"lease keep-alive "_s + leaseWord(request.id);
    }
    static QString text(const etcd::RevokeRequest &request) { return u"lease revoke "_s + leaseWord(request.id); }
    static QString text(const etcd::TimeToLiveRequest &request)
    {
        return u"lease timetolive "_s + leaseWord(request.id);
    }
    static QString text(const etcd::LeasesRequest &) { return u"lease list"_s; }
    static QString text(const etcd::AccessRequest &) { return u"user get, role get"_s; }

    template <class R>
    static bool isWrite(const R &)
    {
        return R::isWrite;
    }
    static bool isWrite(const etcd::Transaction &transaction) { return operate::isWrite(transaction); }

    static QString outcome(bool) { return u"ok"_s; }
    static QString outcome(const etcd::RangeAnswer &answer)
    {
        return u"ok, "_s + amountOf(qint64(answer.entries.size()), "key"_L1, "keys"_L1);
    }
    static QString outcome(const etcd::TransactionAnswer &answer)
    {
        return answer.held ? u"ok"_s : u"ok, the condition did not hold"_s;
    }
    static QString outcome(const etcd::LeaseAnswer &lease)
    {
        return lease.ttl.count() > 0 ? u"ok, %1 s"_s.arg(lease.ttl.count()) : u"ok, no such lease"_s;
    }
    static QString outcome(const std::vector<etcd::LeaseId> &all)
    {
        return u"ok, "_s + amountOf(qint64(all.size()), "lease"_L1, "leases"_L1);
    }
    static QString outcome(const etcd::AccessRights &answer)
    {
        return u"ok, "_s + amountOf(qint64(answer.permissions.size()), "permission"_L1, "permissions"_L1);
    }

    static QString stateText(const etcd::Client &, etcd::ClientState state)
    {
        return u"connection: "_s + stateWord(state);
    }
};

class GatedEtcd final : public GatedPort<etcd::ForwardingClient, EtcdWords> {
public:
    using GatedPort::GatedPort;

    Subscription watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener) override
    {
        const auto what = u"watch %1 from revision %2"_s.arg(
            request.key.isEmpty() ? u"all keys"_s : label(request.key, 120), QString::number(request.from));
        auto entered = key()->gate->enter(what, false);
        return inner().watch(std::move(request), noting(*entered, std::move(listener)));
    }

private:
    std::function<void(const etcd::WatchNews &)> noting(quint64 entry,
                                                        std::function<void(const etcd::WatchNews &)> listener) const
    {
        return [weak = std::weak_ptr(key()), &loop = inner().loop(), sent = inner().loop().now(),
                open = std::make_shared<bool>(true), entry, listener](const etcd::WatchNews &news) {
            const auto alive = weak.lock();
            if (alive && std::exchange(*open, false))
                alive->gate->leave(entry, news.over ? news.over->message : u"ok"_s, loop.now() - sent);
            for (const auto &event : alive ? news.events : std::vector<etcd::WatchEvent>())
                alive->gate->event((event.isRemoved ? u"deleted "_s : u"put "_s) + label(event.entry.key, 120));
            listener(news);
        };
    }
};

} // namespace

bool isWrite(const etcd::Transaction &transaction)
{
    const auto changes = [](const Operation &one) { return one.kind != Operation::Kind::Range; };
    return std::ranges::any_of(transaction.then, changes) || std::ranges::any_of(transaction.otherwise, changes);
}

std::unique_ptr<etcd::Client> gated(etcd::Client &client, Gate &gate)
{
    return std::make_unique<GatedEtcd>(client, nullptr, gate);
}

} // namespace lockscope::operate
