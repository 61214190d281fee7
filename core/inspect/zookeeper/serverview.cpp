// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/serverview.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::inspect {

using std::chrono::milliseconds;

namespace {
// Servers check sessions once per tick; a ping may be that much late without anything being wrong.
constexpr milliseconds tick{2000};
} // namespace

std::optional<QString> ServerView::endpoint(zk::SessionId session) const
{
    const auto found = m_evidence.connections.find(session);
    return found == m_evidence.connections.end() ? std::nullopt : std::optional(found->second.endpoint);
}

void ServerView::eachEphemeral(const std::function<void(zk::SessionId, const ZPath &)> &call) const
{
    const auto chroot = m_context.chroot == "/" ? QByteArray() : m_context.chroot;
    for (const auto &[session, paths] : m_evidence.ephemerals) {
        for (const auto &path : paths) {
            if (path.bytes().startsWith(chroot + '/'))
                call(session, ZPath(path.bytes().mid(chroot.size())));
        }
    }
}

std::optional<SessionHealth> ServerView::health(zk::SessionId session) const
{
    if (!m_evidence.isComplete("cons"))
        return std::nullopt;
    SessionHealth health;
    if (const auto expiry = m_evidence.expiresIn.find(session); expiry != m_evidence.expiresIn.end())
        health.expiresIn = expiry->second;
    const auto connection = m_evidence.connections.find(session);
    if (connection == m_evidence.connections.end())
        return health;
    health.connected = true;
    const auto &facts = connection->second;
    // An idle client pings after a third of its timeout, Java's and C's; Rust's crate zookeeper after two.
    if (facts.silence && facts.timeout.count() > 0 && *facts.silence > facts.timeout * 2 / 3 + tick)
        health.silence = facts.silence;
    return health;
}

bool ServerView::isListAsNew() const
{
    const bool isAsNew = m_context.evidence && m_context.listedAt >= m_context.evidence->answeredAt;
    if (!isAsNew && m_context.wantsNewerList)
        *m_context.wantsNewerList = true;
    return isAsNew;
}

bool ServerView::wasAskedAfter(ServerTime moment) const
{
    if (!m_context.evidence)
        return false;
    const auto asked = std::chrono::time_point_cast<milliseconds>(m_context.evidence->askedAt);
    return asked + m_context.serverAhead >= moment;
}

bool ServerView::watches(zk::SessionId session, const ZPath &path) const
{
    if (session.isNone() || isOurs(session))
        return false;
    const auto found = m_evidence.dataWatches.find(fullPath(path.bytes()));
    return found != m_evidence.dataWatches.end() && found->second.contains(session);
}

std::vector<zk::SessionId> ServerView::watchers(const ZPath &path) const
{
    const auto found = m_evidence.dataWatches.find(fullPath(path.bytes()));
    if (found == m_evidence.dataWatches.end())
        return {};
    std::vector<zk::SessionId> all(found->second.begin(), found->second.end());
    std::erase_if(all, [this](zk::SessionId session) { return isOurs(session); });
    return all;
}

bool ServerView::watchesBelow(zk::SessionId session, const QByteArray &prefix) const
{
    const ZPath from = fullPath(prefix);
    const auto &watches = m_evidence.dataWatches;
    for (auto at = watches.lower_bound(from); at != watches.end(); ++at) {
        if (!at->first.bytes().startsWith(from.bytes()))
            return false;
        if (at->second.contains(session))
            return true;
    }
    return false;
}

ZPath ServerView::fullPath(const QByteArray &path) const
{
    const QByteArray &chroot = m_context.chroot;
    if (chroot.isEmpty() || chroot == "/")
        return ZPath(path);
    return ZPath(path == "/" ? chroot : chroot + path);
}

