// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/znodespage.h"

#include "core/base/text.h"
#include "ui/pages/livetree.h"
#include "ui/pages/znodesdetail.h"
#include "ui/parts/notices.h"
#include "ui/parts/tabletools.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QAction>
#include <QBoxLayout>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto watchDelay = 100ms;
constexpr int mostExpandedByFilter = 500;

} // namespace

ZnodesPage::ZnodesPage(QWidget *parent) : Page(parent)
{
    m_watchSoon.setSingleShot(true);
    m_watchSoon.setInterval(watchDelay);
    connect(&m_watchSoon, &QTimer::timeout, this, &ZnodesPage::watchWhatShows);
    m_filterSoon.setSingleShot(true);
    m_filterSoon.setInterval(filterDelay);
    connect(&m_filterSoon, &QTimer::timeout, this, &ZnodesPage::applyFilter);

    auto *content = new QWidget(this);
    auto *layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(buildStrip());
    m_banner = new StaleBanner(content);
    layout->addWidget(m_banner);
    layout->addWidget(makeHairline(content));
    m_splitter = new QSplitter(Qt::Horizontal, content);
    m_splitter->setHandleWidth(1);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(buildTree());
    m_detail = new ZnodeDetailView(m_splitter);
    m_splitter->addWidget(m_detail);
    m_splitter->setSizes({790, 430});
    m_splitter->setStretchFactor(0, 1);
    layout->addWidget(m_splitter, 1);

    m_empty = new EmptyNotice(this);
    m_empty->say(u"No ZooKeeper here yet"_s,
                 u"Connect to one (zk://host:2181) and its znodes appear as a tree: every node with its owner, its "
                 u"version and its data, followed live where you look."_s);
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(content);
    auto *outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_stack);
    connectModel();
    sayStatus();
}

ZnodesPage::~ZnodesPage()
{
    stopListening(this);
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
    auto *goToKey = new QShortcut(QKeySequence(u"Ctrl+L"_s), this);
    goToKey->setContext(Qt::WidgetWithChildrenShortcut);
    connect(goToKey, &QShortcut::activated, this, [this] {
        m_goTo->setFocus();
        m_goTo->selectAll();
    });
    m_filter = new QLineEdit(strip);
    m_filter->setPlaceholderText(u"Filter loaded nodes"_s);
    m_filter->setClearButtonEnabled(true);
    m_filter->setAccessibleName(u"Filter loaded nodes"_s);
    m_filter->setMaximumWidth(260);
    connect(m_filter, &QLineEdit::textChanged, this, [this] { m_filterSoon.start(); });
    m_status = makeLabel({}, u"muted"_s, strip);
    auto *layout = stripLayout(strip);
    layout->addWidget(m_goTo, 3);
    layout->addWidget(m_filter, 2);
    layout->addStretch(1);
    layout->addWidget(m_status);
    return strip;
}

QWidget *ZnodesPage::buildTree()
{
    m_rows = new QStackedWidget(m_splitter);
    m_tree = new LiveTree(m_rows);
    m_noMatch = new EmptyNotice(m_rows);
    connect(m_noMatch, &EmptyNotice::actionRequested, m_filter, &QLineEdit::clear);
    m_rows->addWidget(m_tree);
    m_rows->addWidget(m_noMatch);
    m_tree->setAccessibleName(u"Znodes"_s);
    m_cells = new TreeCellDelegate(m_tree);
    m_cells->setMono({ZnodeNode::Name, ZnodeNode::Owner});
    m_cells->setMuted({ZnodeNode::Owner, ZnodeNode::Version, ZnodeNode::Modified});
    m_cells->setLockRole(ZnodeNode::ForbiddenRole);
    m_tree->setItemDelegate(m_cells);
    auto *copy = new QAction(u"Copy path"_s, m_tree);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    connect(copy, &QAction::triggered, this,
            [this] { QGuiApplication::clipboard()->setText(escaped(pathAt(m_tree->currentIndex()).bytes())); });
    auto *again = new QAction(u"Refresh"_s, m_tree);
    connect(again, &QAction::triggered, this, [this] { m_model.refresh(pathAt(m_tree->currentIndex())); });
    m_tree->addActions({copy, again});
    return m_rows;
}

