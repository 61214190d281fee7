// SPDX-License-Identifier: Apache-2.0
#include "core/operate/edit.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::operate {

namespace {

std::optional<EditRequest> undoOfZnodes(const EditPlan &plan, const EditSent &sent, const EditState &after)
{
    const auto &request = plan.request;
    EditRequest undo;
    undo.connection = request.connection;
    undo.server = request.server;
    undo.name = sent.made.isEmpty() ? request.name : sent.made;
    undo.expected = after;
    undo.expected->below.clear();
    switch (request.kind) {
    case EditKind::ZnodeCreate:
    case EditKind::ZnodeRestore: undo.kind = EditKind::ZnodeDelete; break;
    case EditKind::ZnodeSet:
        undo.kind = EditKind::ZnodeSet;
        undo.value = plan.before.value;
        break;
    case EditKind::ZnodeAcl:
        if (isMasked(plan.before.acls) || !mayBeChangedAgain(request.acls))
            return std::nullopt;
        undo.kind = EditKind::ZnodeAcl;
        undo.acls = plan.before.acls;
        break;
    default: {
        undo.kind = EditKind::ZnodeRestore;
        for (auto copy = sent.done.rbegin(); copy != sent.done.rend(); ++copy) {
            if (copy->stat.ephemeralOwner.isNone() && (!copy->data || isMasked(copy->acls)))
                return std::nullopt;
            if (copy->stat.ephemeralOwner.isNone())
                undo.copies.push_back(*copy);
        }
        if (undo.copies.empty())
            return std::nullopt;
        undo.name = undo.copies.front().path.bytes();
        undo.expected.reset();
    }
    }
    if (request.kind == EditKind::ZnodeRestore) {
        undo.expected.reset(); // the preview counts what is there
        const auto isBelow = [&](const ZnodeCopy &copy) {
            return copy.path.bytes() == request.name || copy.path.bytes().startsWith(request.name + '/');
        };
        if (!std::ranges::all_of(request.copies, isBelow)) // a part of a delete: nodes side by side
            return std::nullopt;
    }
    return undo;
}

std::optional<EditRequest> undoOfKeys(const EditPlan &plan, const EditState &after)
{
    const auto &request = plan.request;
    const auto &before = plan.before;
    auto undo = request;
    undo.expected = after;
    const bool isKeyGone = !after.exists; // with its last field, too
    if (isKeyGone) {
        if (before.dump.isEmpty() || (before.ttl && !before.expiryMs))
            return std::nullopt;
        undo.kind = EditKind::KeyRestore;
        undo.field.clear();
        undo.value = before.dump;
        undo.expiryMs = before.expiryMs;
        undo.expected.reset();
        return undo;
    }
    switch (request.kind) {
    case EditKind::KeySet:
        undo.kind = before.exists ? EditKind::KeySet : EditKind::KeyDelete;
        undo.value = before.value;
        return undo;
    case EditKind::KeyExpire:
        if (before.ttl && !before.expiryMs)
            return std::nullopt;
        undo.ttl.reset();
        undo.expiryMs = before.expiryMs;
        return undo;
    case EditKind::KeyRename:
        undo.name = request.value;
        undo.value = request.name;
        return undo;
    case EditKind::KeyRestore:
        undo.kind = EditKind::KeyDelete;
        undo.value.clear();
        return undo;
    case EditKind::FieldSet:
    case EditKind::FieldDelete:
        undo.kind = before.hasField ? EditKind::FieldSet : EditKind::FieldDelete;
        undo.value = before.value;
        return undo;
    default: return std::nullopt;
    }
}

// Stricter than isAsSent(): no answer says that anything was done.
bool isAsWanted(const EditPlan &plan, const EditState &now)
{
    const auto &request = plan.request;
    const auto &before = plan.before;
    switch (request.kind) {
    case EditKind::ZnodeCreate: return !request.isSequential && !before.exists && isAsSent(plan, now);
    case EditKind::ZnodeSet: return isAsSent(plan, now) && now.value == request.value;
    case EditKind::ZnodeAcl: return isAsSent(plan, now) && now.acls == request.acls;
    case EditKind::ZnodeDelete:
    case EditKind::KeyDelete: return before.exists && !now.exists;
    case EditKind::KeyExpire: {
        if (!now.exists || (request.ttl && (!now.expiryMs || now.expiryMs == before.expiryMs)))
            return false;
        return request.expiryMs ? now.expiryMs == request.expiryMs
               : request.ttl    ? now.ttl && *now.ttl <= *request.ttl
                                : !now.ttl;
    }
    // The old name does not show it; of several nodes one does not show it.
    case EditKind::KeyRename:
    case EditKind::ZnodeRestore: return false;
    default: return isAsSent(plan, now);
    }
}

} // namespace

