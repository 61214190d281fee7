// SPDX-License-Identifier: Apache-2.0
// The real SQL session: Qt SQL on a thread of its own, because Qt SQL blocks.
//
// Reconnects by itself with back-off (first at once, then doubling from 50 ms to 2 s); a wrong password is
// AuthFailed and a missing database Closed, and neither is retried. An idle connection is asked once a
// second whether it still stands, so that a session learns soon that it was killed, and within seconds that
// the network is silent. A server that does not answer KILL QUERY either counts as gone.
//
// Destroying a session ends what it runs (KILL) and closes it in the background: its transaction is rolled back and
// its named locks are free. KILL goes over a connection of its own, and only when that leads to the same server.
#pragma once

#include "core/base/connectionuri.h"
#include "core/mariadb/dialect.h"

namespace lockscope::mariadb {

struct SessionOptions {
    HostPort host;    // or the door that leads to it: Qt's driver checks no certificate's name
    QString user;     // the login name when empty
    QString password; // never logged
    QString database; // none when empty
    std::chrono::milliseconds askIdleEvery{1000};
    // Or the connection counts as gone, and what it holds as lost; a server that only hangs a while is waited for.
    std::chrono::milliseconds idleAnswersWithin{10'000};
    // An attempt to connect that has led to nothing by then, not even to a refusal, is given up for another.
    std::chrono::milliseconds connectsWithin{15'000};
    // How long the network may be silent inside of an answer; 0: for ever, as who waits for a lock has to.
    std::chrono::seconds readsWithin{0};
    Secured secured = Secured::No;
    std::shared_ptr<void> keep;             // what has to live for as long as it may connect
    const Dialect *dialect = &ownDialect(); // lives for ever
};

// Returns at once, in state Connecting. Loop thread only.
[[nodiscard]] std::unique_ptr<Session> openSession(Loop &loop, SessionOptions options);

// Any thread: until all sessions that were destroyed have closed, or that time has passed.
void waitForClosingSessions(std::chrono::milliseconds atMost);

} // namespace lockscope::mariadb
