// SPDX-License-Identifier: Apache-2.0
#include "core/contention/serverhistory.h"

namespace lockscope::contention {

// A minute of polling by a dozen; more than that nobody steps through.
constexpr std::size_t mostKept = 60'000;

ServerHistory::ServerHistory(const Scenario &scenario, const Servers &servers, const sim::Network &network,
                             std::function<Moment()> now)
    : m_scenario(scenario), m_servers(servers), m_network(network), m_now(std::move(now)),
      m_isDown(std::size_t(servers.count()))
{
    m_history.isKept = true;
    m_history.servers = servers.count();
}

bool ServerHistory::isFull() const
{
    return m_history.changes.size() + m_history.messages.size() >= mostKept;
}

void ServerHistory::note(ServerChange &&change)
{
    change.at = m_now();
    m_history.changes.push_back(std::move(change));
}

void ServerHistory::look()
{
    if (m_history.until || isFull()) {
        if (!m_history.until)
            m_history.until = m_now();
        return;
    }
    for (std::size_t i = 0; i < m_isDown.size(); ++i) {
        const bool isDown = m_network.isDown(static_cast<int>(i));
        if (m_isDown[i] == isDown)
            continue;
        m_isDown[i] = isDown;
        note({{}, {static_cast<int>(i), {}, isDown ? "down" : "up", {}}, false});
    }
    std::map<std::pair<int, QByteArray>, ServerLine> now;
    for (auto &line : m_servers.state())
        now.emplace(std::pair(line.server, line.name), std::move(line));
    for (const auto &[key, line] : m_known) {
        if (!now.contains(key))
            note({{}, {key.first, key.second, {}, {}}, true});
    }
    for (const auto &[key, line] : now) {
        const auto known = m_known.find(key);
        if (known == m_known.end() || !(known->second == line))
            note({{}, line, false});
    }
    m_known = std::move(now);
}

void ServerHistory::sent(const sim::Message &message, std::optional<Moment> arrives)
{
    if (m_history.until)
        return;
    const bool toServer = message.direction == sim::Direction::ToServer;
    m_history.messages.push_back(
        {m_now(), arrives, message.process * m_scenario.perProcess, message.server, toServer});
}

} // namespace lockscope::contention
