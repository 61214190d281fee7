// SPDX-License-Identifier: Apache-2.0
#include "ui/models/znodesmodel.h"

#include "core/base/text.h"
#include "ui/theme/theme.h"

namespace lockscope::ui {

namespace {

constexpr auto frame = 16ms;

// The part of `path` that comes right after `above`.
QByteArray nextPart(const ZPath &above, const ZPath &path)
{
    const auto from = above.isRoot() ? 1 : above.bytes().size() + 1;
    return path.bytes().mid(from).split('/').front();
}

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

bool ZnodesModel::hasChildren(const QModelIndex &parent) const
{
    if (parent.column() > 0)
        return false;
    const ZnodeNode *asked = node(parent);
    if (asked == root() || asked->isLoaded() || asked->load == ZnodeNode::Load::Failed)
        return !asked->children.empty();
    return !asked->isStatKnown || asked->stat.numChildren != 0 || !asked->children.empty();
}

void ZnodesModel::fetchMore(const QModelIndex &parent)
{
    if (!canFetchMore(parent))
        return;
    list(node(parent));
    tell(node(parent));
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

void sortByName(std::vector<ZnodeRow> &rows)
{
    const auto isOutOfOrder = [](const ZnodeRow &a, const ZnodeRow &b) { return !(a.name < b.name); };
    if (std::ranges::adjacent_find(rows, isOutOfOrder) == rows.end())
        return;
    std::ranges::sort(rows, {}, &ZnodeRow::name);
    const auto same = std::ranges::unique(rows, {}, &ZnodeRow::name);
    rows.erase(same.begin(), same.end());
}

bool ZnodeFilling::isDone() const
{
    const bool isSlid = toDropFirst == 0 && toDropLast == 0 && toPutBefore == 0;
    return isCleared && isSlid && isFull() && at == node->count();
}

void ZnodeFilling::begin(const NodeName &from, bool around)
{
    m_from = from;
    m_isAround = around;
    m_filtered = 0;
    m_matching.clear();
    m_begin = m_end = 0;
    toDropFirst = toDropLast = toPutBefore = 0;
    at = 0;
    limit = rowsOfPart;
    isCleared = node->count() == 0;
}

void ZnodeFilling::filterAgain(const QString &text)
{
    filter = text;
    begin({});
}

void ZnodeFilling::goTo(const NodeName &name)
{
    if (!std::ranges::binary_search(rows, name, {}, &ZnodeRow::name))
        return;
    filter.clear(); // it is wanted by its name
    begin(name, true);
}

int ZnodeFilling::filterOn(int atMost)
{
    const auto from = m_filtered;
    const auto end = filter.isEmpty() ? rows.size() : std::min(rows.size(), from + static_cast<std::size_t>(atMost));
    for (; m_filtered < end; ++m_filtered) {
        if (filter.isEmpty() || escaped(rows[m_filtered].name.bytes()).contains(filter, Qt::CaseInsensitive))
            m_matching.push_back(static_cast<quint32>(m_filtered));
    }
    if (isFiltered()) {
        const auto nameOf = [this](quint32 row) { return rows[row].name; };
        m_begin = m_end =
            static_cast<int>(std::ranges::lower_bound(m_matching, m_from, {}, nameOf) - m_matching.begin());
        // Where there is little after it, the part begins earlier.
        m_begin -= std::min(std::max(m_isAround ? rowsOfPart / 2 : 0, rowsOfPart - after()), before());
        m_end = m_begin;
    }
    return static_cast<int>(m_filtered - from);
}

void ZnodeFilling::slideOn()
{
    toDropFirst = std::max(0, shown() - rowsOfPart + rowsOfSlide);
    limit = shown() - toDropFirst + rowsOfSlide;
}

void ZnodeFilling::slideBack()
{
    toDropLast = std::max(0, shown() - rowsOfPart + rowsOfSlide);
    toPutBefore = std::min(rowsOfSlide, before());
    limit = shown() - toDropLast;
}

void ZnodeFilling::dropFirst(int count)
{
    m_begin += count;
    toDropFirst -= count;
    at -= count;
}

void ZnodeFilling::dropLast(int count)
{
    m_end -= count;
    toDropLast -= count;
    at -= count;
}

std::vector<ZnodeRow> ZnodeFilling::page(int atMost)
{
    std::vector<ZnodeRow> rowsOfPage;
    while (!isFull() && static_cast<int>(rowsOfPage.size()) < atMost)
        rowsOfPage.push_back(rowAt(m_end++));
    return rowsOfPage;
}

std::vector<ZnodeRow> ZnodeFilling::pageBefore(int atMost)
{
    const int count = std::min(atMost, toPutBefore);
    m_begin -= count;
    toPutBefore -= count;
    at += count;
    limit += count;
    std::vector<ZnodeRow> rowsOfPage;
    for (int place = m_begin; place < m_begin + count; ++place)
        rowsOfPage.push_back(rowAt(place));
    return rowsOfPage;
}

} // namespace lockscope::ui

#include "moc_znodesmodel.cpp"
