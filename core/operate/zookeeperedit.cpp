// SPDX-License-Identifier: Apache-2.0
#include "core/operate/zookeeper.h"

#include "core/base/text.h"
#include "core/operate/precheck.h"

namespace lockscope::operate {

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
    CO_TRY(const auto &stat, co_await session->exists(path, std::nullopt, deadline));
    copy.stat = stat;
    co_return copy;
}

Error tooManyBelow(const ZPath &path)
{
    return Error{ErrorCode::TooLarge, u"there are more than %1 nodes below %2. Delete them in parts"_s.arg(
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
        CO_TRY(const auto &children, co_await childrenOf(session, folders, deadline));
        if (kept.copies.size() + children.size() > mostDeleted)
            co_return tooManyBelow(path);
        folders.clear();
        for (const auto &child : children) {
            auto copy = co_await copyOf(session, child, !kept.isFull(), deadline);
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
    const auto stat = co_await session->exists(wanted.path, std::nullopt, deadline);
    const auto path = label(wanted.path.bytes());
    if (!stat && stat.error().code == ErrorCode::NoNode)
        co_return Error{ErrorCode::Refused, u"%1 no longer exists"_s.arg(path)};
    if (!stat)
        co_return lastLookFailed(path, stat.error());
    if (stat->czxid != wanted.stat.czxid || stat->ephemeralOwner != wanted.stat.ephemeralOwner)
        co_return Error{ErrorCode::Refused, u"%1 is now another node"_s.arg(path)};
    if (isToBeEmpty && stat->numChildren > 0)
        co_return Error{ErrorCode::Refused, u"%1 has a child that was not in the preview"_s.arg(path)};
    co_return Result<void>();
}

// What the server itself compared says it is not the one that was looked at.
Error refusedByServer(const ZPath &path, const Error &error)
{
    const auto name = label(path.bytes());
    switch (error.code) {
    case ErrorCode::BadVersion: return {ErrorCode::Refused, u"%1 was changed since the last check"_s.arg(name)};
    case ErrorCode::NoNode: return {ErrorCode::Refused, u"%1 or its parent no longer exists"_s.arg(name)};
    case ErrorCode::NotEmpty: return {ErrorCode::Refused, u"%1 has a child that was not in the preview"_s.arg(name)};
    case ErrorCode::NodeExists: return {ErrorCode::Refused, u"%1 already exists"_s.arg(name)};
    default: return error;
    }
}

Task<Result<void>> deleteCopy(zk::Session *session, ZnodeCopy copy, Deadline deadline)
{
    CO_TRY_VOID(co_await sameNode(session, copy, true, deadline));
    const auto removed = co_await session->remove(copy.path, copy.stat.version, deadline);
    if (!removed)
        co_return refusedByServer(copy.path, removed.error());
    co_return Result<void>();
}

Task<Result<void>> createCopy(zk::Session *session, ZnodeCopy copy, Deadline deadline)
{
    const auto made = co_await session->create(copy.path, copy.data.value_or(QByteArray()),
                                               zk::CreateMode::Persistent, copy.acls, deadline);
    if (!made)
        co_return refusedByServer(copy.path, made.error());
    co_return Result<void>();
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

zk::CreateMode createModeOf(const EditRequest &request)
{
    using enum zk::CreateMode;
    if (request.ttl)
        return request.isSequential ? PersistentSequentialWithTtl : PersistentWithTtl;
    if (request.isEphemeral)
        return request.isSequential ? EphemeralSequential : Ephemeral;
    return request.isSequential ? PersistentSequential : Persistent;
}

Reply<zk::Created> createReply(const EditRequest &request, zk::Session *session, Deadline deadline)
{
    const ZPath path(request.name);
    if (request.ttl)
        return session->createWithTtl(path, request.value, createModeOf(request), *request.ttl, request.acls,
                                      deadline);
    return session->create(path, request.value, createModeOf(request), request.acls, deadline);
}

Task<Result<EditSent>> sendCreate(EditPlan plan, zk::Session *session, Deadline deadline)
{
    const auto &request = plan.request;
    const auto made = co_await createReply(request, session, deadline);
    if (!made && made.error().code == ErrorCode::Unsupported && request.ttl)
        co_return Error{ErrorCode::Unsupported, u"nothing was created: this server does not support nodes with a TTL "
                                                u"(zookeeper.extendedTypesEnabled is not true)"_s};
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
    CO_TRY_VOID(co_await sameNode(session, itself(plan), false, deadline));
    std::optional<Error> failure;
    if (plan.request.kind == EditKind::ZnodeSet) {
        const auto set = co_await session->set(path, plan.request.value, stat.version, deadline);
        if (!set)
            failure = set.error();
    } else {
        const auto set = co_await session->setAcls(path, plan.request.acls, stat.aversion, deadline);
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

// What an edit of a znode will do, in words, and why it cannot be. Pure.

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
        return sentence("undo-of-ephemerals");
    if (!isKnown)
        return sentence("undo-of-unknown");
    const auto back = sentence("undo-of-delete");
    return ephemerals == 0 ? back : u"%1; not the %2 ephemeral nodes"_s.arg(back, QString::number(ephemerals));
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
    addTexts(preview, "znode-delete-tree");
    if (below > 0)
        preview.warnings << (below == 1 ? u"1 node below it is deleted, too"_s
                                        : u"%1 nodes below it are deleted, too"_s.arg(below));
    const auto ephemerals =
        std::ranges::count_if(plan.before.below, [](const auto &copy) { return !copy.stat.ephemeralOwner.isNone(); });
    if (ephemerals > 0)
        addTexts(preview, ephemerals == 1 ? "deletes-ephemeral" : "deletes-ephemerals",
                 {QString::number(ephemerals)});
    if (below == 0 && !plan.before.stat.ephemeralOwner.isNone())
        addTexts(preview, "deletes-of-session", {plan.before.stat.ephemeralOwner.text()});
    preview.undo = undoOfDelete(plan);
}

void previewAcl(EditPreview &preview, const EditPlan &plan)
{
    const auto entries = mapped<QStringList>(plan.request.acls, [&](const auto &acl) { return aclText(acl); });
    preview.commands << u"setACL %1 aversion %2: %3"_s.arg(label(plan.request.name),
                                                           QString::number(plan.before.stat.aversion),
                                                           label(entries.join(u", "_s).toUtf8(), 500));
    const bool isAdminForAll = std::ranges::any_of(plan.request.acls, [](const zk::Acl &acl) {
        return acl.scheme == "world" && (acl.perms & zk::perms::admin) != 0;
    });
    addTexts(preview, !mayBeChangedAgain(plan.request.acls) ? "acl-without-admin"
                      : isAdminForAll                       ? "acl-with-admin"
                                                            : "acl-with-some-admin");
    if (isMasked(plan.before.acls))
        addTexts(preview, "acl-was-masked");
}

void previewCreate(EditPreview &preview, const EditPlan &plan)
{
    const auto &request = plan.request;
    addTexts(preview, "znode-create",
             {label(request.name), request.isEphemeral ? u"ephemeral"_s : u"persistent"_s,
              request.isSequential ? u" sequential"_s : QString(),
              request.ttl ? u" TTL %1 ms"_s.arg(request.ttl->count()) : QString(),
              amountOf(request.value.size(), "byte"_L1, "bytes"_L1)});
    if (request.isEphemeral)
        addTexts(preview, "znode-create-ephemeral");
    if (request.ttl)
        addTexts(preview, "znode-create-with-ttl", {formatDuration(*request.ttl)});
}

} // namespace

Task<Result<EditState>> readForEdit(EditRequest request, zk::Session *session, Deadline deadline)
{
    EditState state;
    if (request.isSequential)
        co_return state; // no name yet that could be there
    const ZPath path(request.name);
    auto syncReply = session->sync(path, deadline);
    const auto copy = co_await copyOf(session, path, true, deadline);
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
        CO_TRY(auto &below, co_await allBelow(session, path, deadline));
        state.below = std::move(below);
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

EditPreview previewOfZnodeEdit(const EditPlan &plan)
{
    const auto &request = plan.request;
    const auto path = label(request.name);
    EditPreview preview;
    const bool isNew = request.kind == EditKind::ZnodeCreate || request.kind == EditKind::ZnodeRestore;
    if (!isNew) {
        addTexts(preview, "znode-edit",
                 {path, QString::number(plan.before.stat.czxid, 16),
                  request.kind == EditKind::ZnodeAcl ? u"ACL version %1"_s.arg(plan.before.stat.aversion)
                                                     : u"data version %1"_s.arg(plan.before.stat.version)});
        preview.exact = recipes::isGivenOnce(ZPath(request.name).name());
    }
    switch (request.kind) {
    case EditKind::ZnodeCreate: previewCreate(preview, plan); break;
    case EditKind::ZnodeRestore:
        for (const auto &copy : request.copies) {
            if (preview.commands.size() < 12)
                preview.commands << u"create %1 persistent, %2"_s.arg(
                    label(copy.path.bytes()), amountOf(copy.stat.dataLength, "byte"_L1, "bytes"_L1));
        }
        if (request.copies.size() > 12)
            preview.commands << u"… and %1 more"_s.arg(request.copies.size() - 12);
        addTexts(preview, "znode-restore");
        break;
    case EditKind::ZnodeSet:
        addTexts(
            preview, "znode-set",
            {path, QString::number(plan.before.stat.version), amountOf(request.value.size(), "byte"_L1, "bytes"_L1)});
        if (!plan.before.stat.ephemeralOwner.isNone())
            addTexts(preview, "znode-set-ephemeral", {plan.before.stat.ephemeralOwner.text()});
        break;
    case EditKind::ZnodeAcl: previewAcl(preview, plan); break;
    default: previewDelete(preview, plan);
    }
    if (!preview.exact)
        addTexts(preview, "znode-edit-reused-name",
                 {request.kind == EditKind::ZnodeDelete ? u"deleted"_s : u"changed"_s});
    if (isNew && !plan.locks.empty())
        addTexts(preview, "znode-in-lock");
    return preview;
}

std::optional<Error> znodeEditError(const EditPlan &plan)
{
    const auto &request = plan.request;
    const auto path = label(request.name);
    const auto bad = [](const QString &why) { return Error{ErrorCode::BadInput, why}; };
    const bool isNew = request.kind == EditKind::ZnodeCreate || request.kind == EditKind::ZnodeRestore;
    const bool isOnRoot =
        request.name == "/" && (request.kind == EditKind::ZnodeSet || request.kind == EditKind::ZnodeAcl);
    // A name that the server finishes with a number may end with a slash: below it, nothing but the number.
    if (!isOnRoot && !isPathToEdit(request.isSequential ? request.name + '0' : request.name))
        return request.name == "/" ? bad(u"the root node cannot be created or deleted"_s)
                                   : bad(u"a path begins with / and has no empty part"_s);
    if (request.name == "/zookeeper" || request.name.startsWith("/zookeeper/"))
        return bad(u"%1 belongs to the server and cannot be edited"_s.arg(path));
    if (isNew && plan.before.exists)
        return Error{ErrorCode::NodeExists, u"%1 already exists"_s.arg(path)};
    if (!isNew && !plan.before.exists)
        return Error{ErrorCode::NoNode, u"node %1 does not exist"_s.arg(path)};
    constexpr qint64 longestTtl = (qint64(1) << 40) - 1; // in the 40 bits that the server keeps of it
    if (request.kind == EditKind::ZnodeCreate && request.ttl && request.isEphemeral)
        return bad(u"an ephemeral node cannot have a TTL"_s);
    if (request.kind == EditKind::ZnodeCreate && request.ttl
        && (request.ttl->count() < 1 || request.ttl->count() > longestTtl))
        return bad(u"a TTL must be between 1 ms and 34 years"_s);
    if ((request.kind == EditKind::ZnodeCreate || request.kind == EditKind::ZnodeAcl) && request.acls.empty())
        return bad(sentence("acl-empty"));
    if (request.kind == EditKind::ZnodeSet && !plan.before.isWhole)
        return Error{ErrorCode::TooLarge, u"%1 cannot be edited: not all of it could be read"_s.arg(path)};
    if (request.kind == EditKind::ZnodeSet && request.value == plan.before.value)
        return bad(u"nothing was changed yet"_s);
    if (request.kind == EditKind::ZnodeAcl && request.acls == plan.before.acls)
        return bad(u"nothing was changed yet"_s);
    if (request.kind == EditKind::ZnodeAcl && isMasked(request.acls))
        return bad(sentence("acl-masked"));
    return std::nullopt;
}

QString differenceOfZnodes(const EditRequest &request, const EditState &was, const EditState &now)
{
    if (was.stat.czxid != now.stat.czxid || was.stat.ephemeralOwner != now.stat.ephemeralOwner)
        return u"it is now another node of the same name"_s;
    if (request.kind == EditKind::ZnodeAcl)
        return was.stat.aversion == now.stat.aversion ? QString() : u"its ACL has changed"_s;
    if (was.stat.version != now.stat.version)
        return u"its data has changed"_s;
    if (request.kind != EditKind::ZnodeDelete)
        return {};
    const auto isSame = [](const ZnodeCopy &a, const ZnodeCopy &b) {
        return a.path == b.path && a.stat.czxid == b.stat.czxid && a.stat.version == b.stat.version
               && a.stat.ephemeralOwner == b.stat.ephemeralOwner;
    };
    const auto [left, right] = std::ranges::mismatch(was.below, now.below, isSame);
    if (right != now.below.end() && (left == was.below.end() || right->path != left->path))
        return was.below.size() < now.below.size() ? u"%1 is a new node below it"_s.arg(label(right->path.bytes()))
                                                   : u"the nodes below it have changed"_s;
    if (left != was.below.end())
        return u"%1 was changed or deleted"_s.arg(label(left->path.bytes()));
    return {};
}

} // namespace lockscope::operate
