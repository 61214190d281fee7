// SPDX-License-Identifier: Apache-2.0
// libzookeeper's return codes in our words.
#pragma once

#include "core/zookeeper/session.h"

namespace lockscope::zk {

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

} // namespace lockscope::zk
