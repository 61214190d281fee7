// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/znodespage.h"

#include "core/base/text.h"
#include "ui/pages/livetree.h"
#include "ui/parts/tabletools.h"

#include <QShortcut>
#include <QSortFilterProxyModel>

namespace lockscope::ui {

namespace {

constexpr auto watchDelay = 100ms;
constexpr int mostExpandedByFilter = 500;

// Which of a big folder's children are in the tree.
QString partText(const ZPath &path, const ZnodePart &part, bool isFiltered)
{
    const auto folder = label(path.bytes(), 40);
    const auto shown = countText(part.shown);
    if (!part.isFiltered)
        return u"%1: filtering %2 children"_s.arg(folder, countText(part.total));
    if (isFiltered && part.shown == part.matching())
        return u"%1: %2 of %3 children match"_s.arg(folder, shown, countText(part.total));
    const auto all = (isFiltered ? u"%1 children that match"_s : u"%1 children"_s).arg(countText(part.matching()));
    if (part.before == 0)
        return u"%1: the first %2 of %3; scroll on for more"_s.arg(folder, shown, all);
    return u"%1: %2 to %3 of %4; scroll for more"_s.arg(folder, countText(part.before + 1),
                                                        countText(part.before + part.shown), all);
}

} // namespace

ZnodesPage::ZnodesPage(QWidget *parent)
    : TreePage({Scheme::ZooKeeper},
               {u"No ZooKeeper here yet"_s,
                u"Connect to one (zk://host:2181) and its znodes appear as a tree. Every node has its owner, its "
                u"version and its data. The part on screen is updated live."_s,
                u"nodes"_s,
                u"The filter looks through the nodes that are loaded: those of folders that were opened."_s,
                u"znodes"_s},
               parent)
{
    callAfter(m_watchSoon, watchDelay, this, &ZnodesPage::watchWhatShows);
    m_detail = new ZnodeDetailView(this);
    m_detail->useHosts([this](const QString &session) { return m_links.hostOf(m_model.connection(), session); });
    m_tree->setAccessibleName(u"Znodes"_s);
    m_cells->setMono({ZnodeNode::Name, ZnodeNode::Owner});
    m_cells->setMuted({ZnodeNode::Owner, ZnodeNode::Version, ZnodeNode::Modified});
    m_cells->setLockRole(ZnodeNode::ForbiddenRole);
    connectModel();
    addActions();
    assemble(buildStrip(), m_detail, {790, 430});
    showStatus();
}

QWidget *ZnodesPage::buildStrip()
{
    auto *strip = makeToolStrip(this);
    m_goTo = new QLineEdit(strip);
    m_goTo->setPlaceholderText(u"Go to path, e.g. /locks/orders"_s);
    m_goTo->setFont(monoFont());
    m_goTo->setAccessibleName(u"Go to path"_s);
    m_goTo->setMaximumWidth(380);
    connect(m_goTo, &QLineEdit::returnPressed, this, &ZnodesPage::goToTyped);
    const auto startTyping = [this] {
        m_goTo->setFocus();
        m_goTo->selectAll();
    };
    new QShortcut(QKeySequence(u"Ctrl+L"_s), this, this, startTyping, Qt::WidgetWithChildrenShortcut);
    addParts(*stripLayout(strip), {{m_goTo, 3}, {m_filter, 2}, Stretch{1}, m_status});
    return strip;
}

void ZnodesPage::addActions()
{
    using operate::EditKind;
    addAct(u"Copy path"_s, QKeySequence::Copy,
           [this] { copyToClipboard(escaped(pathAt(m_tree->currentIndex()).bytes())); });
    addAct(u"Refresh"_s, {}, [this] { m_model.refresh(pathAt(m_tree->currentIndex())); });
    const auto add = [this](const QString &text, const QKeySequence &key, EditKind kind, bool isOfRoot) {
        addEdit(text, key, [this, kind, isOfRoot]() -> std::optional<operate::EditRequest> {
            const auto path = pathAt(m_tree->currentIndex());
            if (path.isEmpty() || (path.isRoot() && !isOfRoot))
                return std::nullopt;
            return requestOf(kind, path.bytes());
        });
    };
    add(u"Create child…"_s, Qt::Key_Insert, EditKind::ZnodeCreate, true);
    add(u"Edit data…"_s, Qt::Key_F2, EditKind::ZnodeSet, true);
    add(u"Edit ACL…"_s, {}, EditKind::ZnodeAcl, true);
    add(u"Delete…"_s, Qt::Key_Delete, EditKind::ZnodeDelete, false);
    offerEdits(*m_detail->head());
}

void ZnodesPage::connectModel()
{
    // Before the proxy hears of it, and so before the view moves its current row to a neighbour.
    connect(&m_model, &ZnodesModel::rowsAboutToBeRemoved, this, &ZnodesPage::rowsLeave);
    useModel(m_model, ZnodeNode::FilterRole);
    m_tree->setWidths(ZnodeNode::Name, {{ZnodeNode::Children, 84},
                                        {ZnodeNode::Bytes, 72},
                                        {ZnodeNode::Owner, 146},
                                        {ZnodeNode::Version, 64},
                                        {ZnodeNode::Modified, 108}});
    m_tree->tools().setNameRole(ZnodeNode::PathRole);
    m_tree->setLeastStretched(170); // what is not there stands in the detail

    connect(&m_model, &ZnodesModel::turnEnds, this, [this] {
        showStatus();
        m_watchSoon.start();
    });
    connect(&m_model, &ZnodesModel::expandabilityChanged, m_tree, &LiveTree::relayoutSoon);
    connect(&m_model, &ZnodesModel::dataChanged, this, [this](const QModelIndex &from, const QModelIndex &to) {
        const QModelIndex current = m_proxy->mapToSource(m_tree->currentIndex());
        if (current.isValid() && current.parent() == from.parent() && current.row() >= from.row()
            && current.row() <= to.row())
            m_detail->changed();
    });
    connect(&m_model, &ZnodesModel::filling, this, [this](const ZPath &path) {
        m_filled = path;
        if (m_filter->text().isEmpty())
            return;
        for (auto index = m_model.find(path); index.isValid(); index = index.parent())
            m_tree->expand(m_proxy->mapFromSource(index)); // its matches come later than those of small ones
    });
    connect(&m_model, &ZnodesModel::revealed, this, [this](const QModelIndex &index) {
        const QModelIndex shown = m_proxy->mapFromSource(index);
        m_tree->setCurrentIndex(shown);
        m_tree->letGoOfPlace(); // what was on screen may move away
        m_tree->scrollTo(shown, QAbstractItemView::PositionAtCenter);
        m_tree->setFocus();
    });
    connect(&m_model, &ZnodesModel::revealFailed, this, [this](const ZPath &, const QString &why) {
        m_complaint = why;
        showStatus();
    });
    connect(m_detail, &ZnodeDetailView::looked, &m_model, &ZnodesModel::learn);
    connect(m_detail, &ZnodeDetailView::looked, this, [this](const ZPath &path, const zk::Stat &stat) {
        showLinks(*m_detail->head(), path.bytes(), true,
                  stat.ephemeralOwner.isNone() ? QString() : stat.ephemeralOwner.text());
    });
    connect(m_tree, &LiveTree::sightChanged, this, [this] { m_watchSoon.start(); });
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex &current) {
        if (current.isValid())
            m_detail->show(m_backend, m_model.connection(), pathAt(current));
        else if (!m_isLeaving)
            m_detail->show(nullptr, {}, {}); // what a filter hides is not shown
    });
}

