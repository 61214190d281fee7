// SPDX-License-Identifier: Apache-2.0
#include "core/operate/edit.h"

#include "core/async/loop.h"
#include "core/base/counting.h"
#include "core/base/text.h"
#include "core/operate/lastlook.h"

#include <algorithm>

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

QString subjectText(const EditRequest &request)
{
    return label(request.subject().text());
}

Error editRefused(const EditRequest &request, const QString &why)
{
    return Error{ErrorCode::Refused, u"%1 is not what it was in the preview (%2): nothing was sent; look again"_s.arg(
                                         subjectText(request), why)};
}

// Who holds a lock there that the plan does not name so, or took it since; empty: nobody.
QString unnamedHolder(const EditPlan &plan, const std::vector<TouchedLock> &now)
{
    for (const auto &lock : now) {
        const auto known = std::ranges::find(plan.locks, lock.lock, &TouchedLock::lock);
        const auto &named = known == plan.locks.end() ? QStringList() : known->holders;
        for (const auto &holder : lock.holders) {
            if (!named.contains(holder))
                return u"%1 holds %2 by now"_s.arg(holder, label(lock.lock.text()));
        }
        if (known != plan.locks.end() && lock.lastTaken && *lock.lastTaken > known->observed)
            return u"who holds %1 let go since, and took it again"_s.arg(label(lock.lock.text()));
    }
    return {};
}

AuditRecord editRecord(const EditPlan &plan, const QString &phase, const QString &reason)
{
    AuditRecord record;
    record.time = std::chrono::system_clock::now();
    record.actor = currentActor();
    record.action = editWord(plan.request.kind);
    record.lock = plan.request.subject().text();
    record.reason = reason;
    record.phase = phase;
    record.before = toJson(plan.request, plan.before);
    record.to = wantedJson(plan.request);
    return record;
}

// Whether what is there afterwards is what we sent: else somebody was quicker, and taking ours back took theirs.
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

// What is to be sent to take it back, where what was there is known.
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
        return count == 1 ? u"%1 was deleted"_s.arg(subject)
                          : u"%1 was deleted with all below it, %2 nodes"_s.arg(subject, QString::number(count));
    case EditKind::ZnodeRestore:
        return count == 1 ? u"%1 was created again"_s.arg(subject)
                          : u"%1 was created again, %2 nodes"_s.arg(subject, QString::number(count));
    case EditKind::KeySet:
        return plan.before.exists ? u"%1 was set"_s.arg(subject) : u"%1 was created"_s.arg(subject);
    case EditKind::KeyExpire:
        return plan.request.ttl || plan.request.expiryMs ? u"%1 has another time to live"_s.arg(subject)
                                                         : u"%1 stays until somebody deletes it"_s.arg(subject);
    case EditKind::KeyRename: return u"%1 is called %2 now"_s.arg(subject, label(plan.request.value));
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
    const auto rest = sent.stopped->code == ErrorCode::UnknownOutcome
                          ? u"Of one more it is not known: its answer was lost. Look again"_s
                          : u"The others are as they were"_s;
    return u"%1: %2 of %3 nodes were %4, then it stopped: %5. %6"_s.arg(
        subjectText(plan.request), QString::number(sent.done.size()), QString::number(all),
        isDelete ? u"deleted"_s : u"created"_s, sent.stopped->message, rest);
}

QString editAuditOutcome(const Result<EditSent> &sent)
{
    if (sent && !sent->stopped)
        return u"done"_s;
    if (sent)
        return u"in part: %1, then: %2%3"_s.arg(
            amountOf(qint64(sent->done.size()), "node"_L1, "nodes"_L1),
            sent->stopped->code == ErrorCode::UnknownOutcome ? u"unknown: "_s : QString(), sent->stopped->message);
    const auto code = sent.error().code;
    return (code == ErrorCode::Refused          ? u"refused: "_s
            : code == ErrorCode::UnknownOutcome ? u"unknown: "_s
                                                : u"failed: "_s)
           + sent.error().message;
}

// What is read afterwards: a rename left it under another name.
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

