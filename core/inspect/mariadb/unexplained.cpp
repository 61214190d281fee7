// SPDX-License-Identifier: Apache-2.0
// What waits and is in no snapshot. A server says in PROCESSLIST that a connection waits for a lock of some kind, and
// shows many such locks nowhere, or only where an instrument is on.
#include "core/base/text.h"
#include "core/inspect/mariadb/pollindex.h"

#include <QStringList>

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

QStringList unexplainedWaits(const SqlPoll &look, const std::vector<LockSnapshot> &snapshots)
{
    std::set<quint64> shown;
    for (const auto &lock : snapshots) {
        for (const auto &contender : lock.contenders) {
            if (contender.role == Role::Waiter && contender.session
                && (lock.holderCount() > 0 || !contender.watches.empty()))
                shown.insert(contender.session->toULongLong());
        }
    }
    std::map<QByteArray, int> unexplained; // by state
    for (const auto &process : look.processes) {
        if (isStateOfWait(process.state) && process.inState >= waitsInEarnest && !shown.contains(process.connection))
            ++unexplained[process.state];
    }
    QStringList all;
    for (const auto &[state, count] : unexplained) {
        const auto who = count == 1 ? u"1 connection waits"_s : u"%1 connections wait"_s.arg(count);
        all << u"%1 in the state \"%2\", and it is not known who holds that lock"_s.arg(who, label(state, 80));
    }
    const auto rows = std::ranges::count_if(look.transactions, [&shown](const SqlTransaction &one) {
        return one.waitStarted && !shown.contains(one.connection);
    });
    if (rows > 0 && look.rowsAreFresh)
        all << u"%1 for an InnoDB lock, and it is not known who holds that lock"_s.arg(
            rows == 1 ? u"1 transaction waits"_s : u"%1 transactions wait"_s.arg(rows));
    return all;
}

} // namespace lockscope::inspect
