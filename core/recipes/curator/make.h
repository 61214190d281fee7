// SPDX-License-Identifier: Apache-2.0
// Curator's recipes by their ids. For core/recipes/zookeeper/make.cpp.
#pragma once

#include "core/base/random.h"
#include "core/recipes/lock.h"
#include "core/rules/catalogue.h"
#include "core/zookeeper/session.h"

namespace lockscope::recipes::curator {

// Null for ids of others.
[[nodiscard]] std::unique_ptr<Lock> make(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                         const AcquireOptions &options, Random random);

} // namespace lockscope::recipes::curator
