// SPDX-License-Identifier: Apache-2.0
// The pages of a sweep: what may be a lock by its name or type goes to the queue, of other keys KeySieve says which
// are asked for their time to live, and those that end soon go there, too. Loop thread only.
#pragma once

#include "core/inspect/redis/observerreader.h"

#include <list>
#include <unordered_set>
#include <deque>

namespace lockscope::inspect {

// The keys that are due to be read: those that changed, expired or are polled, and those of the sweep's page. One
// worker takes them, so an older answer never overwrites a newer one. Loop thread only.

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
    void add(const std::vector<RedisKey> &keys)
    {
        for (const auto &key : keys) {
            if (m_changed.insert(key).second)
                m_inOrder.push_back(key);
        }
        m_filled.complete(true);
    }
    void addPage(std::vector<RedisKey> keys)
    {
        m_page = std::move(keys);
        m_filled.complete(true);
    }
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
    void putBack(const std::vector<RedisKey> &keys)
    {
        m_changed.insert(keys.begin(), keys.end());
        m_inOrder.insert(m_inOrder.begin(), keys.begin(), keys.end());
        m_taken -= std::ssize(keys);
    }
    void batchDone()
    {
        m_batchesRead = m_batchesTaken;
        for (const auto &waiter : std::exchange(m_batchWaiters, {}))
            waiter.complete(true);
    }

    // The connection is gone, and with it whoever waited: what changed is still due, the sweep begins again.
    void reset()
    {
        m_page.clear();
        m_batchesRead = m_batchesTaken;
        m_batchWaiters.clear();
    }

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
    Task<void> afterSweep(Span span, Duration least) { return rest(span, least, longestRestOfSweep); }
    // The next sweep need not wait, until it begins.
    void cutShort() { m_isCutShort = true; }
    void sweepBegins() { m_isCutShort = false; }

private:
    Task<void> rest(Span span, Duration least, Duration longest);

    static constexpr Duration longestRestOfSweep = std::chrono::minutes(15);
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
    bool noteRelease(const RedisKey &key)
    {
        const auto at = m_seen.find(key);
        if (at != m_seen.end())
            at->second.wasReleased = true;
        return at != m_seen.end();
    }
    // Of what is no lock yet only tokens are remembered, as many as there is room for: they may turn out to be one.
    void forgetUnlessToken(const RedisKey &key);
    [[nodiscard]] Behaviour behaviourOf(const RedisKey &key) const
    {
        const auto at = m_seen.find(key);
        Behaviour behaviour = at == m_seen.end() ? Behaviour() : at->second.behaviour;
        behaviour.signalled = m_signalled.contains(key);
        return behaviour;
    }
    // The same; of a key that is looked at for the first time, what this look tells.
    [[nodiscard]] Behaviour behaviourOf(const KeyView &main, ServerTime now) const
    {
        if (heldAtLeastSince(main.key))
            return behaviourOf(main.key);
        SeenSince once;
        once.note(main, now, false);
        Behaviour behaviour = once.behaviourOf(main.key);
        behaviour.signalled = m_signalled.contains(main.key);
        return behaviour;
    }
    // For a look that is not noted: the moment the key came to hold this value, if we saw it come.
    [[nodiscard]] std::optional<ServerTime> cameAt(const KeyView &main, ServerTime now) const
    {
        const auto at = m_seen.find(main.key);
        return at != m_seen.end() && isTakenAgain(at->second, main, now) ? std::optional(now) : cameAt(main.key);
    }
    // The moment the key came to hold this value, if we saw it come.
    [[nodiscard]] std::optional<ServerTime> cameAt(const RedisKey &key) const
    {
        const auto at = m_seen.find(key);
        return at == m_seen.end() || at->second.isGone || !at->second.witnessed ? std::nullopt
                                                                                : std::optional(at->second.since);
    }
    // The moment we first saw it hold this value; it may be older.
    [[nodiscard]] std::optional<ServerTime> heldAtLeastSince(const RedisKey &key) const
    {
        const auto at = m_seen.find(key);
        return at == m_seen.end() || at->second.isGone ? std::nullopt : std::optional(at->second.since);
    }

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

// Which keys whose names say nothing are asked for their time to live: a token lock of any name has one, most keys
// of a large store have none, and the server counts those that have (INFO keyspace, "expires").
//
// Of names made alike a few are asked, and all where one of these ends. Where at the end of the sweep fewer keys that
// end were found than the server counts, another round asks more of them, at last all: nothing is left out by a
// guess alone. Pure bookkeeping.
class KeySieve {
public:
    enum class Round {
        Samples, // a few of each kind, all of those kinds of which one ends
        Ending,  // all of those kinds, once more: the first of them were passed over before that was known
        All,
    };

