// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/keyspage.h"

#include "core/base/text.h"
#include "ui/models/keynode.h"
#include "ui/pages/keysdetail.h"
#include "ui/pages/livetree.h"
#include "ui/parts/notices.h"
#include "ui/parts/tabletools.h"
#include "ui/theme/theme.h"

#include <QAction>
#include <QBoxLayout>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr int barSteps = 1000;

} // namespace

KeysPage::KeysPage(QWidget *parent) : Page(parent)
{
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
    m_detail = new KeyDetailView(m_splitter);
    m_splitter->addWidget(m_detail);
    m_splitter->setSizes({690, 520});
    m_splitter->setStretchFactor(0, 1);
    layout->addWidget(m_splitter, 1);

    auto *empty = new EmptyNotice(this);
    empty->say(
        u"No Redis here yet"_s,
        u"Connect to one (redis://host:6379/0) and its keys appear as a tree by ':', found by SCAN a page at a "
        u"time, with their type, their value, and the time they have left."_s);
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(empty);
    m_stack->addWidget(content);
    auto *outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_stack);
    connectModel();
    sayProgress();
}

KeysPage::~KeysPage()
{
    stopListening(this);
}

QWidget *KeysPage::buildStrip()
{
    auto *strip = makeToolStrip(this);
    m_pattern = new QLineEdit(strip);
    m_pattern->setPlaceholderText(u"Pattern, e.g. lock:*  (Enter scans)"_s);
    m_pattern->setFont(monoFont());
    m_pattern->setMaximumWidth(300);
    m_pattern->setAccessibleName(u"Pattern of keys to scan for"_s);
    connect(m_pattern, &QLineEdit::returnPressed, this, &KeysPage::takePattern);
    m_filter = new QLineEdit(strip);
    m_filter->setPlaceholderText(u"Filter loaded keys"_s);
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(220);
    m_filter->setAccessibleName(u"Filter loaded keys"_s);
    connect(m_filter, &QLineEdit::textChanged, this, [this] { m_filterSoon.start(); });
    m_status = makeLabel({}, u"muted"_s, strip);
    m_bar = new QProgressBar(strip);
    m_bar->setTextVisible(false);
    m_bar->setRange(0, barSteps);
    m_bar->setFixedWidth(80);
    m_scan = new QPushButton(strip);
    connect(m_scan, &QPushButton::clicked, this, &KeysPage::scanClicked);
    auto *layout = stripLayout(strip);
    layout->addWidget(m_pattern, 3);
    layout->addWidget(m_filter, 2);
    layout->addStretch(1);
    layout->addWidget(m_status);
    layout->addWidget(m_bar);
    layout->addWidget(m_scan);
    return strip;
}

QWidget *KeysPage::buildTree()
{
    m_rows = new QStackedWidget(m_splitter);
    m_tree = new LiveTree(m_rows);
    m_noMatch = new EmptyNotice(m_rows);
    connect(m_noMatch, &EmptyNotice::actionRequested, m_filter, &QLineEdit::clear);
    m_rows->addWidget(m_tree);
    m_rows->addWidget(m_noMatch);
    m_tree->setAccessibleName(u"Keys"_s);
    m_cells = new TreeCellDelegate(m_tree);
    m_cells->setMono({KeyNode::Name});
    m_cells->setMuted({KeyNode::Type});
    m_cells->setToneRole(KeysModel::ToneRole);
    m_tree->setItemDelegate(m_cells);
    auto *copy = new QAction(u"Copy name"_s, m_tree);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    connect(copy, &QAction::triggered, this, [this] {
        QGuiApplication::clipboard()->setText(escaped(m_tree->currentIndex().data(KeysModel::KeyRole).toByteArray()));
    });
    m_tree->addAction(copy);
    return m_rows;
}

void KeysPage::sayNoMatch()
{
    const bool isNone = !m_filter->text().isEmpty() && m_proxy->rowCount() == 0 && m_model.rowCount() > 0;
    if (isNone)
        m_noMatch->say(
            u"Nothing matches “%1”"_s.arg(m_filter->text().left(80)),
            u"The filter looks through the keys that are loaded; the pattern beside it scans the server."_s,
            u"Clear the filter"_s);
    m_rows->setCurrentIndex(isNone ? 1 : 0);
}

