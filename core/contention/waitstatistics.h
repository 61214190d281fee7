// SPDX-License-Identifier: Apache-2.0
// What a run's waits come to: percentiles, and how far who came first was served first.
#pragma once

#include "core/contention/recording.h"

namespace lockscope::contention {

// From a contender's first try until it holds, or gives up for good: acquire(2 s), twice, is one wait of up to 4 s.
struct Wait {
    Moment joined{};
    // Its place was had, or refused, on the server: the first answer. Until then nobody can say who came first.
    Moment answered{};
    Moment ended{};
    bool isGranted = false; // else it gave up, or still waited at the end
    bool isReader = false;
};

// Of all waits, those that ended in vain too, or a lock that nobody gets would look quick. By nearest rank: the
// smallest that at least so many of a hundred do not exceed. Sorts in place.
[[nodiscard]] Waits percentilesOf(std::vector<Wait> &waits);

struct Fairness {
    double share = 1;
    qint64 pairs = 0; // 0: nobody waited beside another, and there is nothing to be fair about
};
// First come, first served, after L. Lamport, "A New Solution of Dijkstra's Concurrent Programming Problem", CACM
// 17(8), 1974: of all pairs of which one had been answered before the other came, and still waited then, the share in
// which the later one did not get the lock before it. Two readers get in together and take nothing from each other:
// such pairs are none. A queue scores 1; who is served by chance about a half.
[[nodiscard]] Fairness fairnessOf(const std::vector<Wait> &waits);

} // namespace lockscope::contention
