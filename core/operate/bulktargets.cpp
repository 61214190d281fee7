// SPDX-License-Identifier: Apache-2.0
#include "core/operate/bulktargets.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/waits/clients.h"
#include "core/operate/releasemethod.h"
#include "core/rules/catalogue.h"

#include <algorithm>
#include <map>

namespace lockscope::operate {

using inspect::Contender;
using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

BulkTarget targetOfBulk(const LockSnapshot &lock, const Contender &one, ReleaseAction way)
{
    BulkTarget target;
    target.lock = lock.lock;
    target.contender = one.id;
    target.way = way;
    QStringList who; // what it is called, where it is called something, and where it is
    if (const auto self = inspect::nameBeside(one, lock.backend))
        who << inspect::nameLabel(*self);
    if (one.endpoint)
        who << label(one.endpoint->toUtf8(), 80);
    else if (one.identity)
        who << inspect::nameLabel(*one.identity);
    target.who = who.join(u" · "_s);
    target.since = one.role == Role::Holder ? one.heldSince : one.waitingSince;
    target.hold = one.hold;
    target.shown = lock.observed;
    target.serverAhead = lock.serverAhead;
    return target;
}

} // namespace

bool isLeftBehind(const LockSnapshot &lock, const Contender &one)
{
    if (one.guard.znode().owner != 0)
        return false;
    return std::ranges::any_of(lock.findings, [&](const auto &finding) {
        const bool isNamed = finding.code == FindingCode::PersistentNode || finding.code == FindingCode::StaleQueue;
        return isNamed && std::ranges::count(finding.contenders, one.id) > 0;
    });
}

std::vector<BulkTarget> targetsOf(const std::vector<const LockSnapshot *> &locks,
                                  const std::function<bool(const LockSnapshot &, const Contender &)> &picks)
{
    std::vector<BulkTarget> targets;
    std::map<std::pair<ConnectionName, QString>, std::size_t> killed; // the target that ends that connection
    for (const auto *lock : locks) {
        const auto way = releaseWay(*lock);
        if (!way || lock->confidence == inspect::Confidence::Low || recipes::recipeOf(lock->recipe).electsLeader)
            continue;
        for (const auto &contender : lock->contenders) {
            if (contender.role != Role::Holder || !picks(*lock, contender))
                continue;
            if (methodOf(*way).endsConnection && contender.session) {
                const auto [at, isNew] =
                    killed.emplace(std::pair(lock->lock.connection, *contender.session), targets.size());
                if (!isNew) {
                    targets[at->second].goWithIt.push_back(lock->lock);
                    continue;
                }
            }
            targets.push_back(targetOfBulk(*lock, contender, ReleaseAction::Release));
        }
    }
    return targets;
}

std::vector<BulkTarget> targetsOfSession(const std::vector<const LockSnapshot *> &locks,
                                         const ConnectionName &connection, const QString &session)
{
    return targetsOf(locks, [&](const LockSnapshot &lock, const Contender &one) {
        return lock.lock.connection == connection && one.session == session;
    });
}

std::vector<BulkTarget> staleEntriesOf(const std::vector<const LockSnapshot *> &locks)
{
    std::vector<BulkTarget> targets;
    for (const auto *lock : locks) {
        if (lock->confidence == inspect::Confidence::Low)
            continue;
        for (const auto &contender : lock->contenders) {
            if (contender.role != Role::Waiter || !isLeftBehind(*lock, contender))
                continue;
            const auto ways = waysFor(*lock, contender);
            if (std::ranges::find(ways, ReleaseAction::KillWaiter, &OfferedAction::way) != ways.end())
                targets.push_back(targetOfBulk(*lock, contender, ReleaseAction::KillWaiter));
        }
    }
    // Last: to release a holder makes the dead waiter behind it the holder, which no way for waiters fits.
    for (auto &target : targetsOf(locks, isLeftBehind))
        targets.push_back(std::move(target));
    for (auto &target : targets)
        target.isStale = true;
    return targets;
}

} // namespace lockscope::operate
