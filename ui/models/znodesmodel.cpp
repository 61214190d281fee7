// SPDX-License-Identifier: Apache-2.0
#include "ui/models/znodesmodel.h"

#include "core/base/text.h"
#include "ui/models/treenames.h"
#include "ui/models/znodesmodel_p.h"
#include "ui/theme/plaintext.h"

#include <QDateTime>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto frame = 16ms;

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

} // namespace

ZnodesModel::ZnodesModel(QObject *parent) : TreeModel(std::make_unique<Node>(), parent)
{
    m_turn.setInterval(frame);
    connect(&m_turn, &QTimer::timeout, this, &ZnodesModel::work);
}

ZnodesModel::~ZnodesModel() = default;

void ZnodesModel::setConnection(Backend *backend, const ConnectionName &name)
{
    beginResetModel(); // reset: another connection is another tree
    m_turn.stop();
    m_fillings.clear();
    m_heldBack.clear();
    m_wanted.reset();
    m_loaded = 0;
    m_backend = backend;
    m_connection = name;
    // Answers to what the old connection was asked find nobody.
    m_answers = std::make_unique<QObject>();
    replaceRoot(std::make_unique<Node>());
    if (backend && !name.isEmpty()) {
        Run run;
        run.push_back(std::make_unique<Node>());
        adopt(root(), 0, std::move(run));
        m_loaded = 1;
    }
    endResetModel();
}

ZnodesModel::Node *ZnodesModel::node(const QModelIndex &index) const
{
    return static_cast<Node *>(nodeOf(index));
}

ZPath ZnodesModel::pathOf(const Node *node)
{
    if (!node->above() || !node->above()->above())
        return ZPath("/"_ba);
    return pathOf(node->above()).child(node->name);
}

ZPath ZnodesModel::pathOf(const QModelIndex &index) const
{
    return pathOf(node(index));
}

ZnodesModel::Node *ZnodesModel::findNode(const ZPath &path) const
{
    if (root()->children.empty())
        return nullptr;
    auto *found = static_cast<Node *>(root()->children.front().get());
    if (path.isRoot())
        return found;
    const auto parts = path.bytes().mid(1).split('/');
    for (const auto &part : parts) {
        const NodeName name(part);
        const int row = found->lowerBound(name);
        if (row == found->count() || found->child(row)->name != name)
            return nullptr;
        found = found->child(row);
    }
    return found;
}

QModelIndex ZnodesModel::find(const ZPath &path, int column) const
{
    const Node *found = findNode(path);
    return found ? indexOf(found, column) : QModelIndex();
}

bool ZnodesModel::isLoaded(const QModelIndex &index) const
{
    return node(index)->isLoaded();
}

bool ZnodesModel::isResting(const ZPath &path) const
{
    const Node *found = findNode(path);
    return found && found->load == Node::Load::Resting;
}

int ZnodesModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

bool ZnodesModel::hasChildren(const QModelIndex &parent) const
{
    if (parent.column() > 0)
        return false;
    const Node *asked = node(parent);
    if (asked == root() || asked->isLoaded() || asked->load == Node::Load::Failed)
        return !asked->children.empty();
    return !asked->isStatKnown || asked->stat.numChildren != 0 || !asked->children.empty();
}

bool ZnodesModel::canFetchMore(const QModelIndex &parent) const
{
    return parent.isValid() && node(parent)->load == Node::Load::NotAsked && hasChildren(parent);
}

void ZnodesModel::fetchMore(const QModelIndex &parent)
{
    if (!canFetchMore(parent))
        return;
    list(node(parent));
    tell(node(parent));
}

void ZnodesModel::tell(const Node *node)
{
    tellChanged(node->parent, rowOf(node), rowOf(node));
}

QString ZnodesModel::childrenText(const Node *node)
{
    if (node->error)
        return node->error->code == ErrorCode::NoPermission ? u"no access"_s : u"not readable"_s;
    // "/" has no stat, since nobody lists its parent, nor have the children of a folder of thousands.
    if (!node->isStatKnown && node->children.empty() && !node->isLoaded())
        return node->load == Node::Load::Asked ? u"…"_s : QString();
    return countText(node->stat.numChildren);
}

QVariant ZnodesModel::display(const Node *node, int column)
{
    const bool isStatKnown = node->isStatKnown;
    switch (column) {
    case Name:
        return node->name.isEmpty() ? u"/"_s : nameText(node->name.bytes());
    case Children:
        return childrenText(node);
    case Bytes:
        return isStatKnown ? countText(node->stat.dataLength) : QString();
    case Owner:
        return node->stat.ephemeralOwner.isNone() ? QString() : node->stat.ephemeralOwner.text();
    case Version:
        return isStatKnown ? QString::number(node->stat.version) : QString();
    case Modified:
        return isStatKnown ? timeText(node->stat.mtime) : QString();
    default:
        return {};
    }
}

QVariant ZnodesModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const Node *asked = node(index);
    switch (role) {
    case Qt::DisplayRole:
        return display(asked, index.column());
    case Qt::ToolTipRole:
        if (asked->error)
            return plainToolTip(asked->error->message);
        if (index.column() == Modified && asked->isStatKnown)
            return timeOf(asked->stat.mtime).toString(u"yyyy-MM-dd HH:mm:ss.zzz"_s);
        return index.column() == Name ? plainToolTip(label(pathOf(asked).bytes(), 2000)) : QVariant();
    case Qt::TextAlignmentRole:
        if (index.column() == Children || index.column() == Bytes || index.column() >= Version)
            return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
        return {};
    case PathRole:
        return pathOf(asked).bytes();
    case ErrorRole:
        return asked->error ? asked->error->message : QString();
    case ForbiddenRole:
        return asked->error && asked->error->code == ErrorCode::NoPermission;
    case EphemeralRole:
        return !asked->stat.ephemeralOwner.isNone();
    case FilterRole:
        return escaped(asked->name.bytes());
    default:
        return {};
    }
}

QVariant ZnodesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const std::array titles{u"Name"_s, u"Children"_s, u"Bytes"_s, u"Ephemeral owner"_s, u"Version"_s,
                                   u"Modified"_s};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::DisplayRole)
        return titles[static_cast<std::size_t>(section)];
    if (role == Qt::TextAlignmentRole) {
        const bool isNumber = section == Children || section == Bytes || section >= Version;
        return QVariant::fromValue((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return {};
}

} // namespace lockscope::ui
