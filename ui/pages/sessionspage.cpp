// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/sessionspage.h"

#include "core/base/text.h"
#include "ui/models/locksmodel.h"
#include "ui/pages/livetree.h"
#include "ui/parts/notices.h"
#include "ui/theme/theme.h"

#include <QHeaderView>
#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QSplitter>

namespace lockscope::ui {

SessionsPage::SessionsPage(QWidget *parent) : Page(parent)
{
    m_ofConnection = new QSortFilterProxyModel(this);
    m_ofConnection->setFilterKeyColumn(SessionsModel::Connection);
    m_ofConnection->setSourceModel(&m_model);
    m_proxy = new QSortFilterProxyModel(this);
    m_proxy->setFilterRole(SessionsModel::FilterRole);
    m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_proxy->setSortRole(SessionsModel::SortRole);
    m_proxy->setSourceModel(m_ofConnection);

    m_stack = new QStackedWidget(this);
    auto *content = new QWidget(m_stack);
    auto *strip = makeToolStrip(content);
    m_filter = makeFilterField(u"Filter by session, endpoint, client or lock"_s, u"Filter sessions"_s, strip);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_proxy->setFilterFixedString(text);
        m_table->measureAnew();
        say();
    });
    m_status = makeLabel({}, u"muted"_s, strip);
    addParts(*stripLayout(strip), {{m_filter, 2}, Stretch{1}, m_status});

    m_table = new LiveTree(content);
    keepColumns(m_table);
    auto *cells = m_table->becomeTable(u"Sessions"_s);
    cells->setRowHeight(30);
    cells->setMono({SessionsModel::Session, SessionsModel::Endpoint, SessionsModel::Holds, SessionsModel::Waits});
    cells->setMuted({SessionsModel::Connection, SessionsModel::Session, SessionsModel::Client});
    cells->setToneRole(SessionsModel::ToneRole);
    // Heard before the view hears it, which would go on to the row beside: what is told of then is nobody's choice.
    connect(m_proxy, &QAbstractItemModel::rowsAboutToBeRemoved, this,
            [this](const QModelIndex &, int first, int last) {
                if (const int row = m_table->currentIndex().row(); row >= first && row <= last)
                    m_table->selectionModel()->clear();
            });
    m_table->setModel(m_proxy);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(SessionsModel::Holds, Qt::DescendingOrder);
    // In a narrow window the last ones go.
    m_table->setLeastStretched(150);
    m_table->setWidths(SessionsModel::Holds, {{SessionsModel::Endpoint, 160},
                                              {SessionsModel::Waits, 200},
                                              {SessionsModel::Connection, 120},
                                              {SessionsModel::Client, 110},
                                              {SessionsModel::Expires, 118},
                                              {SessionsModel::Session, 160}});
    connect(m_table, &QTreeView::activated, this, &SessionsPage::activate);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &row) {
        if (isChosen(row)) // else it goes, or the view only has the focus again
            showChosen();
    });
    m_detail = new SessionDetail(content);
    m_detail->setMinimumHeight(210);
    connect(m_detail, &SessionDetail::lockActivated, this, &SessionsPage::lockActivated);
    auto *splitter = new QSplitter(Qt::Vertical, content);
    keepSizes(splitter);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_table);
    splitter->addWidget(m_detail);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({380, 380});

    makeColumn(content, {.spacing = 0}, {strip, makeHairline(content), {splitter, 1}});
    auto *empty = new EmptyNotice(m_stack);
    empty->say(
        u"No sessions seen"_s,
        u"Clients appear here as soon as a server reports them. They are a ZooKeeper's sessions with their addresses, the "
        u"Redis clients behind the locks, SQL connections, and etcd's leases. A ZooKeeper reports its sessions only where "
        u"dump and cons are allowed."_s);
    m_stack->addWidget(empty);
    m_stack->addWidget(content);
    makeColumn(this, {}, {m_stack});
}

void SessionsPage::setBackend(Backend *backend)
{
    connect(backend, &Backend::updated, this, &SessionsPage::take);
    m_detail->setBackend(backend);
}

void SessionsPage::take(const Batch &batch)
{
    for (const auto &status : batch.connections)
        m_model.setDown(status.name, status.state != ConnectionStatus::State::Connected);
    if (batch.isJump)
        m_model.forgetPulses();
    if (batch.sessions.empty())
        return;
    m_table->holdPlace();
    m_model.apply(batch.sessions);
    m_table->keepPlace();
    say();
    seek();
    showChosen();
}