void KeysPage::connectModel()
{
    m_proxy = new QSortFilterProxyModel(this);
    m_proxy->setFilterRole(KeysModel::FilterRole);
    m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_proxy->setRecursiveFilteringEnabled(true);
    m_proxy->setAutoAcceptChildRows(true);
    m_proxy->setSourceModel(&m_model);
    m_tree->setModel(m_proxy);
    m_tree->setWidths(KeyNode::Name, {{KeyNode::Type, 110}, {KeyNode::Ttl, 110}, {KeyNode::Bytes, 90}});
    m_tree->tools().setNameRole(KeysModel::KeyRole);
    m_tree->setLeastStretched(170); // what is not there stands in the detail

    m_filterSoon.setSingleShot(true);
    m_filterSoon.setInterval(filterDelay);
    connect(&m_filterSoon, &QTimer::timeout, this, [this] {
        m_proxy->setFilterFixedString(m_filter->text());
        chooseKey(m_tree->currentIndex()); // nobody tells of a current row that left with its folder
        sayProgress();
    });
    connect(&m_model, &KeysModel::turnBegins, m_tree, &LiveTree::holdPlace);
    connect(&m_model, &KeysModel::turnEnds, m_tree, &LiveTree::keepPlace);
    connect(&m_model, &KeysModel::turnEnds, this, &KeysPage::showSought);
    connect(&m_model, &KeysModel::progressed, this, &KeysPage::sayProgress);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, &KeysPage::chooseKey);
    connect(m_detail, &KeyDetailView::looked, &m_model, &KeysModel::update);
    connect(m_detail, &KeyDetailView::gone, this, [this](const RedisKey &key) {
        // The detail stays and says that it is gone; the neighbour is not what was asked for.
        m_isLeaving = true;
        m_tree->setCurrentIndex({});
        m_model.remove(key);
        m_isLeaving = false;
    });
}

void KeysPage::chooseKey(const QModelIndex &current)
{
    const RedisKey key = m_model.keyOf(m_proxy->mapToSource(current));
    const bool isKey = current.isValid() && !current.data(KeysModel::FolderRole).toBool();
    if (isKey && key != m_detail->key())
        m_detail->show(m_backend, m_model.connection(), key);
    else if (!isKey && !m_isLeaving)
        m_detail->show(nullptr, {}, {}); // what is not chosen is not shown
}

void KeysPage::setBackend(Backend *backend)
{
    m_backend = backend;
    connect(backend, &Backend::updated, this, [this](const Batch &batch) {
        if (!batch.connections.empty())
            takeStatuses(batch.connections);
    });
}

void KeysPage::takeStatuses(const std::vector<ConnectionStatus> &statuses)
{
    const bool isAboutUs = m_choice.take(statuses);
    choose();
    if (!isAboutUs)
        return;
    const bool wasStale = std::exchange(m_isStale, m_banner->show(*m_choice.shown()));
    m_cells->setStale(m_isStale);
    m_tree->viewport()->update();
    if (wasStale && !m_isStale && m_detail->isVisible())
        m_detail->refresh();
    startIfWanted();
}

void KeysPage::showConnection(const ConnectionName &name)
{
    m_choice.prefer(name);
    choose();
}

void KeysPage::choose()
{
    const auto *status = m_choice.shown();
    m_stack->setCurrentIndex(status ? 1 : 0);
    if (!status || status->name == m_model.connection())
        return;
    m_detail->show(nullptr, {}, {});
    m_model.setConnection(m_backend, status->name);
    m_isStale = m_banner->show(*status);
    m_cells->setStale(m_isStale);
    startIfWanted();
}

// Nobody pays for a scan that nobody looks at.
void KeysPage::startIfWanted()
{
    if (isVisible() && !m_isStale && !m_isFrozen && m_choice.shown()
        && m_model.progress().scan == KeysModel::Scan::Idle)
        m_model.start();
}

