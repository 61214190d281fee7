// SPDX-License-Identifier: Apache-2.0
// The real ZooKeeper session, on libzookeeper's multi-threaded client.
//
// Opening and closing block in the C library (name lookup, farewell), so both happen on a helper thread; the
// library's own callbacks only copy and post() into the loop. The session keeps trying to connect until it expires,
// is refused, or is destroyed; destroying it closes it politely in the background and never waits.
#pragma once

#include "core/async/passwordsource.h"
#include "core/base/connectionuri.h"
#include "core/zookeeper/session.h"

namespace lockscope::zk {

struct SessionOptions {
    std::vector<HostPort> hosts; // or the doors that lead to them: the library speaks no TLS
    QByteArray chroot;
    QByteArray user;                             // digest auth when not empty
    QByteArray password;                         // never logged
    std::shared_ptr<PasswordSource> passwords{}; // asked for each session; null: `password` it is
    std::chrono::milliseconds timeout{10'000};
    qsizetype watchBudgetBytes = 512 * 1024;
    std::shared_ptr<void> keep; // what has to live for as long as it may connect
};

// Returns at once, in state Connecting. Loop thread only.
[[nodiscard]] std::unique_ptr<Session> openSession(Loop &loop, SessionOptions options);

// Waits (on a thread that is not the loop's, at most that long) until sessions being closed in the
// background are closed: for the end of a program, so that ephemerals do not outlive it.
void waitForClosingSessions(std::chrono::milliseconds atMost);

} // namespace lockscope::zk
