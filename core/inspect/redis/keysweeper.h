// SPDX-License-Identifier: Apache-2.0
// The pages of a sweep: what may be a lock by its name or type goes to the queue, of other keys KeySieve says which
// are asked for their time to live, and those that end soon go there, too. Loop thread only.
#pragma once

#include "core/async/completion.h"
#include "core/inspect/redis/keysieve.h"
#include "core/inspect/redis/observerqueue.h"
#include "core/inspect/redis/observerreader.h"
#include "core/inspect/redis/serverpulse.h"

#include <deque>
#include <functional>
#include <optional>

namespace lockscope::inspect {

// The pages of a Redis's keys, and which of each are hashes: SCAN, and SCAN with TYPE hash at the same cursor.
//
// At full pace both questions are under way at once, each about another page: while we look at the answer to the one,
// the server has the other to work on. As long as we keep up, the hashes follow a page or two behind, while what the
// server fetched of that page is still at hand for its processor. Loop thread only.
class KeyPages {
public:
    struct Page {
        redis::Value names;                 // as SCAN answered: next cursor and names, or a refusal
        std::optional<redis::Value> hashes; // the same of the hashes; empty: not asked for
    };
    struct Questions {
        QByteArray size;       // COUNT
        bool hashes = false;   // are asked for, too
        std::size_t ahead = 0; // so many pages are asked for before they are wanted
    };

    // It must outlive this and its tasks.
    explicit KeyPages(KeyReader &reader) : m_reader(reader) {}
    Q_DISABLE_COPY(KeyPages)
    ~KeyPages() { reset(); }

    // The page at this cursor. Errors are those of the connection; after one the same page can be asked for again.
    Task<Result<Page>> at(QByteArray cursor, Questions questions);
    // Nothing that was asked is wanted any more.
    void reset();

private:
    using Answer = Reply<std::vector<redis::Value>>;
    struct Asked {
        QByteArray cursor{};
        std::optional<redis::Value> names{};
        std::optional<redis::Value> hashes{};
        bool areHashesAsked = false;
    };
    [[nodiscard]] bool isComplete(const Asked &page) const;
    void ask();
    void askForNames();
    void askForHashes();
    [[nodiscard]] Answer send(const QByteArray &cursor, bool onlyHashes);
    void took(Result<std::vector<redis::Value>> &answer, std::optional<Answer> &asked,
              std::optional<redis::Value> Asked::*part);

    KeyReader &m_reader;
    Questions m_questions;
    std::deque<Asked> m_pages;               // in the server's order; the first is the one that is wanted
    std::optional<Answer> m_names, m_hashes; // on their way, one of each kind at most
    std::optional<Error> m_error;
    std::optional<Completion<bool>> m_arrived; // whom to tell
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
        m_pages.reset();
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
        m_pages.reset();
    }

private:
    Task<Result<bool>> nextPage(Pace pace);
    Task<void> judgeLength(bool isEmpty);
    void readInSweep(RedisKey key);
    void sortOut(const redis::Value &names, const redis::Value *hashes, Pace pace);
    Task<Result<void>> readSortedOut(); // begins with it, once what was sorted out before is read
    Task<Result<std::vector<RedisKey>>> stillEnding(std::vector<RedisKey> keys);
    Task<Result<bool>> needsAnotherRound(Pace pace);
    Task<std::optional<qint64>> countEndingKeys();
    Task<bool> serverReportsNoHashes();

    KeySweep &m_sweep;
    KeyReader &m_reader;
    KeyPages m_pages;
    ReadQueue &m_queue;
    Refusals &m_refusals;
    OtherDatabases &m_databases;
    const bool m_includesLowConfidence;
    const Callbacks m_callbacks;
    KeySieve m_sieve;
    int m_emptyPages = 0;
    bool m_scanTellsTypes = true; // until a server before Redis 6 says that it does not
    bool m_hasNoHash = false;     // the server said so when this sweep began, at full pace
};

} // namespace lockscope::inspect