void ZnodesPage::sayNoMatch()
{
    const bool isNone = !m_filter->text().isEmpty() && m_proxy->rowCount() == 0 && m_model.rowCount() > 0;
    if (isNone)
        m_noMatch->say(u"Nothing matches “%1”"_s.arg(m_filter->text().left(80)),
                       u"The filter looks through the nodes that are loaded: those of folders that were opened."_s,
                       u"Clear the filter"_s);
    m_rows->setCurrentIndex(isNone ? 1 : 0);
}

void ZnodesPage::connectModel()
{
    // Before the proxy hears of it, and so before the view moves its current row to a neighbour.
    connect(&m_model, &ZnodesModel::rowsAboutToBeRemoved, this, &ZnodesPage::rowsLeave);
    m_proxy = new QSortFilterProxyModel(this);
    m_proxy->setFilterRole(ZnodeNode::FilterRole);
    m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_proxy->setRecursiveFilteringEnabled(true);
    m_proxy->setAutoAcceptChildRows(true);
    m_proxy->setSourceModel(&m_model);
    m_tree->setModel(m_proxy);
    m_tree->setWidths(ZnodeNode::Name, {{ZnodeNode::Children, 84},
                                        {ZnodeNode::Bytes, 72},
                                        {ZnodeNode::Owner, 146},
                                        {ZnodeNode::Version, 64},
                                        {ZnodeNode::Modified, 108}});
    m_tree->tools().setNameRole(ZnodeNode::PathRole);
    m_tree->setLeastStretched(170); // what is not there stands in the detail

    connect(&m_model, &ZnodesModel::turnBegins, m_tree, &LiveTree::holdPlace);
    connect(&m_model, &ZnodesModel::turnEnds, m_tree, &LiveTree::keepPlace);
    connect(&m_model, &ZnodesModel::turnEnds, this, [this] {
        sayStatus();
        m_watchSoon.start();
    });
    connect(&m_model, &ZnodesModel::expandabilityChanged, m_tree, &LiveTree::relayoutSoon);
    connect(&m_model, &ZnodesModel::dataChanged, this, &ZnodesPage::rowsChange);
    connect(&m_model, &ZnodesModel::filling, this, [this](const ZPath &path, int done, int total) {
        m_filled = path;
        m_fillingText = done == total ? QString()
                                      : u"%1: the first %2 of %3 children; scroll on for more"_s.arg(
                                          label(path.bytes(), 40), countText(done), countText(total));
    });
    connect(&m_model, &ZnodesModel::revealed, this, [this](const QModelIndex &index) {
        const QModelIndex shown = m_proxy->mapFromSource(index);
        m_tree->setCurrentIndex(shown);
        m_tree->scrollTo(shown, QAbstractItemView::PositionAtCenter);
        m_tree->setFocus();
    });
    connect(&m_model, &ZnodesModel::revealFailed, this, [this](const ZPath &, const QString &why) {
        m_complaint = why;
        sayStatus();
    });
    connect(m_detail, &ZnodeDetailView::looked, &m_model, &ZnodesModel::learn);
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
    m_backend = backend;
    connect(backend, &Backend::updated, this, [this](const Batch &batch) {
        if (!batch.connections.empty())
            takeStatuses(batch.connections);
    });
    connect(backend, &Backend::znodesChanged, this, [this](const ConnectionName &name, const ZPath &path) {
        if (name != m_model.connection())
            return;
        m_model.refresh(path);
        if (path == m_detail->path() || path == m_detail->path().parent())
            m_detail->changed();
    });
}

