// SPDX-License-Identifier: Apache-2.0
// The ways of force-release as a table: each backend has rows for its own, in the file that also sends them.
#pragma once

#include "core/base/backendkind.h"
#include "core/base/result.h"
#include "core/inspect/snapshot.h"
#include "core/operate/forcereleaseplan.h"
#include "core/rules/catalogue.h"

namespace lockscope::operate {

using recipes::ReleaseWay;

// How a lock is force-released, if it is.

// Never None: Unsupported, with the reason, for a hold that cannot be taken away.
[[nodiscard]] Result<ReleaseWay> releaseWay(const inspect::LockSnapshot &snapshot);

struct ReleaseMethod {
    ReleaseWay way;
    // Commands, guard and what is special about it, written into the plan.
    void (*plan)(ForceReleasePlan &plan, const inspect::Contender &holder);
    // Who hears of it, and by what.
    QString (*wakes)(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder);
    // Whether the guard says enough to tell this hold from a later one; by its value where there is nothing here.
    bool (*isIdentified)(const inspect::Contender &holder) = nullptr;
    bool endsConnection = false; // so the old holder's next statement fails
};
[[nodiscard]] const ReleaseMethod &methodOf(ReleaseWay way); // not of None
// Whom the operator means by an id or "session:0x…"; Refused where that could be another by now.
[[nodiscard]] Result<const inspect::Contender *> meant(const inspect::LockSnapshot &snapshot,
                                                       const QByteArray &holder);

#define LOCKSCOPE_RELEASES(Name) [[nodiscard]] std::vector<ReleaseMethod> releaseMethodsOf##Name();
LOCKSCOPE_BACKENDS(LOCKSCOPE_RELEASES)
#undef LOCKSCOPE_RELEASES

} // namespace lockscope::operate
