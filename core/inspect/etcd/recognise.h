// SPDX-License-Identifier: Apache-2.0
// Locks and elections of etcd's Go client, as they stand in the keys: PREFIX/<lease in hexadecimal>, each with that
// lease, in the order of the revisions that created them. Pure.
#pragma once

#include "core/etcd/client.h"
#include "core/inspect/snapshot.h"

#include <map>

namespace lockscope::inspect {

// One that contends: its key, and what was seen of its time. etcd keeps none.
struct EtcdClaim {
    etcd::KeyValue entry;
    std::optional<ServerTime> came;  // seen to
    std::optional<ServerTime> first; // seen to become
};
// Of one lock, by the revision that created them.
using EtcdQueue = std::map<etcd::Revision, EtcdClaim>;

struct EtcdLease {
    std::chrono::seconds granted{};
    ServerTime ends{}; // unless it is renewed
    // The keys that are deleted with it and are no claim's, when they were last asked for: the first of so many.
    std::vector<QByteArray> others{};
    qint64 otherCount = 0;
    int asked = 0; // how often
    bool areKeysTold = true;
};
using EtcdLeases = std::map<etcd::LeaseId, EtcdLease>;

// The lock's name, which is PREFIX; empty if this is no such key.
[[nodiscard]] std::optional<QByteArray> etcdLockOf(const etcd::KeyValue &entry);
// A key below PREFIX/ that is nobody's claim: clients wait until it is gone all the same. The oldest of them.
using EtcdObstacle = std::optional<etcd::KeyValue>;
// Of a queue that is not empty. Ages are for the caller to judge.
[[nodiscard]] LockSnapshot etcdSnapshot(const LockName &lock, const EtcdQueue &queue, const EtcdObstacle &obstacle,
                                        const EtcdLeases &leases, ServerTime now);
// Takes over what the lease's keys are, where they were told.
void noteOtherKeys(EtcdLease &lease, const etcd::LeaseAnswer &answer);
// The leases by which somebody holds or waits.
[[nodiscard]] std::vector<SessionSnapshot> etcdSessions(const std::map<QByteArray, EtcdQueue> &locks,
                                                        const EtcdLeases &leases, const ConnectionName &connection);

} // namespace lockscope::inspect
