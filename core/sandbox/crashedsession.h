// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper client that dies: it opens a session, creates one ephemeral sequential node and drops
// the connection without a farewell. The server keeps node and session until the session's time is up.
#pragma once

#include "core/base/connectionuri.h"
#include "core/zookeeper/session.h"

class QObject;

namespace lockscope::sandbox {

struct CrashedNode {
    ZPath path; // sequential; the parent must exist
    QByteArray data;
    std::chrono::milliseconds sessionTimeout{};
};
// The node's name as created, once the connection is gone. Dies with `owner`, and then never answers.
// Loop thread only, and the loop must be a thread's Qt event loop.
[[nodiscard]] Reply<ZPath> leaveCrashedHolder(Loop &loop, QObject *owner, const HostPort &server,
                                              const CrashedNode &node);

} // namespace lockscope::sandbox
