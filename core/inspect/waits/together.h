// SPDX-License-Identifier: Apache-2.0
// Locks that one thread holds at once, as Redisson's MultiLock takes its members: nothing on the server says that
// they are one, and a thread that takes one after the other leaves the same. Known where a holder's id names its
// thread. Pure: snapshots in, plain values out.
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

struct HeldTogether {
    ConnectionName connection;
    QByteArray thread;             // "<client>:<thread>"
    std::vector<QByteArray> locks; // names on that connection, in their order; two at least
    friend bool operator==(const HeldTogether &, const HeldTogether &) = default;
};
// In the order of connections and threads.
[[nodiscard]] std::vector<HeldTogether> heldTogether(const std::vector<LockSnapshot> &locks);

// The threads that hold this lock, each once.
[[nodiscard]] std::vector<QByteArray> holdingThreads(const LockSnapshot &lock);
[[nodiscard]] bool isHeldByAny(const LockSnapshot &lock, const std::vector<QByteArray> &threads);

// What else the threads that hold this lock hold, by what heldTogether() found; in order.
[[nodiscard]] std::vector<QByteArray> heldWith(const LockSnapshot &lock, const std::vector<HeldTogether> &groups);

// "a, b and c", "a, b, c and 3 more"; empty for none.
[[nodiscard]] QString heldWithNames(const std::vector<QByteArray> &others);
// "held together with a and b by one thread, as the members of a MultiLock are"; empty for none.
[[nodiscard]] QString heldWithSentence(const std::vector<QByteArray> &others);

} // namespace lockscope::inspect
