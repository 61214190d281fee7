// SPDX-License-Identifier: Apache-2.0
// How other people's clients take it when a lock is taken away from them.
#pragma once

#include "core/inspect/snapshot.h"

#include <QStringList>

namespace lockscope::operate {

struct ForceReleasePlan;

// Sentences for the preview: when its holder notices; that its own release may delete the next holder's lock, with
// what is safer put before everything else. Nothing where its client is not known.
void planForClient(ForceReleasePlan &plan, const inspect::Contender &holder);

} // namespace lockscope::operate
