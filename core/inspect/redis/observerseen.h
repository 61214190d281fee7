// SPDX-License-Identifier: Apache-2.0
// What only a look that lasts can know: since when a key has held what it holds, and snapshots that do
// not flicker by the milliseconds by which two measurements of one moment differ. Pure bookkeeping.
#pragma once

#include "core/inspect/snapshotstore.h"
#include "core/inspect/redis/recognise.h"

#include <set>

namespace lockscope::inspect {

// Since when each key has held its present value, by our own observation.
class SeenSince {
public:
    // Notes what was read. `complete`: everything had been seen once before, so that a key not seen
    // then is known to have come now.
    void note(const KeyView &main, ServerTime now, bool complete);
    // python-redis-lock's list of wake-ups stands, or stood, beside this key.
    void noteSignal(const RedisKey &key);
    // Who held this key let go of it: if it ends at another moment by now, it is another hold, whoever has it.
    // False: nothing was seen there.
    bool noteRelease(const RedisKey &key);
    // Of what is no lock yet only tokens are remembered, as many as there is room for: they may turn out to be one.
    void forgetUnlessToken(const RedisKey &key);
    [[nodiscard]] Behaviour behaviourOf(const RedisKey &key) const;
    // The same; of a key that is looked at for the first time, what this look tells.
    [[nodiscard]] Behaviour behaviourOf(const KeyView &main, ServerTime now) const;
    // For a look that is not noted: the moment the key came to hold this value, if we saw it come.
    [[nodiscard]] std::optional<ServerTime> cameAt(const KeyView &main, ServerTime now) const;
    // The moment the key came to hold this value, if we saw it come.
    [[nodiscard]] std::optional<ServerTime> cameAt(const RedisKey &key) const;
    // The moment we first saw it hold this value; it may be older.
    [[nodiscard]] std::optional<ServerTime> heldAtLeastSince(const RedisKey &key) const;

private:
    struct Seen {
        QByteArray what;
        ServerTime since;
        bool witnessed = false;
        bool isToken = false;
        bool isGone = false;      // what stood there last is remembered: another token may follow it
        bool wasReleased = false; // since what stands there was read last
        std::optional<ServerTime> ends{};
        Behaviour behaviour{};
    };
    [[nodiscard]] static bool isTakenAgain(const Seen &known, const KeyView &main, ServerTime now);

    std::map<RedisKey, Seen> m_seen;
    std::set<RedisKey> m_signalled;
};

// Takes over from the older snapshot of the same lock what the newer one only measured again: moments
// of expiry within the error of measurement, and earlier sightings of the same contenders. `came`: when the holder
// took it, if that was seen.
void steady(LockSnapshot &newer, const LockSnapshot &older, bool isEndExact = false,
            std::optional<ServerTime> came = {});

// When something is due of this lock that nobody tells: it or a companion expires, a moment in its values comes, or
// it has been held for long. One in the past changes no more.
[[nodiscard]] std::optional<ServerTime> nextMomentOf(const KeyView &main, const std::vector<KeyView> &companions,
                                                     const LockSnapshot &lock, std::optional<ServerTime> longHeldAt);

// Some clients are known only by what several of their locks have in common: what that changes.
[[nodiscard]] std::vector<SnapshotChange> attributed(SnapshotStore &snapshots);

} // namespace lockscope::inspect
