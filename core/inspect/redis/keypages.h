// SPDX-License-Identifier: Apache-2.0
// The pages of a Redis's keys, and which of each are hashes: SCAN, and SCAN with TYPE hash at the same cursor.
//
// At full pace both questions are under way at once, each about another page: while we look at the answer to the one,
// the server has the other to work on. As long as we keep up, the hashes follow a page or two behind, while what the
// server fetched of that page is still at hand for its processor. Loop thread only.
#pragma once

#include "core/async/completion.h"
#include "core/inspect/redis/observerreader.h"

#include <deque>
#include <optional>

namespace lockscope::inspect {

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

} // namespace lockscope::inspect
