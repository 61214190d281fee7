// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releasemethod.h"

#include "core/base/text.h"
#include "core/inspect/redis/naming.h"
#include "core/operate/precheck.h"

namespace lockscope::operate {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;
using recipes::recipeOf;

namespace {

// A semaphore with expiring permits knows each of them; a plain one only how many are left. Of some clients it is not
// known what else they wrote down. And a rule may have no way of release.
bool hasPermits(const inspect::LockSnapshot &snapshot)
{
    return std::ranges::any_of(snapshot.contenders, [](const auto &one) {
        return one.role == inspect::Role::Holder && !one.guard.redis().value.isEmpty();
    });
}

// Whether it is known what of a hold stands on which node.
bool hasShares(const inspect::LockSnapshot &snapshot)
{
    return std::ranges::any_of(snapshot.contenders,
                               [&snapshot](const auto &one) { return !sharesOf(snapshot, one).empty(); });
}

QString holdText(const ForceReleasePlan &plan)
{
    return u"\"%1\" in %2"_s.arg(label(plan.holder, 80), label(plan.before.lock.text()));
}

NodeShare shareOn(const LockSnapshot &snapshot, std::size_t node, const inspect::Identity &guard)
{
    return NodeShare{node, snapshot.nodes[node].node, guard};
}

// Each node's own client of the one thread; empty where a node says another.
std::vector<NodeShare> sharesOfThread(const LockSnapshot &snapshot, const Contender &holder)
{
    const auto one = inspect::readHolder(holder.guard.redis().value);
    if (!one)
        return {};
    std::vector<NodeShare> shares;
    for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) {
        const auto &value = snapshot.nodes[i].value;
        if (!value)
            continue;
        const auto there = inspect::readHolder(*value);
        if (!there || there->thread != one->thread || there->writes != one->writes)
            return {};
        auto guard = holder.guard;
        guard.edit<inspect::RedisIdentity>().value = *value;
        shares.push_back(shareOn(snapshot, i, guard));
    }
    const auto nodes = static_cast<int>(snapshot.nodes.size());
    return static_cast<int>(shares.size()) >= recipes::quorumOf(nodes) ? shares : std::vector<NodeShare>();
}

// The nodes that name the member among theirs.
std::vector<NodeShare> sharesOfMember(const LockSnapshot &snapshot, const Contender &holder)
{
    const QByteArray between(", ");
    const auto wanted = between + holder.guard.redis().value + between;
    std::vector<NodeShare> shares;
    for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) {
        const auto &value = snapshot.nodes[i].value;
        if (value && (between + *value + between).contains(wanted))
            shares.push_back(shareOn(snapshot, i, holder.guard));
    }
    return shares;
}

QStringList namesFrom(const ForceReleasePlan &plan, std::size_t first, std::size_t end)
{
    QStringList names;
    for (auto i = first; i < end; ++i)
        names << plan.shares[i].node;
    return names;
}

void warnOfNodes(ForceReleasePlan &plan)
{
    for (const auto &said : plan.before.nodes) {
        if (!said.answered)
            addTexts(plan, "set-node-skipped", {said.node});
    }
    if (plan.shares.size() > 1 && recipeOf(plan.before.recipe).release == ReleaseMechanism::RedissonUnlock)
        addTexts(plan, "set-one-by-thread");
}

} // namespace

Result<ReleaseMechanism> releaseWay(const inspect::LockSnapshot &snapshot)
{
    const auto &recipe = recipeOf(snapshot.recipe);
    const auto way = recipe.release;
    const bool isOnSet = !snapshot.nodes.empty();
    const bool isOfPermits = way == ReleaseMechanism::RedissonPermit || way == ReleaseMechanism::MemberBack
                             || way == ReleaseMechanism::ByRule;
    const bool isKnown = way != ReleaseMechanism::None && (!isOfPermits || hasPermits(snapshot));
    if (isKnown && (isOnSet == (way == ReleaseMechanism::QuorumDelete) || hasShares(snapshot)))
        return way;
    const auto on = std::ranges::count_if(snapshot.nodes, [](const auto &node) { return node.value.has_value(); });
    const auto why = on > 1                            ? sentence("set-separate-holds")
                     : isOnSet                         ? sentence("set-holder-unknown")
                     : recipe.releaseRefusal.isEmpty() ? sentence("no-release-method")
                                                       : recipe.releaseRefusal;
    return Error{ErrorCode::Unsupported, u"force-release of %1 (%2) is not possible: %3"_s.arg(
                                             label(snapshot.lock.text()), label(snapshot.recipe), why)};
}

