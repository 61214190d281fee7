// SPDX-License-Identifier: Apache-2.0
// Which nodes of a cluster a command is for.
#pragma once

#include "core/base/result.h"
#include "core/redis/connection.h"

namespace lockscope::redis {

// The keys that a command names; none for one that takes no key. Of a command that is not known the first argument
// is taken for its key, which is what it is for nearly all there are.
[[nodiscard]] QByteArrayList keysOf(const Command &command);

struct Destination {
    enum class Kind {
        Slot,     // the node that has this slot
        Anyone,   // whichever: it says the same on all
        Everyone, // each primary; their answers are put together
    };
    Kind kind = Kind::Anyone;
    int slot = -1;
};
// BadInput where its keys are in different slots, which no node takes.
[[nodiscard]] Result<Destination> destinationOf(const Command &command);
[[nodiscard]] Result<Destination> destinationOfKeys(const QByteArrayList &keys);

} // namespace lockscope::redis
