// SPDX-License-Identifier: Apache-2.0
// What only a look that lasts can know: since when a key has held what it holds, and snapshots that do
// not flicker by the milliseconds by which two measurements of one moment differ. Pure bookkeeping.
#pragma once

#include "core/inspect/redis/recognise.h"

namespace lockscope::inspect {

// Since when each key has held its present value, by our own observation.
class SeenSince {
public:
    // Notes what was read. `complete`: everything had been seen once before, so that a key not seen
    // then is known to have come now.
    void note(const KeyView &main, ServerTime now, bool complete);
    void forget(const RedisKey &key) { m_seen.erase(key); }
    // The moment the key came to hold this value, if we saw it come.
    [[nodiscard]] std::optional<ServerTime> cameAt(const RedisKey &key) const;
    // The moment we first saw it hold this value; it may be older.
    [[nodiscard]] std::optional<ServerTime> heldAtLeastSince(const RedisKey &key) const;

private:
    struct Seen {
        QByteArray what;
        ServerTime since;
        bool witnessed;
    };
    std::map<RedisKey, Seen> m_seen;
};

// Takes over from the older snapshot of the same lock what the newer one only measured again: moments
// of expiry within the error of measurement, and earlier sightings of the same contenders.
void steady(LockSnapshot &newer, const LockSnapshot &older);
// Adds `long-held` for holders past the threshold; the moment the next one will be, if any.
std::optional<ServerTime> addLongHeld(LockSnapshot &lock, std::optional<ServerTime> seenSince, ServerTime now,
                                      std::chrono::milliseconds threshold);

} // namespace lockscope::inspect
