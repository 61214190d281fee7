// SPDX-License-Identifier: Apache-2.0
// What is asked of a connection before its servers are used: a trial, which writes nothing (what was reached, as
// whom, what that one may do there, what will not be seen), and whether they can play a scenario.
#pragma once

#include "core/base/connectionuri.h"
#include "core/contention/recording.h"
#include "core/inspect/snapshot.h"
#include "core/rules/catalogue.h"

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

// What is to be played on real servers, how far it is, and what of a scenario they can play. The window asks before
// it offers, the run asks again.

// A server allows about 60 connections from one address: more contenders share sessions.
constexpr int mostSessionsUnlessSaid = 50;
constexpr int mostContendersOnServers = 1000;

struct RealRunOptions {
    contention::Scenario scenario;
    ConnectionName connection;
    int mostSessions = mostSessionsUnlessSaid;
};

struct RealRunProgress {
    enum class Stage { Connecting, Playing, Tidying };
    Stage stage = Stage::Connecting;
    contention::Moment at{}; // since the sessions stood
    qint64 grants = 0;
    qint64 grantsExpected = 0;
    int sessions = 0; // so many in all
};

// BadInput: faults, a mutant, two locks, too many contenders, sessions that cannot be shared. `where` is
// the connection's name, as it is shown.
[[nodiscard]] Result<void> playableOnServers(const contention::Scenario &scenario, int mostSessions,
                                             const QString &where);

} // namespace lockscope
