// SPDX-License-Identifier: Apache-2.0
// How a lock of a simulated SQL server stands in a run's picture of its servers.
#pragma once

#include "core/contention/servers.h"

namespace lockscope::contention {

// `queue`: who has it, then who waits, by the server's numbers; `nameOf` calls them as the run does.
template <class Queue, class NameOf>
[[nodiscard]] ServerLine sqlLockLine(const QByteArray &name, const QByteArray &what, const Queue &queue,
                                     NameOf nameOf)
{
    QByteArrayList words, waiting;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        if (i == 0)
            words << "locked by " + nameOf(queue[i]);
        else
            waiting << nameOf(queue[i]);
    }
    if (!waiting.isEmpty())
        words << "queue: " + waiting.join(' ');
    if (!what.isEmpty()) // last: where there is little room, who has it is to be seen
        words << what;
    return {0, name, words.join(", "), {}};
}

} // namespace lockscope::contention
