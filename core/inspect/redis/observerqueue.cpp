// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/keysweeper.h"

#include "core/inspect/redis/naming.h"

namespace lockscope::inspect {

Task<void> ReadQueue::untilPageRead()
{
    while (!m_page.empty())
        co_await nextBatchDone();
    co_await untilBatchRead();
}

Task<void> ReadQueue::untilAllRead()
{
    const auto all = m_taken + std::ssize(m_inOrder);
    do {
        while (m_taken < all)
            co_await nextBatchDone();
        co_await untilBatchRead();
    } while (m_taken < all); // it was put back
}

// The worker takes the next batch before those who waited for the last one go on.
Task<void> ReadQueue::untilBatchRead()
{
    const auto last = m_batchesTaken;
    while (m_batchesRead < last)
        co_await nextBatchDone();
}

Task<void> ReadQueue::untilFilled()
{
    while (m_inOrder.empty() && m_page.empty()) {
        m_filled = Completion<bool>(m_loop);
        co_await m_filled;
    }
}

std::vector<RedisKey> ReadQueue::takeBatch(std::size_t lineFactor)
{
    const auto atMost = batchAtMost * std::min(lineFactor, largestFactor);
    std::vector<RedisKey> keys;
    for (; !m_inOrder.empty() && keys.size() < changedInBatch; ++m_taken) {
        m_changed.erase(m_inOrder.front());
        keys.push_back(std::move(m_inOrder.front()));
        m_inOrder.pop_front();
    }
    while (!m_page.empty() && keys.size() < atMost) {
        keys.push_back(std::move(m_page.back()));
        m_page.pop_back();
    }
    ++m_batchesTaken;
    return keys;
}

// Sweeps that only make sure: what many inspectors, each looking for ever, may cost a server that is at rest.
constexpr qint64 commandsPerSecond = 100;
constexpr Duration longestRestOfPage = 100s;
constexpr Duration restStep = 1s;

Task<void> SweepRest::afterPage(Span span, Duration least)
{
    const auto earned = m_pages.restAfter(m_reader.loop().now() - span.begun);
    co_await rest(span, std::max(least, earned), longestRestOfPage);
}

// At least `least`; and, while sweeps only make sure, as long as what was sent since then is worth.
Task<void> SweepRest::rest(Span span, Duration least, Duration longest)
{
    auto &loop = m_reader.loop();
    const auto sent = m_reader.requests() - span.requests;
    const Duration worth = Duration(std::chrono::seconds(sent)) / commandsPerSecond;
    const auto atLeast = loop.now() + least;
    const auto until = std::max(atLeast, span.begun + std::min(worth, longest));
    while (loop.now() < atLeast && !m_isCutShort) {
        co_await sleepUntil(loop, std::min(atLeast, loop.now() + restStep));
    }
    while (loop.now() < until && m_isOnlyMakingSure()) {
        co_await sleepUntil(loop, std::min(until, loop.now() + restStep));
    }
}

namespace {

// PTTL and TIME are cut to milliseconds and lie a round trip apart.
constexpr auto sameMoment = 50ms;

// A time to live that is measured twice is never the same; one that was given anew is longer by more.
constexpr auto renewedBy = 250ms;
constexpr size_t tokensRemembered = 20'000;

// Whether the value is the moment at which it was written: seen to come, or not touched since.
bool saysSinceWhen(const KeyView &main, ServerTime now, bool witnessed)
{
    constexpr auto slack = 3s; // idle times are told in seconds
    const auto moment = main.value ? momentIn(*main.value, now) : std::nullopt;
    const auto written = main.idle ? std::optional(now - *main.idle) : witnessed ? std::optional(now) : std::nullopt;
    return moment && written && *moment <= *written + 1s && *moment >= *written - slack;
}

// Who holds the key, as far as its value says; not how often or for how long. A value that is no token may be
// the next holder's as well: another expiry is taken for another hold.
QByteArray fingerprint(const KeyView &main, bool isToken)
{
    if (main.type == KeyType::String) {
        const auto value = main.value.value_or(QByteArray());
        return isToken || !main.expiresAt
                   ? value
                   : recipes::constantContenderId(value, main.expiresAt->time_since_epoch().count());
    }
    QByteArray names;
    for (const auto &[name, value] : main.fields)
        names += QByteArray::number(name.size()) + ':' + name;
    return names;
}

std::optional<ServerTime> endOf(const KeyView &main, ServerTime now)
{
    return main.expiresAt ? main.expiresAt : main.ttl ? std::optional(now + *main.ttl) : std::nullopt;
}

void takeEarlier(std::optional<ServerTime> &newer, const std::optional<ServerTime> &older)
{
    if (older && (!newer || *older < *newer))
        newer = older;
}

} // namespace

void SeenSince::note(const KeyView &main, ServerTime now, bool complete)
{
    const auto at = m_seen.find(main.key);
    if (main.type == KeyType::None) {
        if (at == m_seen.end())
            return;
        if (at->second.isToken && m_seen.size() < tokensRemembered)
            at->second.isGone = true;
        else
            m_seen.erase(at);
        return;
    }
    Seen fresh;
    fresh.isToken = main.type == KeyType::String && main.value
                    && readToken(main.key.bytes(), *main.value, false, now).has_value();
    fresh.what = fingerprint(main, fresh.isToken);
    fresh.since = now;
    fresh.witnessed = complete || at != m_seen.end();
    fresh.ends = endOf(main, now);
    if (fresh.ends)
        fresh.behaviour.lifetime = *fresh.ends - now + main.idle.value_or(0s);
    fresh.behaviour.momentOfTaking = saysSinceWhen(main, now, fresh.witnessed);
    if (at == m_seen.end()) {
        m_seen[main.key] = std::move(fresh);
        return;
    }
    auto &known = at->second;
    const bool isSame = known.what == fresh.what && !known.isGone && !isTakenAgain(known, main, now);
    const bool endsLater = known.ends && fresh.ends && *fresh.ends > *known.ends + renewedBy;
    // A value that all write, whose end has moved and which no server says to the millisecond: perhaps another's.
    if (isSame && (fresh.isToken || !endsLater || main.type != KeyType::String)) {
        known.behaviour.renewed |= fresh.isToken && endsLater;
        known.ends = fresh.ends;
        known.wasReleased = false;
        if (known.ends && !known.behaviour.renewed)
            known.behaviour.lifetime = std::max(known.behaviour.lifetime, *known.ends - known.since);
        return;
    }
    fresh.behaviour.renewed = known.behaviour.renewed;
    fresh.behaviour.handedOver =
        known.behaviour.handedOver || (known.isToken && fresh.isToken && known.what != fresh.what);
    known = std::move(fresh);
}

// Who takes it again writes its end anew; had that been read already, the release was before that.
bool SeenSince::isTakenAgain(const Seen &known, const KeyView &main, ServerTime now)
{
    const auto ends = endOf(main, now);
    if (!known.wasReleased || !known.ends || !ends)
        return false;
    return std::chrono::abs(*ends - *known.ends) > (main.expiresAt ? 0ms : sameMoment);
}

void SeenSince::noteSignal(const RedisKey &key)
{
    if (m_signalled.size() < tokensRemembered)
        m_signalled.insert(key);
}

void SeenSince::forgetUnlessToken(const RedisKey &key)
{
    const auto at = m_seen.find(key);
    if (at != m_seen.end() && (!at->second.isToken || m_seen.size() >= tokensRemembered))
        m_seen.erase(at);
}

void steady(LockSnapshot &newer, const LockSnapshot &older, bool isEndExact, std::optional<ServerTime> came)
{
    // Whose client it is may have followed from other locks beside it.
    const bool sameHolder = !newer.contenders.empty() && !older.contenders.empty()
                            && newer.contenders.front().id == older.contenders.front().id;
    if (!newer.client && older.client && sameHolder && newer.recipe == older.recipe && !older.byUserRule) {
        newer.client = older.client;
        newer.clientTraits = older.clientTraits;
        newer.confidence = older.confidence;
        newer.why = older.why;
    }
    for (auto &contender : newer.contenders) {
        const auto *before = older.find(contender.id);
        if (before == nullptr || before->role != contender.role)
            continue;
        if (!isEndExact && contender.expiresAt && before->expiresAt
            && std::chrono::abs(*contender.expiresAt - *before->expiresAt) <= sameMoment)
            contender.expiresAt = before->expiresAt;
        if (!came || *came <= older.observed)
            takeEarlier(contender.heldSince, before->heldSince);
        takeEarlier(contender.waitingSince, before->waitingSince);
    }
}

std::optional<ServerTime> nextMomentOf(const KeyView &main, const std::vector<KeyView> &companions,
                                       const LockSnapshot &lock, std::optional<ServerTime> longHeldAt)
{
    const auto now = lock.observed;
    auto next = longHeldAt;
    const auto consider = [&](ServerTime when) {
        if (when >= now && (!next || when < *next))
            next = when;
    };
    // The times to live as just read, not the steadied ones of the snapshot.
    if (main.ttl)
        consider(now + *main.ttl);
    for (const auto &companion : companions) {
        if (companion.ttl)
            consider(now + *companion.ttl);
    }
    for (const auto &contender : lock.contenders) {
        if (contender.expiresAt)
            consider(*contender.expiresAt);
    }
    return next;
}

std::vector<SnapshotChange> attributed(SnapshotStore &snapshots)
{
    auto locks = snapshots.all();
    attributeToRegistries(locks);
    std::vector<SnapshotChange> changes;
    for (auto &lock : locks) {
        const auto key = lock.lock.name;
        std::ranges::move(snapshots.replace(key, {std::move(lock)}), std::back_inserter(changes));
    }
    return changes;
}

} // namespace lockscope::inspect
