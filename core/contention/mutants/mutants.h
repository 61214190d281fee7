// SPDX-License-Identifier: Apache-2.0
// What the recipes with one mistake each do (scenario.h).
#pragma once

#include "core/contention/traced/tracedport.h"
#include "core/recipes/make.h"

namespace lockscope::contention {

// As recipes::makeLock, for mutants too.
[[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makePlayableLock(const QByteArray &id, zk::Session &session,
                                                                      const ZPath &lock,
                                                                      const recipes::AcquireOptions &options,
                                                                      Random random);
// The port such a contender talks through.
[[nodiscard]] std::unique_ptr<TracedSession> tracedFor(const QByteArray &id, zk::Session &inner, Trace &trace,
                                                       int contender);
[[nodiscard]] std::unique_ptr<TracedConnection> tracedFor(const QByteArray &id, redis::Connection &inner,
                                                          Trace &trace, int contender);

} // namespace lockscope::contention
