// SPDX-License-Identifier: Apache-2.0
// A session on the simulated MariaDB: what core/mariadb/dialect.h is on a real one, over a link that can break.
//
// Statements go out one at a time; an idle connection is asked once a second whether it still stands, and counts as
// gone when it does not answer for long; deadlines and interrupt() end a statement by KILL QUERY on a
// connection of its own; a server that does not answer that either counts as gone. Reconnects with the same
// back-off, and tells the same errors.
//
// Lives on `process`, which outlives it, as do the server and the network. Destroying it ends what it runs by
// KILL and closes its connection, except that a statement that is to last is not cut off.
#pragma once

#include "core/simservers/mariadb/server.h"
#include "core/simservers/network.h"

namespace lockscope::sim {

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

// One TCP connection to the simulated MariaDB, both of its ends: what is sent here is run there, and each end
// notices when the other is gone - or does not, until it has waited long enough.
class SqlLink : public std::enable_shared_from_this<SqlLink> {
public:
    // Empty when the server cannot be reached.
    [[nodiscard]] static std::shared_ptr<SqlLink> dial(Process &process, SqlServer &server, Network &network,
                                                       const SqlLinkOptions &options);

    // Both are called on the process, and only while the link is kept: greeted once, broken once.
    void onGreeting(std::function<void(mariadb::ConnectionId)> greeted) { m_greeted = std::move(greeted); }
    void onBroken(std::function<void()> broken) { m_broken = std::move(broken); }
    [[nodiscard]] bool isBroken() const { return m_isBroken; }

    void send(const mariadb::Statement &statement, std::function<void(const SqlAnswer &)> heard);
    // The client's end; the server hears of it after what was sent before.
    void close();

private:
    SqlLink(SqlServer &server, Network &network, SqlLinkOptions options, int process)
        : m_server(server), m_network(network), m_options(options), m_process(process)
    {
    }
    // The server's end: knows nothing of the client's.
    struct Far;
    [[nodiscard]] static std::shared_ptr<Far> accept(SqlLink &link);

    SqlServer &m_server;
    Network &m_network;
    const SqlLinkOptions m_options;
    const int m_process;
    LocalShared<NetworkLink> m_networkLink;
    std::shared_ptr<Far> m_far;
    std::function<void(mariadb::ConnectionId)> m_greeted;
    std::function<void()> m_broken;
    bool m_isBroken = false;
};

} // namespace lockscope::sim
