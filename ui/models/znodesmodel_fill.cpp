// SPDX-License-Identifier: Apache-2.0
// How lists come from the server into the tree: asked once, merged a page per turn.
#include "ui/models/treenames.h"
#include "ui/models/znodesmodel_p.h"

#include <algorithm>

namespace lockscope::ui {

using namespace std::chrono_literals;

namespace {

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

void ZnodesModel::list(Node *node)
{
    node->load = Node::Load::Asked;
    node->askAgain = false;
    const ZPath path = pathOf(node);
    m_backend->listZnodes(m_connection, path, m_answers.get(), [this, path](Result<std::vector<ZnodeRow>> answer) {
        take(path, std::move(answer));
    });
}

void ZnodesModel::refresh(const ZPath &path)
{
    Node *node = findNode(path);
    if (!node)
        return;
    switch (node->load) {
    case Node::Load::NotAsked:
        return; // nobody has looked inside yet
    case Node::Load::Asked:
    case Node::Load::Resting:
        node->askAgain = true;
        return;
    case Node::Load::Loaded:
    case Node::Load::Failed:
        list(node);
        return;
    }
}

void ZnodesModel::take(const ZPath &path, Result<std::vector<ZnodeRow>> answer)
{
    Node *node = findNode(path);
    // It may be gone by now, or be a new one of the same name that nobody has asked about.
    if (!node || node->load != Node::Load::Asked)
        return;
    if (!answer) {
        fail(node, answer.error());
        return;
    }
    if (node->error) {
        node->error.reset();
        tell(node);
    }
    auto filling = std::make_unique<Filling>();
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

void ZnodesModel::fail(Node *node, const Error &error)
{
    node->error = std::make_unique<Error>(error);
    node->load = node->children.empty() ? Node::Load::Failed : Node::Load::Loaded;
    tell(node);
    if (error.code == ErrorCode::NoNode && node->above() != root())
        refresh(pathOf(node->above()));
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
        budget -= filling->isHeaped() ? mergePage(*filling, budget) : heapUp(*filling);
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

int ZnodesModel::heapUp(Filling &filling)
{
    const auto before = filling.heaped;
    while (!filling.isHeaped() && filling.heaped - before < rowsPerTurn * heapSteps)
        filling.push();
    return 1 + static_cast<int>(filling.heaped - before) / heapSteps;
}

int ZnodesModel::mergePage(Filling &filling, int budget)
{
    Node *node = filling.node;
    // What lies behind the largest name is gone, and what lies behind the limit waits; it leaves from the back.
    const int kept = filling.isFull() ? filling.at
        : filling.rows.empty()        ? 0
                                      : node->upperBound(filling.largest, filling.at);
    if (kept < node->count()) {
        const int count = std::min(node->count() - kept, budget * removeSteps);
        removeRun(node, node->count() - count, count);
        return 1 + count / removeSteps;
    }
    std::vector<ZnodeRow> page;
    while (!filling.isFull() && static_cast<int>(page.size()) < std::min(budget, filling.limit - filling.total)) {
        auto row = filling.pop();
        if (page.empty() || page.back().name != row.name)
            page.push_back(std::move(row));
    }
    if (page.empty())
        return 1;
    const int count = static_cast<int>(page.size());
    mergeInto(node, filling.at, node->upperBound(page.back().name, filling.at), page, filling.at);
    filling.total += count;
    if (static_cast<int>(filling.rows.size()) > rowsPerTurn)
        emit this->filling(pathOf(node), filling.total, filling.total + static_cast<int>(filling.heap.size()));
    return count;
}

// Makes the children [from, until) be what the page says. `at` becomes the row after the last of it.
void ZnodesModel::mergeInto(Node *parent, int from, int until, std::vector<ZnodeRow> &page, int &at)
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
    auto node = std::make_unique<Node>();
    node->name = std::move(row.name);
    node->stat = row.stat;
    node->isStatKnown = row.statKnown && !row.error;
    if (row.error)
        node->error = std::make_unique<Error>(*std::move(row.error));
    return node;
}

bool ZnodesModel::update(Node *node, ZnodeRow &row)
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
    else if (node->load != Node::Load::Failed)
        node->error.reset();
    if (node->isLoaded() && node->children.empty() && node->stat.numChildren > 0)
        node->load = Node::Load::NotAsked;
    else if (isAnother && node->isLoaded())
        refresh(pathOf(node));
    m_expandabilityChanged |= couldExpand != hasChildren(indexOf(node));
    return true;
}

void ZnodesModel::learn(const ZPath &path, const zk::Stat &stat)
{
    Node *node = findNode(path);
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

void ZnodesModel::finish(std::unique_ptr<Filling> filling)
{
    Node *node = filling->node;
    const int total = filling->total + static_cast<int>(filling->heap.size());
    if (!filling->heap.empty())
        m_heldBack.push_back(std::move(filling));
    node->stat.numChildren = total;
    tell(node);
    node->load = Node::Load::Loaded;
    m_expandabilityChanged |= total == 0;
    if (total > bigFolder) {
        node->load = Node::Load::Resting;
        const auto rest = std::min<std::chrono::milliseconds>(std::chrono::milliseconds(total / childrenPerRestMs),
                                                              longestRest);
        QTimer::singleShot(rest, m_answers.get(), [this, path = pathOf(node)] { rested(path); });
    } else if (node->askAgain) {
        list(node);
    }
    followReveal();
}

int ZnodesModel::heldBack(const ZPath &path) const
{
    const Node *node = findNode(path);
    for (const auto &held : m_heldBack) {
        if (held->node == node)
            return static_cast<int>(held->heap.size());
    }
    return 0;
}

void ZnodesModel::showMore(const ZPath &path)
{
    if (Node *node = findNode(path))
        showMore(node, rowsAtFirst);
}

void ZnodesModel::showMore(Node *node, int count)
{
    const auto held = std::find_if(m_heldBack.begin(), m_heldBack.end(),
                                   [node](const auto &filling) { return filling->node == node; });
    if (held == m_heldBack.end() || !node->isLoaded())
        return;
    (*held)->limit = (*held)->total + count;
    node->load = Node::Load::Asked; // changes told meanwhile lead to another list, afterwards
    m_fillings.push_back(std::move(*held));
    m_heldBack.erase(held);
    if (!m_turn.isActive())
        m_turn.start();
}

// Whether the wanted child is among those held back; then it is on its way.
bool ZnodesModel::showHeldBack(Node *folder, const NodeName &wanted)
{
    const auto held = std::find_if(m_heldBack.begin(), m_heldBack.end(),
                                   [folder](const auto &filling) { return filling->node == folder; });
    if (held == m_heldBack.end())
        return false;
    int before = 0;
    bool isThere = false;
    for (const auto index : (*held)->heap) {
        const NodeName &name = (*held)->rows[index].name;
        before += name < wanted ? 1 : 0;
        isThere |= name == wanted;
    }
    if (isThere)
        showMore(folder, before + 1);
    return isThere;
}

void ZnodesModel::rested(const ZPath &path)
{
    Node *node = findNode(path);
    if (!node || node->load != Node::Load::Resting)
        return;
    node->load = Node::Load::Loaded;
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
    if (Node *node = findNode(path)) {
        m_wanted.reset();
        emit revealed(indexOf(node));
        return;
    }
    ZPath above = path.parent();
    Node *nearest = findNode(above);
    while (!nearest) {
        above = above.parent();
        nearest = findNode(above);
    }
    if (nearest->load == Node::Load::Asked)
        return; // finish() or fail() comes back here
    if (showHeldBack(nearest, NodeName(nextPart(above, path))))
        return; // and so does this
    // What is in the tree may be old: ask once more before saying that there is no such node.
    const bool isTried = m_wanted->lastAsked == above;
    if (!isTried) {
        m_wanted->lastAsked = above;
        list(nearest);
        return;
    }
    m_wanted.reset();
    const QString why = nearest->error ? nearest->error->message
                                       : QStringLiteral("%1 has no child %2").arg(nameText(above.bytes()),
                                             nameText(nextPart(above, path)));
    emit revealFailed(path, why);
}

} // namespace lockscope::ui
