// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/sessionfindings.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/serverview.h"
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

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
    Wording message = u"session "_s + named(contender);
    if (health.connected)
        message << u" has been silent for "_s;
    if (health.connected)
        message.since(lock.observed - *health.silence);
    else
        message << u" has no live connection"_s;
    if (health.expiresIn) {
        contender.expiresAt = lock.observed + *health.expiresIn;
        message << u"; it expires "_s;
        message.until(*contender.expiresAt); // the moment that the row counts down to
    } else {
        message << u"; when it expires is not known"_s;
    }
    addFinding(lock, FindingCode::HolderDisconnected, message, {contender.id});
}

} // namespace

void addSessionFindings(LockSnapshot &lock, const RecogniseContext &context)
{
    const ServerView servers(context);
    for (auto &one : lock.contenders) {
        if (one.guard.owner == 0)
            continue;
        // Who came after the question was asked is in no answer to it.
        const auto since = one.role == Role::Holder ? one.heldSince : one.waitingSince;
        if (since && !servers.wasAskedAfter(*since))
            continue;
        const auto health = servers.health(zk::SessionId{one.guard.owner});
        if (!health || health->isAlive())
            continue;
        if (one.role == Role::Holder) {
            addDisconnected(lock, one, *health);
        } else {
            Wording message = u"waiter %1 has no live connection"_s.arg(named(one));
            if (health->connected)
                message = u"waiter %1 has been silent for "_s.arg(named(one));
            if (health->connected)
                message.since(lock.observed - *health->silence);
            addFinding(lock, FindingCode::StaleQueue, Severity::Info, message, {one.id});
        }
    }
}

std::vector<QByteArray> watchingNothing(const LockSnapshot &lock, const RecogniseContext &context)
{
    const ServerView servers(context);
    if (!servers.knowsAllWatches() || !hasListedWatches(lock))
        return {};
    std::map<quint64, int> nodesOf;
    for (const auto &one : lock.contenders)
        ++nodesOf[one.guard.owner];
    std::vector<QByteArray> suspects;
    for (const auto &one : lock.contenders) {
        const zk::SessionId session{one.guard.owner};
        const bool watchesChildren = std::ranges::any_of(one.watches, &WatchEdge::children);
        if (one.role != Role::Waiter || session.isNone() || watchesChildren || servers.isOurs(session))
            continue;
        // Someone whose session has two nodes here may wait with the other one.
        const auto health = servers.health(session);
        const bool gone = health && !health->connected; // its watches went with its connection
        if (nodesOf[one.guard.owner] != 1 || gone || !one.waitingSince || !servers.wasAskedAfter(*one.waitingSince))
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
