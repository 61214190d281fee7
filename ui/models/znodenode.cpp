// SPDX-License-Identifier: Apache-2.0
#include "ui/models/znodenode.h"

#include "core/base/text.h"
#include "ui/theme/text.h"

#include <QDateTime>

namespace lockscope::ui {

namespace {

QDateTime timeOf(std::chrono::milliseconds sinceEpoch)
{
    return QDateTime::fromMSecsSinceEpoch(sinceEpoch.count());
}

// As short as it can be without being unclear.
QString timeText(std::chrono::milliseconds sinceEpoch)
{
    const QDateTime time = timeOf(sinceEpoch);
    const QDate today = QDate::currentDate();
    if (time.date() == today)
        return time.toString(u"HH:mm:ss"_s);
    return time.toString(time.date().year() == today.year() ? u"d MMM HH:mm"_s : u"yyyy-MM-dd"_s);
}

bool isZnodeNumber(int column)
{
    return column == ZnodeNode::Children || column == ZnodeNode::Bytes || column >= ZnodeNode::Version;
}

} // namespace

std::unique_ptr<ZnodeNode> ZnodeNode::make(ZnodeRow &row)
{
    auto node = std::make_unique<ZnodeNode>();
    node->name = std::move(row.name);
    node->stat = row.stat;
    node->isStatKnown = row.statKnown && !row.error;
    if (row.error)
        node->error = std::make_unique<Error>(*std::move(row.error));
    return node;
}

ZPath ZnodeNode::path() const
{
    return !above() || !above()->above() ? ZPath("/"_ba) : above()->path().child(name);
}

QString ZnodeNode::childrenText() const
{
    if (error)
        return error->code == ErrorCode::NoPermission ? u"no access"_s : u"not readable"_s;
    // "/" has no stat, since nobody lists its parent, nor have the children of a folder of thousands.
    if (!isStatKnown && children.empty() && !isLoaded())
        return load == Load::Asked ? u"…"_s : QString();
    return countText(stat.numChildren);
}

QString ZnodeNode::cell(int column) const
{
    switch (column) {
    case Name: return name.isEmpty() ? u"/"_s : nameText(name.bytes());
    case Children: return childrenText();
    case Bytes: return isStatKnown ? countText(stat.dataLength) : QString();
    case Owner: return stat.ephemeralOwner.isNone() ? QString() : stat.ephemeralOwner.text();
    case Version: return isStatKnown ? QString::number(stat.version) : QString();
    case Modified:
        return isStatKnown && stat.mtime.count() != 0 ? timeText(stat.mtime)
               : isStatKnown                          ? u"–"_s
                                                      : QString(); // the root has none
    default: return {};
    }
}

QVariant ZnodeNode::data(int column, int role) const
{
    switch (role) {
    case Qt::DisplayRole: return cell(column);
    case Qt::ToolTipRole:
        if (error)
            return plainToolTip(error->message);
        if (column == Modified && isStatKnown && stat.mtime.count() != 0)
            return timeOf(stat.mtime).toString(u"yyyy-MM-dd HH:mm:ss.zzz"_s);
        return column == Name ? plainToolTip(label(path().bytes(), 2000)) : QVariant();
    case Qt::TextAlignmentRole:
        return isZnodeNumber(column) ? QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    case PathRole: return path().bytes();
    case ErrorRole: return error ? error->message : QString();
    case ForbiddenRole: return error && error->code == ErrorCode::NoPermission;
    case EphemeralRole: return !stat.ephemeralOwner.isNone();
    case FilterRole: return escaped(name.bytes());
    default: return {};
    }
}

QVariant ZnodeNode::header(int column, int role)
{
    static const std::array titles{u"Name"_s,    u"Children"_s, u"Bytes"_s, u"Ephemeral owner"_s,
                                   u"Version"_s, u"Modified"_s};
    if (role == Qt::DisplayRole)
        return titles[static_cast<std::size_t>(column)];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((isZnodeNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

} // namespace lockscope::ui