const ReleaseMethod &methodOf(ReleaseMechanism way)
{
    static const auto all = [] {
        std::vector<ReleaseMethod> methods;
#define LOCKSCOPE_RELEASES(Name) std::ranges::copy(releaseMethodsOf##Name(), std::back_inserter(methods));
        LOCKSCOPE_BACKENDS(LOCKSCOPE_RELEASES)
#undef LOCKSCOPE_RELEASES
        return methods;
    }();
    const auto found = std::ranges::find(all, way, &ReleaseMethod::way);
    Q_ASSERT(found != all.end());
    return *found;
}

Error goneAlready(const ForceReleasePlan &plan)
{
    return Error{ErrorCode::Refused, sentence("gone-already", {holdText(plan)})};
}

Error unseenNow(const ForceReleasePlan &plan)
{
    const auto lock = label(plan.before.lock.text());
    return Error{ErrorCode::Refused, sentence("unseen-now", {lock, label(plan.holder, 80)})};
}

QString notShownNow(const ForceReleasePlan &plan)
{
    // Who had waited alone holds it now, unseen; of several the others wait on, and are shown in a moment.
    return sentence(plan.before.waiterCount() <= 1 ? "not-shown-unawaited" : "not-shown-at-present");
}

Error changedMeanwhile(const ForceReleasePlan &plan, const QString &what)
{
    return Error{ErrorCode::Refused, sentence("differs-from-preview", {holdText(plan), what})};
}

Error nothingChanged(const ForceReleasePlan &plan, const Error &why)
{
    return nothingChanged(holdText(plan), why);
}

std::optional<Error> refusalOfAnotherHold(const ForceReleasePlan &plan, const inspect::LockSnapshot &fresh,
                                          const inspect::Contender &now)
{
    if (isAnotherHold(plan.before, fresh, now.id))
        return changedMeanwhile(plan, u"its client released it and acquired it again"_s);
    if (isLeaseWrittenEarly(plan.before, fresh, now.id))
        return changedMeanwhile(plan, sentence("lease-rewritten-early"));
    return std::nullopt;
}

Task<Result<Sent>> nothingSent(ForceReleasePlan plan)
{
    const auto way = releaseWay(plan.before);
    co_return way
        ? Error{ErrorCode::Unsupported, u"nothing was sent: %1 cannot be force-released on this kind of server"_s.arg(
                                            label(plan.before.lock.text()))}
        : way.error();
}

QString auditOutcomeOf(const Error &error)
{
    const auto word = error.code == ErrorCode::Refused          ? u"refused: "_s
                      : error.code == ErrorCode::UnknownOutcome ? u"unknown: "_s
                                                                : u"failed: "_s;
    return word + error.message;
}

QString missingInAudit(const Result<void> &recorded)
{
    return recorded ? QString()
                    : u". "_s + u"The result is missing in the audit log: %1"_s.arg(recorded.error().message);
}

