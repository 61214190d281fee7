// SPDX-License-Identifier: Apache-2.0
// Who waits for a lock, as pg_stat_activity says it, and is in no snapshot.
#include "core/inspect/postgresql/look.h"

#include <algorithm>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

QStringList unexplainedPgWaits(const PgLook &look, const std::vector<LockSnapshot> &snapshots)
{
    std::set<quint64> shown;
    for (const auto &lock : snapshots) {
        for (const auto &one : lock.contenders) {
            if (one.role == Role::Waiter && one.session)
                shown.insert(one.session->toULongLong());
        }
    }
    const auto count = std::ranges::count_if(
        look.sessions, [&shown](const PgSession &one) { return one.waitsFor == "Lock" && !shown.contains(one.pid); });
    if (count == 0)
        return {};
    return {
        u"%1 for a lock (wait_event_type Lock) that pg_locks does not list, and it is not known who holds it"_s.arg(
            count == 1 ? u"1 session waits"_s : u"%1 sessions wait"_s.arg(count))};
}

} // namespace lockscope::inspect
