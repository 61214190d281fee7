// SPDX-License-Identifier: Apache-2.0
// The keys that are due to be read: those that changed, expired or are polled, and those of the sweep's page. One
// worker takes them, so an older answer never overwrites a newer one. Loop thread only.
#pragma once

#include "core/async/completion.h"
#include "core/base/bytes.h"
#include "core/inspect/redis/observerreader.h"
#include "core/inspect/snapshotstore.h"

#include <deque>

namespace lockscope::inspect {

// One way through all keys.
struct KeySweep {
    qint64 named = 0;                // names that SCAN returned in this round
    qint64 namedOnce = 0;            // about, without those that the next stretch names, too
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
    bool isOutdated = false; // what it named may have changed without a word
    bool catchesUp = false;  // looks for what may have been missed, and not only makes sure

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
    [[nodiscard]] bool isOverfull() const { return m_changed.size() >= changedAtMost; }
    // Done when what was queued at the call is read, whatever comes after it.
    Task<void> untilPageRead();
    Task<void> untilAllRead(); // changed keys

    // The worker: takes a batch and, done with it, says so.
    Task<void> untilFilled();
    [[nodiscard]] std::vector<RedisKey> takeBatch(std::size_t lineFactor); // KeyReader's
    // With what would be another batch of changed keys.
    [[nodiscard]] bool isCrowded() const { return m_changed.size() >= changedInBatch; }
    // Of a batch that could not be read.
    void putBack(const std::vector<RedisKey> &keys);
    void batchDone();

    // The connection is gone, and with it whoever waited: what changed is still due, the sweep begins again.
    void reset();

private:
    // Keys read in one go: a page of a sweep, which is few enough that a changed lock does not wait long.
    static constexpr std::size_t batchAtMost = 1200, largestFactor = 4;
    // The rest of a batch is the sweep's, so that a busy server does not stop it.
    static constexpr std::size_t changedInBatch = 200, changedAtMost = 20'000;
    [[nodiscard]] Completion<bool> nextBatchDone() { return m_batchWaiters.emplace_back(m_loop); }

    Task<void> untilBatchRead();

    Loop &m_loop;
    std::set<RedisKey> m_changed;
    std::deque<RedisKey> m_inOrder; // the same, as they came; one that was put back perhaps twice
    qint64 m_taken = 0;             // changed keys so far, without those put back
    std::vector<RedisKey> m_page;
    qint64 m_batchesTaken = 0, m_batchesRead = 0;
    Completion<bool> m_filled;
    std::vector<Completion<bool>> m_batchWaiters;
};

// How long sweeps, and the pages of a slow one, rest: nine times as long as they worked; and, while they only make
// sure, as long as what they sent is worth. Loop thread only.
class SweepRest {
public:
    // What was sent since then.
    struct Span {
        Instant begun{};
        qint64 requests = 0;
    };

    // `isVerificationSweep`: nothing can have changed that was not told. The reader outlives this and its tasks.
    SweepRest(const KeyReader &reader, std::function<bool()> isVerificationSweep)
        : m_reader(reader), m_isOnlyMakingSure(std::move(isVerificationSweep))
    {
    }

    [[nodiscard]] Span begin() const { return {m_reader.loop().now(), m_reader.requests()}; }
    Task<void> afterPage(Span span, Duration least);
    Task<void> afterSweep(Span span, Duration least);
    // The next sweep need not wait, until it begins.
    void cutShort() { m_isCutShort = true; }
    void sweepBegins() { m_isCutShort = false; }

private:
    Task<void> rest(Span span, Duration least, Duration longest);

    const KeyReader &m_reader;
    const std::function<bool()> m_isOnlyMakingSure;
    WorkMeter m_pages;
    bool m_isCutShort = false;
};

// What only a look that lasts can know: since when a key has held what it holds, and snapshots that do
// not flicker by the milliseconds by which two measurements of one moment differ. Pure bookkeeping.

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
