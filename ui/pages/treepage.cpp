// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/treepage.h"

#include "core/base/text.h"
#include "ui/models/locksmodel.h"
#include "ui/models/treemodel.h"
#include "ui/pages/livetree.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QSplitter>

namespace lockscope::ui {

void EntryLinks::apply(const Batch &batch)
{
    for (const auto &change : batch.locks) {
        const auto &name = change.lock.lock;
        if (const auto known = m_withCompanions.find(name); known != m_withCompanions.end()) {
            for (const auto &companion : known->second)
                m_companions.erase({name.connection, companion});
            m_withCompanions.erase(known);
        }
        if (change.kind == inspect::ChangeKind::Removed || change.lock.companions.empty())
            continue;
        for (const auto &companion : change.lock.companions)
            m_companions.insert_or_assign({name.connection, companion}, name);
        m_withCompanions.emplace(name, change.lock.companions);
    }
    for (const auto &seen : batch.sessions) {
        auto &hosts = m_hosts[seen.connection];
        hosts.clear();
        for (const auto &session : seen.sessions)
            hosts.insert_or_assign(session.session, session.endpoint.value_or(QString()));
    }
}

std::optional<inspect::LockName> EntryLinks::lockOf(const ConnectionName &connection, const QByteArray &entry,
                                                    bool isPath) const
{
    constexpr int foldersUp = 2; // Curator's semaphore keeps its nodes in folders of its own
    inspect::LockName name{connection, entry};
    for (int up = 0; up <= (isPath ? foldersUp : 0); ++up) {
        if (m_locks && m_locks->snapshot(name))
            return name;
        if (const auto at = m_companions.find(name); at != m_companions.end())
            return at->second;
        if (isPath)
            name.name = ZPath(name.name).parent().bytes();
    }
    return std::nullopt;
}

QString EntryLinks::hostOf(const ConnectionName &connection, const QString &session) const
{
    const auto hosts = m_hosts.find(connection);
    if (hosts == m_hosts.end())
        return {};
    const auto at = hosts->second.find(session);
    return at == hosts->second.end() ? QString() : at->second;
}

TreePage::TreePage(std::initializer_list<Scheme> schemes, Words words, QWidget *parent)
    : Page(parent), m_choice(schemes), m_words(std::move(words))
{
    callAfter(m_filterSoon, filterDelay, this, [this] {
        applyFilter();
        m_tree->measureAnew();
    });
    m_filter = makeFilterField(u"Filter loaded "_s + m_words.entries, u"Filter loaded "_s + m_words.entries, this);
    m_filter->setMaximumWidth(260);
    connect(m_filter, &QLineEdit::textChanged, this, [this] { m_filterSoon.start(); });
    m_status = makeLabel({}, u"muted"_s, this);
    m_environment = named(new QLabel(this), u"pageEnvironment"_s);
    m_environment->setTextFormat(Qt::PlainText);
    m_environment->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_absent = named(makeLabel({}, u"warning"_s, this), u"nothingOfChosen"_s);

    m_rows = new QStackedWidget(this);
    m_tree = new LiveTree(m_rows);
    m_noMatch = new EmptyNotice(m_rows);
    connect(m_noMatch, &EmptyNotice::actionRequested, m_filter, &QLineEdit::clear);
    m_rows->addWidget(m_tree);
    m_rows->addWidget(m_noMatch);
    m_cells = new TreeCellDelegate(m_tree);
    m_tree->setItemDelegate(m_cells);
    m_menu = new QMenu(this);
    connect(m_menu, &QMenu::aboutToShow, this, &TreePage::updateEdits);
}

TreePage::~TreePage() = default;

void TreePage::useModel(TreeModel &model, int filterRole)
{
    m_proxy = new QSortFilterProxyModel(this);
    m_proxy->setFilterRole(filterRole);
    m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_proxy->setRecursiveFilteringEnabled(true);
    m_proxy->setAutoAcceptChildRows(true);
    m_proxy->setSourceModel(&model);
    m_tree->setModel(m_proxy);
    connect(&model, &TreeModel::turnBegins, m_tree, &LiveTree::holdPlace);
    connect(&model, &TreeModel::turnEnds, m_tree, &LiveTree::keepPlace);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, &TreePage::updateEdits);
}

