// SPDX-License-Identifier: Apache-2.0
// A session on the simulated MariaDB: what core/mariadb/client.h is on a real one, over a link that can break.
//
// Statements go out one at a time; an idle connection is asked once a second whether it still stands, and counts as
// gone when it does not answer for long; deadlines and interrupt() end a statement by KILL QUERY on a
// connection of its own; a server that does not answer that either counts as gone. Reconnects with the same
// back-off, and tells the same errors.
//
// Lives on `process`, which outlives it, as do the server and the network. Destroying it ends what it runs by
// KILL and closes its connection, except that a statement that is to last is not cut off.
#pragma once

#include "core/world/mariadb/server.h"
#include "core/world/network.h"

namespace lockscope::world {

struct SqlLinkOptions {
    int server = 0; // its number in the network
    // When the server notices a connection that was cut without a word: idle for so long (wait_timeout), or no
    // sign of life from the other machine (the defaults of Linux).
    Duration idleAtMost = std::chrono::hours(8);
    Duration keepAlive = std::chrono::hours(2) + std::chrono::seconds(9 * 75);
    // What the client does with a connection that is not used.
    Duration askIdleEvery = std::chrono::seconds(1);
    Duration idleAnswersWithin = std::chrono::seconds(10);
};

[[nodiscard]] std::unique_ptr<mariadb::Session> openSession(Process &process, SqlServer &server, Network &network,
                                                            const SqlLinkOptions &options = {});

} // namespace lockscope::world
