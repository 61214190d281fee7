// SPDX-License-Identifier: Apache-2.0
// What events say of the keys that have to do with locks.
#include "core/inspect/etcd/observer.h"

#include "core/base/text.h"

#include <algorithm>

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
    const bool isLeased = !event.isRemoved && !isClaim && event.entry.lease != 0 && !isKnownEntry(key);
    const bool isKept = isLeased && (m_leased.size() < mostLeasedKeys || m_leased.contains(key));
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
        if (m_leased.contains(name))
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
            if (etcdModeOf(claim.entry) != Mode::Exclusive && !m_keys.contains(claim.entry.key))
                noteForeign(found.foreign, claim.entry); // it has a value
        }
        isTaken = !unread->second;
    }
    m_unread.erase(name);
    const auto before = m_known.find(name) ? heldBy(name) : std::set<etcd::Revision>();
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

} // namespace lockscope::inspect
