// SPDX-License-Identifier: Apache-2.0
#include "ui/models/znodesmodel.h"

#include "ui/theme/text.h"

namespace lockscope::ui {

namespace {

constexpr auto frame = 16ms;

// The part of `path` that comes right after `above`.
QByteArray nextPart(const ZPath &above, const ZPath &path)
{
    const auto from = above.isRoot() ? 1 : above.bytes().size() + 1;
    return path.bytes().mid(from).split('/').front();
}

} // namespace

ZnodesModel::ZnodesModel(QObject *parent) : TreeModel(std::make_unique<ZnodeNode>(), parent)
{
    m_turn.setInterval(frame);
    connect(&m_turn, &QTimer::timeout, this, &ZnodesModel::work);
}

ZnodesModel::~ZnodesModel() = default; // waits for the list that is sorted

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
    replaceRoot(std::make_unique<ZnodeNode>());
    if (backend && !name.isEmpty()) {
        Run run;
        run.push_back(std::make_unique<ZnodeNode>());
        adopt(root(), 0, std::move(run));
        m_loaded = 1;
    }
    endResetModel();
}

ZnodeNode *ZnodesModel::node(const QModelIndex &index) const
{
    return static_cast<ZnodeNode *>(nodeOf(index));
}

ZPath ZnodesModel::pathOf(const QModelIndex &index) const
{
    return node(index)->path();
}

ZnodeNode *ZnodesModel::findNode(const ZPath &path) const
{
    if (root()->children.empty())
        return nullptr;
    auto *found = static_cast<ZnodeNode *>(root()->children.front().get());
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
    const ZnodeNode *found = findNode(path);
    return found ? indexOf(found, column) : QModelIndex();
}

bool ZnodesModel::isResting(const ZPath &path) const
{
    const ZnodeNode *found = findNode(path);
    return found && found->load == ZnodeNode::Load::Resting;
}

int ZnodesModel::columnCount(const QModelIndex &) const
{
    return ZnodeNode::ColumnCount;
}

bool ZnodesModel::hasChildren(const QModelIndex &parent) const
{
    if (parent.column() > 0)
        return false;
    const ZnodeNode *asked = node(parent);
    if (asked == root() || asked->isLoaded() || asked->load == ZnodeNode::Load::Failed)
        return !asked->children.empty();
    return !asked->isStatKnown || asked->stat.numChildren != 0 || !asked->children.empty();
}

bool ZnodesModel::canFetchMore(const QModelIndex &parent) const
{
    return parent.isValid() && node(parent)->load == ZnodeNode::Load::NotAsked && hasChildren(parent);
}

void ZnodesModel::fetchMore(const QModelIndex &parent)
{
    if (!canFetchMore(parent))
        return;
    list(node(parent));
    tell(node(parent));
}

void ZnodesModel::tell(const ZnodeNode *node)
{
    notifyChanged(node->parent, rowOf(node), rowOf(node));
}

QVariant ZnodesModel::data(const QModelIndex &index, int role) const
{
    return index.isValid() ? node(index)->data(index.column(), role) : QVariant();
}

QVariant ZnodesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    const bool isThere = orientation == Qt::Horizontal && section >= 0 && section < ZnodeNode::ColumnCount;
    return isThere ? ZnodeNode::header(section, role) : QVariant();
}

void ZnodesModel::refresh(const ZPath &path)
{
    ZnodeNode *node = findNode(path);
    if (!node)
        return;
    switch (node->load) {
    case ZnodeNode::Load::NotAsked: return; // nobody has looked inside yet
    case ZnodeNode::Load::Asked:
    case ZnodeNode::Load::Resting: node->askAgain = true; return;
    case ZnodeNode::Load::Loaded:
    case ZnodeNode::Load::Failed: list(node); return;
    }
}

void ZnodesModel::learn(const ZPath &path, const zk::Stat &stat)
{
    ZnodeNode *node = findNode(path);
    if (!node || (node->isStatKnown && node->stat == stat))
        return;
    ZnodeRow row;
    row.stat = stat;
    m_expandabilityChanged = false;
    update(node, row);
    tell(node);
    if (m_expandabilityChanged)
        emit expandabilityChanged();
}

void ZnodesModel::reveal(const ZPath &path)
{
    m_wanted = Wanted{path};
    followReveal();
}

// Of that folder, on the way to what is to be revealed.
std::optional<NodeName> ZnodesModel::wantedChild(const ZPath &folder) const
{
    const auto way = folder.isRoot() ? folder.bytes() : folder.bytes() + '/';
    if (!m_wanted || m_wanted->path == folder || !m_wanted->path.bytes().startsWith(way))
        return std::nullopt;
    return NodeName(nextPart(folder, m_wanted->path));
}

void ZnodesModel::followReveal()
{
    if (!m_wanted || root()->children.empty())
        return;
    const ZPath path = m_wanted->path;
    if (ZnodeNode *node = findNode(path)) {
        m_wanted.reset();
        emit revealed(indexOf(node));
        return;
    }
    ZPath above = path.parent();
    ZnodeNode *nearest = findNode(above);
    while (!nearest) {
        above = above.parent();
        nearest = findNode(above);
    }
    if (nearest->load == ZnodeNode::Load::Asked)
        return; // finish() or fail() comes back here
    const bool isLookedThrough = m_wanted->lookedThrough == above;
    m_wanted->lookedThrough = above;
    if (auto *filling = isLookedThrough ? nullptr : workAgainOn(nearest)) {
        filling->goTo(NodeName(nextPart(above, path))); // and so does this
        return;
    }
    // What is in the tree may be old: ask once more before saying that there is no such node.
    const bool isTried = m_wanted->lastAsked == above;
    if (!isTried) {
        m_wanted->lastAsked = above;
        m_wanted->lookedThrough.reset();
        list(nearest);
        return;
    }
    m_wanted.reset();
    const QString why =
        nearest->error
            ? nearest->error->message
            : QStringLiteral("%1 has no child %2").arg(nameText(above.bytes()), nameText(nextPart(above, path)));
    emit revealFailed(path, why);
}

} // namespace lockscope::ui

#include "moc_znodesmodel.cpp"
