// SPDX-License-Identifier: Apache-2.0
// What somebody types while a run is played, beside the recipes: a client that does something else with its session,
// or an operator at a server.
#pragma once

#include <QByteArray>

#include <optional>

namespace lockscope::contention {

struct ServerAct {
    bool isStop = false;
    int server = 0; // from 0
};
// "stop s1", "start s1": by the names that are shown, s1 the first.
[[nodiscard]] std::optional<ServerAct> serverAct(const QByteArray &command);

} // namespace lockscope::contention
