// SPDX-License-Identifier: Apache-2.0
// When trying again on a new connection can help.
#pragma once

#include "core/base/result.h"

namespace lockscope::recipes {

// Nothing was sent, or nobody knows what became of it.
[[nodiscard]] inline bool isConnectionError(const Error &error)
{
    return error.code == ErrorCode::UnknownOutcome || error.code == ErrorCode::NotConnected;
}

} // namespace lockscope::recipes
