// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/keysweeper.h"

#include <bit>

namespace lockscope::inspect {

namespace {

using redis::Command;

// A slow line is filled by pages of several stretches of the table under way at once, not by larger pages: those
// would keep the server from its other clients for longer than a millisecond. The stretches begin one after the other
// and stay apart by that, so that the server has other clients' requests between two of the pages.
constexpr double pagesBeforeSplit = 3;
constexpr double pagesOfStretch = 4;      // at least
constexpr std::size_t leastStretches = 2; // the server has the one to work on while the other's answer is looked at
constexpr qint64 namesOfPage = 800;
constexpr qint64 reported = 99; // percent of the keys that the server counts, by a sweep in stretches

// The server goes through a page twice, the second time through what its processor still has at hand, if it is no
// more than that; of pages that are far smaller the way to the server is most.
constexpr QByteArrayView smallPageSize = "100"; // of sweeps that only make sure
constexpr std::size_t readTogether = 500;
constexpr std::size_t askedAgainTogether = 5000;
// SCAN names a key twice while the server's table shrinks, and keys come meanwhile. More than that is no end in
// sight.
constexpr qint64 namesPerKey = 2;
constexpr qint64 namesBesides = 10'000;
constexpr int emptyPagesAtMost = 20'000; // one is up to 8000 slots of the server's table

quint64 mirrored(quint64 bits)
{
    quint64 other = 0;
    for (int i = 0; i < 64; ++i)
        other |= (bits >> i & 1U) << (63 - i);
    return other;
}

// Of the last page of a stretch what is beyond its end is named by the next one, too: a share, as far as it goes.
qint64 namesWithin(const KeyStretch &part, const QByteArray &next, qint64 names)
{
    const auto begin = placeOf(part.cursor), until = placeOf(next);
    if (part.end == 0 || !begin || !until)
        return names;
    const auto share = static_cast<double>(part.end - *begin) / static_cast<double>(*until - *begin);
    return share < 1 ? qRound64(static_cast<double>(names) * share) : names;
}

} // namespace

std::optional<quint64> placeOf(const QByteArray &cursor)
{
    bool isNumber = false;
    const auto number = cursor.toULongLong(&isNumber);
    return isNumber ? std::optional(mirrored(number)) : std::nullopt;
}

QByteArray cursorAt(quint64 place)
{
    return QByteArray::number(mirrored(place));
}

// Other servers that know SCAN have cursors of other kinds. So the first pages have to lie in the table where as many
// keys as they named end, by far not what a number of another kind would say.
void KeySweeper::split()
{
    auto &first = m_stretches.front();
    const auto place = placeOf(first.cursor);
    const bool isDecided = !m_maySplit || m_stretches.size() > 1 || first.isOver || m_sweep.isOverrun;
    const auto named = static_cast<double>(m_sweep.named), all = static_cast<double>(m_sweep.counted.value_or(0));
    if (isDecided || named < (pagesBeforeSplit - 0.5) * double(namesOfPage) || !place)
        return;
    constexpr double table = 18446744073709551616.0; // 2^64
    constexpr double tolerance = 1.3;
    const auto share = static_cast<double>(*place) / table;
    m_maySplit = share * all < named * tolerance && named < share * all * tolerance;
    auto count = std::bit_floor(std::max(leastStretches, m_reader.lineFactor()));
    while (count > 1 && (all / double(count) < pagesOfStretch * double(namesOfPage) || share * double(count) > 1))
        count /= 2;
    if (!m_maySplit || count < 2)
        return;
    const quint64 length = (quint64(1) << 63) / (count / 2);
    const auto apart = m_reader.roundTrip() / static_cast<Duration::rep>(count);
    first.end = length;
    for (std::size_t i = 1; i < count; ++i) {
        auto &next = m_stretches.emplace_back();
        next.cursor = cursorAt(i * length);
        next.end = i + 1 < count ? (i + 1) * length : 0;
        next.begins = m_reader.loop().now() + apart * static_cast<Duration::rep>(i);
    }
}

// A server whose cursors are of another kind after all would have left keys out. Keys that have expired are none, but
// the server counts them until SCAN comes to them.
Task<Result<bool>> KeySweeper::isShort()
{
    const auto isOf = [this](qint64 keys) { return m_sweep.namedOnce * 100 < keys * reported; };
    if (m_stretches.size() == 1 || !isOf(m_sweep.counted.value_or(0)))
        co_return false;
    std::vector<Command> question{{"DBSIZE"}};
    CO_TRY(auto &got, co_await m_reader.send(std::move(question)).taken());
    co_return isOf(got.front().integer);
}

void KeySweeper::askForPage(KeyStretch &stretch, Pace pace)
{
    const auto size = pace.isVerificationSweep ? smallPageSize.toByteArray() : QByteArray::number(namesOfPage);
    std::vector<Command> scans{{"SCAN", stretch.cursor, "COUNT", size}};
    if (m_scanTellsTypes && !m_hasNoHash) // the same keys, of which the server sorts out the hashes
        scans.push_back(scans.front() + Command{"TYPE", "hash"});
    stretch.asking = m_reader.send(std::move(scans));
    stretch.asking->then([this](auto &) { wake(); });
}

// The first that has its next page; all others are asked for theirs.
Task<KeyStretch *> KeySweeper::readyStretch(Pace pace)
{
    for (;;) {
        const auto now = m_reader.loop().now();
        std::optional<Instant> next;
        for (auto &stretch : m_stretches) {
            if (!stretch.isOver && !stretch.asking && stretch.begins <= now)
                askForPage(stretch, pace);
            else if (stretch.begins > now)
                next = std::min(next.value_or(stretch.begins), stretch.begins);
        }
        const auto ready = std::ranges::find_if(
            m_stretches, [](const KeyStretch &one) { return one.asking && one.asking->isComplete(); });
        if (ready != m_stretches.end())
            co_return &*ready;
        m_arrived = Completion<bool>(m_reader.loop());
        if (next)
            m_begins = m_reader.loop().callAt(*next, [this] { wake(); });
        const auto arrived = *m_arrived;
        co_await arrived;
    }
}

// The next page, as names and, where the server told, which of them are hashes; false where it refuses.
Task<Result<bool>> KeySweeper::nextPage(Pace pace)
{
    auto *const stretch = co_await readyStretch(pace);
    auto asking = *std::exchange(stretch->asking, std::nullopt);
    CO_TRY(auto &got, co_await std::move(asking).taken());
    const auto &names = got.front();
    const auto *hashes = got.size() > 1 ? &got.back() : nullptr;
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
    const auto count = static_cast<qint64>(names.items[1].items.size());
    m_sweep.named += count;
    m_sweep.namedOnce += namesWithin(*stretch, names.items[0].text, count);
    if (!takeCursor(*stretch, names.items[0].text)) {
        beginRound();
        co_return true;
    }
    if (!pace.isSlow && !stretch->isOver)
        askForPage(*stretch, pace); // the server need not wait while we look at this one
    if (!m_sweep.isOverrun)         // else they are repeated, or invented
        sortOut(names.items[1], told, pace);
    if (!pace.isSlow)
        split();
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
            CO_TRY_VOID(co_await readSortedOut(true));
            co_return false;
        }
    }
    if (!std::exchange(m_hasPassedOn, m_hasPassedOn || !m_sweep.toRead.empty()))
        co_await passOn(); // the first locks are shown at once
    // At full pace what few keys there are of many pages is read at once.
    const bool isEnough = m_sweep.toAsk.size() + m_sweep.toRead.size() >= readTogether * m_reader.lineFactor();
    const bool isWaitedFor = m_sweep.isAtEnd || pace.isSlow;
    if (isEnough || isWaitedFor) {
        CO_TRY_VOID(co_await readSortedOut(isWaitedFor));
    }
    if (!m_sweep.isAtEnd)
        co_return true;
    CO_TRY(const auto &shortOfKeys, co_await isShort());
    if (shortOfKeys) { // once more, by the server's own cursors
        m_maySplit = false;
        beginRound();
        co_return true;
    }
    auto again = co_await needsAnotherRound(pace);
    if (!again || !*again)
        co_return again;
    m_sweep.before = m_sweep.done();
    m_sweep.isFirstRound = false;
    beginRound();
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

