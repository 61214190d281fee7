// SPDX-License-Identifier: Apache-2.0
#include "core/transport/transport.h"

#include "core/transport/loopbacklistener.h"

#include <algorithm>

namespace lockscope::transport {

struct Transport::Inside {
    std::shared_ptr<SshTunnel> tunnel; // null without ssh
    std::vector<std::unique_ptr<LoopbackListener>> doors;
};

Transport::Transport(TransportOptions transport, std::vector<HostPort> servers) : m_transport(std::move(transport))
{
    if (isDirect())
        return;
    m_inUse.emplace(InUse::By::Owner);
    m_inside = std::make_shared<Inside>();
    if (!m_transport.ssh.isOn())
        return;
    onTransportThread([inside = m_inside, ssh = m_transport.ssh, servers = std::move(servers), problem = m_problem] {
        // Not deleted where its own signal, or that of what goes through it, is being handled.
        inside->tunnel.reset(new SshTunnel(ssh, servers, problem), [](SshTunnel *gone) { gone->deleteLater(); });
    });
}

Transport::~Transport()
{
    if (m_doors.empty() && !m_transport.ssh.isOn())
        return;
    // Its last reference is that of the passages' thread.
    onTransportThread([inside = std::exchange(m_inside, nullptr)]() mutable { inside.reset(); });
}

HostPort Transport::door(const HostPort &server, Speech speech)
{
    if (!m_inside) { // it would have been direct
        m_inUse.emplace(InUse::By::Owner);
        m_inside = std::make_shared<Inside>();
    }
    const auto known = std::ranges::find_if(
        m_doors, [&](const Opened &one) { return one.server == server && one.speech == speech; });
    if (known != m_doors.end())
        return known->door;
    const auto dialled = !speech.isTls ? server : through(server);
    const auto open = openPort();
    if (open.port == 0) {
        m_problem->set(QStringLiteral("no port on 127.0.0.1 is available"));
        return {QStringLiteral("127.0.0.1"), 0};
    }
    onTransportThread([inside = m_inside, open, server, dialled, speech, tls = m_transport.tls, problem = m_problem] {
        Route route{server, dialled, speech, tls, nullptr, problem};
        if (!speech.isTls)
            route.tunnel = inside->tunnel;
        inside->doors.push_back(std::make_unique<LoopbackListener>(open, std::move(route)));
    });
    m_doors.push_back({server, speech, {QStringLiteral("127.0.0.1"), open.port}});
    return m_doors.back().door;
}

HostPort Transport::through(const HostPort &server)
{
    return m_transport.ssh.isOn() ? door(server, asItIs) : server;
}

HostPort Transport::throughSql(const HostPort &server, const SqlSpeech &speech, bool hasPassword)
{
    const auto &tls = m_transport.tls;
    if (hasPassword && !tls.isOn)
        return door(server, speech.plain);
    return throughTls(server, hasPassword && !tls.isVerified ? speech.unverified : speech.verified);
}

HostPort Transport::throughTls(const HostPort &server, Speech speech)
{
    return m_transport.tls.isOn ? door(server, speech) : through(server);
}

} // namespace lockscope::transport
