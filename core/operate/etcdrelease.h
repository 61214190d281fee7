// SPDX-License-Identifier: Apache-2.0
// Taking a lock of etcd away: in one transaction, if the contender's key is the one that was created at that
// revision, it is deleted. Exact: no key is ever created at a revision twice. Of a waiter, only while the holder's
// key is there, too: so it waits. Or with its lease, and all that hangs on it (etcdlease.h).
#pragma once

#include "core/etcd/client.h"
#include "core/operate/releaseact.h"

namespace lockscope::operate {

[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, etcd::Client *client, Deadline deadline);

} // namespace lockscope::operate
