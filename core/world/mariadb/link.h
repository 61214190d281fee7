// SPDX-License-Identifier: Apache-2.0
// One TCP connection to the simulated MariaDB, both of its ends: what is sent here is run there, and each end
// notices when the other is gone - or does not, until it has waited long enough.
#pragma once

#include "core/world/mariadb/session.h"

namespace lockscope::world {

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

} // namespace lockscope::world
