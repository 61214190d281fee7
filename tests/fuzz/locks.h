// SPDX-License-Identifier: Apache-2.0
// What has to hold of every lock that was made of somebody's bytes.
#pragma once

#include "core/inspect/snapshot.h"
#include "tests/fuzz/parser.h"

namespace lockscope::fuzz {

// Nothing in it may steer a terminal, or hide or turn round what stands beside it.
void mustBeHarmless(const QString &text, std::string_view what);
// Said in words and as JSON; what a person reads of it is harmless.
void useLock(const inspect::LockSnapshot &lock);
void useSession(const inspect::SessionSnapshot &session);

} // namespace lockscope::fuzz
