// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/etcd/recognise.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr qsizetype longestProposal = 256;
// Of shorter ones whole seconds do not tell whether a renewal was missed.
constexpr auto shortestJudged = 6s;

QByteArray claimId(const etcd::KeyValue &entry)
{
    return etcd::leaseText(entry.lease) + '@' + QByteArray::number(entry.created);
}

Contender contenderOf(const EtcdClaim &claim, const EtcdLeases &leases)
{
    const auto &entry = claim.entry;
    Contender one;
    one.id = claimId(entry);
    one.session = QString::fromLatin1(etcd::leaseText(entry.lease));
    if (!entry.value.isEmpty())
        one.identity = entry.value.left(longestProposal);
    one.guard.value = entry.key;
    one.guard.czxid = entry.created;
    one.guard.owner = static_cast<quint64>(entry.lease);
    if (const auto at = leases.find(entry.lease); at != leases.end())
        one.expiresAt = at->second.ends;
    return one;
}

// Clients of this form renew whenever a third of the lease's time has passed.
void addSilence(LockSnapshot &lock, const EtcdQueue &queue, const EtcdLeases &leases)
{
    const auto lease = queue.begin()->second.entry.lease;
    const auto at = leases.find(lease);
    if (at == leases.end() || at->second.granted < shortestJudged
        || 3 * (at->second.ends - lock.observed) > at->second.granted)
        return;
    Wording message = u"its lease %1 was not renewed for more than half of its %2 s: it ends "_s.arg(
        QString::fromLatin1(etcd::leaseText(lease)), QString::number(at->second.granted.count()));
    message.until(at->second.ends) << u" unless its client comes back"_s;
    addFinding(lock, FindingCode::HolderDisconnected, message, {lock.contenders.front().id});
}

} // namespace

std::optional<QByteArray> etcdLockOf(const etcd::KeyValue &entry)
{
    const auto slash = entry.key.lastIndexOf('/');
    if (slash <= 0 || entry.lease == 0 || entry.key.mid(slash + 1) != etcd::leaseText(entry.lease))
        return std::nullopt;
    return entry.key.left(slash);
}

LockSnapshot etcdSnapshot(const LockName &lock, const EtcdQueue &queue, const EtcdObstacle &obstacle,
                          const EtcdLeases &leases, ServerTime now)
{
    const bool isBlocked = obstacle && obstacle->created < queue.begin()->first;
    LockSnapshot snapshot;
    snapshot.lock = lock;
    snapshot.backend = BackendKind::Etcd;
    snapshot.observed = now;
    snapshot.confidence = Confidence::High;
    const bool proposes =
        std::ranges::any_of(queue, [](const auto &one) { return !one.second.entry.value.isEmpty(); });
    snapshot.recipe = proposes ? "etcd-election" : "etcd-mutex";
    snapshot.why = u"each of its keys ends with the number of its own lease, as those of etcd's Go client do%1"_s.arg(
        proposes ? u"; their values are what the candidates of an election propose"_s : QString());
    for (const auto &[created, claim] : queue) {
        auto one = contenderOf(claim, leases);
        one.position = static_cast<int>(snapshot.contenders.size());
        if (snapshot.contenders.empty() && !isBlocked) {
            one.role = Role::Holder;
            one.heldSince = claim.first;
        } else {
            one.waitingSince = claim.came;
            // The recipe says so; etcd tells nobody who watches what.
            if (!snapshot.contenders.empty())
                one.watches.push_back({snapshot.contenders.back().id, false, Evidence::Inferred});
        }
        snapshot.contenders.push_back(std::move(one));
    }
    snapshot.state = queue.size() > 1 || isBlocked ? LockState::Contended : LockState::Held;
    if (isBlocked)
        addFinding(
            snapshot, FindingCode::ForeignNode, Severity::Warning,
            u"nobody holds it: the key %1 is below its prefix and older than every claim, and clients wait until "
            u"it is deleted"_s.arg(label(obstacle->key, 80)));
    else
        addSilence(snapshot, queue, leases);
    return snapshot;
}

void noteOtherKeys(EtcdLease &lease, const etcd::LeaseAnswer &answer)
{
    constexpr std::size_t kept = 20;
    lease.others = answer.keys;
    // A claim's key ends with its lease's number.
    const auto number = '/' + etcd::leaseText(answer.id);
    std::erase_if(lease.others, [&number](const QByteArray &key) { return key.endsWith(number); });
    lease.otherCount = std::ssize(lease.others);
    std::ranges::sort(lease.others);
    lease.others.resize(std::min(kept, lease.others.size()));
}

std::vector<SessionSnapshot> etcdSessions(const std::map<QByteArray, EtcdQueue> &locks, const EtcdLeases &leases,
                                          const ConnectionName &connection)
{
    std::map<etcd::LeaseId, SessionSnapshot> sessions;
    for (const auto &[name, queue] : locks) {
        for (const auto &[created, claim] : queue) {
            auto &session = sessions[claim.entry.lease];
            (created == queue.begin()->first ? session.holds : session.waits).push_back(name);
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
