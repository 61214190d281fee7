// SPDX-License-Identifier: Apache-2.0
// Where locks may be: from the ephemeral nodes that somebody listed (a server's dump, or a crawl) to
// the directories worth reading. Pure.
#pragma once

#include "core/inspect/zookeeper/recognise.h"

namespace lockscope::inspect {

using NamesByParent = std::map<ZPath, std::vector<NodeName>>;

// A server's answer carries full paths; what lies outside the chroot is none of ours.
[[nodiscard]] NamesByParent ephemeralsBelow(const zk::Evidence &evidence, const QByteArray &chroot);

// Directories to read as a whole, each with the suspicious nodes that point to it, sorted (composite locks
// have them in more than one folder). A change in the nodes is a reason to read the directory again.
using Candidates = std::map<ZPath, std::vector<ZPath>>;
[[nodiscard]] Candidates candidates(const NamesByParent &names);

} // namespace lockscope::inspect