void TreePage::assemble(QWidget *strip, QWidget *detail, const QList<int> &sizes)
{
    m_stack = new QStackedWidget(this);
    auto *content = new QWidget(m_stack);
    auto *row = static_cast<QHBoxLayout *>(strip->layout());
    row->insertWidget(0, m_environment);
    row->insertWidget(1, m_absent);
    m_banner = new StaleBanner(content);
    m_notice = named(new Banner(content), u"editNotice"_s);
    m_notice->hide();
    connect(m_notice, &Banner::actionRequested, this, [this] {
        if (m_undo)
            emit undoRequested(*m_undo, m_undone);
    });
    connect(m_notice, &Banner::secondRequested, m_notice, &QWidget::hide);
    auto *splitter = new QSplitter(Qt::Horizontal, content);
    keepSizes(splitter);
    keepColumns(m_tree);
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_rows);
    splitter->addWidget(detail);
    splitter->setSizes(sizes);
    splitter->setStretchFactor(0, 1);
    makeColumn(content, {.spacing = 0}, {strip, m_banner, m_notice, makeHairline(content), {splitter, 1}});

    auto *empty = new EmptyNotice(m_stack);
    empty->say(m_words.emptyTitle, m_words.emptyText);
    m_stack->addWidget(empty);
    m_stack->addWidget(content);
    makeColumn(this, {}, {m_stack});
    updateEdits();
}

// --- what can be done ---

QAction *TreePage::addAct(const QString &text, const QKeySequence &key, std::function<void()> act)
{
    auto *action = new QAction(text, m_tree);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, [act = std::move(act)] { act(); });
    m_tree->addAction(action);
    return action;
}

void TreePage::addEdit(const QString &text, const QKeySequence &key, MakeRequest request)
{
    auto *action = addAct(text, key, [this, request] {
        if (const auto made = request())
            emit editRequested(*made);
    });
    m_menu->addAction(action);
    m_edits.emplace_back(action, std::move(request));
}

void TreePage::offerEdits(EntryHead &head)
{
    head.setEditMenu(m_menu);
}

// A read-only connection's form says why nothing is sent, and how to allow it; so does the tip here.
void TreePage::updateEdits()
{
    const auto *status = m_choice.shown();
    const auto tip = status && status->readOnly
                         ? u"%1 is read-only: the form shows what would be sent, and how to allow it"_s.arg(
                             label(status->name.bytes(), 60))
                         : QString();
    for (const auto &[action, request] : m_edits) {
        action->setEnabled(status && request().has_value());
        action->setToolTip(tip);
    }
    m_menu->setToolTipsVisible(!tip.isEmpty());
}

operate::EditRequest TreePage::requestOf(operate::EditKind kind, const QByteArray &name) const
{
    operate::EditRequest request;
    request.kind = kind;
    request.connection = m_shown;
    request.name = name;
    request.acls = zk::openAcl();
    return request;
}

void TreePage::edited(const operate::EditRequest &request, const operate::EditOutcome &outcome)
{
    if (request.connection != m_shown)
        return;
    const bool isOurs =
        m_choice.shown() && operate::isOfZnodes(request.kind) == (m_choice.shown()->scheme == Scheme::ZooKeeper);
    if (!isOurs)
        return;
    m_undo = outcome.undo;
    m_undone = request;
    m_notice->say(outcome.done ? Banner::Look::Ok : Banner::Look::Critical,
                  outcome.done ? u"Done."_s : u"Done in part."_s, harmless(outcome.message, 1000),
                  m_undo ? u"Undo…"_s : QString(), u"Dismiss"_s);
    m_notice->show();
    follow(request, outcome);
}

QAction *TreePage::action(const QString &text) const
{
    for (auto *one : m_tree->actions()) {
        if (one->text() == text)
            return one;
    }
    return nullptr;
}

void TreePage::showLinks(EntryHead &head, const QByteArray &name, bool isPath, const QString &owner)
{
    std::vector<EntryHead::Link> links;
    if (const auto lock = m_links.lockOf(m_shown, name, isPath))
        links.push_back({u"Show its lock"_s, label(lock->text(), 1000), [this, lock] { emit lockActivated(*lock); }});
    if (!owner.isEmpty()) {
        const Subject session{Subject::Kind::Session, m_shown, owner.toUtf8()};
        links.push_back({u"Show its session"_s, owner, [this, session] { emit subjectActivated(session); }});
    }
    head.setLinks(std::move(links));
    updateEdits();
}

// --- which connection ---

void TreePage::setBackend(Backend *backend)
{
    m_backend = backend;
    connect(backend, &Backend::updated, this, [this](const Batch &batch) {
        m_links.apply(batch);
        if (!batch.connections.empty())
            takeStatuses(batch.connections);
    });
}

void TreePage::takeStatuses(const std::vector<ConnectionStatus> &statuses)
{
    const bool isAboutUs = m_choice.take(statuses);
    choose();
    if (!isAboutUs)
        return;
    const bool wasStale = std::exchange(m_isStale, m_banner->show(*m_choice.shown()));
    m_cells->setStale(m_isStale);
    m_tree->viewport()->update();
    updateEdits();
    if (wasStale && !m_isStale)
        cameBack();
    statusesTaken();
}

void TreePage::showConnection(const ConnectionName &name)
{
    m_asked = name;
    m_choice.prefer(name);
    choose();
    showHeader();
}

bool TreePage::turnTo(const ConnectionName &name)
{
    if (m_shown != name) {
        m_choice.prefer(name);
        choose();
    }
    return !name.isEmpty() && m_shown == name;
}