    // A sweep begins; what is known of kinds stays. `counted`: keys that end, by the server, if it says so.
    void begin(qint64 keys, std::optional<qint64> counted);
    // Whether to ask this key. Counts it: once per round and key.
    [[nodiscard]] bool isDue(const QByteArray &name);
    // Of the key that isDue() was just asked about: whether its value, too, is to be read, as a sample of its kind. A
    // few of each kind, once and for all, in the first round of a sweep.
    [[nodiscard]] bool isSample();
    // What was asked, of whatever key.
    void learn(const QByteArray &name, bool ends);
    // What has to be known at the end of a round; without, it is the last.
    [[nodiscard]] bool hasPassedOver() const { return m_passedOver > 0; }
    [[nodiscard]] bool isCounting() const { return m_round != Round::All && !m_isOverfull; }
    [[nodiscard]] const std::unordered_set<QByteArray> &ending() const { return m_ending; } // found in this sweep
    // At the end of a round: so many keys that end the server counts, so many of those found are still there.
    // Whether another round follows.
    [[nodiscard]] bool goOn(std::optional<qint64> counted, qint64 stillThere);
    void end()
    {
        m_ending = {};
        m_round = Round::All;
    }
    [[nodiscard]] Round round() const { return m_round; }

private:
    struct Kind {
        qint64 met = 0;
        qint64 answered = 0; // until it is enough of them, all are asked: answers come later
        qint64 passedOver = 0;
        bool ends = false;
        int samples = 0;
    };
    Kind &kindOf(const QByteArray &name);

    Round m_round = Round::All;
    std::unordered_map<quint64, Kind> m_kinds;
    Kind m_others;           // of more kinds than are told apart
    Kind *m_asked = nullptr; // the kind of the key asked about last, where samples are taken
    std::unordered_set<QByteArray> m_ending;
    bool m_takesSamples = false;
    bool m_isOverfull = false;
    qint64 m_passedOver = 0;
};

// From INFO keyspace: how many keys end, in the database of so many keys; of all of them where none, or more than one
// has as many. Empty: it does not say.
[[nodiscard]] std::optional<qint64> endingKeysIn(const QByteArray &info, qint64 keys);
// From INFO keysizes (Redis 8): that no hash is in any database of any node. False, too, where it does not say so in
// words that we know.
[[nodiscard]] bool saysThatNoHashIs(const QByteArray &info);

// Where a cursor of SCAN stands in the server's table, as a share of 2^64: the server counts with the order of the
// bits reversed, so that a table that grows or shrinks keeps the place. Empty: it is no such number.
[[nodiscard]] std::optional<quint64> placeOf(const QByteArray &cursor);
[[nodiscard]] QByteArray cursorAt(quint64 place);

// A part of the server's table that is gone through by itself: SCAN, and SCAN with TYPE hash at the same cursor.
struct KeyStretch {
    KeyStretch() = default;
    Q_DISABLE_COPY(KeyStretch)
    ~KeyStretch()
    {
        if (asking)
            asking->dropListener();
    }
    QByteArray cursor = "0"; // of the page that is wanted next
    quint64 end = 0;         // the place at which it is over; 0: that of the table
    Instant begins{};
    bool isOver = false;
    std::optional<Reply<std::vector<redis::Value>>> asking{}; // for that page
};

class KeySweeper {
public:
    struct Callbacks {
        std::function<bool(const RedisKey &)> isWanted; // read in any case, by a sweep that is slow
        std::function<void(const RedisKey &companion, const RedisKey &main)> foundCompanion;
        std::function<void(const QByteArray &name)> met; // by a sweep that is slow
        std::function<void(const KeyView &)> sampled;    // a string; what is none is to be read
    };
    struct Pace {
        bool isSlow = false;              // each page is read by itself
        bool isVerificationSweep = false; // nothing can have changed that was not told
    };

