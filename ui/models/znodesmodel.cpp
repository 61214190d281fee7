// SPDX-License-Identifier: Apache-2.0
#include "ui/models/znodesmodel.h"

#include "ui/models/znodefilling.h"
#include "ui/theme/text.h"

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto frame = 16ms;
// Laying a row on the heap is that much cheaper than putting it into the tree.
constexpr int heapSteps = 8;
// Removing is cheaper than inserting, too.
constexpr int removeSteps = 4;
constexpr int bigFolder = 1000;
// A folder of 20,000 that changes all the time is listed once in a second, not for ever.
constexpr int childrenPerRestMs = 20;
constexpr auto longestRest = 10s;

int countBelow(const TreeNode *node)
{
    int count = static_cast<int>(node->children.size());
    for (const auto &child : node->children)
        count += countBelow(child.get());
    return count;
}

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

bool ZnodesModel::isLoaded(const QModelIndex &index) const
{
    return node(index)->isLoaded();
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
    tellChanged(node->parent, rowOf(node), rowOf(node));
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

// --- How lists come from the server into the tree: asked once, merged a page per turn ---

void ZnodesModel::list(ZnodeNode *node)
{
    node->load = ZnodeNode::Load::Asked;
    node->askAgain = false;
    const ZPath path = node->path();
    m_backend->listZnodes(m_connection, path, m_answers.get(),
                          [this, path](Result<std::vector<ZnodeRow>> answer) { take(path, std::move(answer)); });
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

void ZnodesModel::take(const ZPath &path, Result<std::vector<ZnodeRow>> answer)
{
    ZnodeNode *node = findNode(path);
    // It may be gone by now, or be a new one of the same name that nobody has asked about.
    if (!node || node->load != ZnodeNode::Load::Asked)
        return;
    if (!answer) {
        fail(node, answer.error());
        return;
    }
    if (node->error) {
        node->error.reset();
        tell(node);
    }
    auto filling = std::make_unique<ZnodeFilling>();
    filling->node = node;
    filling->rows = *std::move(answer);
    filling->heap.reserve(filling->rows.size());
    // What was shown stays, and a few more that may have come.
    filling->limit = std::max(rowsAtFirst, node->count() + rowsPerTurn);
    std::erase_if(m_heldBack, [node](const auto &held) { return held->node == node; });
    m_fillings.push_back(std::move(filling));
    if (!m_turn.isActive())
        m_turn.start();
}

void ZnodesModel::fail(ZnodeNode *node, const Error &error)
{
    node->error = std::make_unique<Error>(error);
    node->load = node->children.empty() ? ZnodeNode::Load::Failed : ZnodeNode::Load::Loaded;
    tell(node);
    if (error.code == ErrorCode::NoNode && node->above() != root())
        refresh(node->above()->path());
    emit expandabilityChanged();
    followReveal();
}

void ZnodesModel::work()
{
    emit turnBegins();
    m_expandabilityChanged = false;
    for (int budget = rowsPerTurn; budget > 0 && !m_fillings.empty();) {
        // Out of the queue while it is worked on: views may ask for more in between.
        auto filling = std::move(m_fillings.front());
        m_fillings.pop_front();
        if (filling->wanted)
            budget -= 1 + filling->lookOn(rowsPerTurn * heapSteps) / heapSteps;
        else
            budget -= filling->isHeaped() ? mergePage(*filling, budget)
                                          : 1 + filling->heapUp(rowsPerTurn * heapSteps) / heapSteps;
        if (filling->isDone())
            finish(std::move(filling));
        else
            m_fillings.push_back(std::move(filling));
    }
    if (m_fillings.empty())
        m_turn.stop();
    if (m_expandabilityChanged)
        emit expandabilityChanged();
    emit turnEnds();
}

int ZnodesModel::mergePage(ZnodeFilling &filling, int budget)
{
    ZnodeNode *node = filling.node;
    // What lies behind the largest name is gone, and what lies behind the limit waits; it leaves from the back.
    const int kept = filling.isFull()       ? filling.at
                     : filling.rows.empty() ? 0
                                            : node->upperBound(filling.largest, filling.at);
    if (kept < node->count()) {
        const int count = std::min(node->count() - kept, budget * removeSteps);
        removeRun(node, node->count() - count, count);
        return 1 + count / removeSteps;
    }
    auto page = filling.page(budget);
    if (page.empty())
        return 1;
    const int count = static_cast<int>(page.size());
    mergeInto(node, filling.at, node->upperBound(page.back().name, filling.at), page, filling.at);
    filling.total += count;
    if (static_cast<int>(filling.rows.size()) > rowsPerTurn)
        emit this->filling(node->path(), filling.total, filling.total + static_cast<int>(filling.heap.size()));
    return count;
}

// Makes the children [from, until) be what the page says. `at` becomes the row after the last of it.
void ZnodesModel::mergeInto(ZnodeNode *parent, int from, int until, std::vector<ZnodeRow> &page, int &at)
{
    std::vector<bool> isKnown(page.size(), false);
    std::vector<int> gone;
    std::size_t next = 0;
    for (int row = from; row < until; ++row) {
        while (next < page.size() && page[next].name < parent->child(row)->name)
            ++next;
        if (next < page.size() && page[next].name == parent->child(row)->name)
            isKnown[next] = true;
        else
            gone.push_back(row);
    }
    for (auto last = gone.size(); last > 0;) {
        auto first = last - 1;
        while (first > 0 && gone[first - 1] == gone[first] - 1)
            --first;
        removeRun(parent, gone[first], static_cast<int>(last - first));
        last = first;
    }

    int row = from;
    int firstChanged = -1;
    int lastChanged = -1;
    for (next = 0; next < page.size();) {
        if (isKnown[next]) {
            if (update(parent->child(row), page[next])) {
                firstChanged = firstChanged < 0 ? row : firstChanged;
                lastChanged = row;
            }
            ++row;
            ++next;
            continue;
        }
        Run run;
        for (; next < page.size() && !isKnown[next]; ++next)
            run.push_back(make(page[next]));
        const int count = static_cast<int>(run.size());
        m_loaded += count;
        insertRun(parent, row, std::move(run));
        row += count;
    }
    if (firstChanged >= 0)
        tellChanged(parent, firstChanged, lastChanged);
    at = row;
}

std::unique_ptr<TreeNode> ZnodesModel::make(ZnodeRow &row)
{
    auto node = std::make_unique<ZnodeNode>();
    node->name = std::move(row.name);
    node->stat = row.stat;
    node->isStatKnown = row.statKnown && !row.error;
    if (row.error)
        node->error = std::make_unique<Error>(*std::move(row.error));
    return node;
}

bool ZnodesModel::update(ZnodeNode *node, ZnodeRow &row)
{
    const bool isSameError = row.error ? node->error && node->error->message == row.error->message : !node->error;
    // A list too long for stats tells only that the node is there.
    if (isSameError && (!row.statKnown || (node->isStatKnown && node->stat == row.stat)))
        return false;
    const bool couldExpand = hasChildren(indexOf(node));
    // Another node of the same name: nothing of what was under the old one is true of it.
    const bool isAnother = node->isStatKnown && node->stat.czxid != row.stat.czxid;
    node->stat = row.stat;
    node->isStatKnown = row.statKnown && !row.error;
    if (row.error)
        node->error = std::make_unique<Error>(*std::move(row.error));
    else if (node->load != ZnodeNode::Load::Failed)
        node->error.reset();
    if (node->isLoaded() && node->children.empty() && node->stat.numChildren > 0)
        node->load = ZnodeNode::Load::NotAsked;
    else if (isAnother && node->isLoaded())
        refresh(node->path());
    m_expandabilityChanged |= couldExpand != hasChildren(indexOf(node));
    return true;
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

void ZnodesModel::finish(std::unique_ptr<ZnodeFilling> filling)
{
    ZnodeNode *node = filling->node;
    const int total = filling->total + static_cast<int>(filling->heap.size());
    if (!filling->heap.empty())
        m_heldBack.push_back(std::move(filling));
    node->stat.numChildren = total;
    tell(node);
    node->load = ZnodeNode::Load::Loaded;
    m_expandabilityChanged |= total == 0;
    if (total > bigFolder) {
        node->load = ZnodeNode::Load::Resting;
        const auto rest =
            std::min<std::chrono::milliseconds>(std::chrono::milliseconds(total / childrenPerRestMs), longestRest);
        QTimer::singleShot(rest, m_answers.get(), [this, path = node->path()] { rested(path); });
    } else if (node->askAgain) {
        list(node);
    }
    followReveal();
}

int ZnodesModel::heldBack(const ZPath &path) const
{
    const ZnodeNode *node = findNode(path);
    for (const auto &held : m_heldBack) {
        if (held->node == node)
            return static_cast<int>(held->heap.size());
    }
    return 0;
}

void ZnodesModel::showMore(const ZPath &path)
{
    if (ZnodeNode *node = findNode(path))
        showMore(node, rowsAtFirst);
}

void ZnodesModel::showMore(ZnodeNode *node, int count)
{
    if (auto *filling = fillOn(node))
        filling->limit = filling->total + count;
}

// What is held back of that folder's children, on its way again; null if there is nothing.
ZnodeFilling *ZnodesModel::fillOn(ZnodeNode *node)
{
    const auto held = std::find_if(m_heldBack.begin(), m_heldBack.end(),
                                   [node](const auto &filling) { return filling->node == node; });
    if (held == m_heldBack.end() || !node->isLoaded())
        return nullptr;
    node->load = ZnodeNode::Load::Asked; // changes told meanwhile lead to another list, afterwards
    m_fillings.push_back(std::move(*held));
    m_heldBack.erase(held);
    if (!m_turn.isActive())
        m_turn.start();
    return m_fillings.back().get();
}

// Whether the wanted child may be among those held back; then it is being looked for, and is on its way if it is.
bool ZnodesModel::showHeldBack(ZnodeNode *folder, const NodeName &wanted)
{
    auto *filling = fillOn(folder);
    if (filling)
        filling->lookFor(wanted);
    return filling;
}

void ZnodesModel::rested(const ZPath &path)
{
    ZnodeNode *node = findNode(path);
    if (!node || node->load != ZnodeNode::Load::Resting)
        return;
    node->load = ZnodeNode::Load::Loaded;
    if (node->askAgain)
        list(node);
}

void ZnodesModel::leaving(const TreeNode *parent, int first, int count)
{
    for (int row = first; row < first + count; ++row) {
        const TreeNode *leaver = parent->children[static_cast<std::size_t>(row)].get();
        const auto isLeaving = [&](const auto &filling) { return isWithin(filling->node, leaver); };
        std::erase_if(m_fillings, isLeaving);
        std::erase_if(m_heldBack, isLeaving);
        m_loaded -= countBelow(leaver) + 1;
    }
}

void ZnodesModel::reveal(const ZPath &path)
{
    m_wanted = Wanted{path};
    followReveal();
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
    if (!isLookedThrough && showHeldBack(nearest, NodeName(nextPart(above, path))))
        return; // and so does this
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