void TreePage::choose()
{
    const auto *status = m_choice.shown();
    m_stack->setCurrentIndex(status ? 1 : 0);
    if (!status || status->name == m_shown)
        return;
    m_shown = status->name;
    m_notice->hide();
    m_isStale = m_banner->show(*status);
    m_cells->setStale(m_isStale);
    connectionChosen(*status);
    updateEdits();
    showHeader();
    emit connectionTurned();
}

void TreePage::useConnections(const ConnectionBook &book)
{
    m_book = &book;
    connect(&book, &ConnectionBook::changed, this, &TreePage::showHeader);
}

// Whose entries these are. Where the chosen connection has none, another one's are shown, and the page says so.
void TreePage::showHeader()
{
    if (m_book)
        showEnvironment(*m_environment, *m_book, m_shown);
    m_environment->setVisible(m_book && !m_shown.isEmpty());
    const bool isOther = !m_asked.isEmpty() && !m_choice.offers(m_asked);
    m_absent->setText(isOther ? u"%1 has no %2"_s.arg(label(m_asked.bytes(), 40), m_words.kind) : QString());
    m_absent->setVisible(isOther);
}

// --- what every page is asked ---

void TreePage::showNoMatch()
{
    const bool isNone =
        !m_filter->text().isEmpty() && m_proxy->rowCount() == 0 && m_proxy->sourceModel()->rowCount() > 0;
    if (isNone)
        m_noMatch->say(u"Nothing matches “%1”"_s.arg(m_filter->text().left(80)), m_words.noMatch,
                       u"Clear the filter"_s);
    m_rows->setCurrentIndex(isNone ? 1 : 0);
}

void TreePage::showNothingText(const QString &title, const QString &text)
{
    m_noMatch->say(title, text);
    m_rows->setCurrentIndex(1);
}

void TreePage::focusContent()
{
    m_tree->setFocus();
    if (!m_tree->currentIndex().isValid())
        m_tree->setCurrentIndex(m_proxy->index(0, 0));
}

constexpr int lineMargin = 2; // QLineEdit's own, which no style sheet takes away

EntryHead::EntryHead(const QString &copy, const QString &accessibleName, QWidget *parent) : QWidget(parent)
{
    m_name = new QLineEdit(this);
    m_name->setReadOnly(true);
    m_name->setFrame(false);
    m_name->setFont(monoFont(15, QFont::DemiBold));
    m_name->setStyleSheet(u"QLineEdit { border: none; padding: 0; background: transparent; }"_s);
    m_name->setTextMargins(-lineMargin, 0, 0, 0);
    m_name->setAccessibleName(accessibleName);
    auto *copyButton = makeButton(copy, this, [this] { copyToClipboard(escaped(m_bytes)); });
    m_edit = named(new QPushButton(u"Edit"_s, this), u"editButton"_s);
    m_edit->hide();
    m_summary = makeWrapped({}, u"small"_s, this);
    m_linkRow = new QWidget(this);
    m_linkLayout = makeRow(m_linkRow, {.spacing = 16}, {Stretch{}});
    m_linkRow->hide();
    m_banner = new QFrame(this);
    m_banner->setProperty("look", u"banner-warning"_s);
    m_bannerText = makeWrapped({}, {}, m_banner);
    makeRow(m_banner, {.margins = {10, 6, 10, 6}}, {m_bannerText});
    auto *top = makeRow({}, {{m_name, 1}, m_edit, copyButton});
    makeColumn(this, {.margins = {16, 12, 16, 8}, .spacing = 6}, {top, m_summary, m_linkRow, m_banner});
    warn({});
}

void EntryHead::setName(const QByteArray &name)
{
    m_bytes = name;
    m_name->setText(label(name, 4000));
    m_name->setCursorPosition(0);
}

void EntryHead::warn(const QString &text)
{
    m_bannerText->setText(text);
    m_banner->setVisible(!text.isEmpty());
}

void EntryHead::setLinks(std::vector<Link> links)
{
    for (auto *button : std::exchange(m_links, {}))
        button->deleteLater();
    for (auto &link : links) {
        auto *button = new QPushButton(link.text, m_linkRow);
        button->setProperty("look", u"link"_s); // its words begin where those above and below do
        button->setToolTip(plainToolTip(link.tip));
        connect(button, &QPushButton::clicked, this, [follow = std::move(link.follow)] { follow(); });
        m_linkLayout->insertWidget(static_cast<int>(m_links.size()), button);
        m_links.push_back(button);
    }
    m_linkRow->setVisible(!m_links.empty());
}

void EntryHead::setEditMenu(QMenu *menu)
{
    m_edit->setMenu(menu);
    m_edit->setVisible(menu != nullptr);
}

} // namespace lockscope::ui

#include "moc_treepage.cpp"
