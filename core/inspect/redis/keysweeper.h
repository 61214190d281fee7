// SPDX-License-Identifier: Apache-2.0
// The pages of a sweep: what may be a lock by its name or type goes to the queue, of other keys KeySieve says which
// are asked for their time to live, and those that end soon go there, too. Loop thread only.
#pragma once

#include "core/inspect/redis/observerqueue.h"

#include <list>
#include <unordered_set>

namespace lockscope::inspect {

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
    void end();
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
               bool includesLowConfidence, Callbacks callbacks);

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
    void beginRound();
    void split();
    void askForPage(KeyStretch &stretch, Pace pace);
    Task<KeyStretch *> readyStretch(Pace pace);
    Task<Result<bool>> isShort();
    void wake();
    Task<Result<bool>> nextPage(Pace pace);
    [[nodiscard]] bool takeCursor(KeyStretch &stretch, const QByteArray &next);
    Task<void> judgeLength(bool isEmpty);
    void readInSweep(RedisKey key);
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