std::vector<NodeShare> sharesOf(const LockSnapshot &snapshot, const Contender &holder)
{
    const auto way = recipeOf(snapshot.recipe).release;
    if (snapshot.nodes.empty() || way == ReleaseMechanism::QuorumDelete || holder.role != Role::Holder
        || holder.guard.redis().value.isEmpty())
        return {};
    const auto hasValue = [](const inspect::NodeSaid &said) { return said.value.has_value(); };
    if (std::ranges::count_if(snapshot.nodes, hasValue) == 1) {
        const auto at = std::ranges::find_if(snapshot.nodes, hasValue) - snapshot.nodes.begin();
        return {shareOn(snapshot, static_cast<std::size_t>(at), holder.guard)};
    }
    // A number of a permit, and a value of a group, are each node's own.
    if (!holder.guard.redis().counterpart.isEmpty())
        return {};
    return way == ReleaseMechanism::RedissonUnlock ? sharesOfThread(snapshot, holder)
           : way == ReleaseMechanism::MemberBack   ? sharesOfMember(snapshot, holder)
                                                   : std::vector<NodeShare>();
}

void planShares(ForceReleasePlan &plan, const Contender &holder, const ReleaseMethod &method)
{
    plan.shares = sharesOf(plan.before, holder);
    QString guards;
    for (std::size_t i = 0; i < plan.shares.size(); ++i) {
        auto there = holder;
        there.guard = plan.shares[i].guard;
        auto onNode = planOfShare(plan, i);
        onNode.commands.clear();
        onNode.warnings.clear();
        method.plan(onNode, there);
        for (const auto &command : onNode.commands)
            plan.commands << u"%1: %2"_s.arg(plan.shares[i].node, command);
        guards += (i > 0 ? u"; on "_s : u"on "_s) + plan.shares[i].node + u": "_s + onNode.guardText;
        if (i > 0)
            continue;
        plan.exact = onNode.exact;
        plan.risk = onNode.risk;
        plan.wakeUps = onNode.wakeUps;
        plan.alternatives = onNode.alternatives;
        plan.warnings << onNode.warnings;
    }
    plan.guardText = guards;
    if (plan.shares.size() > 1)
        plan.guardText += clause(u"one node after the other; an unexpected result stops it"_s);
    warnOfNodes(plan);
}

ForceReleasePlan planOfShare(const ForceReleasePlan &plan, std::size_t share)
{
    if (plan.shares.empty())
        return plan;
    auto onNode = plan;
    const auto &its = plan.shares[share];
    onNode.guard = its.guard;
    onNode.onNode = its;
    if (recipeOf(plan.before.recipe).release == ReleaseMechanism::RedissonUnlock)
        onNode.holder = its.guard.redis().value;
    return onNode;
}

Error stoppedAt(const ForceReleasePlan &plan, std::size_t share, const Error &surprise)
{
    if (plan.shares.size() <= 1)
        return surprise;
    const auto done = namesFrom(plan, 0, share);
    const auto left = namesFrom(plan, share + 1, plan.shares.size());
    const bool isUnknown = surprise.code == ErrorCode::UnknownOutcome;
    const auto &node = plan.shares[share].node;
    auto message = done.isEmpty()
                       ? u"on %1: %2"_s.arg(node, surprise.message)
                       : u"released on %1; then on %2: %3"_s.arg(done.join(u", "_s), node, surprise.message);
    if (!left.isEmpty())
        message = u"%1. Nothing was sent to %2"_s.arg(message, left.join(u", "_s));
    // What was refused with nothing done is a refusal; with something done it is half done.
    const auto code = isUnknown ? ErrorCode::UnknownOutcome : done.isEmpty() ? surprise.code : ErrorCode::Server;
    return Error{code, message + clause(u"check the lock again"_s), surprise.retryable};
}

QString whereDone(const ForceReleasePlan &plan)
{
    if (plan.shares.empty())
        return {};
    const auto all = QString::number(plan.before.nodes.size());
    return u"on %1 of %2 nodes (%3)"_s.arg(QString::number(plan.shares.size()), all,
                                           namesFrom(plan, 0, plan.shares.size()).join(u", "_s));
}

Error lastLookFailed(const QString &what, const Error &why)
{
    const bool isLost = why.code == ErrorCode::UnknownOutcome;
    return Error{isLost ? ErrorCode::NotConnected : why.code,
                 u"the last check of %1 failed: %2"_s.arg(what, why.message), why.retryable};
}