    // All must outlive it and its tasks.
    KeySweeper(KeySweep &sweep, KeyReader &reader, ReadQueue &queue, Refusals &refusals, OtherDatabases &databases,
               bool includesLowConfidence, Callbacks callbacks)
        : m_sweep(sweep), m_reader(reader), m_queue(queue), m_refusals(refusals), m_databases(databases),
          m_includesLowConfidence(includesLowConfidence), m_callbacks(std::move(callbacks))
    {
    }

    // Rights, and the server, may be others.
    void connected()
    {
        m_scanTellsTypes = true;
        m_sieve = {};
        m_stretches.clear();
        m_reader.forgetLine();
    }
    // A new sweep.
    Task<void> begin(bool isSlow);
    // One page, at full pace not read yet; false when that was the last one of the last round, and all are read.
    // After an error it goes on where it stood.
    Task<Result<bool>> page(Pace pace);
    // Of whatever key was looked at while it runs.
    void learn(const KeyView &view)
    {
        if (m_sweep.running)
            m_sieve.learn(view.key.bytes(), view.ttl.has_value());
    }
    void end()
    {
        m_sieve.end();
        m_stretches.clear();
    }

private:
    void beginRound()
    {
        m_stretches.clear();
        m_stretches.emplace_back();
        m_sweep.named = m_sweep.namedOnce = 0;
        m_sweep.isAtEnd = false;
    }
    void split();
    void askForPage(KeyStretch &stretch, Pace pace);
    Task<KeyStretch *> readyStretch(Pace pace);
    Task<Result<bool>> isShort();
    void wake()
    {
        if (m_arrived)
            m_arrived->complete(true);
    }
    Task<Result<bool>> nextPage(Pace pace);
    // False where the cursors of stretches turn out to be no places.
    [[nodiscard]] bool takeCursor(KeyStretch &stretch, const QByteArray &next)
    {
        m_maySplit = m_maySplit && (next == "0" || placeOf(next) > placeOf(stretch.cursor));
        stretch.isOver = next == "0" || (stretch.end != 0 && placeOf(next).value_or(stretch.end) >= stretch.end);
        stretch.cursor = next;
        m_sweep.isAtEnd = std::ranges::all_of(m_stretches, &KeyStretch::isOver);
        return m_maySplit || m_stretches.size() == 1;
    }
    Task<void> judgeLength(bool isEmpty);
    void readInSweep(RedisKey key)
    {
        if (m_sweep.isFirstRound)
            m_sweep.toRead.push_back(std::move(key));
    }
    void sortOut(const redis::Value &names, const redis::Value *hashes, Pace pace);
    // Begins with it, once what was sorted out before is read; and, where it is wanted, ends so.
    Task<Result<void>> readSortedOut(bool isToEnd);
    Task<Result<void>> askSortedOut();
    Task<void> passOn();
    Task<Result<std::vector<RedisKey>>> stillEnding(std::vector<RedisKey> keys);
    Task<Result<bool>> needsAnotherRound(Pace pace);
    Task<std::optional<qint64>> countEndingKeys(bool hashesToo = false);

    KeySweep &m_sweep;
    KeyReader &m_reader;
    std::list<KeyStretch> m_stretches; // more on a slow line
    std::optional<Completion<bool>> m_arrived;
    Timer m_begins; // the next stretch
    ReadQueue &m_queue;
    Refusals &m_refusals;
    OtherDatabases &m_databases;
    const bool m_includesLowConfidence;
    const Callbacks m_callbacks;
    KeySieve m_sieve;
    int m_emptyPages = 0;
    bool m_scanTellsTypes = true; // until a server before Redis 6 says that it does not
    bool m_maySplit = true;       // in this sweep, until the server's cursors turn out to be no places
    bool m_hasPassedOn = false;   // keys to the queue, in this sweep
    bool m_hasNoHash = false;     // the server said so when this sweep began, at full pace
};

} // namespace lockscope::inspect