namespace {

QString named(const Contender &contender)
{
    const QString who = contender.session.value_or(escaped(contender.id));
    return contender.endpoint ? u"%1 (%2)"_s.arg(who, *contender.endpoint) : who;
}

bool hasListedWatches(const LockSnapshot &lock)
{
    using recipes::ListedWatch;
    const auto listed = recipes::recipeOf(lock.recipe).listedWatch;
    return listed == ListedWatch::Always || (listed == ListedWatch::OfKnownClients && lock.client);
}

void addDisconnected(LockSnapshot &lock, Contender &contender, const SessionHealth &health)
{
    Wording message =
        (health.connected ? u"session %1 has been silent for "_s : u"session %1 has no live connection"_s)
            .arg(named(contender));
    if (health.connected)
        message.since(lock.observed - *health.silence);
    if (health.expiresIn) {
        contender.expiresAt = lock.observed + *health.expiresIn;
        message << u"; it expires "_s;
        message.until(*contender.expiresAt); // the moment that the row counts down to
    } else {
        message << clause(u"when it expires is not known"_s);
    }
    addFinding(lock, FindingCode::HolderDisconnected, message, {contender.id});
}

} // namespace

void addSessionFindings(LockSnapshot &lock, const RecogniseContext &context)
{
    const ServerView servers(context);
    for (auto &contender : lock.contenders) {
        if (contender.guard.znode().owner == 0)
            continue;
        // Who came after the question was asked is in no answer to it.
        const auto since = contender.role == Role::Holder ? contender.heldSince : contender.waitingSince;
        if (since && !servers.wasAskedAfter(*since))
            continue;
        const auto health = servers.health(zk::SessionId{contender.guard.znode().owner});
        if (!health || health->isAlive())
            continue;
        if (contender.role == Role::Holder) {
            addDisconnected(lock, contender, *health);
        } else {
            Wording message = u"waiter %1 has no live connection"_s.arg(named(contender));
            if (health->connected)
                message = u"waiter %1 has been silent for "_s.arg(named(contender));
            if (health->connected)
                message.since(lock.observed - *health->silence);
            addFinding(lock, FindingCode::StaleQueue, Severity::Info, message, {contender.id});
        }
    }
}

std::vector<QByteArray> watchingNothing(const LockSnapshot &lock, const RecogniseContext &context)
{
    const ServerView servers(context);
    if (!servers.knowsAllWatches() || !hasListedWatches(lock))
        return {};
    std::map<quint64, int> nodesOf;
    for (const auto &contender : lock.contenders)
        ++nodesOf[contender.guard.znode().owner];
    std::vector<QByteArray> suspects;
    for (const auto &one : lock.contenders) {
        const zk::SessionId session{one.guard.znode().owner};
        const bool watchesChildren = std::ranges::any_of(one.watches, &WatchEdge::children);
        if (one.role != Role::Waiter || session.isNone() || watchesChildren || servers.isOurs(session))
            continue;
        // Someone whose session has two nodes here may wait with the other one.
        const auto health = servers.health(session);
        const bool gone = health && !health->connected; // its watches went with its connection
        if (nodesOf[one.guard.znode().owner] != 1 || gone || !one.waitingSince
            || !servers.wasAskedAfter(*one.waitingSince))
            continue;
        if (!servers.watchesBelow(session, lock.lock.name))
            suspects.push_back(one.id);
    }
    if (!suspects.empty() && !servers.isListAsNew())
        return {};
    return suspects;
}

void LostWakeupMemory::judge(LockSnapshot &lock, const RecogniseContext &context)
{
    const auto suspects = watchingNothing(lock, context);
    if (suspects.empty() && context.wantsNewerList && *context.wantsNewerList)
        return; // nothing new is known
    if (suspects.empty()) {
        m_suspects.erase(lock.lock);
        return;
    }
    auto &remembered = m_suspects[lock.lock];
    std::erase_if(remembered, [&suspects](const auto &entry) {
        return std::ranges::find(suspects, entry.first) == suspects.end();
    });
    for (const auto &id : suspects) {
        auto &suspicion = remembered[id];
        if (suspicion.times == 0 || suspicion.lastAsked != context.evidence->askedAt)
            ++suspicion.times;
        suspicion.lastAsked = context.evidence->askedAt;
        if (suspicion.times >= 2)
            addFinding(lock, FindingCode::LostWakeup, u"waits but watches nothing: no release will wake it"_s, {id});
    }
}

} // namespace lockscope::inspect
