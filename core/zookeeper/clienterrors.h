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
[[nodiscard]] Error makeError(ErrorCode code, const Attempt &attempt, const QString &why, bool retryable = false);

} // namespace lockscope::zk
