// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to a lock of that recipe: etcd.
#pragma once

#include "core/async/scope.h"
#include "core/base/random.h"
#include "core/etcd/client.h"
#include "core/recipes/lock.h"
#include "core/recipes/lockbase.h"
#include "core/rules/catalogue.h"

namespace lockscope::recipes {

// As those of make.h. The client outlives the lock.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, etcd::Client &client,
                                                     const QByteArray &lock, const AcquireOptions &options,
                                                     Random random);

// Keeps a lease of etcd alive, as the Go client's session does: asks anew when a third of its time has passed. And
// says when it may no longer be believed in. Loop thread only; the client outlives it. Destroying it ends that.
class LeaseKeeper {
public:
    // `asked`: when the request that granted it was sent: by then plus its time it may be over. `onEnd` is called at
    // most once, from the loop, and must not destroy this.
    LeaseKeeper(etcd::Client &client, etcd::LeaseId id, std::chrono::seconds ttl, Instant asked,
                std::function<void()> onEnd);

    // The server said that it is gone before its time: somebody revoked it.
    [[nodiscard]] bool wasRevoked() const { return m_wasRevoked; }
    [[nodiscard]] bool isOver() const { return m_isEnded || m_client.loop().now() >= m_validUntil; }

private:
    Task<void> keep();
    void granted(std::chrono::seconds ttl, Instant asked);
    void end();

    etcd::Client &m_client;
    const etcd::LeaseId m_id;
    std::function<void()> m_onEnd;
    Duration m_ttl{};
    Instant m_next{};
    Instant m_validUntil{};
    bool m_isEnded = false, m_wasRevoked = false;
    Scope m_keeping;
};

// The mutex of etcd's Go client (client/v3/concurrency, and `etcdctl lock`), which queues with both.
class EtcdMutex : public LockBase {
public:
    EtcdMutex(etcd::Client &client, QByteArray lock, std::chrono::milliseconds ttl, Random random);
    ~EtcdMutex() override;

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    void noteTakenAway(const Grant &grant) override;

protected:
    Task<Result<Grant>> take(Deadline deadline) override;
    [[nodiscard]] bool isHeld() const override { return m_isHeld; }
    void letGo() override;

private:
    enum class Place { First, Behind, Gone };
    Task<Result<Place>> join(Deadline deadline);
    Task<Result<void>> haveLease(Deadline deadline);
    Task<Result<Place>> untilFirst(Deadline deadline);
    Task<Result<Place>> look(Deadline deadline);
    Task<Result<Grant>> giveUp(Error why);
    Task<void> untilGone(QByteArray key, etcd::Revision seen, Deadline deadline);
    void leaseEnded();
    // For one request: a try that does not wait takes the time of its requests, too.
    [[nodiscard]] Deadline forRequest(Deadline deadline) const;

    etcd::Client &m_client;
    const QByteArray m_prefix;
    const std::chrono::seconds m_ttl;
    Random m_random;
    etcd::LeaseId m_lease = 0; // 0: none of ours is there
    QByteArray m_key;
    etcd::Revision m_created = 0;
    bool m_isHeld = false;
    std::optional<etcd::KeyValue> m_before; // whom we wait for
    etcd::Revision m_seen = 0;              // when it was looked
    Completion<bool> m_news;                // of the one before us, or of our lease
    std::unique_ptr<LeaseKeeper> m_keeper;
};

} // namespace lockscope::recipes
