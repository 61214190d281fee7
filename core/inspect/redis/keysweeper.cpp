// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/keysweeper.h"

#include "core/base/text.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace lockscope::inspect {

namespace {

// Of a page whose names are there: where the next one begins; empty where the server refused.
QByteArray nextCursor(const redis::Value &names)
{
    return names.isError() || names.items.size() != 2 ? QByteArray() : names.items[0].text;
}

using redis::Command;

// The server goes through a page twice, the second time through what its processor still has at hand, if it is no
// more than that; of pages that are far smaller the way to the server is most.
constexpr QByteArrayView pageSize = "800";
constexpr QByteArrayView smallPageSize = "100"; // of sweeps that only make sure
constexpr std::size_t pagesAhead = 8;           // as many as come while what was found on a page is read
constexpr std::size_t readTogether = 500;
constexpr std::size_t askedAgainTogether = 5000;
// SCAN names a key twice while the server's table shrinks, and keys come meanwhile. More than that is no end in
// sight.
constexpr qint64 namesPerKey = 2;
constexpr qint64 namesBesides = 10'000;
constexpr int emptyPagesAtMost = 20'000; // one is up to 8000 slots of the server's table

} // namespace

bool KeyPages::isComplete(const Asked &page) const
{
    return page.names && (page.hashes || !(page.areHashesAsked || m_questions.hashes));
}

Task<Result<KeyPages::Page>> KeyPages::at(QByteArray cursor, Questions questions)
{
    m_questions = std::move(questions);
    if (m_error || m_pages.empty() || m_pages.front().cursor != cursor) {
        reset();
        m_pages.push_back({.cursor = std::move(cursor)});
    }
    ask();
    while (!m_error && !isComplete(m_pages.front())) {
        Completion<bool> arrived(m_reader.loop());
        m_arrived = arrived;
        co_await arrived;
    }
    if (m_error)
        co_return *m_error;
    Page page{*std::move(m_pages.front().names), std::move(m_pages.front().hashes)};
    const auto next = nextCursor(page.names);
    m_pages.pop_front();
    if (m_pages.empty() && m_questions.ahead > 0 && !next.isEmpty() && next != "0")
        m_pages.push_back({.cursor = next});
    if (m_questions.ahead > 0)
        ask();
    co_return std::move(page);
}

void KeyPages::reset()
{
    for (auto *answer : {&m_names, &m_hashes}) {
        if (*answer)
            (*answer)->dropListener();
        answer->reset();
    }
    m_pages.clear();
    m_error.reset();
    m_arrived.reset();
}

void KeyPages::ask()
{
    askForNames();
    if (m_questions.hashes)
        askForHashes();
}

// Each page says where the next one begins, so there is one question at a time.
void KeyPages::askForNames()
{
    if (m_names || m_pages.empty())
        return;
    if (const auto &last = m_pages.back(); last.names) {
        const auto next = nextCursor(*last.names);
        if (next.isEmpty() || next == "0" || m_pages.size() > m_questions.ahead)
            return;
        m_pages.push_back({.cursor = next});
    }
    m_names = send(m_pages.back().cursor, false);
    m_names->then([this](auto &answer) { took(answer, m_names, &Asked::names); });
}

void KeyPages::askForHashes()
{
    if (m_hashes)
        return;
    const auto page = std::ranges::find(m_pages, false, &Asked::areHashesAsked);
    if (page == m_pages.end())
        return;
    page->areHashesAsked = true;
    m_hashes = send(page->cursor, true);
    m_hashes->then([this](auto &answer) { took(answer, m_hashes, &Asked::hashes); });
}

KeyPages::Answer KeyPages::send(const QByteArray &cursor, bool onlyHashes)
{
    redis::Command scan{"SCAN", cursor, "COUNT", m_questions.size};
    if (onlyHashes)
        scan << "TYPE"
             << "hash";
    return m_reader.ask(std::move(scan));
}

// Answers of one kind come in the order in which they were asked for.
void KeyPages::took(Result<std::vector<redis::Value>> &answer, std::optional<Answer> &asked,
                    std::optional<redis::Value> Asked::*part)
{
    asked.reset();
    if (!answer) {
        m_error = answer.error();
    } else {
        const auto page = std::ranges::find_if(m_pages, [part](const Asked &one) { return !(one.*part); });
        (*page).*part = std::move(answer->front());
        ask();
    }
    if (m_arrived && (m_error || isComplete(m_pages.front())))
        m_arrived->complete(true);
}

KeySweeper::KeySweeper(KeySweep &sweep, KeyReader &reader, ReadQueue &queue, Refusals &refusals,
                       OtherDatabases &databases, bool includesLowConfidence, Callbacks callbacks)
    : m_sweep(sweep), m_reader(reader), m_pages(reader), m_queue(queue), m_refusals(refusals), m_databases(databases),
      m_includesLowConfidence(includesLowConfidence), m_callbacks(std::move(callbacks))
{
}

