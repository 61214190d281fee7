// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/mariadb/session.h"

namespace lockscope::sim {

using mariadb::ConnectionId;

// Kept by the link's listeners, by the server's connection and by what is on its way.
struct SqlLink::Far : std::enable_shared_from_this<Far> {
    SqlServer *server = nullptr;
    Network *network = nullptr;
    SqlLinkOptions options;
    int process = 0;
    LocalWeak<NetworkLink> networkLink;
    ConnectionId connection = 0;
    quint64 silences = 0;

    void greet()
    {
        connection = server->connect([weak = networkLink] {
            if (const auto alive = weak.lock())
                alive->close(End::Server);
        });
    }
    [[nodiscard]] bool isCut() const
    {
        return network->isBlocked(process, options.server, Direction::ToServer)
               || network->isBlocked(process, options.server, Direction::ToClient);
    }
    // The clocks of an end that hears nothing start now, unless it hears again.
    void healthChanged()
    {
        const auto now = ++silences;
        const auto alive = networkLink.lock();
        if (!alive || !alive->isUp() || connection == 0)
            return;
        auto &world = network->world();
        if (isCut()) {
            world.runAt(world.now() + options.keepAlive, [self = shared_from_this(), now] {
                const auto still = self->networkLink.lock();
                if (now == self->silences && still)
                    still->breakNow();
            });
        }
        if (!alive->carries(Direction::ToServer))
            watchIdle(now);
    }
    void watchIdle(quint64 silence)
    {
        const auto since = server->idleSince(connection);
        auto &world = network->world();
        const auto ends = since.value_or(world.now()) + options.idleAtMost;
        if (since && ends <= world.now()) {
            server->kill(connection);
            return;
        }
        world.runAt(ends, [self = shared_from_this(), silence] {
            if (silence == self->silences)
                self->watchIdle(silence);
        });
    }
};

std::shared_ptr<SqlLink::Far> SqlLink::accept(SqlLink &link)
{
    auto far = std::make_shared<Far>();
    far->server = &link.m_server;
    far->network = &link.m_network;
    far->options = link.m_options;
    far->process = link.m_process;
    far->networkLink = link.m_networkLink;
    link.m_networkLink->onBroken(End::Server, [far] { far->server->disconnected(far->connection); });
    link.m_networkLink->onHealth(End::Server, [far] { far->healthChanged(); });
    return far;
}

std::shared_ptr<SqlLink> SqlLink::dial(Process &process, SqlServer &server, Network &network,
                                       const SqlLinkOptions &options)
{
    auto networkLink = network.connect(process, options.server);
    if (!networkLink)
        return {};
    std::shared_ptr<SqlLink> link(new SqlLink(server, network, options, process.number()));
    link->m_networkLink = std::move(networkLink);
    link->m_far = accept(*link);
    link->m_networkLink->onBroken(End::Client, [weak = std::weak_ptr<SqlLink>(link)] {
        if (const auto alive = weak.lock()) {
            alive->m_isBroken = true;
            if (const auto broken = std::exchange(alive->m_broken, {}))
                broken();
        }
    });
    link->m_networkLink->toServer(
        [networkLink = link->m_networkLink, far = link->m_far, weak = std::weak_ptr<SqlLink>(link)] {
            far->greet();
            networkLink->toClient([weak, connection = far->connection] {
                const auto alive = weak.lock();
                if (!alive)
                    return;
                if (const auto greeted = std::exchange(alive->m_greeted, {}))
                    greeted(connection);
            });
        });
    return link;
}

void SqlLink::send(const mariadb::Statement &statement, std::function<void(const SqlAnswer &)> heard)
{
    m_networkLink->toServer(
        [networkLink = m_networkLink, far = m_far, weak = weak_from_this(), statement, heard = std::move(heard)] {
            far->server->execute(far->connection, statement.text, statement.parameters,
                                 [networkLink, weak, heard](const SqlAnswer &answer) {
                                     networkLink->toClient([weak, heard, answer] {
                                         if (!weak.expired())
                                             heard(answer);
                                     });
                                 });
        });
}

void SqlLink::close()
{
    m_greeted = {};
    m_broken = {};
    m_networkLink->close(End::Client);
}

} // namespace lockscope::sim