// Of what is known to be worth it already the reading begins while the rest is asked for. Elsewhere the server goes
// through its keys meanwhile.
Task<Result<void>> KeySweeper::readSortedOut(bool isToEnd)
{
    co_await passOn();
    CO_TRY_VOID(co_await askSortedOut());
    if (!isToEnd)
        co_return Result<void>();
    co_await passOn();
    co_await m_queue.untilPageRead();
    co_return Result<void>();
}

Task<void> KeySweeper::passOn()
{
    if (m_sweep.toRead.empty())
        co_return;
    co_await m_queue.untilPageRead(); // that of before
    auto keys = std::exchange(m_sweep.toRead, {});
    std::ranges::sort(keys); // a lock has several companions
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
    m_queue.addPage(std::move(keys));
}

Task<Result<void>> KeySweeper::askSortedOut()
{
    auto asking = m_reader.askForTimes(m_sweep.toAsk); // with the first question for samples
    auto sampled = co_await m_reader.samples(m_sweep.toSample);
    CO_TRY(auto &times, co_await m_reader.timesToLive(m_sweep.toAsk, std::move(asking)));
    if (!sampled)
        co_return sampled.error();
    for (size_t i = 0; i < times.size(); ++i) {
        const auto &key = m_sweep.toAsk[i];
        m_sieve.learn(key.bytes(), times[i].has_value());
        if (isWorthMeasuring(key, KeyType::String, times[i]))
            m_sweep.toRead.push_back(key);
    }
    m_sweep.toAsk.clear();
    m_sweep.toSample.clear();
    for (const auto &view : *sampled) {
        m_callbacks.sampled(view);
        if (view.type != KeyType::String)
            m_sweep.toRead.push_back(view.key);
    }
    co_return Result<void>();
}

