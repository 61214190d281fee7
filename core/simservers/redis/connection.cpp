// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/redis/server.h"

#include "core/redis/client.h"

namespace lockscope::sim {

namespace {

class WireTransport final : public redis::Transport {
public:
    WireTransport(Process &process, RedisServer &server, Callbacks callbacks)
        : m_process(process), m_server(server), m_callbacks(std::make_shared<Callbacks>(std::move(callbacks)))
    {
        m_retry = m_process.callAt(m_process.now(), [this] { connectNow(); });
    }
    ~WireTransport() override
    {
        if (m_link)
            m_link->close(End::Client);
    }

    void write(const QByteArray &bytes) override
    {
        m_link->toServer([&server = m_server, session = m_session, bytes] { server.received(session, bytes); });
    }

private:
    void connectNow()
    {
        auto &network = m_server.network();
        m_link = network.connect(m_process, m_server.number());
        if (m_link) {
            opened();
        } else if (isCutOff()) {
            // What asks for a connection is lost on the way, and sent again until somebody gives up.
            m_retry = m_process.callAt(m_process.now() + 1s, [this] { connectNow(); });
        } else {
            const auto callbacks = m_callbacks; // we may go away by it
            callbacks->broken(u"connection refused"_s, false);
        }
    }
    [[nodiscard]] bool isCutOff() const
    {
        const auto &network = m_server.network();
        const auto process = m_process.number(), server = m_server.number();
        return network.isBlocked(process, server, Direction::ToServer)
               || network.isBlocked(process, server, Direction::ToClient);
    }
    void opened()
    {
        // What arrives finds nobody once we are gone.
        const std::weak_ptr<Callbacks> weak = m_callbacks;
        m_session = m_server.accept(m_process.number(), [link = m_link, weak](const QByteArray &bytes) {
            link->toClient([weak, bytes] {
                if (const auto callbacks = weak.lock())
                    callbacks->received(bytes);
            });
        });
        m_link->onBroken(End::Server, [&server = m_server, session = m_session] { server.ended(session); });
        m_link->onBroken(End::Client, [weak] {
            if (const auto callbacks = weak.lock())
                callbacks->broken(u"the connection broke"_s, false);
        });
        m_callbacks->opened();
    }

    Process &m_process;
    RedisServer &m_server;
    const std::shared_ptr<Callbacks> m_callbacks;
    LocalShared<NetworkLink> m_link;
    qint64 m_session = 0;
    Timer m_retry;
};

} // namespace

std::unique_ptr<redis::Connection> openRedis(Process &process, RedisServer &server)
{
    redis::ConnectionOptions options;
    options.host = {u"simulated-%1"_s.arg(server.number()), 6379};
    options.logs = false;
    return redis::openConnection(process, options, [&process, &server](redis::Transport::Callbacks callbacks) {
        return std::make_unique<WireTransport>(process, server, std::move(callbacks));
    });
}

} // namespace lockscope::sim
