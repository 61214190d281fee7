// SPDX-License-Identifier: Apache-2.0
// What is refused before anything is sent, by every kind of session alike: the real one and the simulated.
#pragma once

#include "core/zookeeper/clienterrors.h"

namespace lockscope::zk {

// Why a request of that size cannot be sent in this state of the session; none when it can.
[[nodiscard]] std::optional<Error> whyNotSent(SessionState state, const Attempt &attempt, qsizetype payloadBytes,
                                              Deadline deadline, const Loop &loop);
// Why such a node cannot be made by create() (no time to live) or createWithTtl().
[[nodiscard]] std::optional<Error> whyNoTtl(const ZPath &path, CreateMode mode);
[[nodiscard]] std::optional<Error> whyBadTtl(const ZPath &path, CreateMode mode,
                                             std::chrono::milliseconds timeToLive);
// What the library takes for a path; the mode is that of a create.
[[nodiscard]] bool isPath(const ZPath &path, CreateMode mode = CreateMode::Persistent);
// Why these cannot be one transaction.
[[nodiscard]] std::optional<Error> whyNoTransaction(const std::vector<Op> &ops);
[[nodiscard]] Error overBudget(const Attempt &attempt, qsizetype budgetBytes);
[[nodiscard]] Error unansweredInTime(const Attempt &attempt);
// None of a transaction was done, because of that part of it.
[[nodiscard]] Error partFailed(int returnCode, const Attempt &attempt, std::size_t part);
[[nodiscard]] Attempt attemptOf(const Op &op);

[[nodiscard]] qsizetype sizeOf(const Acls &acls);
[[nodiscard]] qsizetype sizeOf(const std::vector<Op> &ops);

} // namespace lockscope::zk
