// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/etcd/recognise.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/lockterms.h"
#include "core/rules/catalogue.h"

namespace lockscope::inspect {

void noteForeign(EtcdForeign &foreign, const etcd::KeyValue &entry)
{
    std::erase_if(foreign.keys, [&entry](const auto &one) { return one.key == entry.key; });
    foreign.keys.insert(std::ranges::upper_bound(foreign.keys, entry.created, {}, &etcd::KeyValue::created), entry);
    if (foreign.keys.size() <= mostForeignKeys)
        return;
    foreign.keys.resize(mostForeignKeys);
    const auto last = foreign.keys.back().created;
    foreign.knownTo = foreign.knownTo == 0 ? last : std::min(foreign.knownTo, last);
}

bool forgetForeign(EtcdForeign &foreign, const QByteArray &key)
{
    return std::erase_if(foreign.keys, [&key](const auto &one) { return one.key == key; }) > 0;
}

std::vector<QByteArray> prefixesOf(const QByteArray &key)
{
    std::vector<QByteArray> all;
    for (auto at = key.indexOf('/', 1); at > 0; at = key.indexOf('/', at + 1))
        all.push_back(key.left(at));
    return all;
}

QString foreignText(const etcd::KeyValue &entry)
{
    const auto key = label(entry.key, 120);
    return entry.lease == 0 ? u"%1, which has no lease and never ends by itself"_s.arg(key)
                            : u"%1 with the lease %2"_s.arg(key, QString::fromLatin1(etcd::leaseText(entry.lease)));
}

// Free only where nothing is left that a client may hold, or wait for.
Error noLock(const QByteArray &name, const EtcdForeign &others)
{
    const auto there = u"no lock exists at %1: no key %1/<lease> exists with that lease"_s.arg(label(name, 80));
    if (others.keys.empty())
        return Error{ErrorCode::NoNode, there};
    return Error{ErrorCode::Unsupported,
                 there
                     + clause(u"it may not be free, as the key %1 there is not explained"_s.arg(
                         foreignText(others.keys.front())))};
}

Error noQueue(const QByteArray &name, const etcd::KeyValue &own)
{
    if (!mayBeFixedKey(own))
        return noLock(name, EtcdForeign{{own}});
    return Error{ErrorCode::Unsupported, u"no client queues for %1; the key %2 is a lock by itself, %3"_s.arg(
                                             label(name, 80), foreignText(own), label(lockOfFixed(name), 80))};
}

namespace {

constexpr qsizetype longestProposal = 256;
// Of shorter ones whole seconds do not tell whether a renewal was missed.
constexpr auto shortestJudged = 6s;

// The youngest of them between two revisions: who came at the later one waits for it. Null: none is known.
const etcd::KeyValue *youngestBetween(const EtcdForeign &foreign, etcd::Revision after, etcd::Revision before,
                                      const QByteArray &prefix = {})
{
    const etcd::KeyValue *youngest = nullptr;
    for (const auto &one : foreign.keys) {
        if (one.created > after && one.created < before && one.key.startsWith(prefix))
            youngest = &one;
    }
    return youngest;
}

// The command that deletes this very key and no later one of its name; empty where a shell would read its name as
// something else.
QString etcdctlDelete(const QByteArray &key, etcd::Revision created)
{
    const bool isPlain = std::ranges::all_of(
        key, [](char c) { return isAsciiLetter(c) || isDigit(c) || QByteArrayView("/._-:").contains(c); });
    if (!isPlain || key.startsWith('-') || key.size() > 120)
        return {};
    return uR"(printf 'c("%1") = "%2"\n\ndel %1\n\n\n' | etcdctl txn)"_s.arg(QString::fromLatin1(key),
                                                                             QString::number(created));
}

// A key that lost its lease keeps the name, and with it the id that it had.
QByteArray claimId(const EtcdClaim &claim)
{
    const auto &entry = claim.entry;
    const auto name = claim.fixed || etcdLockOf(entry) ? etcd::leaseText(entry.lease)
                                                       : entry.key.mid(entry.key.lastIndexOf('/') + 1);
    return name + '@' + QByteArray::number(entry.created);
}

Contender contenderOf(const EtcdClaim &claim, const EtcdLeases &leases)
{
    const auto &entry = claim.entry;
    Contender one;
    one.id = claimId(claim);
    if (entry.lease != 0)
        one.session = QString::fromLatin1(etcd::leaseText(entry.lease));
    if (!entry.value.isEmpty())
        one.identity = entry.value.left(longestProposal);
    one.guard = EtcdIdentity{.key = entry.key, .createRevision = entry.created, .lease = entry.lease};
    if (const auto at = leases.find(entry.lease); at != leases.end())
        one.expiresAt = at->second.ends;
    return one;
}

// Clients of this form renew whenever a third of the lease's time has passed.
void addSilence(LockSnapshot &lock, const EtcdClaim &holder, const EtcdLeases &leases)
{
    const auto lease = holder.entry.lease;
    const auto at = leases.find(lease);
    if (at == leases.end() || at->second.granted < shortestJudged
        || 3 * (at->second.ends - lock.observed) > at->second.granted)
        return;
    Wording message =
        u"its lease %1 was not renewed for more than half of its %2 s: unless its client renews it, it ends "_s.arg(
            QString::fromLatin1(etcd::leaseText(lease)), QString::number(at->second.granted.count()));
    message.until(at->second.ends);
    addFinding(lock, FindingCode::HolderDisconnected, message, {claimId(holder)});
}

// Candidates propose when they come, and leaders again; who writes into a mutex's key does so once it has the lock.
bool isElection(const QByteArray &lock, const EtcdQueue &queue)
{
    const bool isNamed = saysElection(lock);
    const auto proposes = [](const auto &one) {
        return etcdLockOf(one.second.entry) && !one.second.entry.value.isEmpty();
    };
    const auto asItCame = [](const auto &one) { return one.second.entry.modified <= one.second.entry.created; };
    const auto isDecimal = [](const auto &one) {
        return !one.second.entry.key.endsWith('/' + etcd::leaseText(one.second.entry.lease));
    };
    return std::ranges::all_of(queue, proposes)
           && (isNamed || (std::ranges::any_of(queue, asItCame) && std::ranges::none_of(queue, isDecimal)));
}

// A registry of services may number its keys by their leases, too.
bool mayBeRegistry(const QByteArray &lock, const EtcdQueue &queue)
{
    return !saysElection(lock) && !saysLock(lock)
           && std::ranges::all_of(queue, [](const auto &one) { return isAddress(one.second.entry.value); });
}

// Who is in a queue of its own making is one for certain; of a key alone that lost its lease only the name speaks.
Confidence confidenceOf(const LockName &lock, const EtcdQueue &queue)
{
    if (queue.begin()->second.fixed)
        return queue.begin()->second.fixed->confidence;
    const auto isCertain = [](const auto &one) {
        return etcdLockOf(one.second.entry) && etcdModeOf(one.second.entry) == Mode::Exclusive;
    };
    if (std::ranges::any_of(queue, isCertain))
        return mayBeRegistry(lock.name, queue) ? Confidence::Medium : Confidence::High;
    const auto isLikely = [](const auto &one) { return one.second.came || etcdLockOf(one.second.entry); };
    const bool isKnown = std::ranges::any_of(queue, isLikely);
    return isKnown || saysLock(lock.name) || saysElection(lock.name) ? Confidence::Medium : Confidence::Low;
}

void addLeaseless(LockSnapshot &lock, const EtcdClaim &claim)
{
    const auto &entry = claim.entry;
    const bool holds = !lock.contenders.empty() && lock.contenders.front().role == Role::Holder
                       && lock.contenders.front().guard.etcd().key == entry.key;
    const auto command = etcdctlDelete(entry.key, entry.created);
    addFinding(lock, FindingCode::NoTtl, holds && lock.waiterCount() > 0 ? Severity::Critical : Severity::Warning,
               u"the key %1 has no lease: it stays until a client deletes it%2"_s.arg(
                   label(entry.key, 120), command.isEmpty() ? QString() : u" ("_s + command + u')'),
               {claimId(claim)});
}

// `stuck`: who is first of those that wait for no claim, and for which key; null: for one that was not read.
void addBlocked(LockSnapshot &lock, const EtcdForeign &foreign, const Contender *stuck, const etcd::KeyValue *blocker)
{
    const bool isShared = recipes::recipeOf(lock.recipe).readWrite; // the next may be a reader, which does not wait
    if (!stuck && !foreign.keys.empty() && !isShared)
        addFinding(
            lock, FindingCode::ForeignNode, Severity::Info,
            u"the next client that comes waits for the key %1. That key is below the lock's prefix, but no claim "
            u"of this lock"_s.arg(foreignText(foreign.keys.back())));
    if (!stuck)
        return;
    const auto who = label(stuck->id, 80);
    const auto command = blocker ? etcdctlDelete(blocker->key, blocker->created) : QString();
    auto message = blocker
                       ? u"%1 waits for the key %2. That key is below the lock's prefix and older, but no claim of "
                         u"this lock"_s.arg(who, foreignText(*blocker))
                       : u"%1 may wait for one of many keys below the lock's prefix that are not claims"_s.arg(who);
    if (lock.holderCount() == 0)
        message = u"no client holds it: %1"_s.arg(message);
    if (!command.isEmpty())
        message = u"%1. Where its owner agrees: %2"_s.arg(message, command);
    addFinding(lock, FindingCode::ForeignNode, Severity::Warning, message, {stuck->id});
}

} // namespace

void addStrays(EtcdQueues &locks, const EtcdQueues &strays)
{
    for (const auto &[name, queue] : strays) {
        const auto at = locks.find(name);
        const auto &first = queue.begin()->second.entry;
        const bool isAlone = queue.size() == 1 && first.lease == 0 && first.modified > first.created;
        if (at != locks.end())
            at->second.insert(queue.begin(), queue.end());
        else if (isAlone)
            locks.emplace(name, queue);
    }
}

std::set<etcd::LeaseId> leasesOf(const EtcdQueues &locks)
{
    std::set<etcd::LeaseId> ids;
    for (const auto &[name, queue] : locks) {
        for (const auto &[created, claim] : queue) {
            if (claim.entry.lease != 0)
                ids.insert(claim.entry.lease);
        }
    }
    return ids;
}

void keepTime(EtcdClaim &claim, const EtcdQueues &before, const QByteArray &lock)
{
    const auto queue = before.find(lock);
    if (queue == before.end())
        return;
    const auto same = queue->second.find(claim.entry.created);
    const bool isSame = same != queue->second.end() && same->second.entry.key == claim.entry.key
                        && (!claim.fixed || same->second.entry.lease == claim.entry.lease);
    if (!isSame)
        return;
    claim.came = same->second.came;
    claim.first = same->second.first;
}

void keepTimes(EtcdQueues &locks, const EtcdQueues &before)
{
    for (auto &[name, queue] : locks) {
        for (auto &[created, claim] : queue)
            keepTime(claim, before, name);
    }
}

EtcdLockKeys etcdKeysOf(const QByteArray &lock, const std::vector<etcd::KeyValue> &entries, bool more)
{
    EtcdQueues claims, strays;
    for (const auto &entry : entries) {
        if (etcdLockOf(entry) == lock)
            claims[lock][entry.created].entry = entry;
        else if (strayLockOf(entry) == lock)
            strays[lock][entry.created].entry = entry;
    }
    addStrays(claims, strays);
    EtcdLockKeys keys;
    keys.queue = claims[lock];
    for (const auto &entry : entries) {
        const auto claim = keys.queue.find(entry.created);
        if (claim == keys.queue.end() || claim->second.entry.key != entry.key)
            noteForeign(keys.foreign, entry);
    }
    if (more && keys.foreign.knownTo == 0)
        keys.foreign.knownTo = entries.back().created;
    return keys;
}

std::set<etcd::Revision> holdersOf(const EtcdQueue &queue, const EtcdForeign &foreign)
{
    std::set<etcd::Revision> holders;
    for (const auto &[created, claim] : queue) {
        const auto mode = etcdModeOf(claim.entry);
        const bool reads = mode == Mode::Read;
        const bool isUnread = reads && foreign.knownTo != 0 && created > foreign.knownTo;
        const bool isNext = reads ? !isUnread : created == queue.begin()->first;
        if (isNext && !youngestBetween(foreign, 0, created, reads ? writersOf(claim.entry.key) : QByteArray()))
            holders.insert(created);
        if (mode == Mode::Write)
            break;
    }
    return holders;
}

LockSnapshot etcdSnapshot(const LockName &lock, const EtcdQueue &queue, const EtcdForeign &foreign,
                          const EtcdLeases &leases, ServerTime now)
{
    const auto holders = holdersOf(queue, foreign);
    LockSnapshot snapshot;
    snapshot.lock = lock;
    snapshot.backend = BackendKind::Etcd;
    snapshot.observed = now;
    if (const auto &first = queue.begin()->second; first.fixed) {
        auto fixed = fixedSnapshot(std::move(snapshot), contenderOf(first, leases), first);
        if (first.fixed->isRenewed)
            addSilence(fixed, first, leases);
        return fixed;
    }
    snapshot.confidence = confidenceOf(lock, queue);
    const bool proposes = isElection(lock.name, queue);
    const bool isShared =
        std::ranges::any_of(queue, [](const auto &one) { return etcdModeOf(one.second.entry) != Mode::Exclusive; });
    snapshot.recipe = isShared ? "etcd-rwmutex" : proposes ? "etcd-election" : "etcd-mutex";
    snapshot.why = u"each of its keys ends with the number of its own lease, as those of etcd's Go client do%1"_s.arg(
        proposes ? clause(u"their values are what the candidates of an election propose"_s) : QString());
    const bool hasStrays = std::ranges::any_of(queue, [](const auto &one) { return !etcdLockOf(one.second.entry); });
    if (hasStrays)
        snapshot.why += clause(u"one that was written again without it stays a claim"_s);
    if (isShared)
        snapshot.why =
            u"keys read/<nanoseconds> and write/<nanoseconds> with a lease and no value, as RWMutex of etcd's Go client writes them"_s;
    else if (mayBeRegistry(lock.name, queue))
        snapshot.why += clause(u"they are addresses, so that a registry of services may look the same"_s);
    else if (snapshot.confidence != Confidence::High)
        snapshot.why = u"its key is named as a claim of etcd's Go client is, and was written again without a lease"_s;
    etcd::Revision before = 0;
    etcd::Revision writer = 0; // the last
    std::optional<std::size_t> stuck;
    const etcd::KeyValue *waitsFor = nullptr;
    for (const auto &[created, claim] : queue) {
        auto one = contenderOf(claim, leases);
        one.mode = etcdModeOf(claim.entry);
        one.position = static_cast<int>(snapshot.contenders.size());
        const bool reads = one.mode == Mode::Read;
        const auto predecessor = reads ? writer : before;
        const auto *blocker =
            youngestBetween(foreign, predecessor, created, reads ? writersOf(claim.entry.key) : QByteArray());
        const bool isUnread = foreign.knownTo != 0 && created > foreign.knownTo;
        if (!stuck && (blocker || isUnread)) {
            stuck = snapshot.contenders.size();
            waitsFor = isUnread ? nullptr : blocker;
        }
        if (holders.contains(created)) {
            one.role = Role::Holder;
            one.heldSince = claim.first;
        } else {
            one.waitingSince = claim.came;
            // The recipe says so; etcd tells nobody who watches what. Which of the keys that were not read comes
            // before it is not known.
            if (isUnread)
                one.position.reset();
            else if (blocker)
                one.watches.push_back({blocker->key, false, Evidence::Inferred});
            else
                one.watches.push_back({claimId(queue.at(predecessor)), false, Evidence::Inferred});
        }
        writer = one.mode == Mode::Write ? created : writer;
        snapshot.contenders.push_back(std::move(one));
        before = created;
    }
    snapshot.state = snapshot.waiterCount() > 0 ? LockState::Contended : LockState::Held;
    addBlocked(snapshot, foreign, stuck ? &snapshot.contenders[*stuck] : nullptr, waitsFor);
    for (const auto &[created, claim] : queue) {
        if (claim.entry.lease == 0)
            addLeaseless(snapshot, claim);
        if (holders.contains(created))
            addSilence(snapshot, claim, leases);
    }
    return snapshot;
}

void addWaiterAbove(LockSnapshot &lock, const QByteArray &above, const EtcdQueue &queue, const EtcdForeign &foreign)
{
    if (lock.holderCount() == 0)
        return;
    const auto &held = lock.contenders.front().guard.etcd();
    const auto next = queue.upper_bound(held.createRevision);
    if (next == queue.end())
        return;
    const auto before = next == queue.begin() ? etcd::Revision(0) : std::prev(next)->first;
    const auto *awaited = youngestBetween(foreign, before, next->first);
    if (awaited && awaited->key == held.key)
        addFinding(
            lock, FindingCode::ForeignNode, Severity::Info,
            u"a client that waits for the lock %1 (%2) waits for this holder's key: a release wakes that client, "
            u"too"_s.arg(label(above, 80), label(claimId(next->second), 80)),
            {lock.contenders.front().id});
}

void noteOtherKeys(EtcdLease &lease, const etcd::LeaseAnswer &answer)
{
    constexpr std::size_t kept = 20;
    lease.others = answer.keys;
    std::erase_if(lease.others, [&answer](const QByteArray &key) {
        etcd::KeyValue entry;
        entry.key = key;
        entry.lease = answer.id;
        return etcdLockOf(entry) || mayBeFixedKey(entry);
    });
    lease.otherCount = std::ssize(lease.others);
    std::ranges::sort(lease.others);
    lease.others.resize(std::min(kept, lease.others.size()));
}

std::vector<SessionSnapshot> etcdSessions(const EtcdQueues &locks, const std::map<QByteArray, EtcdForeign> &foreign,
                                          const EtcdLeases &leases, const ConnectionName &connection)
{
    static const EtcdForeign none;
    std::map<etcd::LeaseId, SessionSnapshot> sessions;
    for (const auto &[name, queue] : locks) {
        const auto others = foreign.find(name);
        const auto holders = holdersOf(queue, others == foreign.end() ? none : others->second);
        for (const auto &[created, claim] : queue) {
            if (claim.entry.lease == 0)
                continue;
            auto &session = sessions[claim.entry.lease];
            (holders.contains(created) ? session.holds : session.waits).push_back(name);
        }
    }
    std::vector<SessionSnapshot> all;
    for (auto &[lease, session] : sessions) {
        session.connection = connection;
        session.session = QString::fromLatin1(etcd::leaseText(lease));
        if (const auto at = leases.find(lease); at != leases.end()) {
            session.expiresAt = at->second.ends;
            session.alsoEnds = at->second.others;
            session.alsoEndsCount = at->second.otherCount;
        }
        all.push_back(std::move(session));
    }
    return all;
}

} // namespace lockscope::inspect