// The next page, as names and, where the server told, which of them are hashes; false where it refuses.
Task<Result<bool>> KeySweeper::nextPage(Pace pace)
{
    KeyPages::Questions questions;
    questions.size = (pace.isVerificationSweep ? smallPageSize : pageSize).toByteArray();
    questions.hashes = m_scanTellsTypes && !m_hasNoHash; // the same keys, of which the server sorts out the hashes
    questions.ahead = pace.isSlow ? 0 : pagesAhead;
    CO_TRY(auto &got, co_await m_pages.at(m_sweep.cursor, std::move(questions)));
    const auto &[names, hashes] = got;
    if (names.isError() || names.items.size() != 2) {
        m_refusals.note(u"SCAN"_s,
                        u"SCAN refused; locks become visible only when they change: %1"_s.arg(label(names.text)));
        co_return false;
    }
    if (hashes)
        m_scanTellsTypes = !hashes->isError();
    // They are the same keys as long as both calls went equally far.
    const bool areTold = hashes && hashes->items.size() == 2 && hashes->items[0].text == names.items[0].text;
    static const redis::Value none;
    const auto *told = areTold ? &hashes->items[1] : !hashes && m_hasNoHash ? &none : nullptr;
    m_sweep.cursor = names.items[0].text;
    m_sweep.isAtEnd = m_sweep.cursor == "0";
    if (!m_sweep.isOverrun) // else they are repeated, or invented
        sortOut(names.items[1], told, pace);
    const auto count = static_cast<qint64>(names.items[1].items.size());
    m_sweep.named += count;
    if (!m_sweep.isAtEnd && !m_sweep.isOverrun)
        co_await judgeLength(count == 0);
    co_return true;
}

// A server, or what stands before it, can answer SCAN without an end.
Task<void> KeySweeper::judgeLength(bool isEmpty)
{
    m_emptyPages = isEmpty ? m_emptyPages + 1 : 0;
    const auto isTooLong = [this] {
        return m_sweep.counted && m_sweep.named > namesPerKey * *m_sweep.counted + namesBesides;
    };
    if (isTooLong()) { // there may be more keys since
        (void)co_await countEndingKeys();
    }
    m_sweep.isOverrun = isTooLong() || m_emptyPages > emptyPagesAtMost;
    if (m_sweep.isOverrun)
        m_refusals.note(u"SCAN's end"_s, u"SCAN does not end: it returned %1 names so far, and DBSIZE says %2 keys"_s
                                             .arg(m_sweep.named)
                                             .arg(m_sweep.counted.value_or(0)));
}

Task<Result<bool>> KeySweeper::page(Pace pace)
{
    if (!m_sweep.isAtEnd) {
        auto isTold = co_await nextPage(pace);
        if (!isTold)
            co_return isTold;
        if (!*isTold) {
            CO_TRY_VOID(co_await readSortedOut());
            co_await m_queue.untilPageRead();
            co_return false;
        }
    }
    // At full pace what few keys there are of many pages is read at once.
    const bool isEnough = m_sweep.toAsk.size() + m_sweep.toRead.size() >= readTogether;
    const bool isWaitedFor = m_sweep.isAtEnd || pace.isSlow;
    if (isEnough || isWaitedFor) {
        CO_TRY_VOID(co_await readSortedOut());
    }
    if (isWaitedFor) // else the server goes through its keys meanwhile
        co_await m_queue.untilPageRead();
    if (!m_sweep.isAtEnd)
        co_return true;
    auto again = co_await needsAnotherRound(pace);
    if (!again || !*again)
        co_return again;
    m_sweep.cursor = "0";
    m_sweep.before = m_sweep.done();
    m_sweep.named = 0;
    m_sweep.isAtEnd = false;
    m_sweep.isFirstRound = false;
    co_return true;
}

// What may be a lock by its name or type is read; of all else a token lock has a time to live. At full pace what is
// known already is not asked for, by name among thousands for each of millions: it was read a moment ago.
void KeySweeper::sortOut(const redis::Value &names, const redis::Value *hashes, Pace pace)
{
    std::unordered_set<QByteArray> areHashes;
    for (size_t i = 0; hashes && i < hashes->items.size(); ++i)
        areHashes.insert(hashes->items[i].text);
    for (const auto &hash : areHashes)
        readInSweep(RedisKey(hash));
    for (const auto &item : names.items) {
        const RedisKey key(item.text);
        if (pace.isSlow)
            m_callbacks.met(item.text);
        if (const auto main = companionOf(key)) {
            if (m_sweep.isFirstRound)
                m_callbacks.foundCompanion(key, *main);
            readInSweep(*main);
            if (m_sieve.isCounting() && m_sieve.isDue(item.text))
                m_sweep.toAsk.push_back(key); // it may end, too, and is counted
            continue;
        }
        if (areHashes.contains(item.text))
            continue;
        const bool isToRead = !hashes || isSuspectUnlessHash(key, m_includesLowConfidence);
        if (isToRead || (pace.isSlow && m_callbacks.isWanted(key)))
            readInSweep(key);
        else if (m_sieve.isDue(item.text)) {
            if (m_sieve.isSample())
                m_sweep.toSample.push_back(key);
            m_sweep.toAsk.push_back(key);
        }
    }
}

