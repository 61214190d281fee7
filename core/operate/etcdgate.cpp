// SPDX-License-Identifier: Apache-2.0
#include "core/operate/etcd.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::operate {

using namespace Qt::StringLiterals;
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
    constexpr std::size_t mostShown = 3;
    QStringList parts;
    for (std::size_t i = 0; i < std::min(mostShown, transaction.then.size()); ++i)
        parts << operationText(transaction.then[i]);
    if (transaction.then.size() > mostShown)
        parts << u"… %1 more"_s.arg(transaction.then.size() - mostShown);
    const auto all = parts.join(u"; "_s);
    QStringList conditions;
    for (const auto &one : transaction.conditions) {
        conditions << u"create_revision(%1) = %2"_s.arg(label(one.key, 120), QString::number(one.created));
        if (one.lease != 0)
            conditions << u"lease(%1) = %2"_s.arg(label(one.key, 120), leaseWord(one.lease));
    }
    return conditions.isEmpty() ? u"txn "_s + all : u"txn if %1: %2"_s.arg(conditions.join(u" and "_s), all);
}

QString ttlText(const etcd::LeaseAnswer &lease)
{
    return lease.ttl.count() > 0 ? u"ok, %1 s"_s.arg(lease.ttl.count()) : u"ok, no such lease"_s;
}

QString word(etcd::ClientState state)
{
    switch (state) {
    case etcd::ClientState::Connecting: return u"connecting"_s;
    case etcd::ClientState::Connected: return u"connected"_s;
    case etcd::ClientState::AuthFailed: return u"authentication failed"_s;
    }
    return {};
}

class GatedEtcd final : public etcd::ForwardingClient {
public:
    GatedEtcd(etcd::Client &client, Gate &gate)
        : ForwardingClient(client), m_key(std::make_shared<GateKey>(GateKey{&gate}))
    {
        m_states = client.onState([this](etcd::ClientState state) { noteState(state); });
    }

    Reply<etcd::RangeAnswer> range(etcd::RangeRequest request, Deadline deadline) override
    {
        return pass<etcd::RangeAnswer>(
            rangeText(request), false, [&] { return inner().range(request, deadline); },
            [](const etcd::RangeAnswer &answer) {
                return u"ok, "_s + amountOf(qint64(answer.entries.size()), "key"_L1, "keys"_L1);
            });
    }
    Reply<etcd::TransactionAnswer> commit(etcd::Transaction transaction, Deadline deadline) override
    {
        return pass<etcd::TransactionAnswer>(
            transactionText(transaction), isWrite(transaction), [&] { return inner().commit(transaction, deadline); },
            [](const etcd::TransactionAnswer &answer) {
                return answer.held ? u"ok"_s : u"ok, the condition did not hold"_s;
            });
    }
    Reply<etcd::LeaseAnswer> grant(etcd::LeaseId id, std::chrono::seconds ttl, Deadline deadline) override
    {
        return pass<etcd::LeaseAnswer>(
            u"lease grant %1 %2 s"_s.arg(leaseWord(id), QString::number(ttl.count())), true,
            [&] { return inner().grant(id, ttl, deadline); }, ttlText);
    }
    // Of a lease of ours: it changes nothing that anybody else has.
    Reply<etcd::LeaseAnswer> keepAlive(etcd::LeaseId id, Deadline deadline) override
    {
        return pass<etcd::LeaseAnswer>(
            u"lease keep-alive "_s + leaseWord(id), true, [&] { return inner().keepAlive(id, deadline); }, ttlText);
    }
    Reply<bool> revoke(etcd::LeaseId id, Deadline deadline) override
    {
        return pass<bool>(
            u"lease revoke "_s + leaseWord(id), true, [&] { return inner().revoke(id, deadline); },
            [](bool) { return u"ok"_s; });
    }
    Reply<etcd::LeaseAnswer> timeToLive(etcd::LeaseId id, bool withKeys, Deadline deadline) override
    {
        return pass<etcd::LeaseAnswer>(
            u"lease timetolive "_s + leaseWord(id), false, [&] { return inner().timeToLive(id, withKeys, deadline); },
            ttlText);
    }
    Reply<std::vector<etcd::LeaseId>> leases(Deadline deadline) override
    {
        return pass<std::vector<etcd::LeaseId>>(
            u"lease list"_s, false, [&] { return inner().leases(deadline); },
            [](const std::vector<etcd::LeaseId> &all) {
                return u"ok, "_s + amountOf(qint64(all.size()), "lease"_L1, "leases"_L1);
            });
    }
    Reply<etcd::AccessRights> access(Deadline deadline) override
    {
        return pass<etcd::AccessRights>(
            u"user get, role get"_s, false, [&] { return inner().access(deadline); },
            [](const etcd::AccessRights &answer) {
                return u"ok, "_s + amountOf(qint64(answer.permissions.size()), "permission"_L1, "permissions"_L1);
            });
    }
    Subscription watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener) override
    {
        const auto what = u"watch %1 from revision %2"_s.arg(
            request.key.isEmpty() ? u"all keys"_s : label(request.key, 120), QString::number(request.from));
        auto entered = m_key->gate->enter(what, false);
        return inner().watch(std::move(request), noting(*entered, std::move(listener)));
    }

private:
    template <class T, class Send, class Describe>
    Reply<T> pass(const QString &text, bool write, Send send, Describe describe)
    {
        return passThrough<T>(m_key, inner().loop(), text, write, send, describe);
    }
    std::function<void(const etcd::WatchNews &)> noting(quint64 entry,
                                                        std::function<void(const etcd::WatchNews &)> listener) const
    {
        return [weak = std::weak_ptr(m_key), &loop = inner().loop(), sent = inner().loop().now(),
                open = std::make_shared<bool>(true), entry, listener](const etcd::WatchNews &news) {
            const auto alive = weak.lock();
            if (alive && std::exchange(*open, false))
                alive->gate->leave(entry, news.over ? news.over->message : u"ok"_s, loop.now() - sent);
            for (const auto &event : alive ? news.events : std::vector<etcd::WatchEvent>())
                alive->gate->event((event.isRemoved ? u"deleted "_s : u"put "_s) + label(event.entry.key, 120));
            listener(news);
        };
    }
    // A client that keeps trying says "connecting" at each attempt.
    void noteState(etcd::ClientState state)
    {
        if (state != m_noted)
            m_key->gate->state(u"connection: "_s + word(state));
        m_noted = state;
    }

    std::shared_ptr<GateKey> m_key;
    std::optional<etcd::ClientState> m_noted;
    Subscription m_states;
};

} // namespace

bool isWrite(const etcd::Transaction &transaction)
{
    const auto changes = [](const Operation &one) { return one.kind != Operation::Kind::Range; };
    return std::ranges::any_of(transaction.then, changes) || std::ranges::any_of(transaction.otherwise, changes);
}

std::unique_ptr<etcd::Client> gated(etcd::Client &client, Gate &gate)
{
    return std::make_unique<GatedEtcd>(client, gate);
}

} // namespace lockscope::operate
