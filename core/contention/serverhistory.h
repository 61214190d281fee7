// SPDX-License-Identifier: Apache-2.0
// What a run's servers had when, and the messages between them and the contenders: beside the events, for whoever
// looks at a run. Only of few contenders, whose picture a person can follow; nothing of it changes the run.
#pragma once

#include "core/contention/servers.h"

namespace lockscope::contention {

// Of at most so many contenders.
constexpr int mostContendersFollowed = 24;

class ServerHistory {
public:
    // All outlive it.
    ServerHistory(const Scenario &scenario, const Servers &servers, const sim::Network &network,
                  std::function<Moment()> now);

    // Something may have changed.
    void look();
    // `arrives` counts from the start of the run, as all moments.
    void sent(const sim::Message &message, std::optional<Moment> arrives);
    // Leaves it empty.
    [[nodiscard]] History take() { return std::exchange(m_history, {}); }

private:
    void note(ServerChange &&change);
    [[nodiscard]] bool isFull() const;

    const Scenario m_scenario;
    const Servers &m_servers;
    const sim::Network &m_network;
    std::function<Moment()> m_now;
    std::map<std::pair<int, QByteArray>, ServerLine> m_known;
    std::vector<bool> m_isDown;
    History m_history;
};

} // namespace lockscope::contention