void ZnodesPage::takeStatuses(const std::vector<ConnectionStatus> &statuses)
{
    const bool isAboutUs = m_choice.take(statuses);
    choose();
    if (!isAboutUs)
        return;
    const bool wasStale = std::exchange(m_isStale, m_banner->show(*m_choice.shown()));
    m_cells->setStale(m_isStale);
    m_tree->viewport()->update();
    if (wasStale && !m_isStale) {
        // It came back: whatever is on screen may have changed meanwhile.
        m_watched.clear();
        watchWhatShows();
        m_detail->changed();
    }
}

void ZnodesPage::showConnection(const ConnectionName &name)
{
    m_choice.prefer(name);
    choose();
}

void ZnodesPage::choose()
{
    const auto *status = m_choice.shown();
    m_stack->setCurrentIndex(status ? 1 : 0);
    if (!status || status->name == m_model.connection())
        return;
    if (!m_model.connection().isEmpty())
        m_backend->watchZnodes(m_model.connection(), {});
    m_watched.clear();
    m_fillingText.clear();
    m_expandedBefore.clear();
    m_detail->show(nullptr, {}, {});
    m_model.setConnection(m_backend, status->name);
    m_isStale = m_banner->show(*status);
    m_cells->setStale(m_isStale);
    m_tree->expand(m_proxy->index(0, 0));
    sayStatus();
}

void ZnodesPage::setFilter(const QString &text)
{
    m_filter->setText(text);
}

bool ZnodesPage::showSubject(const Subject &subject)
{
    if (subject.kind != Subject::Kind::Znode)
        return false;
    showConnection(subject.connection);
    goTo(ZPath(subject.name));
    return true;
}

void ZnodesPage::focusContent()
{
    m_tree->setFocus();
    if (!m_tree->currentIndex().isValid())
        m_tree->setCurrentIndex(m_proxy->index(0, 0));
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
    sayStatus();
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
            if (m_model.heldBack(path) > 0
                && m_tree->isOnScreen(m_proxy->index(m_proxy->rowCount(index) - 1, 0, index)))
                m_model.showMore(path);
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
    m_backend->watchZnodes(m_model.connection(), paths);
}

void ZnodesPage::rowsLeave(const QModelIndex &parent, int first, int last)
{
    QModelIndex shown = m_proxy ? m_proxy->mapToSource(m_tree->currentIndex()) : QModelIndex();
    for (; shown.isValid(); shown = shown.parent()) {
        if (shown.parent() == parent && shown.row() >= first && shown.row() <= last) {
            // Quietly looking at a neighbour instead would be a trap.
            m_detail->showGone();
            m_isLeaving = true;
            m_tree->setCurrentIndex({});
            m_isLeaving = false;
            return;
        }
    }
}

void ZnodesPage::rowsChange(const QModelIndex &from, const QModelIndex &to)
{
    const QModelIndex current = m_proxy->mapToSource(m_tree->currentIndex());
    if (current.isValid() && current.parent() == from.parent() && current.row() >= from.row()
        && current.row() <= to.row())
        m_detail->changed();
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

QString ZnodesPage::statusText() const
{
    return m_status->text();
}

void ZnodesPage::sayStatus()
{
    sayNoMatch();
    const QModelIndex filled = m_model.find(m_filled);
    if (!filled.isValid() || (m_model.isLoaded(filled) && m_model.heldBack(m_filled) == 0))
        m_fillingText.clear(); // it shrank, or it is gone
    const QString loaded =
        m_model.loadedCount() == 1 ? u"1 node"_s : u"%1 nodes"_s.arg(countText(m_model.loadedCount()));
    if (!m_complaint.isEmpty()) // stays until another path is asked for
        m_status->setText(m_complaint);
    else if (!m_fillingText.isEmpty())
        m_status->setText(m_fillingText);
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

void ZnodesPage::saveView(QSettings &settings) const
{
    settings.setValue(u"splitter"_s, m_splitter->saveState());
    settings.setValue(u"columns"_s, m_tree->header()->saveState());
}

void ZnodesPage::restoreView(QSettings &settings)
{
    m_splitter->restoreState(settings.value(u"splitter"_s).toByteArray());
    m_tree->restoreColumns(settings.value(u"columns"_s).toByteArray());
}

} // namespace lockscope::ui
