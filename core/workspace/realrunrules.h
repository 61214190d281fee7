// SPDX-License-Identifier: Apache-2.0
// What is to be played on real servers, how far it is, and what of a scenario they can play. The window asks before
// it offers, the run asks again.
#pragma once

#include "core/base/connectionuri.h"
#include "core/contention/recording.h"
#include "core/rules/catalogue.h"

namespace lockscope {

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