Error editUnknown(const EditPlan &plan, const Error &lost, const Result<EditState> &after)
{
    // Which name the server gave it went with the answer.
    const auto now =
        plan.request.isSequential ? u"look into its folder"_s
        : !after                  ? u"it could not be read again: "_s + after.error().message
                                  : u"read again, it "_s
                       + (differenceFor(plan.request, plan.before, *after).isEmpty()
                              ? u"is as it was before"_s
                              : u"is not as it was before: "_s + differenceFor(plan.request, plan.before, *after));
    return Error{ErrorCode::UnknownOutcome,
                 u"%1: the request was sent and its answer lost (%2): it may or may not have been done; %3"_s.arg(
                     subjectText(plan.request), lost.message, now)};
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
    return std::nullopt;
}

} // namespace

Task<Result<EditPlan>> planEdit(EditRequest request, EditTools tools, Deadline deadline)
{
    auto state = co_await tools.read(request, deadline);
    if (!state)
        co_return state.error();
    if (request.expected) {
        auto other = differenceFor(request, *request.expected, *state);
        if (other.isEmpty() && request.kind == EditKind::KeyExpire && request.expected->expiryMs != state->expiryMs)
            other = u"its time to live is another"_s;
        if (!other.isEmpty())
            co_return Error{ErrorCode::Refused, u"%1 was changed since (%2): it is not taken back over that"_s.arg(
                                                    subjectText(request), other)};
    }
    EditPlan plan;
    plan.before = std::move(*state);
    plan.locks = touchedLocks(request, tools.locks());
    plan.locksKnown = tools.areLocksKnown;
    plan.request = std::move(request);
    co_return plan;
}

Task<Result<EditOutcome>> applyEdit(EditPlan plan, EditTools tools, QString reason, Deadline deadline)
{
    if (auto refusal = whyNoEdit(plan))
        co_return *refusal;
    if (plan.touchesHeld() && !plan.areLocksAccepted)
        co_return Error{ErrorCode::Refused, u"%1: a lock there is held, and nobody said that this is known: nothing "
                                            u"was sent"_s.arg(subjectText(plan.request))};
    auto now = co_await tools.read(plan.request, deadline);
    if (auto refusal = refusalOfEdit(plan, now, tools))
        co_return *refusal;
    const auto intent = editRecord(plan, u"intent"_s, reason);
    if (const auto written = tools.audit->append(intent); !written)
        co_return written.error();

    auto sending = tools.send(plan, deadline);
    const auto sent = co_await sending;

    // Reading again has time of its own, as after a release.
    constexpr std::chrono::seconds rereadWithin(5);
    const auto rereadBy = Deadline::after(*tools.loop, rereadWithin);
    // Where it may not have been done, what is looked at is what the preview looked at: only so it compares.
    const auto look = sent ? afterwards(plan.request, sent->made) : plan.request;
    const auto after = co_await tools.read(look, rereadBy);
    auto result = editRecord(plan, u"result"_s, reason);
    result.outcome = editAuditOutcome(sent);
    result.isDone = sent && !sent->stopped;
    if (after)
        result.after = toJson(look, *after);
    const auto recorded = tools.audit->append(result);
    if (!sent && sent.error().code == ErrorCode::UnknownOutcome)
        co_return editUnknown(plan, sent.error(), after);
    if (!sent)
        co_return sent.error();

    EditOutcome outcome;
    outcome.done = !sent->stopped;
    outcome.message = outcome.done ? doneText(plan, *sent) : partText(plan, *sent);
    if (after) {
        outcome.after = *after;
        if (isAsSent(plan, *after))
            outcome.undo =
                isOfZnodes(plan.request.kind) ? undoOfZnodes(plan, *sent, *after) : undoOfKeys(plan, *after);
    } else {
        outcome.message += u"; it could not be read again: "_s + after.error().message;
    }
    if (!recorded)
        outcome.message += u"; the result is missing in the audit file: "_s + recorded.error().message;
    co_return outcome;
}

} // namespace lockscope::operate
