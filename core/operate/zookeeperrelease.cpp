// SPDX-License-Identifier: Apache-2.0
#include "core/operate/zookeeperrelease.h"

#include "core/base/text.h"
#include "core/operate/releasemethod.h"
#include "core/rules/contenderid.h"

#include <algorithm>

namespace lockscope::operate {

using namespace Qt::StringLiterals;
using inspect::Contender;
using inspect::LockSnapshot;

namespace {

void planDelete(ForceReleasePlan &plan, const Contender &holder)
{
    const auto path = escaped(holder.guard.path);
    plan.commands << u"sync %1"_s.arg(path) << u"exists %1"_s.arg(path)
                  << u"delete %1 version %2"_s.arg(path, QString::number(holder.guard.version));
    const auto owner =
        holder.guard.owner == 0 ? u"no owner session (persistent)"_s : u"owner 0x%1"_s.arg(holder.guard.owner, 0, 16);
    plan.guardText =
        u"czxid 0x%1, %2 and data version %3, read again right before the delete"_s.arg(holder.guard.czxid, 0, 16)
            .arg(owner)
            .arg(holder.guard.version);
    plan.exact = recipes::isGivenOnce(ZPath(holder.guard.path).name());
    if (!plan.exact)
        plan.warnings
            << u"ZooKeeper cannot delete a name that comes again only if it is still the same node: should it be "
               u"re-created in the moment between the last look and the delete, the new holder loses it"_s;
}

QString wokenByDelete(const LockSnapshot &snapshot, const Contender &holder)
{
    int watchers = 0;
    int seen = 0;
    for (const auto &contender : snapshot.contenders) {
        if (contender.id == holder.id)
            continue; // it may watch its own node
        const auto hears = [&](const auto &edge) { return edge.children || edge.target == holder.id; };
        const auto isSeen = [&](const auto &edge) {
            return hears(edge) && edge.evidence == inspect::Evidence::Server;
        };
        watchers += std::ranges::any_of(contender.watches, hears) ? 1 : 0;
        seen += std::ranges::any_of(contender.watches, isSeen) ? 1 : 0;
    }
    if (watchers == 0)
        return snapshot.waiterCount() == 0 && snapshot.waitersKnown ? u"nobody waits"_s
                                                                    : u"no waiter seen to watch it"_s;
    const auto text = (watchers == 1 ? u"1 waiter"_s : u"%1 waiters"_s.arg(watchers))
                      + u", by the deletion; nothing else to publish"_s;
    const auto all = watchers > 1 ? text + u" (a herd: one of them gets it)"_s : text;
    return seen == watchers ? all
           : watchers == 1  ? all + u"; that it watches was not seen, its recipe says so"_s
                            : all + u"; that they watch was seen of %1, their recipe says it of all"_s.arg(seen);
}

Task<Result<Sent>> deleteNode(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
{
    auto looking = lookAtNode(plan, session, deadline);
    const auto stat = co_await looking;
    if (!stat)
        co_return stat.error();
    auto removeReply = session->remove(ZPath(plan.guard.path), plan.guard.version, deadline);
    const auto removed = co_await removeReply;
    if (removed)
        co_return Sent();
    if (removed.error().code == ErrorCode::NoNode)
        co_return goneAlready(plan);
    if (removed.error().code == ErrorCode::BadVersion)
        co_return changedMeanwhile(plan, u"its data was changed"_s);
    co_return removed.error();
}

} // namespace

std::vector<ReleaseMethod> releaseMethodsOfZooKeeper()
{
    const auto isIdentified = [](const Contender &holder) {
        return holder.guard.path.startsWith('/') && holder.guard.czxid != 0;
    };
    return {{ReleaseWay::DeleteNode, &planDelete, &wokenByDelete, isIdentified}};
}

Task<Result<Sent>> sendRelease(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
{
    if (plan.way != Way::Release)
        return sendGentler(std::move(plan), session, deadline);
    const auto way = releaseWay(plan.before);
    return way && *way == ReleaseWay::DeleteNode ? deleteNode(plan, session, deadline) : nothingSent(plan);
}

} // namespace lockscope::operate
