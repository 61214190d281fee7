// SPDX-License-Identifier: Apache-2.0
// Since when a named lock is held: servers of SQL show who has it and not since when, but somebody who did not have
// it at one look and has it at the next took it no sooner than the first of them.
#pragma once

#include "core/inspect/snapshot.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

// Into a snapshot of a new look. `before`: that lock as of the look before, none if nobody had it or wanted it.
// `lookedBefore`: when that look was, as the server has the time; none where there was none that shows all of them.
// Who let go and took it again in between is told from who kept it only where the server has a word for each hold.
inline void notifyBeginnings(LockSnapshot &snapshot, const LockSnapshot *before,
                             std::optional<ServerTime> lookedBefore)
{
    if (recipes::recipeOf(snapshot.recipe).shape != recipes::Shape::NamedLock)
        return;
    for (auto &contender : snapshot.contenders) {
        if (contender.role != Role::Holder || contender.heldSince)
            continue;
        const auto *known = before ? before->find(contender.id) : nullptr;
        const bool isSame = known && known->role == Role::Holder && !isDifferentHold(known->hold, contender.hold);
        contender.heldSince = isSame ? known->heldSince : lookedBefore;
        contender.heldAtMost = contender.heldSince.has_value();
    }
}

} // namespace lockscope::inspect
