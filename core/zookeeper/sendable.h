// SPDX-License-Identifier: Apache-2.0
// What is refused before anything is sent, by every kind of session alike: the real one and the simulated.
#pragma once

#include "core/zookeeper/session.h"

namespace lockscope::zk {

// libzookeeper's return codes in our words.

// What is being tried, for messages: "create" on "/locks/orders".
struct Attempt {
    const char *verb = "";
    ZPath path;
};

// What was tried on what, what went wrong and what to do about it.
[[nodiscard]] Error errorOf(int returnCode, const Attempt &attempt);
// Nothing was sent: the session is in `state`, which is not Connected.
[[nodiscard]] Error notSent(SessionState state, const Attempt &attempt);
// What a server has done whose session ended in AuthFailed, and what helps; goes behind its name. libzookeeper keeps
// no more of it than that: wrong credentials and a server that requires SASL look alike.
[[nodiscard]] QString refusal();
[[nodiscard]] Error makeError(ErrorCode code, const Attempt &attempt, const QString &why, bool retryable = false);

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
