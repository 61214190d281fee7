// SPDX-License-Identifier: Apache-2.0
// What events say of the keys that have to do with locks.
#include "core/base/text.h"
#include "core/inspect/etcd/observer.h"

namespace lockscope::inspect {

constexpr auto foreignAnswersWithin = 3s;

// The lock that the key is a claim of now. What was a claim stays one where it loses its lease.
std::optional<QByteArray> EtcdObserver::claimOf(const etcd::WatchEvent &event) const
{
    const auto &entry = event.entry;
    if (event.isRemoved)
        return std::nullopt;
    const auto lock = etcdLockOf(entry);
    const auto known = m_keys.find(entry.key);
    const bool isKnown = known != m_keys.end() && known->second.second == entry.created;
    const bool isFixed = isKnown && known->second.first == lockOfFixed(entry.key);
    const bool stays = isFixed ? entry.lease != 0 : etcdModeOf(entry) == Mode::Exclusive;
    if (lock || (isKnown && stays))
        return lock ? lock : known->second.first;
    const auto stray = strayLockOf(entry);
    if (stray && m_locks.contains(*stray))
        return stray;
    return fixedNow(entry) ? std::optional(lockOfFixed(entry.key)) : std::nullopt;
}

// A key that is a lock by itself, by what stands beside it now.
std::optional<EtcdFixedKey> EtcdObserver::fixedNow(const etcd::KeyValue &entry) const
{
    if (entry.lease == 0)
        return std::nullopt;
    const auto member = m_leased.find(patroniMemberOf(entry));
    return fixedKeyOf(entry, m_locks.contains(entry.key), member != m_leased.end() && member->second == entry.lease);
}

void EtcdObserver::heedLeased(const etcd::WatchEvent &event, bool isClaim, std::set<QByteArray> &changed)
{
    const auto &key = event.entry.key;
    const bool isKnown = event.entry.lease != 0 ? isKnownEntry(key) : !mayBeHeldWithoutLease(event.entry);
    const bool isLeased = !event.isRemoved && !isClaim && !isKnown;
    const bool isKept = isLeased && (m_leased.size() < mostKept(event.entry) || m_leased.contains(key));
    const bool isChanged =
        isKept ? m_leased.insert_or_assign(key, event.entry.lease).second : !isLeased && m_leased.erase(key) > 0;
    m_isLedgerOld = m_isLedgerOld || isChanged;
    if (isChanged && m_locks.contains(key))
        changed.insert(key);
}

// Of every lock that the key is below, and no claim of.
void EtcdObserver::heedForeign(const etcd::WatchEvent &event, const std::optional<QByteArray> &lock,
                               std::set<QByteArray> &changed)
{
    for (const auto &above : prefixesOf(event.entry.key)) {
        if (!m_locks.contains(above))
            continue;
        const auto before = heldBy(above);
        const bool isForeign = !event.isRemoved && lock != above;
        auto &foreign = m_foreign[above];
        if (!forgetForeign(foreign, event.entry.key) && !isForeign)
            continue;
        if (const auto unread = m_unread.find(above); unread != m_unread.end())
            unread->second = true;
        auto entry = event.entry;
        entry.value.clear();
        if (isForeign)
            noteForeign(foreign, entry);
        else if (foreign.knownTo != 0)
            m_work.launch(askForeign(above)); // there are others
        noteHolders(above, before);
        changed.insert(above);
    }
}

void EtcdObserver::apply(const etcd::WatchEvent &event, std::set<QByteArray> &changed)
{
    const auto &entry = event.entry;
    const auto lockOfNew = claimOf(event);
    heedLeased(event, lockOfNew.has_value(), changed);
    heedForeign(event, lockOfNew, changed);
    const auto at = m_keys.find(entry.key);
    if (at == m_keys.end() && !lockOfNew)
        return;
    if (at != m_keys.end() && lockOfNew && *lockOfNew != at->second.first) { // of another form now
        auto gone = event;
        gone.isRemoved = true;
        apply(gone, changed);
        apply(event, changed);
        return;
    }
    const auto name = at != m_keys.end() ? at->second.first : *lockOfNew;
    auto &queue = m_locks[name];
    const bool isNew = queue.empty();
    const auto before = heldBy(name);
    EtcdClaim claim;
    claim.came = now();
    if (at != m_keys.end()) {
        // Written anew, its place stays; made anew, it is another.
        const auto known = queue.find(at->second.second);
        if (known != queue.end() && at->second.second == entry.created)
            claim = known->second;
        queue.erase(at->second.second);
        m_keys.erase(at);
    }
    const bool isFixed = name == lockOfFixed(entry.key);
    if (lockOfNew) {
        const auto fixed = isFixed ? fixedNow(entry) : std::nullopt;
        if (isFixed && claim.entry.lease != entry.lease)
            claim.first = now();
        claim.fixed = fixed ? fixed : claim.fixed;
        claim.entry = entry;
        queue[entry.created] = claim;
        m_keys[entry.key] = {name, entry.created};
    }
    if (isFixed)
        changed.insert(entry.key); // where others queue below it
    else if (isNew || queue.empty())
        changed.insert(lockOfFixed(name));
    if (queue.empty()) {
        addNested(name, changed);
        m_locks.erase(name);
        m_foreign.erase(name);
        m_unread.erase(name);
    } else if (isNew && !isFixed) {
        if (hasLease(name))
            m_work.launch(askFixed(name)); // what it says was of no interest before
        m_unread[name] = false;            // whether anything is in its way is not in the events
        m_work.launch(askForeign(name));
    } else if (!isFixed) {
        noteHolders(name, before);
    }
    m_isLedgerOld = m_isLedgerOld || isFixed;
    changed.insert(name);
}

const EtcdForeign &EtcdObserver::foreignOf(const QByteArray &name) const
{
    static const EtcdForeign none;
    const auto at = m_foreign.find(name);
    return at == m_foreign.end() ? none : at->second;
}

// The revisions of the claims.
std::set<etcd::Revision> EtcdObserver::heldBy(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() ? std::set<etcd::Revision>() : holdersOf(at->second, foreignOf(name));
}

void EtcdObserver::noteHolders(const QByteArray &name, const std::set<etcd::Revision> &before)
{
    for (const auto holder : heldBy(name)) {
        if (!before.contains(holder))
            m_locks[name][holder].first = now();
    }
}

Task<void> EtcdObserver::askForeign(QByteArray name)
{
    EtcdLockKeys found;
    for (bool isTaken = false; !isTaken;) {
        if (!m_locks.contains(name))
            co_return;
        m_unread[name] = false;
        ++m_requests;
        auto asking = m_client.range(keysAround(name, m_locks[name]), Deadline::after(m_loop, foreignAnswersWithin));
        const auto answer = co_await asking;
        const auto unread = m_unread.find(name);
        if (unread == m_unread.end()) // a sweep read them meanwhile, or the lock is gone
            co_return;
        found = answer ? etcdKeysOf(name, answer->entries, answer->more) : EtcdLockKeys();
        // Claims that had lost their lease before one came that has its own: only then they tell what they are.
        const bool hasOlder = std::ranges::any_of(found.queue, [this](const auto &one) {
            return !etcdLockOf(one.second.entry) && !m_keys.contains(one.second.entry.key);
        });
        if (!answer || hasOlder) {
            m_over.complete(true); // the next sweep reads them
            co_return;
        }
        for (const auto &[created, claim] : found.queue) {
            const bool isCertain = claim.entry.key.endsWith('/' + etcd::leaseText(claim.entry.lease));
            if (!isCertain && !m_keys.contains(claim.entry.key))
                noteForeign(found.foreign, claim.entry); // its value tells that it is data
        }
        isTaken = !unread->second;
    }
    m_unread.erase(name);
    const auto before = m_snapshots.find(name) ? heldBy(name) : std::set<etcd::Revision>();
    m_foreign[name] = std::move(found.foreign);
    noteHolders(name, before);
    settle({name});
}

// A key that is named as a lock now.
Task<void> EtcdObserver::askFixed(QByteArray key)
{
    ++m_requests;
    const etcd::RangeRequest own{.key = key};
    const auto answer = co_await m_client.range(own, Deadline::after(m_loop, foreignAnswersWithin));
    if (!answer || answer->entries.empty() || !m_leased.contains(key))
        co_return;
    std::set<QByteArray> changed;
    apply({.isRemoved = false, .entry = answer->entries.front()}, changed);
    if (const auto at = m_locks.find(lockOfFixed(key)); at != m_locks.end())
        at->second.begin()->second.first.reset(); // since when was not seen
    settle(changed);
}

Task<Result<LockSnapshot>> EtcdObserver::readFixed(QByteArray key, Deadline deadline)
{
    const auto name = lockOfFixed(key);
    CO_TRY(auto read, co_await readFixedKey(&m_client, key, deadline));
    auto &claim = read.claim;
    keepTime(claim, m_locks, name);
    const auto known = m_keys.find(key);
    if (!claim.fixed && known != m_keys.end() && known->second == std::pair(name, claim.entry.created))
        claim.fixed = m_locks.at(name).begin()->second.fixed;
    if (!claim.fixed || claim.entry.lease == 0)
        co_return Error{ErrorCode::Unsupported, u"no lock is known at %1: there is the key %2"_s.arg(
                                                    label(name, 80), foreignText(claim.entry))};
    auto asksLease = askLease(claim.entry.lease);
    (void)co_await asksLease; // without it the time left is not told
    auto snapshot = snapshotOf(name, {{claim.entry.created, claim}}, {});
    if (read.isBesideQueue && !m_locks.contains(key))
        addQueueBeside(snapshot, key);
    if (!m_isWatching) {
        co_await addWaitersAbove(&snapshot, &m_client, deadline);
    }
    co_return snapshot;
}

namespace {

constexpr qint64 keysOfPage = 1000;
constexpr std::size_t operationsAtOnce = 100; // etcd takes 128 operations in a transaction
// An answer that is lost is not waited for as long as all pages may take.
constexpr std::chrono::seconds pageWithin(10);
constexpr qint64 keptAtMost = 64'000'000; // bytes of keys of locks, each with what stands beside it
constexpr qint64 keptBeside = 250;

// A page that does not begin where it was asked for, or says that more follows nothing, would be asked for for ever.
bool isPage(const etcd::RangeAnswer &answer, const etcd::RangeRequest &asked)
{
    const auto &entries = answer.entries;
    const auto isWrong = [](const etcd::KeyValue &entry, const etcd::KeyValue &next) {
        return entry.key >= next.key;
    };
    const bool isInOrder = std::ranges::adjacent_find(entries, isWrong) == entries.end()
                           && (entries.empty() || entries.front().key >= asked.key);
    return answer.revision > 0 && isInOrder && !(answer.more && entries.empty());
}

etcd::Transaction readingOf(std::span<const etcd::RangeRequest> requests)
{
    etcd::Transaction reading;
    for (const auto &request : requests)
        reading.then.emplace_back().range = request;
    return reading;
}

// The values of all claims, then what else is below each lock; last the keys that may be locks by themselves.
std::vector<etcd::RangeRequest> readingsOf(const EtcdSwept &swept, const QByteArrayList &mayBeFixed)
{
    std::vector<etcd::RangeRequest> readings;
    for (const auto &[name, queue] : swept.locks) {
        for (const auto &[created, claim] : queue)
            readings.emplace_back().key = claim.entry.key;
        readings.push_back(keysAround(name, queue));
    }
    for (const auto &key : mayBeFixed)
        readings.emplace_back().key = key;
    for (auto &one : readings)
        one.at = swept.revision;
    return readings;
}

void takeFixed(EtcdSwept &swept, const etcd::KeyValue &entry)
{
    const auto member = swept.leased.find(patroniMemberOf(entry));
    const bool hasMember = member != swept.leased.end() && member->second == entry.lease;
    auto fixed = fixedKeyOf(entry, swept.locks.contains(entry.key), hasMember);
    if (!fixed)
        return;
    auto &claim = swept.locks[lockOfFixed(entry.key)][entry.created];
    claim.entry = entry;
    claim.fixed = std::move(fixed);
    swept.leased.erase(entry.key);
}

// In the same order. What is gone by then is told by the watch.
void take(EtcdSwept &swept, const std::vector<etcd::RangeAnswer> &answers)
{
    auto at = answers.begin();
    for (auto &[name, queue] : swept.locks) {
        for (auto &[created, claim] : queue) {
            if (at != answers.end() && !at->entries.empty())
                claim.entry.value = at->entries.front().value;
            at += at != answers.end() ? 1 : 0;
        }
        if (at != answers.end())
            swept.foreign[name] = etcdKeysOf(name, at->entries, at->more).foreign;
        at += at != answers.end() ? 1 : 0;
    }
    for (; at != answers.end(); ++at) {
        if (!at->entries.empty())
            takeFixed(swept, at->entries.front());
    }
}

// What is no claim with its value, such as that of a read/write lock, which has none, is data.
void dropData(EtcdSwept &swept)
{
    for (auto &[name, queue] : swept.locks) {
        std::erase_if(queue, [&swept, &foreign = swept.foreign[name]](const auto &one) {
            const auto &entry = one.second.entry;
            const bool isData = !one.second.fixed && !etcdLockOf(entry) && !strayLockOf(entry);
            if (isData) {
                swept.leased.emplace(entry.key, entry.lease);
                noteForeign(foreign, entry);
            }
            return isData;
        });
    }
    std::erase_if(swept.locks, [](const auto &one) { return one.second.empty(); });
}

// What is no claim by itself. Of a folder full of such names, which is data, no more is kept than tells so.
void keepOther(const etcd::KeyValue &entry, EtcdQueues &strays, std::map<QByteArray, etcd::LeaseId> &leased)
{
    const bool isKnown = entry.lease != 0 ? isKnownEntry(entry.key) : !mayBeHeldWithoutLease(entry);
    if (!isKnown && leased.size() < mostKept(entry))
        leased.emplace(entry.key, entry.lease);
    const auto lock = strayLockOf(entry);
    if (lock && strays[*lock].size() < mostForeignKeys)
        strays[*lock][entry.created].entry = entry;
}

void forgetClaims(EtcdSwept &swept)
{
    for (const auto &[name, queue] : swept.locks) {
        for (const auto &[created, claim] : queue)
            swept.leased.erase(claim.entry.key);
    }
}

// Of those that are kept.
QByteArrayList mayBeFixedOf(const EtcdSwept &swept)
{
    QByteArrayList keys;
    etcd::KeyValue entry;
    for (const auto &[key, lease] : swept.leased) {
        entry.key = key;
        entry.lease = lease;
        if (mayBeFixedKey(entry) || swept.locks.contains(key))
            keys << key;
    }
    return keys;
}

} // namespace

etcd::RangeRequest oldestOf(const QByteArray &lock, qint64 limit)
{
    return {.key = lock + '/',
            .end = etcd::endOfPrefix(lock + '/'),
            .limit = limit,
            .order = etcd::Order::OldestFirst,
            .keysOnly = true};
}

etcd::RangeRequest keysAround(const QByteArray &lock, const EtcdQueue &queue)
{
    return oldestOf(lock, static_cast<qint64>(queue.size() + mostForeignKeys + 1));
}

Task<Result<EtcdSwept>> sweepEtcd(etcd::Client *client, QByteArray prefix, std::function<void(qint64)> looked,
                                  Deadline deadline)
{
    EtcdSwept swept;
    EtcdQueues strays;
    etcd::RangeRequest page{.key = prefix, .end = etcd::endOfPrefix(prefix), .limit = keysOfPage, .keysOnly = true};
    qint64 kept = 0;
    for (bool more = true; more;) {
        const auto latest = std::min<Instant>(deadline.when(), client->loop().now() + pageWithin);
        CO_TRY(const auto &answer, co_await client->range(page, Deadline::at(latest)));
        if (!isPage(answer, page))
            co_return Error{ErrorCode::Server, u"the answer is not the page of keys that was asked for"_s};
        for (const auto &entry : answer.entries) {
            if (const auto lock = etcdLockOf(entry)) {
                swept.locks[*lock][entry.created].entry = entry;
                kept += entry.key.size() + keptBeside;
            } else {
                keepOther(entry, strays, swept.leased);
            }
        }
        if (kept > keptAtMost)
            co_return Error{ErrorCode::TooLarge, u"too many keys of locks; name a prefix in the URI to read fewer"_s};
        // All pages are of the moment of the first.
        swept.revision = page.at = page.at == 0 ? answer.revision : page.at;
        swept.keys += static_cast<qint64>(answer.entries.size());
        more = answer.more;
        if (more)
            page.key = answer.entries.back().key + '\0';
        looked(swept.keys);
    }
    addStrays(swept.locks, strays);
    forgetClaims(swept);
    const auto readings = readingsOf(swept, mayBeFixedOf(swept));
    const std::span all(readings);
    std::vector<etcd::RangeAnswer> answers;
    for (std::size_t i = 0; i < readings.size(); i += operationsAtOnce) {
        const auto part = all.subspan(i, std::min(operationsAtOnce, readings.size() - i));
        CO_TRY(const auto &answer, co_await client->commit(readingOf(part), deadline));
        if (answer.ranges.size() != part.size())
            co_return Error{ErrorCode::Server,
                            QStringLiteral("etcd's answer has another number of parts than asked for")};
        answers.insert(answers.end(), answer.ranges.begin(), answer.ranges.end());
    }
    take(swept, answers);
    dropData(swept);
    co_return std::move(swept);
}

Task<void> addWaitersAbove(LockSnapshot *snapshot, etcd::Client *client, Deadline deadline)
{
    constexpr qint64 mostNames = 500;
    const auto &lock = snapshot->lock.name;
    if (snapshot->contenders.empty())
        co_return;
    const auto key = snapshot->contenders.front().guard.etcd().key;
    for (const auto &above : prefixesOf(key)) {
        if (above == lock)
            continue;
        const etcd::RangeRequest names{
            .key = above + "/0", .end = above + "/g", .limit = mostNames, .keysOnly = true};
        const auto named = co_await client->range(names, deadline);
        const auto queue = named ? etcdKeysOf(above, named->entries, false).queue : EtcdQueue();
        if (queue.empty())
            continue;
        const auto around = co_await client->range(keysAround(above, queue), deadline);
        if (!around)
            continue;
        const auto keys = etcdKeysOf(above, around->entries, around->more);
        addWaiterAbove(*snapshot, above, keys.queue, keys.foreign);
    }
}

} // namespace lockscope::inspect
