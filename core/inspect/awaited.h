// SPDX-License-Identifier: Apache-2.0
// What a waiter waits for where that is no contender of its lock: a node or key of another kind, which no release of
// the lock takes away.
#pragma once

#include "core/inspect/snapshot.h"

#include <QStringList>

namespace lockscope::inspect {

// Empty where it waits for a contender, for the children of its directory, or nothing is known.
[[nodiscard]] std::optional<QByteArray> awaitedElsewhere(const LockSnapshot &lock, const Contender &waiter);
// The same of the waiter that is first in the queue.
[[nodiscard]] std::optional<QByteArray> firstAwaitsElsewhere(const LockSnapshot &lock);
// What the lock's findings say of clients of other locks that a release of this hold wakes.
[[nodiscard]] QStringList wakesBeside(const LockSnapshot &lock, const QByteArray &holder);

} // namespace lockscope::inspect
