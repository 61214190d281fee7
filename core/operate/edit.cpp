// SPDX-License-Identifier: Apache-2.0
#include "core/operate/edit.h"

#include "core/base/text.h"
#include "core/operate/forcerelease.h"
#include "core/operate/precheck.h"

namespace lockscope::operate {

namespace {

QString subjectText(const EditRequest &request)
{
    return label(request.subject().text());
}

Error editRefused(const EditRequest &request, const QString &why)
{
    return Error{ErrorCode::Refused, sentence("edit-changed", {subjectText(request), why})};
}

// Who holds a lock there that the plan does not name so, or took it since; empty: nobody.
QString unnamedHolder(const EditPlan &plan, const std::vector<TouchedLock> &now)
{
    for (const auto &lock : now) {
        const auto known = std::ranges::find(plan.locks, lock.lock, &TouchedLock::lock);
        const auto &named = known == plan.locks.end() ? QStringList() : known->holders;
        for (const auto &holder : lock.holders) {
            if (!named.contains(holder))
                return u"%1 now holds %2"_s.arg(holder, label(lock.lock.text()));
        }
        if (known != plan.locks.end() && lock.lastTaken && *lock.lastTaken > known->observed)
            return u"the holder of %1 released it and acquired it again"_s.arg(label(lock.lock.text()));
    }
    return {};
}

AuditRecord editRecord(const EditPlan &plan, const QString &reason)
{
    AuditRecord record;
    record.action = editWord(plan.request.kind);
    record.lock = plan.request.subject().text();
    record.reason = reason;
    record.before = toJson(plan.request, plan.before);
    record.to = wantedJson(plan.request);
    return record;
}

QString doneText(const EditPlan &plan, const EditSent &sent)
{
    const auto subject = subjectText(plan.request);
    const auto count = static_cast<qsizetype>(sent.done.size());
    switch (plan.request.kind) {
    case EditKind::ZnodeCreate:
        return u"%1 was created"_s.arg(label(plan.request.connection.bytes() + ':' + sent.made));
    case EditKind::ZnodeSet: return u"%1 was set"_s.arg(subject);
    case EditKind::ZnodeAcl: return u"the ACL of %1 was set"_s.arg(subject);
    case EditKind::ZnodeDelete:
        return count == 1
                   ? u"%1 was deleted"_s.arg(subject)
                   : u"%1 and all nodes below it were deleted, %2 nodes"_s.arg(subject, QString::number(count));
    case EditKind::ZnodeRestore:
        return count == 1 ? u"%1 was created again"_s.arg(subject)
                          : u"%1 was created again, %2 nodes"_s.arg(subject, QString::number(count));
    case EditKind::KeySet:
        return plan.before.exists ? u"%1 was set"_s.arg(subject) : u"%1 was created"_s.arg(subject);
    case EditKind::KeyExpire:
        return plan.request.ttl || plan.request.expiryMs ? u"%1 has a new TTL"_s.arg(subject)
                                                         : u"%1 now stays until a client deletes it"_s.arg(subject);
    case EditKind::KeyRename: return u"%1 was renamed to %2"_s.arg(subject, label(plan.request.value));
    case EditKind::KeyDelete: return u"%1 was deleted"_s.arg(subject);
    case EditKind::KeyRestore: return u"%1 was created again"_s.arg(subject);
    case EditKind::FieldSet: return u"the field %2 of %1 was set"_s.arg(subject, label(plan.request.field, 80));
    case EditKind::FieldDelete:
        return u"the field %2 of %1 was deleted"_s.arg(subject, label(plan.request.field, 80));
    }
    return {};
}

// Some of several were done: which is said.
QString partText(const EditPlan &plan, const EditSent &sent)
{
    const bool isDelete = plan.request.kind == EditKind::ZnodeDelete;
    const auto all = isDelete ? plan.before.below.size() + 1 : plan.request.copies.size();
    const auto rest = sent.stopped->code == ErrorCode::UnknownOutcome ? sentence("edit-rest-unknown")
                                                                      : u"The others are unchanged"_s;
    return u"%1: %2 of %3 nodes were %4, then it stopped: %5. %6"_s.arg(
        subjectText(plan.request), QString::number(sent.done.size()), QString::number(all),
        isDelete ? u"deleted"_s : u"created"_s, sent.stopped->message, rest);
}

QString doneInAudit(const EditSent &sent)
{
    if (!sent.stopped)
        return u"done"_s;
    return u"in part: %1, then: %2%3"_s.arg(
        amountOf(qint64(sent.done.size()), "node"_L1, "nodes"_L1),
        sent.stopped->code == ErrorCode::UnknownOutcome ? u"unknown: "_s : QString(), sent.stopped->message);
}

// Its own words, "nothing was sent", would be taken for the edit's.
QString readErrorText(const Error &error)
{
    return error.code == ErrorCode::NotConnected ? u"not connected"_s : error.message;
}

Error editUnknown(const EditPlan &plan, const Error &lost, const Result<EditState> &after)
{
    // Which name the server gave it went with the answer.
    const auto difference = after ? differenceFor(plan.request, plan.before, *after) : QString();
    const auto now = plan.request.isSequential ? u"check its parent node"_s
                     : !after                  ? u"it could not be re-read: %1"_s.arg(readErrorText(after.error()))
                     : difference.isEmpty()    ? sentence("edit-seems-undone")
                                               : sentence("edit-seems-done", {difference});
    return Error{ErrorCode::UnknownOutcome, sentence("edit-unknown", {subjectText(plan.request), lost.message, now})};
}

// By the key's end, where the id of who let go and took the lock again is the same.
bool isLeaseAnother(const std::vector<TouchedLock> &locks, const EditState &was, const EditState &now)
{
    return std::ranges::any_of(locks, &TouchedLock::endTellsHolds) && was.expiryMs && now.expiryMs && now.ttl
           && isWrittenEarly(*was.expiryMs, *now.expiryMs, now.ttl->count());
}

QString leaseAnotherText()
{
    return sentence("lease-rewritten-early");
}

std::optional<Error> refusalOfEdit(const EditPlan &plan, const Result<EditState> &now, const EditTools &tools)
{
    if (!now)
        return nothingChanged(subjectText(plan.request), now.error());
    if (const auto other = differenceFor(plan.request, plan.before, *now); !other.isEmpty())
        return editRefused(plan.request, other);
    const auto locks = touchedLocks(plan.request, tools.locks());
    if (const auto who = unnamedHolder(plan, locks); !who.isEmpty())
        return editRefused(plan.request, who);
    if (isLeaseAnother(plan.locks, plan.before, *now))
        return editRefused(plan.request, leaseAnotherText());
    return std::nullopt;
}

Result<EditOutcome> outcomeOfEdit(const EditPlan &plan, const Result<EditSent> &sent, const Result<EditState> &after)
{
    if (!sent && sent.error().code != ErrorCode::UnknownOutcome)
        return sent.error();
    if (!sent) {
        auto found = after ? foundDone(plan, *after) : std::nullopt;
        return found ? Result<EditOutcome>(*std::move(found))
                     : Result<EditOutcome>(editUnknown(plan, sent.error(), after));
    }
    EditOutcome outcome;
    outcome.done = !sent->stopped;
    outcome.message = outcome.done ? doneText(plan, *sent) : partText(plan, *sent);
    if (after) {
        outcome.after = *after;
        outcome.undo = undoOf(plan, *sent, *after);
    } else {
        outcome.message += clause(u"it could not be re-read: %1"_s.arg(readErrorText(after.error())));
    }
    return outcome;
}

// A connection that broke may be back within the time there is.
Task<Result<EditState>> readAgain(EditRequest look, EditTools tools, Deadline by)
{
    constexpr std::chrono::milliseconds pause(250);
    for (;;) {
        auto state = co_await tools.read(look, by);
        const bool isWorthWaiting = !state && state.error().code == ErrorCode::NotConnected;
        if (!isWorthWaiting || by.when() <= tools.loop->now() + pause)
            co_return state;
        co_await sleepFor(*tools.loop, pause);
    }
}

// Where it may not have been done, what is looked at is what the preview looked at: only so it compares.
EditRequest lookAfter(const EditPlan &plan, const Result<EditSent> &sent)
{
    return sent ? afterwards(plan.request, sent->made) : plan.request;
}

Task<Act<EditSent, EditState>> sendAndRecord(EditPlan plan, EditTools tools, QString reason, Deadline deadline)
{
    ActSteps<EditSent, EditState> steps;
    steps.record = editRecord(plan, reason);
    steps.send = [plan, tools, deadline] { return tools.send(plan, deadline); };
    steps.readAgain = [plan, tools](const Result<EditSent> &sent) {
        // Reading again has time of its own, as after a release.
        constexpr std::chrono::seconds rereadWithin(5);
        return readAgain(lookAfter(plan, sent), tools, Deadline::after(*tools.loop, rereadWithin));
    };
    steps.note = [plan](AuditRecord &record, const Result<EditSent> &sent, const Result<EditState> &after) {
        const auto outcome = outcomeOfEdit(plan, sent, after);
        record.isDone = outcome && outcome->done;
        if (sent)
            record.outcome = doneInAudit(*sent);
        else if (outcome)
            record.outcome = u"reply lost; found done: %1"_s.arg(sent.error().message);
        if (after)
            record.after = toJson(lookAfter(plan, sent), *after);
    };
    return guardedAct(std::move(steps), tools.audit);
}

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

Task<Result<EditPlan>> planEdit(EditRequest request, EditTools tools, Deadline deadline)
{
    CO_TRY(auto &state, co_await tools.read(request, deadline));
    auto locks = touchedLocks(request, tools.locks());
    if (request.expected) {
        auto other = differenceFor(request, *request.expected, state);
        if (other.isEmpty() && request.kind == EditKind::KeyExpire && request.expected->expiryMs != state.expiryMs)
            other = u"its TTL has changed"_s;
        if (other.isEmpty() && isLeaseAnother(locks, *request.expected, state))
            other = leaseAnotherText();
        if (!other.isEmpty())
            co_return Error{ErrorCode::Refused,
                            u"nothing was undone: %1 was changed since (%2)"_s.arg(subjectText(request), other)};
    }
    EditPlan plan;
    plan.before = std::move(state);
    plan.locks = std::move(locks);
    plan.locksKnown = tools.areLocksKnown;
    plan.request = std::move(request);
    co_return plan;
}

Task<Result<EditOutcome>> applyEdit(EditPlan plan, EditTools tools, QString reason, Deadline deadline)
{
    if (auto refusal = editError(plan))
        co_return *refusal;
    if (plan.touchesHeld() && !plan.areLocksAccepted)
        co_return Error{ErrorCode::Refused, sentence("edit-unconfirmed", {subjectText(plan.request)})};
    auto now = co_await tools.read(plan.request, deadline);
    if (auto refusal = refusalOfEdit(plan, now, tools))
        co_return *refusal;
    if (plan.endTellsHolds())
        plan.leaseEnds = now->expiryMs;
    const auto act = co_await sendAndRecord(plan, tools, reason, deadline);
    co_return withAudit(outcomeOfEdit(plan, act.sent, act.reread), act.recorded);
}

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
    outcome.message = sentence("edit-found-done", {subjectText(plan.request)});
    return outcome;
}

} // namespace lockscope::operate