ZPath ZnodesPage::pathAt(const QModelIndex &proxyIndex) const
{
    return proxyIndex.isValid() ? ZPath(proxyIndex.data(ZnodeNode::PathRole).toByteArray()) : ZPath();
}

void ZnodesPage::setBackend(Backend *backend)
{
    TreePage::setBackend(backend);
    connect(backend, &Backend::znodesChanged, this, [this](const ConnectionName &name, const ZPath &path) {
        if (name != m_model.connection())
            return;
        m_model.refresh(path);
        if (path == m_detail->path() || path == m_detail->path().parent())
            m_detail->changed();
    });
}

// Whatever is on screen may have changed meanwhile.
void ZnodesPage::cameBack()
{
    m_watched.clear();
    watchWhatShows();
    m_detail->changed();
}

void ZnodesPage::connectionChosen(const ConnectionStatus &status)
{
    if (!m_model.connection().isEmpty())
        m_backend->execute(WatchZnodes{m_model.connection(), {}});
    m_watched.clear();
    m_filled = {};
    m_expandedBefore.clear();
    m_detail->show(nullptr, {}, {});
    m_model.setConnection(m_backend, status.name);
    m_tree->expand(m_proxy->index(0, 0));
    showStatus();
}

bool ZnodesPage::showSubject(const Subject &subject)
{
    if (subject.kind != Subject::Kind::Znode || !turnTo(subject.connection))
        return false;
    goTo(ZPath(subject.name));
    return true;
}

