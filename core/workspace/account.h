// SPDX-License-Identifier: Apache-2.0
// A trial of a connection: what was reached, as whom, what that one may do there, what will not be seen. It writes
// nothing.
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope {

struct ConnectionAccount {
    QString address; // without credentials
    QString server;  // "Redis 7.0.15"; empty where it does not say
    QString remark;  // what was found out that its address does not say
    std::optional<std::chrono::microseconds> latency;
    QStringList rights; // a sentence each
    int locks = 0;
    bool isFirstLookOver = false; // whether all that can be found at first sight was
    std::vector<inspect::Coverage> coverage;
};

// For people, a line each.
[[nodiscard]] QStringList linesOf(const ConnectionAccount &account);

// One line of the checklist of a trial: what was tried, how it ended, and which field of a form fixes it.
struct TrialCheck {
    enum class State : quint8 { Passed, Failed, Warning, Note };
    enum class Fix : quint8 { None, Hosts, Login, TurnOnTls, Tls };
    State state = State::Passed;
    QString text; // a sentence without secrets
    Fix fix = Fix::None;
};
// Nothing failed: the connection can be used.
[[nodiscard]] bool isPassed(const std::vector<TrialCheck> &checks);

} // namespace lockscope
