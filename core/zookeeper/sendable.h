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
[[nodiscard]] std::optional<Error> preSendError(SessionState state, const Attempt &attempt, qsizetype payloadBytes,
                                                Deadline deadline, const Loop &loop);
// Why this is never sent, whatever the state: a mode and a time to live that do not fit together, no transaction.
[[nodiscard]] std::optional<Error> whyUnfit(const CreateRequest &request);
[[nodiscard]] std::optional<Error> whyUnfit(const MultiRequest &request);
template <class R>
[[nodiscard]] std::optional<Error> whyUnfit(const R &)
{
    return {};
}
// What the library takes for a path; the mode is that of a create.
[[nodiscard]] bool isPath(const ZPath &path, CreateMode mode = CreateMode::Persistent);
[[nodiscard]] Error overBudget(const Attempt &attempt, qsizetype budgetBytes);
[[nodiscard]] Error unansweredInTime(const Attempt &attempt);
// None of a transaction was done, because of that part of it.
[[nodiscard]] Error partFailed(int returnCode, const Attempt &attempt, std::size_t part);
[[nodiscard]] Attempt attemptOf(const Op &op);

// Of a transaction the first part's, which it has; of credentials their scheme.
template <class R>
[[nodiscard]] Attempt attemptOf(const R &request)
{
    if constexpr (std::is_same_v<R, MultiRequest>)
        return {R::verb, request.ops.front().path};
    else if constexpr (std::is_same_v<R, AddAuthRequest>)
        return {R::verb, ZPath(request.scheme)};
    else
        return {R::verb, request.path};
}

// Beside the path.
[[nodiscard]] qsizetype payloadOf(const CreateRequest &request);
[[nodiscard]] qsizetype payloadOf(const MultiRequest &request);
[[nodiscard]] qsizetype payloadOf(const SetAclsRequest &request);
[[nodiscard]] inline qsizetype payloadOf(const SetRequest &request)
{
    return request.data.size();
}
[[nodiscard]] inline qsizetype payloadOf(const AddAuthRequest &request)
{
    return request.credentials.size();
}
template <class R>
[[nodiscard]] qsizetype payloadOf(const R &)
{
    return 0;
}

// What a read watches.
template <class R>
constexpr WatchKind watchKind = std::is_same_v<R, ChildrenRequest> ? WatchKind::Children : WatchKind::Data;

} // namespace lockscope::zk