// Those of them that end.
Task<Result<std::vector<RedisKey>>> KeySweeper::stillEnding(std::vector<RedisKey> keys)
{
    std::vector<RedisKey> still;
    for (std::size_t from = 0; from < keys.size(); from += askedAgainTogether) {
        const auto until = std::min(from + askedAgainTogether, keys.size());
        std::vector<RedisKey> some(keys.begin() + std::ptrdiff_t(from), keys.begin() + std::ptrdiff_t(until));
        auto asking = m_reader.askForTimes(some);
        CO_TRY(auto &times, co_await m_reader.timesToLive(std::move(some), std::move(asking)));
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

// `hashesToo`: to look at each key for its type takes the server half as long again, and one that has no hash may say
// so.
Task<std::optional<qint64>> KeySweeper::countEndingKeys(bool hashesToo)
{
    std::vector<Command> commands{{"DBSIZE"}, {"INFO", "keyspace"}};
    if (hashesToo)
        commands.push_back({"INFO", "keysizes"});
    const auto asked = m_reader.loop().now();
    auto asking = m_reader.send(std::move(commands));
    if (hashesToo) // it need not wait for that answer
        askForPage(m_stretches.front(), {});
    auto got = co_await asking;
    if (!got)
        co_return std::nullopt;
    m_reader.noteRoundTrip(m_reader.loop().now() - asked);
    const auto keys = got->front().integer;
    if (!got->front().isError())
        m_sweep.counted = std::max(m_sweep.counted.value_or(0), keys);
    const auto &info = (*got)[1];
    m_databases.note(info);
    m_hasNoHash = hashesToo && saysThatNoHashIs(got->back().text);
    co_return info.isError() ? std::nullopt : endingKeysIn(info.text, keys);
}

// A sweep that is slow makes sure.
Task<void> KeySweeper::begin(bool isSlow)
{
    m_hasNoHash = m_hasPassedOn = false;
    m_maySplit = true;
    beginRound();
    auto counted = co_await countEndingKeys(!isSlow);
    m_sieve.begin(m_sweep.total(), counted);
    m_emptyPages = 0;
    m_refusals.forget(u"SCAN's end"_s);
}

} // namespace lockscope::inspect