void SessionsPage::useLocks(const LocksModel &locks)
{
    const FindLock find = [&locks](const inspect::LockName &name) { return locks.snapshot(name); };
    m_detail->setFind(find);
    m_model.setSelfName([find](const inspect::SessionSnapshot &session) { return selfNameOf(session, find); });
}

// The one that another page asked for.
void SessionsPage::seek()
{
    if (!m_wanted)
        return;
    const int row = m_model.find(m_wanted->connection, QString::fromUtf8(m_wanted->name));
    const auto shown = shownAt(row);
    if (!shown.isValid())
        return;
    m_wanted.reset();
    m_table->setCurrentIndex(shown);
    m_table->scrollTo(shown);
}

bool SessionsPage::showSubject(const Subject &subject)
{
    if (subject.kind != Subject::Kind::Session)
        return false;
    m_filter->clear();
    m_wanted = subject;
    seek();
    return true;
}

void SessionsPage::showChosen()
{
    if (!isVisible())
        return;
    const auto row = m_table->currentIndex();
    if (const auto *session = isChosen(row) ? snapshotAt(row) : nullptr) {
        m_detail->show(*session, m_model.pulseOf(*session), clock().now());
        if (m_model.isDown(session->connection))
            m_detail->setGone(u"Its server is not connected: this is what was seen last."_s);
    } else if (const auto &shown = m_detail->session()) {
        const int known = m_model.find(shown->connection, shown->session);
        if (known < 0 && clock().isElsewhere())
            m_detail->clear(); // what it holds today is not of the past
        else if (known < 0)
            m_detail->setGone(u"This session is not there any more: this is what was seen last."_s);
        else if (const auto again = shownAt(known); again.isValid())
            m_table->setCurrentIndex(again); // it came back
        else
            m_detail->clear(); // it is there, and not in this list
    }
}

bool SessionsPage::isChosen(const QModelIndex &row) const
{
    return row.isValid() && m_table->selectionModel()->isRowSelected(row.row(), row.parent());
}

QModelIndex SessionsPage::shownAt(int row) const
{
    return row < 0 ? QModelIndex() : m_proxy->mapFromSource(m_ofConnection->mapFromSource(m_model.index(row, 0)));
}

void SessionsPage::say()
{
    const int all = m_ofConnection->rowCount();
    m_stack->setCurrentIndex(m_model.rowCount() > 0 ? 1 : 0);
    emit countChanged(m_model.rowCount() > 0 ? countText(m_model.rowCount()) : QString());
    if (m_proxy->rowCount() != all)
        m_status->setText(u"%1 of %2 sessions"_s.arg(countText(m_proxy->rowCount()), countText(all)));
    else
        m_status->setText(all == 1 ? u"1 session"_s : u"%1 sessions"_s.arg(countText(all)));
}

void SessionsPage::showConnection(const ConnectionName &name)
{
    const QString exactly = QRegularExpression::anchoredPattern(QRegularExpression::escape(escaped(name.bytes())));
    m_ofConnection->setFilterRegularExpression(name.isEmpty() ? QString() : exactly);
    say();
}

void SessionsPage::focusContent()
{
    m_table->setFocus();
    if (!m_table->currentIndex().isValid())
        m_table->setCurrentIndex(m_proxy->index(0, 0));
}

const inspect::SessionSnapshot *SessionsPage::snapshotAt(const QModelIndex &row) const
{
    return row.isValid() ? &m_model.at(m_ofConnection->mapToSource(m_proxy->mapToSource(row)).row()) : nullptr;
}

void SessionsPage::activate(const QModelIndex &row)
{
    const auto *session = snapshotAt(row);
    if (!session)
        return;
    // The one that was searched for; else what it waits for, which is why somebody looks; else what it holds.
    const QByteArray *chosen = nullptr;
    const QString wanted = m_filter->text();
    for (const auto *locks : {&session->waits, &session->holds}) {
        const auto found = std::find_if(locks->begin(), locks->end(), [&](const QByteArray &name) {
            return !wanted.isEmpty() && nameText(name).contains(wanted, Qt::CaseInsensitive);
        });
        if (!chosen && found != locks->end())
            chosen = &*found;
    }
    for (const auto *locks : {&session->waits, &session->holds}) {
        if (!chosen && !locks->empty())
            chosen = &locks->front();
    }
    if (chosen)
        emit lockActivated({session->connection, *chosen});
}

void SessionsPage::ticked()
{
    showChosen();
    m_table->viewport()->update();
}

} // namespace lockscope::ui

#include "moc_sessionspage.cpp"
