// SPDX-License-Identifier: Apache-2.0
// What waits and is in no snapshot. A server says in PROCESSLIST that a connection waits for a lock of some kind, and
// shows many such locks nowhere, or only where an instrument is on.
#include "core/base/text.h"
#include "core/inspect/mariadb/pollindex.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

// What has only just begun to wait may have the lock by the next question of the same look.
constexpr auto waitsInEarnest = 100ms;

// "Waiting for backup lock", "Waiting for table level lock", "Waiting for table flush", "User lock".
bool isStateOfWait(const QByteArray &state)
{
    const bool isLock = state.startsWith("Waiting for ") && (state.endsWith("lock") || state.endsWith("flush"));
    return isLock || state == "User lock" || state == "Waiting for tables";
}

} // namespace

std::vector<Unexplained> unexplainedWaits(const SqlPoll &look, const std::vector<LockSnapshot> &snapshots)
{
    std::set<quint64> shown;
    for (const auto &lock : snapshots) {
        for (const auto &contender : lock.contenders) {
            if (contender.role == Role::Waiter && contender.session
                && (lock.holderCount() > 0 || !contender.watches.empty()))
                shown.insert(contender.session->toULongLong());
        }
    }
    std::map<QByteArray, std::vector<quint64>> unexplained; // connections by state
    for (const auto &process : look.processes) {
        if (isStateOfWait(process.state) && process.inState >= waitsInEarnest && !shown.contains(process.connection))
            unexplained[process.state].push_back(process.connection);
    }
    std::vector<Unexplained> all;
    const auto add = [&all](const std::vector<quint64> &who, const QString &what) {
        all.push_back({qint64(who.size()), what, "connection " + QByteArray::number(who.front()), true});
    };
    for (const auto &[state, connections] : unexplained) {
        const auto who =
            connections.size() == 1 ? u"1 connection waits"_s : u"%1 connections wait"_s.arg(connections.size());
        add(connections,
            u"%1 in the state \"%2\", and it is not known who holds that lock"_s.arg(who, label(state, 80)));
    }
    std::vector<quint64> rows;
    for (const auto &one : look.transactions) {
        if (look.rowsAreFresh && one.waitStarted && !shown.contains(one.connection))
            rows.push_back(one.connection);
    }
    if (!rows.empty())
        add(rows, u"%1 for an InnoDB lock, and it is not known who holds that lock"_s.arg(
                      rows.size() == 1 ? u"1 transaction waits"_s : u"%1 transactions wait"_s.arg(rows.size())));
    return all;
}

} // namespace lockscope::inspect
