// SPDX-License-Identifier: Apache-2.0
#include "core/operate/zookeeperedit.h"

#include "core/base/text.h"
#include "core/rules/contenderid.h"

#include <algorithm>

namespace lockscope::operate {

using namespace Qt::StringLiterals;

namespace {

// Of more than so many nodes, or bytes, what is in them is not kept, and a delete is not taken back.
constexpr std::size_t mostKeptNodes = 1000;
constexpr qsizetype mostKeptBytes = 1024 * 1024;
constexpr std::size_t editsInFlight = 256;

// What is kept of the nodes below one that is to be deleted.
struct Keeping {
    std::vector<ZnodeCopy> copies;
    qsizetype bytes = 0;
    [[nodiscard]] bool isFull() const { return copies.size() >= mostKeptNodes || bytes > mostKeptBytes; }
};

// One node, with what is in it as far as it may be read.
Task<Result<ZnodeCopy>> copyOf(zk::Session *session, ZPath path, bool withData, Deadline deadline)
{
    ZnodeCopy copy;
    copy.path = path;
    if (withData) {
        auto dataReply = session->get(path, std::nullopt, deadline);
        auto aclReply = session->acls(path, deadline);
        const auto data = co_await dataReply;
        const auto acls = co_await aclReply;
        if (data && acls) {
            copy.stat = data->stat;
            copy.data = data->data;
            copy.acls = acls->acls;
            co_return copy;
        }
        if (!data && data.error().code != ErrorCode::NoPermission)
            co_return data.error();
    }
    auto statReply = session->exists(path, std::nullopt, deadline);
    const auto stat = co_await statReply;
    if (!stat)
        co_return stat.error();
    copy.stat = *stat;
    co_return copy;
}

Error tooManyBelow(const ZPath &path)
{
    return Error{ErrorCode::TooLarge, u"more than %1 nodes lie below %2: delete them in parts"_s.arg(
                                          QString::number(mostDeleted), label(path.bytes()))};
}

// The names of all children of these, in their order.
Task<Result<std::vector<ZPath>>> childrenOf(zk::Session *session, std::vector<ZPath> folders, Deadline deadline)
{
    std::vector<ZPath> paths;
    std::vector<Reply<zk::Children>> flying;
    for (std::size_t next = 0; next < folders.size(); ++next) {
        while (flying.size() < folders.size() && flying.size() < next + editsInFlight)
            flying.push_back(session->children(folders[flying.size()], std::nullopt, deadline));
        const auto listed = co_await flying[next];
        if (!listed && listed.error().code != ErrorCode::NoNode)
            co_return listed.error();
        if (!listed)
            continue;
        if (listed->names.size() > mostDeleted)
            co_return tooManyBelow(folders[next]);
        auto names = listed->names.toVector();
        std::ranges::sort(names);
        for (const auto &name : names)
            paths.push_back(folders[next].child(name));
    }
    co_return paths;
}

Task<Result<std::vector<ZnodeCopy>>> allBelow(zk::Session *session, ZPath path, Deadline deadline)
{
    Keeping kept;
    std::vector<ZPath> folders{path};
    while (!folders.empty()) {
        const auto children = co_await childrenOf(session, folders, deadline);
        if (!children)
            co_return children.error();
        if (kept.copies.size() + children->size() > mostDeleted)
            co_return tooManyBelow(path);
        folders.clear();
        for (const auto &child : *children) {
            auto copying = copyOf(session, child, !kept.isFull(), deadline);
            auto copy = co_await copying;
            if (!copy && copy.error().code == ErrorCode::NoNode)
                continue; // gone between the list and the look
            if (!copy)
                co_return copy.error();
            if (copy->stat.numChildren > 0)
                folders.push_back(child);
            kept.bytes += copy->data ? copy->data->size() : 0;
            kept.copies.push_back(std::move(*copy));
        }
    }
    co_return kept.copies;
}

// Nobody else's by now? The one look right before a request.
Task<Result<void>> sameNode(zk::Session *session, ZnodeCopy wanted, bool isToBeEmpty, Deadline deadline)
{
    auto lookReply = session->exists(wanted.path, std::nullopt, deadline);
    const auto stat = co_await lookReply;
    const auto path = label(wanted.path.bytes());
    if (!stat && stat.error().code == ErrorCode::NoNode)
        co_return Error{ErrorCode::Refused, u"%1 is gone already"_s.arg(path)};
    if (!stat) // a read that was lost has changed nothing
        co_return Error{stat.error().code == ErrorCode::UnknownOutcome ? ErrorCode::NotConnected : stat.error().code,
                        u"the last look at %1 failed: %2"_s.arg(path, stat.error().message), true};
    if (stat->czxid != wanted.stat.czxid || stat->ephemeralOwner != wanted.stat.ephemeralOwner)
        co_return Error{ErrorCode::Refused, u"%1 is another node by now"_s.arg(path)};
    if (isToBeEmpty && stat->numChildren > 0)
        co_return Error{ErrorCode::Refused, u"%1 has a child that was not counted"_s.arg(path)};
    co_return Result<void>();
}

// What the server itself compared says it is not the one that was looked at.
Error refusedByServer(const ZPath &path, const Error &error)
{
    const auto name = label(path.bytes());
    switch (error.code) {
    case ErrorCode::BadVersion: return {ErrorCode::Refused, u"%1 was changed in between"_s.arg(name)};
    case ErrorCode::NoNode: return {ErrorCode::Refused, u"%1, or the node above it, is gone already"_s.arg(name)};
    case ErrorCode::NotEmpty: return {ErrorCode::Refused, u"%1 has a child that was not counted"_s.arg(name)};
    case ErrorCode::NodeExists: return {ErrorCode::Refused, u"%1 is there already"_s.arg(name)};
    default: return error;
    }
}

Task<Result<void>> deleteCopy(zk::Session *session, ZnodeCopy copy, Deadline deadline)
{
    auto looking = sameNode(session, copy, true, deadline);
    const auto same = co_await looking;
    if (!same)
        co_return same.error();
    auto reply = session->remove(copy.path, copy.stat.version, deadline);
    const auto removed = co_await reply;
    if (!removed)
        co_return refusedByServer(copy.path, removed.error());
    co_return Result<void>();
}

Task<Result<void>> createCopy(zk::Session *session, ZnodeCopy copy, Deadline deadline)
{
    auto reply =
        session->create(copy.path, copy.data.value_or(QByteArray()), zk::CreateMode::Persistent, copy.acls, deadline);
    const auto made = co_await reply;
    if (!made)
        co_return refusedByServer(copy.path, made.error());
    co_return Result<void>();
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

// One after the other, until one is refused: what was not counted is never taken away.
Task<Result<EditSent>> sendMany(EditPlan plan, zk::Session *session, Deadline deadline)
{
    const bool isDelete = plan.request.kind == EditKind::ZnodeDelete;
    auto copies = isDelete ? plan.before.below : plan.request.copies;
    if (isDelete) {
        copies.insert(copies.begin(), itself(plan));
        std::ranges::reverse(copies); // children first
    }
    EditSent sent;
    for (const auto &copy : copies) {
        auto step = isDelete ? deleteCopy(session, copy, deadline) : createCopy(session, copy, deadline);
        const auto done = co_await step;
        if (!done && sent.done.empty())
            co_return done.error();
        if (!done) {
            sent.stopped = done.error();
            co_return sent;
        }
        sent.done.push_back(copy);
    }
    co_return sent;
}

Task<Result<EditSent>> sendCreate(EditPlan plan, zk::Session *session, Deadline deadline)
{
    const auto &request = plan.request;
    const auto mode = request.isSequential ? zk::CreateMode::PersistentSequential : zk::CreateMode::Persistent;
    auto reply = session->create(ZPath(request.name), request.value, mode, request.acls, deadline);
    const auto made = co_await reply;
    if (!made)
        co_return refusedByServer(ZPath(request.name), made.error());
    EditSent sent;
    sent.made = made->path.bytes();
    co_return sent;
}

Task<Result<EditSent>> sendChange(EditPlan plan, zk::Session *session, Deadline deadline)
{
    const ZPath path(plan.request.name);
    const auto &stat = plan.before.stat;
    auto looking = sameNode(session, itself(plan), false, deadline);
    const auto same = co_await looking;
    if (!same)
        co_return same.error();
    std::optional<Error> failure;
    if (plan.request.kind == EditKind::ZnodeSet) {
        auto reply = session->set(path, plan.request.value, stat.version, deadline);
        const auto set = co_await reply;
        if (!set)
            failure = set.error();
    } else {
        auto reply = session->setAcls(path, plan.request.acls, stat.aversion, deadline);
        const auto set = co_await reply;
        if (!set)
            failure = set.error();
    }
    if (failure)
        co_return refusedByServer(path, *failure);
    co_return EditSent();
}

Task<Result<EditSent>> noKeysHere()
{
    co_return Error{ErrorCode::Unsupported, u"nothing was sent: a ZooKeeper has znodes, not keys"_s};
}

bool isPathToEdit(const QByteArray &path)
{
    if (!path.startsWith('/') || path.size() < 2 || path.contains('\0'))
        return false;
    const auto parts = path.mid(1).split('/');
    return std::ranges::none_of(parts,
                                [](const QByteArray &part) { return part.isEmpty() || part == "." || part == ".."; });
}

QString undoOfDelete(const EditPlan &plan)
{
    std::size_t ephemerals = plan.before.stat.ephemeralOwner.isNone() ? 0 : 1;
    bool isKnown = plan.before.isWhole && !isMasked(plan.before.acls);
    for (const auto &copy : plan.before.below) {
        const bool isEphemeral = !copy.stat.ephemeralOwner.isNone();
        ephemerals += isEphemeral ? 1 : 0;
        isKnown = isKnown && (isEphemeral || (copy.data && !isMasked(copy.acls)));
    }
    if (ephemerals == plan.before.below.size() + 1)
        return u"cannot be taken back: an ephemeral node is its session's alone"_s;
    if (!isKnown)
        return u"cannot be taken back: not all of data and ACLs is known here"_s;
    const auto back =
        u"create again with data and ACL, as plain persistent nodes with new czxids; numbers of sequence "
        u"nodes begin anew below a node that is made anew"_s;
    return ephemerals == 0 ? back : u"%1; not the %2 ephemeral ones"_s.arg(back, QString::number(ephemerals));
}

void previewDelete(EditPreview &preview, const EditPlan &plan)
{
    const auto path = label(plan.request.name);
    const auto below = plan.before.below.size();
    std::size_t shown = 0;
    constexpr std::size_t mostShown = 12;
    for (auto copy = plan.before.below.rbegin(); copy != plan.before.below.rend() && shown < mostShown;
         ++copy, ++shown)
        preview.commands << u"delete %1 version %2"_s.arg(label(copy->path.bytes()),
                                                          QString::number(copy->stat.version));
    if (below > mostShown)
        preview.commands << u"… and %1 more, children first"_s.arg(below - mostShown);
    preview.commands << u"delete %1 version %2"_s.arg(path, QString::number(plan.before.stat.version));
    preview.guard = u"each node's czxid, owner and data version, read again right before its delete; what is new or "
                    u"changed stops it"_s;
    if (below > 0)
        preview.warnings << (below == 1 ? u"with it goes 1 node below it"_s
                                        : u"with it go %1 nodes below it"_s.arg(below));
    const auto ephemerals =
        std::ranges::count_if(plan.before.below, [](const auto &copy) { return !copy.stat.ephemeralOwner.isNone(); });
    if (ephemerals > 0)
        preview.warnings
            << (ephemerals == 1
                    ? u"1 of them is ephemeral: the session that made it is not over, and may count on it"_s
                    : u"%1 of them are ephemeral: the sessions that made them are not over, and may count on them"_s
                          .arg(ephemerals));
    if (below == 0 && !plan.before.stat.ephemeralOwner.isNone())
        preview.warnings << u"it is ephemeral: session %1, which made it, is not over, and may count on it"_s.arg(
            plan.before.stat.ephemeralOwner.text());
    preview.undo = undoOfDelete(plan);
}

void previewAcl(EditPreview &preview, const EditPlan &plan)
{
    QStringList entries;
    for (const auto &acl : plan.request.acls)
        entries << aclText(acl);
    preview.commands << u"setACL %1 aversion %2: %3"_s.arg(label(plan.request.name),
                                                           QString::number(plan.before.stat.aversion),
                                                           label(entries.join(u", "_s).toUtf8(), 500));
    const bool isAdminForAll = std::ranges::any_of(plan.request.acls, [](const zk::Acl &acl) {
        return acl.scheme == "world" && (acl.perms & zk::perms::admin) != 0;
    });
    if (!isAdminForAll)
        preview.warnings
            << u"only whom an entry with the letter a names may change the ACL again: be sure that you are "
               u"one of them"_s;
    preview.undo = isMasked(plan.before.acls)
                       ? u"cannot be taken back: the server hides a part of the ACL there was"_s
                       : u"set back to the ACL there was"_s;
}

} // namespace

EditPreview previewOfZnodeEdit(const EditPlan &plan)
{
    const auto &request = plan.request;
    const auto path = label(request.name);
    EditPreview preview;
    const bool isNew = request.kind == EditKind::ZnodeCreate || request.kind == EditKind::ZnodeRestore;
    if (!isNew) {
        preview.commands << u"sync %1"_s.arg(path) << u"exists %1"_s.arg(path);
        preview.guard = u"czxid 0x%1 and %2, read again right before"_s.arg(
            QString::number(plan.before.stat.czxid, 16), request.kind == EditKind::ZnodeAcl
                                                             ? u"ACL version %1"_s.arg(plan.before.stat.aversion)
                                                             : u"data version %1"_s.arg(plan.before.stat.version));
        preview.exact = recipes::isGivenOnce(ZPath(request.name).name());
    }
    switch (request.kind) {
    case EditKind::ZnodeCreate: {
        preview.commands << u"create %1 persistent%2, %3 bytes"_s.arg(
            path, request.isSequential ? u" sequential"_s : QString(), QString::number(request.value.size()));
        preview.guard = u"the server refuses it if there is such a node"_s;
        preview.undo = u"delete it again, while it is as it was made"_s;
        break;
    }
    case EditKind::ZnodeRestore:
        for (const auto &copy : request.copies) {
            if (preview.commands.size() < 12)
                preview.commands << u"create %1 persistent, %2 bytes"_s.arg(label(copy.path.bytes()),
                                                                            QString::number(copy.stat.dataLength));
        }
        if (request.copies.size() > 12)
            preview.commands << u"… and %1 more"_s.arg(request.copies.size() - 12);
        preview.guard = u"the server refuses each that is there; the first such stops it"_s;
        preview.undo = u"delete them again"_s;
        break;
    case EditKind::ZnodeSet:
        preview.commands << u"setData %1 version %2, %3 bytes"_s.arg(path, QString::number(plan.before.stat.version),
                                                                     QString::number(request.value.size()));
        preview.undo = u"set back to what it was, while nobody else sets it"_s;
        if (!plan.before.stat.ephemeralOwner.isNone())
            preview.warnings
                << u"it is ephemeral: what is set here goes with session %1, which made the node and may "
                   u"count on what it wrote"_s.arg(plan.before.stat.ephemeralOwner.text());
        break;
    case EditKind::ZnodeAcl: previewAcl(preview, plan); break;
    default: previewDelete(preview, plan);
    }
    if (!preview.exact)
        preview.warnings
            << u"ZooKeeper compares a version, not which node it is: should it be deleted and made anew in "
               u"the moment between the last look and the request, the new one is changed"_s;
    if (isNew && !plan.locks.empty())
        preview.warnings << u"this is a lock's directory: its clients take what is in it for somebody who waits"_s;
    return preview;
}

std::optional<Error> whyNoZnodeEdit(const EditPlan &plan)
{
    const auto &request = plan.request;
    const auto path = label(request.name);
    const auto bad = [](const QString &why) { return Error{ErrorCode::BadInput, why}; };
    const bool isNew = request.kind == EditKind::ZnodeCreate || request.kind == EditKind::ZnodeRestore;
    const bool isOnRoot =
        request.name == "/" && (request.kind == EditKind::ZnodeSet || request.kind == EditKind::ZnodeAcl);
    // A name that the server finishes with a number may end with a slash: below it, nothing but the number.
    if (!isOnRoot && !isPathToEdit(request.isSequential ? request.name + '0' : request.name))
        return request.name == "/" ? bad(u"the root itself stays"_s)
                                   : bad(u"a path begins with / and has no empty part"_s);
    if (request.name == "/zookeeper" || request.name.startsWith("/zookeeper/"))
        return bad(u"%1 is the server's own"_s.arg(path));
    if (isNew && plan.before.exists)
        return Error{ErrorCode::NodeExists, u"%1 is there already"_s.arg(path)};
    if (!isNew && !plan.before.exists)
        return Error{ErrorCode::NoNode, u"there is no node %1"_s.arg(path)};
    if ((request.kind == EditKind::ZnodeCreate || request.kind == EditKind::ZnodeAcl) && request.acls.empty())
        return bad(u"an ACL needs an entry: nobody could do anything with the node"_s);
    if (request.kind == EditKind::ZnodeSet && !plan.before.isWhole)
        return Error{ErrorCode::TooLarge, u"%1 cannot be edited: not all of it could be read"_s.arg(path)};
    if (request.kind == EditKind::ZnodeSet && request.value == plan.before.value)
        return bad(u"nothing was changed yet"_s);
    if (request.kind == EditKind::ZnodeAcl && request.acls == plan.before.acls)
        return bad(u"nothing was changed yet"_s);
    if (request.kind == EditKind::ZnodeAcl && isMasked(request.acls))
        return bad(u"the server hides the hash of an entry (\":x\"): writing it back would make it another"_s);
    return std::nullopt;
}

QString differenceOfZnodes(const EditRequest &request, const EditState &was, const EditState &now)
{
    if (was.stat.czxid != now.stat.czxid || was.stat.ephemeralOwner != now.stat.ephemeralOwner)
        return u"it is another node of the same name"_s;
    if (request.kind == EditKind::ZnodeAcl)
        return was.stat.aversion == now.stat.aversion ? QString() : u"its ACL was changed"_s;
    if (was.stat.version != now.stat.version)
        return u"its data was changed"_s;
    if (request.kind != EditKind::ZnodeDelete)
        return {};
    const auto isSame = [](const ZnodeCopy &a, const ZnodeCopy &b) {
        return a.path == b.path && a.stat.czxid == b.stat.czxid && a.stat.version == b.stat.version
               && a.stat.ephemeralOwner == b.stat.ephemeralOwner;
    };
    const auto [left, right] = std::ranges::mismatch(was.below, now.below, isSame);
    if (right != now.below.end() && (left == was.below.end() || right->path != left->path))
        return was.below.size() < now.below.size() ? u"%1 is new there"_s.arg(label(right->path.bytes()))
                                                   : u"what lies below it has changed"_s;
    if (left != was.below.end())
        return u"%1 was changed, or is gone"_s.arg(label(left->path.bytes()));
    return {};
}

Task<Result<EditState>> readForEdit(EditRequest request, zk::Session *session, Deadline deadline)
{
    EditState state;
    if (request.isSequential)
        co_return state; // no name yet that could be there
    const ZPath path(request.name);
    auto syncReply = session->sync(path, deadline);
    auto copying = copyOf(session, path, true, deadline);
    const auto copy = co_await copying;
    const auto synced = co_await syncReply;
    if (!copy && copy.error().code == ErrorCode::NoNode)
        co_return state;
    if (!copy)
        co_return copy.error();
    if (!synced)
        co_return synced.error();
    state.exists = true;
    state.stat = copy->stat;
    state.value = copy->data.value_or(QByteArray()).left(largestEdit);
    state.isWhole = copy->data && copy->data->size() <= largestEdit;
    state.acls = copy->acls;
    if (request.kind == EditKind::ZnodeDelete && copy->stat.numChildren > 0) {
        auto walking = allBelow(session, path, deadline);
        auto below = co_await walking;
        if (!below)
            co_return below.error();
        state.below = std::move(*below);
    }
    co_return state;
}

Task<Result<EditSent>> sendEdit(EditPlan plan, zk::Session *session, Deadline deadline)
{
    const auto kind = plan.request.kind;
    if (!isOfZnodes(kind))
        return noKeysHere();
    if (kind == EditKind::ZnodeCreate)
        return sendCreate(std::move(plan), session, deadline);
    return kind == EditKind::ZnodeDelete || kind == EditKind::ZnodeRestore
               ? sendMany(std::move(plan), session, deadline)
               : sendChange(std::move(plan), session, deadline);
}

} // namespace lockscope::operate