bool isAsSent(const EditPlan &plan, const EditState &after)
{
    const auto &request = plan.request;
    const auto &before = plan.before;
    const bool isSameNode = after.exists && after.stat.czxid == before.stat.czxid;
    switch (request.kind) {
    case EditKind::ZnodeCreate: return after.exists && after.stat.version == 0 && after.value == request.value;
    case EditKind::ZnodeSet: return isSameNode && after.stat.version == before.stat.version + 1;
    case EditKind::ZnodeAcl: return isSameNode && after.stat.aversion == before.stat.aversion + 1;
    case EditKind::KeySet: return after.exists && after.type == "string" && after.value == request.value;
    case EditKind::KeyRename: return after.exists && after.type == before.type && after.dump == before.dump;
    case EditKind::KeyExpire: return after.exists && after.ttl.has_value() == (request.ttl || request.expiryMs);
    case EditKind::KeyDelete: return !after.exists;
    case EditKind::FieldSet: return after.hasField && after.value == request.value;
    case EditKind::FieldDelete: return after.exists ? !after.hasField : before.items == 1;
    case EditKind::KeyRestore: return after.exists && after.dump == request.value;
    case EditKind::ZnodeDelete:
    case EditKind::ZnodeRestore: return true;
    }
    return false;
}

ZnodeCopy itself(const EditPlan &plan)
{
    ZnodeCopy copy;
    copy.path = ZPath(plan.request.name);
    copy.stat = plan.before.stat;
    copy.data = plan.before.isWhole ? std::optional(plan.before.value) : std::nullopt;
    copy.acls = plan.before.acls;
    return copy;
}

std::optional<EditRequest> undoOf(const EditPlan &plan, const EditSent &sent, const EditState &after)
{
    if (!isAsSent(plan, after))
        return std::nullopt;
    return isOfZnodes(plan.request.kind) ? undoOfZnodes(plan, sent, after) : undoOfKeys(plan, after);
}

EditRequest afterwards(const EditRequest &request, const QByteArray &made)
{
    auto look = request;
    if (request.kind == EditKind::KeyRename) {
        look.kind = EditKind::KeyDelete;
        look.name = request.value;
    }
    if (!made.isEmpty())
        look.name = made;
    look.isSequential = false;
    if (request.kind == EditKind::ZnodeRestore || request.kind == EditKind::ZnodeDelete)
        look.kind = EditKind::ZnodeSet; // the node alone
    return look;
}

EditRequest lookAfterLost(const EditRequest &request)
{
    auto look = request.kind == EditKind::ZnodeDelete ? afterwards(request, {}) : request;
    look.expected.reset();
    return look;
}

std::optional<EditOutcome> foundDone(const EditPlan &plan, const EditState &now)
{
    if (!isAsWanted(plan, now))
        return std::nullopt;
    EditSent sent;
    if (plan.request.kind == EditKind::ZnodeDelete) {
        sent.done.assign(plan.before.below.rbegin(), plan.before.below.rend());
        sent.done.push_back(itself(plan));
    }
    EditOutcome outcome;
    outcome.done = true;
    outcome.after = now;
    outcome.undo = undoOf(plan, sent, now);
    outcome.message =
        u"%1: the reply was lost, but a re-read shows the result of this edit. This edit or another client made it"_s
            .arg(label(plan.request.subject().text()));
    return outcome;
}

} // namespace lockscope::operate
