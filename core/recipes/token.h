// SPDX-License-Identifier: Apache-2.0
// What makes one claim recognisable among all others, and who made it.
#pragma once

#include "core/base/random.h"

namespace lockscope::recipes {

// A random UUID as text, 36 characters: "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11".
[[nodiscard]] QByteArray uuidToken(Random &random);

// What Curator writes into its nodes: this host's address as text ("10.0.3.7"), empty if it has none but loopback.
[[nodiscard]] QByteArray hostAddress();

} // namespace lockscope::recipes
