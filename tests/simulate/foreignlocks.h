// SPDX-License-Identifier: Apache-2.0
// Clients of etcd whose layouts are only recognized, as their sources write them (docs/layouts.md): RWMutex and
// Election of etcd's Go client, and a lock that is one key. They ask again instead of watching.
#pragma once

#include "core/async/completion.h"
#include "core/etcd/client.h"
#include "core/recipes/lockbase.h"

#include <algorithm>

namespace lockscope::testing {

class ForeignEtcdLock : public recipes::LockBase {
public:
    ForeignEtcdLock(etcd::Client &client, QByteArray recipe, QByteArray prefix, bool reads, quint64 number)
        : LockBase(client.loop(), prefix), m_client(client), m_recipe(std::move(recipe)), m_prefix(std::move(prefix)),
          m_reads(reads), m_number(number)
    {
    }
    ~ForeignEtcdLock() override { shutDown(); }

    static bool plays(const QByteArray &recipe)
    {
        return recipe == "etcd-rwmutex" || recipe == "etcd-election" || recipe == "etcd-key-lock";
    }

    Task<Result<void>> release(Deadline deadline) override
    {
        if (!std::exchange(m_isHeld, false))
            co_return Error{ErrorCode::NotHeld, QStringLiteral("not held")};
        auto revoking = m_client.revoke(std::exchange(m_lease, 0), deadline);
        CO_TRY_VOID(co_await revoking);
        co_return Result<void>();
    }
    Task<Result<bool>> isStillMine(Deadline) override { co_return m_isHeld; }

protected:
    Task<Result<recipes::Grant>> take(Deadline deadline) override
    {
        constexpr std::chrono::seconds ttl(60); // longer than a scene
        constexpr std::chrono::milliseconds pause(20);
        m_lease = 0x7000 + static_cast<etcd::LeaseId>(m_number);
        auto granting = m_client.grant(m_lease, ttl, soon());
        CO_TRY_VOID(co_await granting);
        for (etcd::Revision created = 0;;) {
            if (created == 0) {
                auto putting = m_client.commit(put(), soon());
                CO_TRY(const auto &done, co_await putting);
                created = done.held ? done.revision : 0;
            }
            bool isFirst = created != 0;
            if (isFirst && !isOneKey()) {
                auto asking = m_client.range(before(created), soon());
                CO_TRY(const auto &older, co_await asking);
                isFirst = older.entries.empty();
            }
            if (isFirst) {
                m_isHeld = true;
                recipes::Grant grant;
                grant.id = etcd::leaseText(m_lease) + '@' + QByteArray::number(created);
                co_return grant;
            }
            if (deadline.hasPassed(m_client.loop()))
                break;
            auto rest = sleepFor(m_client.loop(), pause);
            co_await rest;
        }
        letGo();
        co_return Error{ErrorCode::TimedOut, QStringLiteral("another client holds it"), true};
    }
    [[nodiscard]] bool isHeld() const override { return m_isHeld; }
    void letGo() override
    {
        m_isHeld = false;
        if (const auto lease = std::exchange(m_lease, 0); lease != 0)
            m_client.background().launch(revoked(&m_client, lease));
    }

private:
    static Task<void> revoked(etcd::Client *client, etcd::LeaseId lease)
    {
        auto revoking = client->revoke(lease, Deadline::after(client->loop(), std::chrono::seconds(5)));
        (void)co_await revoking;
    }
    [[nodiscard]] Deadline soon() { return Deadline::after(m_client.loop(), std::chrono::seconds(5)); }
    [[nodiscard]] bool isOneKey() const { return m_recipe == "etcd-key-lock"; }
    [[nodiscard]] QByteArray key() const
    {
        const auto stamp = QByteArray::number(1'700'000'000'000'000'000 + m_number);
        return isOneKey()                    ? m_prefix
               : m_recipe == "etcd-election" ? m_prefix + '/' + etcd::leaseText(m_lease)
                                             : m_prefix + (m_reads ? "/read/" : "/write/") + stamp;
    }
    [[nodiscard]] etcd::Transaction put() const
    {
        etcd::Operation operation{.kind = etcd::Operation::Kind::Put, .range = {.key = key()}};
        operation.lease = m_lease;
        if (m_recipe != "etcd-rwmutex")
            operation.value = "host-" + QByteArray::number(m_number);
        etcd::Transaction transaction;
        transaction.conditions.push_back({.key = key()});
        transaction.then.push_back(std::move(operation));
        return transaction;
    }
    [[nodiscard]] etcd::RangeRequest before(etcd::Revision created) const
    {
        const auto prefix = m_prefix + (m_recipe == "etcd-rwmutex" && m_reads ? "/write" : "/");
        return {.key = prefix, .end = etcd::endOfPrefix(prefix), .limit = 1, .createdUpTo = created - 1};
    }

    etcd::Client &m_client;
    const QByteArray m_recipe, m_prefix;
    const bool m_reads;
    const quint64 m_number;
    etcd::LeaseId m_lease = 0;
    bool m_isHeld = false;
};

} // namespace lockscope::testing
