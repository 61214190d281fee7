// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/editdialog.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/dialogs/editfields.h"

namespace lockscope::ui {

using operate::EditKind;

namespace {

constexpr qsizetype mostDiffLines = 14; // of each side
constexpr int longestDiffLine = 160;

// Both as text where both are, else both as bytes.
QStringList linesOfValue(const QByteArray &value, bool asText)
{
    if (value.isEmpty())
        return {};
    QStringList lines;
    if (asText) {
        for (const auto &line : value.split('\n'))
            lines << label(line, longestDiffLine);
        return lines;
    }
    constexpr qsizetype perLine = 16;
    for (qsizetype at = 0; at < value.size(); at += perLine)
        lines << u"%1  %2"_s.arg(QString::number(at, 16).rightJustified(6, u'0'),
                                 QString::fromLatin1(value.mid(at, perLine).toHex(' ')));
    return lines;
}

QStringList linesOfAcls(const zk::Acls &acls)
{
    QStringList lines;
    for (const auto &acl : acls)
        lines << operate::aclText(acl);
    return lines;
}

bool endsByItself(const operate::EditRequest &request)
{
    return request.ttl || request.expiryMs;
}

QString timeWords(std::optional<std::chrono::milliseconds> ttl)
{
    return ttl ? EditWords::tr("expires in %1").arg(formatDuration(*ttl)) : EditWords::tr("no TTL");
}

QString undoTitle(const operate::EditRequest &undo, const operate::EditRequest &undone)
{
    const bool wasMade = undo.kind == EditKind::KeyDelete || undo.kind == EditKind::FieldDelete;
    switch (undone.kind) {
    case EditKind::ZnodeCreate: return EditWords::tr("Undo the creation of");
    case EditKind::ZnodeSet: return EditWords::tr("Undo the edit of the data of");
    case EditKind::ZnodeAcl: return EditWords::tr("Undo the edit of the ACL of");
    case EditKind::ZnodeDelete:
    case EditKind::KeyDelete:
    case EditKind::FieldDelete: return EditWords::tr("Undo the deletion of");
    case EditKind::ZnodeRestore:
    case EditKind::KeyRestore: return EditWords::tr("Undo the restore of");
    case EditKind::KeyExpire: return EditWords::tr("Undo the change of the time to live of");
    case EditKind::KeyRename: return EditWords::tr("Undo the renaming to");
    case EditKind::KeySet:
    case EditKind::FieldSet:
        return wasMade ? EditWords::tr("Undo the creation of") : EditWords::tr("Undo the edit of");
    }
    return {};
}

QString undoAct(const operate::EditRequest &undo)
{
    switch (undo.kind) {
    case EditKind::ZnodeSet: return EditWords::tr("Undo: restore the data");
    case EditKind::ZnodeAcl: return EditWords::tr("Undo: restore the ACL");
    case EditKind::KeyExpire:
        return endsByItself(undo) ? EditWords::tr("Undo: restore the time to live")
                                  : EditWords::tr("Undo: remove the time to live");
    case EditKind::KeyRename: return EditWords::tr("Undo: rename it back");
    case EditKind::KeySet:
    case EditKind::FieldSet: return EditWords::tr("Undo: restore the value");
    case EditKind::FieldDelete: return EditWords::tr("Undo: delete the field");
    case EditKind::ZnodeDelete:
    case EditKind::KeyDelete: return EditWords::tr("Undo: delete it");
    default: return EditWords::tr("Undo: create it again");
    }
}

} // namespace

QString EditWords::title(const operate::EditRequest &request, bool isNew, const Undone &undone)
{
    if (undone)
        return undoTitle(request, *undone);
    switch (request.kind) {
    case EditKind::ZnodeCreate: return tr("Create a znode");
    case EditKind::ZnodeSet: return tr("Edit the data of");
    case EditKind::ZnodeDelete: return tr("Delete");
    case EditKind::ZnodeAcl: return tr("Edit the ACL of");
    case EditKind::ZnodeRestore:
    case EditKind::KeyRestore: return tr("Create again");
    case EditKind::KeySet: return isNew ? tr("Create a key") : tr("Set");
    case EditKind::KeyExpire: return tr("Time to live of");
    case EditKind::KeyRename: return tr("Rename");
    case EditKind::KeyDelete: return tr("Delete");
    case EditKind::FieldSet: return isNew ? tr("Add a field to") : tr("Set a field of");
    case EditKind::FieldDelete: return tr("Delete a field of");
    }
    return {};
}

QString EditWords::act(const operate::EditRequest &request, bool isNew, bool isUndo)
{
    if (isUndo)
        return undoAct(request);
    switch (request.kind) {
    case EditKind::ZnodeCreate: return tr("Create");
    case EditKind::ZnodeRestore:
    case EditKind::KeyRestore: return tr("Create again");
    case EditKind::ZnodeDelete:
    case EditKind::KeyDelete: return tr("Delete");
    case EditKind::ZnodeAcl: return tr("Set the ACL");
    case EditKind::KeyExpire:
        return endsByItself(request) ? tr("Set the time to live") : tr("Remove the time to live");
    case EditKind::KeyRename: return tr("Rename");
    case EditKind::FieldDelete: return tr("Delete the field");
    case EditKind::FieldSet: return isNew ? tr("Add the field") : tr("Set");
    default: return isNew ? tr("Create") : tr("Set");
    }
}

QString EditWords::window(const operate::EditRequest &request, bool isNew, bool isUndo)
{
    const bool isTyped = request.kind == EditKind::KeyExpire; // whether it sets one or takes it away
    return isUndo ? tr("Undo") : isTyped ? tr("Time to live") : act(request, isNew, false);
}

QStringList EditWords::difference(const operate::EditPlan &plan)
{
    const auto &request = plan.request;
    const auto &before = plan.before;
    switch (request.kind) {
    case EditKind::ZnodeAcl: return lineDifference(linesOfAcls(before.acls), linesOfAcls(request.acls));
    case EditKind::KeyExpire: {
        const auto left = request.expiryMs ? std::optional(std::chrono::milliseconds(*request.expiryMs)
                                                           - std::chrono::duration_cast<std::chrono::milliseconds>(
                                                               std::chrono::system_clock::now().time_since_epoch()))
                                           : request.ttl;
        return lineDifference({timeWords(before.ttl)}, {timeWords(left)});
    }
    case EditKind::KeyRename:
        return lineDifference({label(request.name, longestDiffLine)}, {label(request.value, longestDiffLine)});
    case EditKind::ZnodeDelete:
    case EditKind::KeyDelete:
    case EditKind::FieldDelete:
        return lineDifference(linesOfValue(before.value, ValueEditor::isText(before.value)), {});
    case EditKind::ZnodeRestore:
    case EditKind::KeyRestore: return {};
    default: break;
    }
    const bool areTexts = ValueEditor::isText(before.value) && ValueEditor::isText(request.value);
    return lineDifference(linesOfValue(before.value, areTexts), linesOfValue(request.value, areTexts));
}

QStringList lineDifference(const QStringList &before, const QStringList &after)
{
    const auto both = std::min(before.size(), after.size());
    qsizetype start = 0;
    while (start < both && before[start] == after[start])
        ++start;
    qsizetype end = 0;
    while (end < both - start && before[before.size() - 1 - end] == after[after.size() - 1 - end])
        ++end;
    QStringList lines;
    const auto add = [&](const QStringList &from, const QString &sign) {
        const auto count = from.size() - end - start;
        for (qsizetype i = 0; i < std::min(count, mostDiffLines); ++i)
            lines << sign + from[start + i];
        if (count > mostDiffLines)
            lines << sign + u"… %1 more lines"_s.arg(count - mostDiffLines);
    };
    add(before, u"− "_s);
    add(after, u"+ "_s);
    return lines;
}

std::vector<EditWords::Fact> EditWords::facts(const operate::EditPlan &plan, const operate::EditPreview &preview,
                                              const QString &trouble)
{
    const QString sent = tr("Will be sent");
    if (!trouble.isEmpty())
        return {{sent, {tr("unknown: %1").arg(trouble)}}};
    std::vector<Fact> facts;
    if (const auto change = difference(plan); !change.isEmpty())
        facts.push_back({tr("Change"), change, true});
    else if (plan.request.kind == EditKind::KeyRestore)
        facts.push_back({tr("Change"), {tr("the previous key")}});
    facts.push_back({sent, preview.commands, true});
    const auto guard = preview.exact ? preview.guard : tr("%1; a gap remains, see above").arg(preview.guard);
    facts.push_back({tr("Only if unchanged"), {guard}});
    facts.push_back({tr("Undo"), {preview.undo}});
    return facts;
}

} // namespace lockscope::ui
