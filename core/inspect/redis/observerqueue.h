// SPDX-License-Identifier: Apache-2.0
// The keys that are due to be read: those that changed, expired or are polled, and those of the sweep's page. One
// worker takes them, so an older answer never overwrites a newer one. Loop thread only.
#pragma once

#include "core/async/completion.h"
#include "core/async/task.h"
#include "core/base/bytes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace lockscope::inspect {

// One way through all keys.
struct KeySweep {
    QByteArray cursor = "0";
    qint64 named = 0;                // names that SCAN returned in this round
    qint64 before = 0;               // looked at in earlier rounds
    std::optional<qint64> counted{}; // keys, as the server says
    bool isOverrun = false;          // SCAN goes on, though it returned far more names than there are keys
    bool running = false;
    bool isAtEnd = false;          // of a round
    bool isFirstRound = true;      // KeySieve; further ones only ask
    std::vector<RedisKey> toAsk{}; // from its last pages: only for their time to live
    std::vector<RedisKey> toRead{};
    std::vector<RedisKey> toSample{}; // of these the value, too
    int number = 0;
    bool catchesUp = false; // looks for what may have been missed, and not only makes sure

    // Only keys that there are count as progress: a SCAN that never ends makes none.
    [[nodiscard]] qint64 done() const { return before + std::min(named, counted.value_or(named)); }
    [[nodiscard]] qint64 total() const { return before + counted.value_or(named); }
};

class ReadQueue {
public:
    explicit ReadQueue(Loop &loop) : m_loop(loop), m_filled(loop) {}

    // Changed keys come before the sweep's.
    void add(const std::vector<RedisKey> &keys);
    void addPage(std::vector<RedisKey> keys);
    // So many that changed keys that are no known lock are to be left to the sweep.
    [[nodiscard]] bool isOverfull() const;
    // Done when a batch is, and nothing of that is left.
    Task<void> untilPageRead();
    Task<void> untilAllRead();

    // The worker: takes a batch and, done with it, says so.
    Task<void> untilFilled();
    [[nodiscard]] std::vector<RedisKey> takeBatch();
    [[nodiscard]] bool isCrowded() const;            // with what would be another batch of changed keys
    void putBack(const std::vector<RedisKey> &keys); // of a batch that could not be read
    void batchDone();

    // The connection is gone, and with it whoever waited: what changed is still due, the sweep begins again.
    void reset();

private:
    [[nodiscard]] Completion<bool> nextBatchDone() { return m_batchWaiters.emplace_back(m_loop); }

    Loop &m_loop;
    std::set<RedisKey> m_changed;
    std::vector<RedisKey> m_page;
    bool m_isBatchOut = false;
    Completion<bool> m_filled;
    std::vector<Completion<bool>> m_batchWaiters;
};

} // namespace lockscope::inspect
