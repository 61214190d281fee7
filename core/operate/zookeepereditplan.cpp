// SPDX-License-Identifier: Apache-2.0
// What an edit of a znode will do, in words, and why it cannot be. Pure.
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/operate/texts.h"
#include "core/rules/contenderid.h"

#include <algorithm>

namespace lockscope::operate {

namespace {

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