void ZnodesPage::follow(const operate::EditRequest &request, const operate::EditOutcome &outcome)
{
    const ZPath path(request.name);
    m_model.refresh(path.parent());
    m_model.refresh(path);
    const bool isNew =
        request.kind == operate::EditKind::ZnodeCreate || request.kind == operate::EditKind::ZnodeRestore;
    if (isNew && outcome.undo)
        goTo(ZPath(outcome.undo->name)); // with the number that the server gave
    else
        m_detail->changed();
}

void ZnodesPage::refresh()
{
    for (const auto &path : m_watched)
        m_model.refresh(ZPath(path));
    const ZPath current = pathAt(m_tree->currentIndex());
    if (!current.isEmpty() && !m_watched.contains(current.bytes()))
        m_model.refresh(current);
    m_detail->changed();
}

QSet<QByteArray> ZnodesPage::expandedPaths(const QModelIndex &parent) const
{
    QSet<QByteArray> paths;
    for (int row = 0; row < m_proxy->rowCount(parent); ++row) {
        const QModelIndex index = m_proxy->index(row, 0, parent);
        if (m_tree->isExpanded(index)) {
            paths.insert(pathAt(index).bytes());
            paths.unite(expandedPaths(index));
        }
    }
    return paths;
}

void ZnodesPage::applyFilter()
{
    const QString text = m_filter->text();
    const bool wasEmpty = m_proxy->filterRegularExpression().pattern().isEmpty();
    // Rows that are filtered out forget that they were expanded.
    if (wasEmpty && !text.isEmpty())
        m_expandedBefore = expandedPaths();
    m_model.setFilter(text);
    m_proxy->setFilterFixedString(text);
    if (!text.isEmpty()) {
        int left = mostExpandedByFilter;
        expandMatches({}, left);
    } else if (!wasEmpty) {
        for (const auto &path : std::as_const(m_expandedBefore))
            m_tree->expand(m_proxy->mapFromSource(m_model.find(ZPath(path))));
        m_tree->scrollTo(m_tree->currentIndex());
    }
    if (!text.isEmpty() && !m_tree->currentIndex().isValid())
        m_detail->show(nullptr, {}, {}); // what a filter hides is not shown
    showStatus();
}

// Only what is loaded: a filter must not make us list a server's whole tree.
void ZnodesPage::expandMatches(const QModelIndex &parent, int &left)
{
    for (int row = 0; row < m_proxy->rowCount(parent) && left > 0; ++row) {
        const QModelIndex index = m_proxy->index(row, 0, parent);
        if (m_proxy->rowCount(index) == 0)
            continue;
        --left;
        m_tree->expand(index);
        expandMatches(index, left);
    }
}