void KeySweeper::readInSweep(RedisKey key)
{
    if (m_sweep.isFirstRound)
        m_sweep.toRead.push_back(std::move(key));
}

Task<Result<void>> KeySweeper::readSortedOut()
{
    CO_TRY(auto &times, co_await m_reader.timesToLive(m_sweep.toAsk));
    for (size_t i = 0; i < times.size(); ++i) {
        const auto &key = m_sweep.toAsk[i];
        m_sieve.learn(key.bytes(), times[i].has_value());
        if (isWorthMeasuring(key, KeyType::String, times[i]))
            m_sweep.toRead.push_back(key);
    }
    m_sweep.toAsk.clear();
    CO_TRY(auto &samples, co_await m_reader.samples(m_sweep.toSample));
    m_sweep.toSample.clear();
    for (const auto &view : samples) {
        m_callbacks.sampled(view);
        if (view.type != KeyType::String)
            m_sweep.toRead.push_back(view.key);
    }
    co_await m_queue.untilPageRead(); // that of before
    auto keys = std::exchange(m_sweep.toRead, {});
    std::ranges::sort(keys); // a lock has several companions
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
    m_queue.addPage(std::move(keys));
    co_return Result<void>();
}

// Those of them that end.
Task<Result<std::vector<RedisKey>>> KeySweeper::stillEnding(std::vector<RedisKey> keys)
{
    std::vector<RedisKey> still;
    for (std::size_t from = 0; from < keys.size(); from += askedAgainTogether) {
        const auto until = std::min(from + askedAgainTogether, keys.size());
        std::vector<RedisKey> some(keys.begin() + std::ptrdiff_t(from), keys.begin() + std::ptrdiff_t(until));
        CO_TRY(auto &times, co_await m_reader.timesToLive(std::move(some)));
        for (std::size_t i = 0; i < times.size(); ++i) {
            if (times[i])
                still.push_back(keys[from + i]);
        }
    }
    co_return std::move(still);
}

// Whether keys that end may be among those that were not asked.
Task<Result<bool>> KeySweeper::needsAnotherRound(Pace pace)
{
    if (!m_sieve.hasPassedOver())
        co_return false;
    std::vector<RedisKey> found(m_sieve.ending().begin(), m_sieve.ending().end());
    // Those that went meanwhile are not among those that the server counts, and one that goes just before it counts
    // would hide one that was passed over: what counts was there before and after. In a sweep that only makes sure it
    // is told of them.
    const bool isAskedAgain = m_sieve.isCounting() && !pace.isVerificationSweep;
    if (isAskedAgain) {
        CO_TRY(auto &before, co_await stillEnding(std::move(found)));
        found = std::move(before);
    }
    auto counted = co_await countEndingKeys();
    if (isAskedAgain) {
        CO_TRY(auto &after, co_await stillEnding(std::move(found)));
        found = std::move(after);
    }
    co_return m_sieve.goOn(counted, static_cast<qint64>(found.size()));
}

Task<std::optional<qint64>> KeySweeper::countEndingKeys()
{
    auto asking = m_reader.ask(Command{"DBSIZE"}, Command{"INFO", "keyspace"});
    auto got = co_await asking;
    if (!got)
        co_return std::nullopt;
    const auto keys = got->front().integer;
    if (!got->front().isError())
        m_sweep.counted = std::max(m_sweep.counted.value_or(0), keys);
    const auto &info = got->back();
    m_databases.note(info);
    co_return info.isError() ? std::nullopt : endingKeysIn(info.text, keys);
}

// To look at each key for its type takes the server half as long again. A sweep that is slow makes sure.
Task<bool> KeySweeper::serverReportsNoHashes()
{
    auto asking = m_reader.ask(Command{"INFO", "keysizes"});
    auto got = co_await asking;
    co_return got ? saysThatNoHashIs(got->front().text) : false;
}

Task<void> KeySweeper::begin(bool isSlow)
{
    auto counted = co_await countEndingKeys();
    m_sieve.begin(m_sweep.total(), counted);
    m_emptyPages = 0;
    m_refusals.forget(u"SCAN's end"_s);
    m_hasNoHash = false;
    if (isSlow)
        co_return;
    const bool hasNone = co_await serverReportsNoHashes();
    m_hasNoHash = hasNone;
}

} // namespace lockscope::inspect