Error nothingChanged(const QString &what, const Error &why)
{
    auto error = lastLookFailed(what, why);
    error.message = u"nothing was changed: %1"_s.arg(error.message);
    return error;
}

bool keepsItsId(const inspect::LockSnapshot &lock)
{
    const auto &recipe = recipes::recipeOf(lock.recipe);
    const bool isTokenKept = recipe.release == recipes::ReleaseMechanism::CompareAndDelete
                             && (lock.clientTraits.waitsOnList || lock.clientTraits.waitsOnChannel);
    return recipe.shape == recipes::Shape::NamedLock || recipe.release == recipes::ReleaseMechanism::RedissonUnlock
           || isTokenKept;
}

bool holdsAnew(const inspect::LockSnapshot &lock, const inspect::Contender &now, inspect::ServerTime shown)
{
    return keepsItsId(lock) && now.role == inspect::Role::Holder && now.heldSince && *now.heldSince > shown;
}

bool isAnotherHold(const inspect::LockSnapshot &before, const inspect::LockSnapshot &fresh, const QByteArray &id)
{
    const auto *then = before.find(id);
    const auto *now = fresh.find(id);
    if (!then || !now || fresh.observed < before.observed)
        return false;
    return holdsAnew(before, *now, before.observed) || inspect::isDifferentHold(then->hold, now->hold);
}

std::optional<qint64> leaseEndOf(const inspect::LockSnapshot &lock, const inspect::Contender &one)
{
    const auto &recipe = recipes::recipeOf(lock.recipe);
    const bool isItsOwn = recipe.endsBy == recipes::EndsBy::Lease && !recipe.readWrite
                          && one.guard.redis().counterpart.isEmpty() && lock.nodes.empty();
    if (!keepsItsId(lock) || !isItsOwn || !one.expiresAt)
        return std::nullopt;
    return one.expiresAt->time_since_epoch().count();
}

namespace {

// What its renewal does is not known. A value that others write, too, would not tell who has it then.
bool isOfUnknownClient(const inspect::LockSnapshot &lock, const inspect::Contender &holder)
{
    using recipes::ReleaseMechanism;
    const auto &recipe = recipes::recipeOf(lock.recipe);
    const bool isToken = recipe.release == ReleaseMechanism::CompareAndDelete && !holder.guard.redis().comesAgain;
    const bool isKey = recipe.release == ReleaseMechanism::DeleteAtRevision && recipe.shape == recipes::Shape::Key;
    return !lock.client && (isToken || isKey);
}

} // namespace

std::optional<std::chrono::milliseconds> returnWithin(const inspect::LockSnapshot &lock,
                                                      const inspect::Contender &holder)
{
    const bool mayReturn = lock.clientTraits.putsKeyBack || isOfUnknownClient(lock, holder);
    if (!mayReturn || holder.role != inspect::Role::Holder || !holder.expiresAt)
        return std::nullopt;
    return std::max(std::chrono::milliseconds(0), *holder.expiresAt - lock.observed) / 2;
}

bool isWrittenEarly(qint64 was, qint64 is, qint64 left)
{
    constexpr qint64 noise = 250; // ms: of a renewal's timer, and of what an old server says
    return is < was - noise || (is > was + noise && is < was + left / 3 - noise);
}

bool isLeaseWrittenEarly(const inspect::LockSnapshot &before, const inspect::LockSnapshot &fresh,
                         const QByteArray &id)
{
    const auto *then = before.find(id);
    const auto *now = fresh.find(id);
    const auto was = then ? leaseEndOf(before, *then) : std::nullopt;
    const auto is = now ? leaseEndOf(fresh, *now) : std::nullopt;
    if (!was || !is || then->reentry != now->reentry || fresh.observed < before.observed)
        return false;
    return isWrittenEarly(*was, *is, *is - fresh.observed.time_since_epoch().count());
}

QString leaseGuardText()
{
    return clause(sentence("lease-guard"));
}

QString leaseWrittenAnewText()
{
    return sentence("lease-rewritten");
}

} // namespace lockscope::operate