void ZnodesPage::watchWhatShows()
{
    if (!m_backend || m_model.connection().isEmpty())
        return;
    std::set<QByteArray> wanted;
    if (isVisible()) {
        for (const auto &index : m_tree->expandedOnScreen()) {
            const ZPath path = pathAt(index);
            if (index.data(ZnodeNode::ErrorRole).toString().isEmpty())
                wanted.insert(path.bytes());
            showMoreOf(path, index);
        }
    }
    if (wanted == m_watched)
        return;
    std::vector<ZPath> paths;
    for (const auto &path : wanted) {
        paths.emplace_back(path);
        // Nobody told us of changes while it was out of sight; a big folder that was listed a moment
        // ago is not worth a second list.
        if (!m_watched.contains(path) && !m_model.isResting(ZPath(path)))
            m_model.refresh(ZPath(path));
    }
    m_watched = std::move(wanted);
    m_backend->execute(WatchZnodes{m_model.connection(), paths});
}

// Of a big folder, when an end of the part that is in the tree is on screen.
void ZnodesPage::showMoreOf(const ZPath &path, const QModelIndex &folder)
{
    const auto part = m_model.part(path);
    if (part && part->after > 0 && m_tree->isOnScreen(m_proxy->index(m_proxy->rowCount(folder) - 1, 0, folder)))
        m_model.showMore(path);
    else if (part && part->before > 0 && m_tree->isOnScreen(m_proxy->index(0, 0, folder)))
        m_model.showEarlier(path);
}

void ZnodesPage::rowsLeave(const QModelIndex &parent, int first, int last)
{
    QModelIndex shown = m_proxy ? m_proxy->mapToSource(m_tree->currentIndex()) : QModelIndex();
    for (; shown.isValid(); shown = shown.parent()) {
        if (shown.parent() == parent && shown.row() >= first && shown.row() <= last) {
            // Quietly looking at a neighbour instead would be a trap.
            if (!m_model.isSliding())
                m_detail->showGone();
            m_isLeaving = true;
            m_tree->setCurrentIndex({});
            m_isLeaving = false;
            if (m_model.isSliding() && !m_filter->text().isEmpty())
                m_detail->show(nullptr, {}, {}); // what a filter hides is not shown
            return;
        }
    }
}

void ZnodesPage::goToTyped()
{
    QString text = m_goTo->text().trimmed();
    while (text.size() > 1 && text.endsWith(u'/'))
        text.chop(1);
    const auto path = unescaped(text);
    if (!path || !path->startsWith('/') || path->contains("//")) {
        m_status->setText(u"A path begins with / and has no empty part"_s);
        return;
    }
    goTo(ZPath(*path));
}

void ZnodesPage::goTo(const ZPath &path)
{
    if (!m_filter->text().isEmpty()) {
        m_filter->clear();
        m_filterSoon.stop();
        applyFilter();
    }
    m_complaint.clear();
    m_model.reveal(path);
}

void ZnodesPage::showStatus()
{
    showNoMatch();
    const auto part = m_model.part(m_filled);
    const QString loaded =
        m_model.loadedCount() == 1 ? u"1 node"_s : u"%1 nodes"_s.arg(countText(m_model.loadedCount()));
    if (!m_complaint.isEmpty()) // stays until another path is asked for
        m_status->setText(m_complaint);
    else if (part && part->shown < part->total)
        m_status->setText(partText(m_filled, *part, !m_filter->text().isEmpty()));
    else if (!m_filter->text().isEmpty())
        m_status->setText(u"filters only the %1 loaded so far"_s.arg(loaded));
    else
        m_status->setText(u"%1 loaded"_s.arg(loaded));
}

void ZnodesPage::showEvent(QShowEvent *event)
{
    Page::showEvent(event);
    m_watchSoon.start();
}

void ZnodesPage::hideEvent(QHideEvent *event)
{
    Page::hideEvent(event);
    m_watchSoon.start();
}

} // namespace lockscope::ui

#include "moc_znodespage.cpp"
