// SPDX-License-Identifier: Apache-2.0
// What goes to an etcd that writes: the port behind the gate, and the two ways of taking a lock away.
#pragma once

#include "core/etcd/client.h"
#include "core/operate/gate.h"
#include "core/operate/releasemethod.h"

namespace lockscope::operate {

// Taking a lock of etcd away: in one transaction, if the contender's key is the one that was created at that
// revision, it is deleted. Exact: no key is ever created at a revision twice. Of a waiter, only while the holder's
// key is there, too: so it waits. Or with its lease, and all that hangs on it (endLease()).
[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, etcd::Client *client, Deadline deadline);

// Ending the lease by which somebody holds a lock of etcd: all keys that hang on it are deleted with it. etcd ends
// no lease on a condition. So the hold goes first, by its key at its revision and with its lease, in one
// transaction; who let go before loses nothing, for then the lease is not touched. What hangs on it is named in the
// plan, and looked up again right before: what its client puts there in the moment that is left goes, too.
[[nodiscard]] AlternativeMethod endLeaseMethod();
// The plan with all that hangs on the lease. One that does not end it comes back as it is. Reads only.
[[nodiscard]] Task<ForceReleasePlan> withLeaseKeys(ForceReleasePlan plan, etcd::Client *client, Deadline deadline);
[[nodiscard]] Task<Result<Sent>> endLease(ForceReleasePlan plan, etcd::Client *client, Deadline deadline);

// Why a transaction by the contender's key did nothing, by what is there.
[[nodiscard]] Error refusedBy(const ForceReleasePlan &plan, const etcd::TransactionAnswer &answer);

// The etcd port behind the gate.

// As those of gate.h.
[[nodiscard]] std::unique_ptr<etcd::Client> gated(etcd::Client &client, Gate &gate);

// Whether any of its operations, done or not, changes anything.
[[nodiscard]] bool isWrite(const etcd::Transaction &transaction);

} // namespace lockscope::operate
