// SPDX-License-Identifier: Apache-2.0
// What a server does with one request, looking at its tree only: which change it makes or why it is refused,
// in the order in which the real server asks, and what a read answers.
#pragma once

#include "core/world/zookeeper/acls.h"
#include "core/world/zookeeper/tree.h"

namespace lockscope::world::zookeeper {

struct Caller {
    quint64 session = 0;
    const Identities *identities = nullptr;
};

struct Verdict {
    Code code = Code::Ok;
    std::optional<Change> change; // a check makes none
};
// Create, Remove, Set, SetAcls, Check.
[[nodiscard]] Verdict judge(Tree &tree, const Request &request, const Caller &caller);
// Of the node of that path.
[[nodiscard]] Change removalOf(const Znode &node, const ZPath &path);
// Get, Exists, Children, Acls; the watch is not its business. `existsNeedsRead`: it is of a version that asks.
[[nodiscard]] Answer read(const Tree &tree, const Request &request, const Identities &who, bool existsNeedsRead);

[[nodiscard]] bool isWrite(Verb verb);

} // namespace lockscope::world::zookeeper
