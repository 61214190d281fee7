// SPDX-License-Identifier: Apache-2.0
// How lists come from the server into the tree of znodes: asked once, merged a page per turn; and which part of a big
// one is there.
#include "ui/models/znodesmodel.h"

#include "core/base/text.h"

namespace lockscope::ui {

namespace {

// Comparing a name with a filter is that much cheaper than putting a row into the tree.
constexpr int filterSteps = 8;
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

// A view's filter keeps all that is below a row that it lets through: a folder that matches has all its children.
QString filterFor(const ZnodeNode *node, const QString &filter)
{
    for (; node; node = node->above()) {
        if (escaped(node->name.bytes()).contains(filter, Qt::CaseInsensitive))
            return {};
    }
    return filter;
}

} // namespace

void ZnodesModel::list(ZnodeNode *node)
{
    node->load = ZnodeNode::Load::Asked;
    node->askAgain = false;
    const ZPath path = node->path();
    m_backend->ask(ListZnodes{m_connection, path}, m_answers.get(),
                   [this, path](Result<std::vector<ZnodeRow>> answer) { sortThenTake(path, std::move(answer)); });
}

// To sort 300,000 names takes many frames: a thread of its own does it.
void ZnodesModel::sortThenTake(const ZPath &path, Result<std::vector<ZnodeRow>> answer)
{
    if (!answer || std::ssize(*answer) <= rowsPerTurn)
        return take(path, std::move(answer));
    auto rows = std::make_shared<std::vector<ZnodeRow>>(*std::move(answer));
    m_sorter.start([this, path, rows, asked = QPointer<QObject>(m_answers.get())] {
        sortByName(*rows);
        const auto takeThem = [this, path, rows, asked] {
            if (asked) // of this connection
                take(path, std::move(*rows));
        };
        QMetaObject::invokeMethod(this, takeThem, Qt::QueuedConnection);
    });
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
    sortByName(filling->rows); // a long list is by now
    if (filling->isBig())
        filling->filter = filterFor(node, m_filter);
    const auto *shown = heldOf(node);
    filling->begin(shown && shown->filter == filling->filter ? shown->beginning() : NodeName());
    filling->isCleared = filling->filter == (shown ? shown->filter : QString());
    // What was shown stays, and a few more that may have come.
    filling->limit = std::clamp(node->count() + rowsPerTurn, rowsAtFirst, ZnodeFilling::mostRows);
    if (const auto wanted = wantedChild(path); wanted && filling->isBig() && !findNode(path.child(*wanted)))
        filling->goTo(*wanted);
    std::erase_if(m_heldBack, [node](const auto &held) { return held->node == node; });
    startWork(std::move(filling));
}

ZnodeFilling &ZnodesModel::startWork(std::unique_ptr<ZnodeFilling> filling)
{
    m_fillings.push_back(std::move(filling));
    if (!m_turn.isActive())
        m_turn.start();
    return *m_fillings.back();
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
        budget -= 1 + workOn(*filling, budget);
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

// Returns what it used up of the turn's budget.
int ZnodesModel::workOn(ZnodeFilling &filling, int budget)
{
    ZnodeNode *node = filling.node;
    const int removable = budget * removeSteps;
    if (!filling.isCleared) {
        const int count = std::min(node->count(), removable);
        slideOff(node, node->count() - count, count);
        filling.isCleared = node->count() == 0;
        return count / removeSteps;
    }
    if (!filling.isFiltered())
        return filling.filterOn(rowsPerTurn * filterSteps) / filterSteps;
    if (filling.toDropFirst > 0) {
        const int count = std::min(filling.toDropFirst, removable);
        filling.dropFirst(count);
        slideOff(node, 0, count);
        return count / removeSteps;
    }
    if (filling.toDropLast > 0) {
        const int count = std::min(filling.toDropLast, removable);
        filling.dropLast(count);
        slideOff(node, node->count() - count, count);
        return count / removeSteps;
    }
    if (filling.toPutBefore > 0) {
        auto page = filling.pageBefore(budget);
        const int count = static_cast<int>(page.size());
        putRows(node, 0, page, 0, page.size());
        return count;
    }
    return mergePage(filling, budget);
}

int ZnodesModel::mergePage(ZnodeFilling &filling, int budget)
{
    ZnodeNode *node = filling.node;
    if (filling.shown() == 0 && filling.after() > 0) {
        // What lies before the part leaves first, what lies behind it last: from the ends, in runs.
        if (const int first = std::min(node->lowerBound(filling.next()), budget * removeSteps); first > 0) {
            slideOff(node, 0, first);
            return first / removeSteps;
        }
    }
    // What lies behind the largest name is gone, and what lies behind the limit waits; it leaves from the back.
    const int kept = filling.isFull() ? filling.at : node->upperBound(filling.largest(), filling.at);
    if (kept < node->count()) {
        const int count = std::min(node->count() - kept, budget * removeSteps);
        m_isSliding = filling.after() > 0;
        removeRun(node, node->count() - count, count);
        m_isSliding = false;
        return count / removeSteps;
    }
    auto page = filling.page(budget);
    if (page.empty())
        return 0;
    mergeInto(node, filling.at, node->upperBound(page.back().name, filling.at), page, filling.at);
    if (static_cast<int>(filling.rows.size()) > rowsPerTurn)
        emit this->filling(node->path());
    return static_cast<int>(page.size());
}

// The rows leave the part that is shown; that does not mean that the nodes are gone.
void ZnodesModel::slideOff(ZnodeNode *parent, int first, int count)
{
    m_isSliding = true;
    removeRun(parent, first, count);
    m_isSliding = false;
}

void ZnodesModel::putRows(ZnodeNode *parent, int at, std::vector<ZnodeRow> &page, std::size_t from, std::size_t until)
{
    Run run;
    for (; from < until; ++from)
        run.push_back(ZnodeNode::make(page[from]));
    m_loaded += static_cast<int>(run.size());
    insertRun(parent, at, std::move(run));
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
    int firstChanged = -1, lastChanged = -1;
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
        const auto first = next;
        while (next < page.size() && !isKnown[next])
            ++next;
        putRows(parent, row, page, first, next);
        row += static_cast<int>(next - first);
    }
    if (firstChanged >= 0)
        notifyChanged(parent, firstChanged, lastChanged);
    at = row;
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

void ZnodesModel::finish(std::unique_ptr<ZnodeFilling> filling)
{
    ZnodeNode *node = filling->node;
    const int total = filling->part().total;
    if (filling->shown() < total) {
        m_heldBack.push_back(std::move(filling));
        emit this->filling(node->path());
    }
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

std::optional<ZnodePart> ZnodesModel::part(const ZPath &path) const
{
    const ZnodeNode *node = findNode(path);
    for (const auto &filling : m_fillings) {
        if (filling->node == node)
            return filling->part();
    }
    const auto *held = heldOf(node);
    return held ? std::optional(held->part()) : std::nullopt;
}

int ZnodesModel::heldBack(const ZPath &path) const
{
    const auto *held = heldOf(findNode(path));
    return held ? held->before() + held->after() : 0;
}

const ZnodeFilling *ZnodesModel::heldOf(const ZnodeNode *node) const
{
    const auto held = std::ranges::find(m_heldBack, node, [](const auto &filling) { return filling->node; });
    return held == m_heldBack.end() ? nullptr : held->get();
}

void ZnodesModel::showMore(const ZPath &path)
{
    if (auto *filling = workAgainOn(findNode(path)))
        filling->slideOn();
}

void ZnodesModel::showEarlier(const ZPath &path)
{
    if (auto *filling = workAgainOn(findNode(path)))
        filling->slideBack();
}

// What is held back of that folder's children, on its way again; null if there is nothing.
ZnodeFilling *ZnodesModel::workAgainOn(ZnodeNode *node)
{
    const auto held = std::ranges::find(m_heldBack, node, [](const auto &filling) { return filling->node; });
    if (held == m_heldBack.end() || !node->isLoaded())
        return nullptr;
    node->load = ZnodeNode::Load::Asked; // changes told meanwhile lead to another list, afterwards
    auto filling = std::move(*held);
    m_heldBack.erase(held);
    return &startWork(std::move(filling));
}

void ZnodesModel::setFilter(const QString &text)
{
    m_filter = text;
    std::vector<ZnodeNode *> held;
    for (const auto &filling : m_heldBack) {
        if (filling->filter != filterFor(filling->node, m_filter))
            held.push_back(filling->node);
    }
    for (auto *node : held)
        workAgainOn(node);
    for (const auto &filling : m_fillings) {
        const auto filter = filling->isBig() ? filterFor(filling->node, m_filter) : QString();
        if (filling->filter != filter)
            filling->filterAgain(filter);
    }
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

} // namespace lockscope::ui