void KeysPage::scanClicked()
{
    switch (m_model.progress().scan) {
    case KeysModel::Scan::Running: m_model.pause(); return;
    case KeysModel::Scan::Paused:
    case KeysModel::Scan::Failed: m_model.proceed(); return;
    case KeysModel::Scan::Idle:
    case KeysModel::Scan::Done: m_model.start(); return;
    }
}

void KeysPage::takePattern()
{
    const auto pattern = unescaped(m_pattern->text());
    if (!pattern) {
        m_status->setText(u"A backslash begins \\xHH or \\\\"_s);
        return;
    }
    m_model.setPattern(*pattern);
    m_model.start();
}

void KeysPage::sayProgress()
{
    sayNoMatch();
    const auto &progress = m_model.progress();
    const bool isUnderWay = progress.scan == KeysModel::Scan::Running || progress.scan == KeysModel::Scan::Paused;
    QString text = m_model.progressText();
    if (!m_filter->text().isEmpty())
        text += u" · the filter covers only those loaded"_s;
    m_status->setText(text);
    m_bar->setVisible(isUnderWay);
    const auto total = std::max<qint64>({progress.total, progress.scanned, 1});
    m_bar->setValue(static_cast<int>(progress.scanned * barSteps / total));
    m_scan->setText(progress.scan == KeysModel::Scan::Running ? u"Pause"_s
                    : progress.scan == KeysModel::Scan::Paused || progress.scan == KeysModel::Scan::Failed
                        ? u"Continue"_s
                        : u"Scan again"_s);
}

QString KeysPage::statusText() const
{
    return m_status->text();
}

void KeysPage::setFilter(const QString &text)
{
    m_filter->setText(text);
}

// Only a scan tells what there is; this one finds the key alone.
bool KeysPage::showSubject(const Subject &subject)
{
    if (subject.kind != Subject::Kind::Key)
        return false;
    showConnection(subject.connection);
    QByteArray pattern;
    for (const char c : subject.name) {
        if (QByteArrayView("*?[]\\^").contains(c))
            pattern += '\\';
        pattern += c;
    }
    m_filter->clear();
    m_pattern->setText(escaped(pattern));
    m_sought = RedisKey(subject.name);
    takePattern();
    return true;
}

void KeysPage::showSought()
{
    const QModelIndex found = m_sought.isEmpty() ? QModelIndex() : m_proxy->mapFromSource(m_model.find(m_sought));
    if (!found.isValid())
        return;
    m_sought = {};
    m_tree->setCurrentIndex(found); // which opens the folders on the way
    m_tree->scrollTo(found);
}

void KeysPage::focusContent()
{
    m_tree->setFocus();
    if (!m_tree->currentIndex().isValid())
        m_tree->setCurrentIndex(m_proxy->index(0, 0));
}

void KeysPage::refresh()
{
    m_model.start();
    m_detail->refresh();
}

void KeysPage::showEvent(QShowEvent *event)
{
    Page::showEvent(event);
    startIfWanted();
}

void KeysPage::hideEvent(QHideEvent *event)
{
    Page::hideEvent(event);
    m_model.pause();
}

void KeysPage::freeze(std::optional<std::chrono::system_clock::time_point> at)
{
    m_isFrozen = at.has_value();
    if (at)
        m_model.pause(); // what it would find would move rows
}

void KeysPage::ticked()
{
    m_tree->viewport()->update(); // TTLs count down
    m_detail->tick(clock().steadyNow());
}

void KeysPage::saveView(QSettings &settings) const
{
    settings.setValue(u"splitter"_s, m_splitter->saveState());
    settings.setValue(u"columns"_s, m_tree->header()->saveState());
}

void KeysPage::restoreView(QSettings &settings)
{
    m_splitter->restoreState(settings.value(u"splitter"_s).toByteArray());
    m_tree->restoreColumns(settings.value(u"columns"_s).toByteArray());
}

} // namespace lockscope::ui
