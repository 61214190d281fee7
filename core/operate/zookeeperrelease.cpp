// SPDX-License-Identifier: Apache-2.0
#include "core/operate/zookeeper.h"

#include "core/base/text.h"

namespace lockscope::operate {

using inspect::Contender;
using inspect::LockSnapshot;
using recipes::recipeOf;

namespace {

bool hasNode(const Contender &one)
{
    return one.guard.znode().path.startsWith('/') && one.guard.znode().czxid != 0;
}

void planDelete(ForceReleasePlan &plan, const Contender &holder)
{
    const auto &node = holder.guard.znode();
    const auto owner = node.owner == 0 ? u"no owner session (persistent)"_s : u"owner 0x%1"_s.arg(node.owner, 0, 16);
    addTexts(plan, "znode-delete",
             {escaped(node.path), QString::number(node.version), QString::number(node.czxid, 16), owner});
    plan.exact = recipes::isGivenOnce(ZPath(node.path).name());
    if (!plan.exact)
        addTexts(plan, "znode-delete-reused-name");
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
        return snapshot.waiterCount() == 0 && snapshot.waitersKnown ? u"no client waits"_s
                                                                    : u"no waiter is seen to watch it"_s;
    const auto all = watchers == 1 ? u"1 waiter, by the deletion; nothing else to publish"_s
                                   : sentence("herd-by-deletion", {QString::number(watchers)});
    if (seen == watchers)
        return all;
    return all
           + clause(watchers == 1 ? sentence("watch-inferred")
                                  : sentence("watches-observed", {QString::number(seen)}));
}

Error refusedByServer(const ForceReleasePlan &plan, const Error &error)
{
    if (error.code == ErrorCode::NoNode)
        return goneAlready(plan);
    return error.code == ErrorCode::BadVersion ? changedMeanwhile(plan, u"its data was changed"_s) : error;
}

Task<Result<Sent>> deleteNode(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
{
    CO_TRY_VOID(co_await lookAtNode(plan, session, deadline));
    const auto removed =
        co_await session->remove(ZPath(plan.guard.znode().path), plan.guard.znode().version, deadline);
    if (!removed)
        co_return refusedByServer(plan, removed.error());
    co_return Sent();
}

// Asking a holder to let go (Curator's Revoker), and taking one waiter's place away.
//
// To end somebody else's session is not among it: a client can only end a session whose password it knows, and the
// AdminServer has no command for it. The server's JMX has (ConnectionMXBean.terminateSession), which we do not speak;
// docs/layouts.md says how to.

QString whoIsNamed(const Contender &one)
{
    const auto id = label(one.id, 80);
    return one.endpoint ? u"%1 at %2"_s.arg(id, label(one.endpoint->toUtf8())) : id;
}

QString nodeGuard(const Contender &one)
{
    return u"czxid 0x%1 and data version %2, read again right before"_s.arg(one.guard.znode().czxid, 0, 16)
        .arg(one.guard.znode().version);
}

bool canRevoke(const LockSnapshot &snapshot, const Contender &holder)
{
    return recipeOf(snapshot.recipe).revocable && hasNode(holder);
}

QString whatRevoke(const LockSnapshot &, const Contender &)
{
    return sentence("revoke");
}

void planRevoke(ForceReleasePlan &plan, const Contender &holder)
{
    const auto &node = holder.guard.znode();
    addTexts(plan, "revoke", {escaped(node.path), QString::number(node.version)});
    plan.guardText = nodeGuard(holder);
    plan.exact = recipes::isGivenOnce(ZPath(node.path).name());
    plan.who = plan.nextHolder ? u"%1, when the holder releases the lock"_s.arg(label(*plan.nextHolder, 80))
                               : sentence("revoke-unawaited");
    plan.alsoLost = holder.identity ? sentence("revoke-overwrites", {label(*holder.identity, 80)}) : u"nothing"_s;
}

// A node whose presence alone means that this one waits: to a reader a writer ahead of it, to all others whoever is
// first. Null where there is none.
const Contender *inTheWay(const LockSnapshot &snapshot, const Contender &waiter)
{
    const Contender *nearest = nullptr;
    for (const auto &contender : snapshot.contenders) {
        if (contender.id == waiter.id)
            break;
        const bool isOther =
            contender.guard.znode().owner != waiter.guard.znode().owner || contender.guard.znode().owner == 0;
        const bool blocks = hasNode(contender) && isOther
                            && (waiter.mode != inspect::Mode::Read || contender.mode != inspect::Mode::Read);
        if (blocks && (!nearest || waiter.mode == inspect::Mode::Read))
            nearest = &contender;
    }
    return nearest;
}

bool canKillWaiter(const LockSnapshot &snapshot, const Contender &waiter)
{
    const auto &recipe = recipeOf(snapshot.recipe);
    const bool isQueue = recipe.shape == recipes::Shape::Queue || recipe.shape == recipes::Shape::FlatQueue;
    const auto *blocker = isQueue && !recipe.counted && hasNode(waiter) ? inTheWay(snapshot, waiter) : nullptr;
    // Curator's semaphores stand in two folders, and half a contender is worse than none.
    return blocker && ZPath(blocker->guard.znode().path).parent() == ZPath(waiter.guard.znode().path).parent();
}

QString whatKillWaiter(const LockSnapshot &, const Contender &waiter)
{
    return u"remove the waiter %1 from the queue by deleting its node"_s.arg(whoIsNamed(waiter));
}

void planKillWaiter(ForceReleasePlan &plan, const Contender &waiter)
{
    const auto &node = waiter.guard.znode();
    const auto *blocker = inTheWay(plan.before, waiter);
    const auto &ahead = blocker->guard.znode().path;
    addTexts(plan, "znode-leave-queue", {escaped(node.path), escaped(ahead), QString::number(node.version)});
    plan.guardText = nodeGuard(waiter) + clause(sentence("znode-blocker-there", {label(blocker->id, 80)}));
    plan.exact = recipes::isGivenOnce(ZPath(node.path).name()) && recipes::isGivenOnce(ZPath(ahead).name());
    if (!plan.exact)
        addTexts(plan, "znode-leave-reused-name");
    addTexts(plan, "znode-leave-unnoticed");
    plan.who = grantedIfWaiterRemoved(plan.before, waiter);
}

Task<Result<Sent>> revoke(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
{
    CO_TRY_VOID(co_await lookAtNode(plan, session, deadline));
    const auto set = co_await session->set(ZPath(plan.guard.znode().path), recipes::revocationMark,
                                           plan.guard.znode().version, deadline);
    if (!set)
        co_return refusedByServer(plan, set.error());
    co_return Sent();
}

Task<Result<Sent>> killWaiter(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
{
    const auto *waiter = plan.before.find(plan.holder);
    const auto *blocker = waiter ? inTheWay(plan.before, *waiter) : nullptr;
    if (!blocker)
        co_return changedMeanwhile(plan, u"the node that it waits for is unknown"_s);
    CO_TRY_VOID(co_await lookAtNode(plan, session, deadline));
    std::vector<zk::Op> ops(2);
    ops[0].kind = zk::Op::Kind::Check;
    ops[0].path = ZPath(blocker->guard.znode().path);
    ops[0].version = zk::anyVersion;
    ops[1].kind = zk::Op::Kind::Remove;
    ops[1].path = ZPath(plan.guard.znode().path);
    ops[1].version = plan.guard.znode().version;
    const auto done = co_await session->multi(ops, deadline);
    if (done)
        co_return Sent();
    if (done.error().code == ErrorCode::NoNode)
        co_return changedMeanwhile(plan, sentence("znode-blocker-gone", {label(blocker->id, 80)}));
    co_return refusedByServer(plan, done.error());
}

} // namespace

std::vector<ReleaseMethod> releaseMethodsOfZooKeeper()
{
    return {{ReleaseMechanism::DeleteNode, &planDelete, &wokenByDelete, &hasNode}};
}

Task<Result<Sent>> sendRelease(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
{
    if (plan.way != ReleaseAction::Release)
        return sendAlternative(std::move(plan), session, deadline);
    const auto way = releaseWay(plan.before);
    return way && *way == ReleaseMechanism::DeleteNode ? deleteNode(plan, session, deadline) : nothingSent(plan);
}

Task<Result<zk::Stat>> lookAtNode(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
{
    const ZPath path(plan.guard.znode().path);
    auto syncReply = session->sync(path, deadline);
    // Before ZooKeeper 3.9.3 whose node it is needs no permission to read what is in it.
    auto lookReply = session->exists(path, std::nullopt, deadline);
    const auto synced = co_await syncReply;
    const auto got = co_await lookReply;
    if (!synced)
        co_return nothingChanged(plan, synced.error());
    if (!got && got.error().code == ErrorCode::NoNode)
        co_return goneAlready(plan);
    if (!got)
        co_return nothingChanged(plan, got.error());
    if (got->czxid != plan.guard.znode().czxid || got->ephemeralOwner.value != plan.guard.znode().owner)
        co_return changedMeanwhile(plan, u"the node was re-created by session "_s + got->ephemeralOwner.text());
    co_return *got;
}

std::vector<AlternativeMethod> alternativeMethodsOfZooKeeper()
{
    return {{ReleaseAction::Revoke, &canRevoke, &whatRevoke, &planRevoke},
            {ReleaseAction::KillWaiter, &canKillWaiter, &whatKillWaiter, &planKillWaiter}};
}

Task<Result<Sent>> sendAlternative(ForceReleasePlan plan, zk::Session *session, Deadline deadline)
{
    switch (plan.way) {
    case ReleaseAction::Revoke: return revoke(std::move(plan), session, deadline);
    case ReleaseAction::KillWaiter: return killWaiter(std::move(plan), session, deadline);
    default: return nothingSent(std::move(plan));
    }
}

} // namespace lockscope::operate
