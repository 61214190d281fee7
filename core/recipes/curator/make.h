// Curator's recipes by their ids. For core/recipes/zookeeper/make.cpp.
#pragma once

#include "core/rules/catalogue.h"

namespace lockscope::recipes::curator {

// Null for ids of others.
[[nodiscard]] std::unique_ptr<Lock> make(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                         const AcquireOptions &options, Random random);

} // namespace lockscope::recipes::curator
