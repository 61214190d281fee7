// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/sessionspage.h"

#include "core/base/text.h"
#include "ui/models/locksmodel.h"
#include "ui/pages/livetree.h"
#include "ui/parts/notices.h"

#include <QHeaderView>
#include <QPainter>
#include <QPainterPath>
#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QSplitter>

namespace lockscope::ui {

using inspect::SessionSnapshot;

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

// A lease's last minute as a small curve: what is left of its time falls, and jumps up with each renewal.
class PulseView : public QWidget {
    Q_OBJECT
public:
    explicit PulseView(QWidget *parent = nullptr);
    void show(const LeasePulse &pulse, LeasePulse::Time now);
    [[nodiscard]] QSize sizeHint() const override { return {180, 26}; }

private:
    void paintEvent(QPaintEvent *event) override;

    LeasePulse m_pulse;
    LeasePulse::Time m_now;
};

namespace {

constexpr auto pulseSpan = 60s;

qreal seconds(std::chrono::system_clock::duration span)
{
    return std::chrono::duration<qreal>(span).count();
}

constexpr auto askAgainAfter = 5s; // a look costs the server something
constexpr int mostOfStatement = 600;

bool isSqlSession(const FindLock &find, const SessionSnapshot &session)
{
    for (const auto *names : {&session.holds, &session.waits}) {
        for (const auto &name : *names) {
            if (const auto *lock = find({session.connection, name}))
                return lock->backend == BackendKind::MariaDb;
        }
    }
    return !session.session.startsWith(u"0x"_s);
}

} // namespace

PulseView::PulseView(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(u"Lease pulse"_s);
}

void PulseView::show(const LeasePulse &pulse, LeasePulse::Time now)
{
    m_pulse = pulse;
    m_now = now;
    setAccessibleDescription(pulse.text(now));
    setToolTip(u"The last 60 s: what was left of the lease, and each renewal that was seen"_s);
    update();
}

void PulseView::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = QRectF(rect()).adjusted(2, 3, -2, -3);
    painter.setPen(t.line);
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    const auto &beats = m_pulse.beats();
    qreal most = 1;
    for (const auto &beat : beats)
        most = std::max(most, seconds(beat.expires - beat.at));
    const auto place = [&](LeasePulse::Time at, qreal left) {
        return QPointF(area.right() - seconds(m_now - at) / seconds(pulseSpan) * area.width(),
                       area.bottom() - std::max(0.0, left) / most * area.height());
    };
    painter.setClipRect(area.adjusted(-1, -2, 1, 2));
    QPainterPath curve;
    for (std::size_t i = 0; i < beats.size(); ++i) {
        const auto until = i + 1 < beats.size() ? beats[i + 1].at : m_now;
        const auto from = place(beats[i].at, seconds(beats[i].expires - beats[i].at));
        if (i == 0)
            curve.moveTo(from);
        else
            curve.lineTo(from);
        curve.lineTo(place(until, seconds(beats[i].expires - until)));
    }
    painter.setPen(QPen(t.hold, 1.6));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(curve);
}

SessionDetail::SessionDetail(QWidget *parent) : QWidget(parent)
{
    m_stack = new QStackedWidget(this);
    m_empty = new EmptyNotice(m_stack);
    auto *content = new QWidget(m_stack);
    // No text, however long, takes the room of the locks.
    const auto words = [content](const QString &look, int mostLines) {
        auto *label = makeLabel({}, look, content);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setWordWrap(mostLines > 1);
        label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
        label->setMaximumHeight(mostLines * (label->fontMetrics().lineSpacing() + 2));
        return label;
    };
    m_title = words({}, 1);
    m_title->setMaximumHeight(QWIDGETSIZE_MAX);
    m_title->setFont(monoFont(15, QFont::DemiBold));
    m_title->setObjectName(u"sessionTitle"_s);
    m_who = words(u"muted"_s, 2);
    m_who->setObjectName(u"sessionWho"_s);
    m_gone = words(u"muted"_s, 1);
    m_end = words({}, 2);
    m_end->setObjectName(u"sessionEnd"_s);
    m_end->setFont(textFont(13, QFont::DemiBold));
    m_doingBox = new QWidget(content);
    m_doing = words(u"muted"_s, 3);
    m_doing->setObjectName(u"sessionDoing"_s);
    m_statement = words({}, 4);
    m_statement->setObjectName(u"sessionStatement"_s);
    m_statement->setFont(monoFont(12));
    makeColumn(m_doingBox, {.spacing = 2}, {m_doing, m_statement});
    m_lease = new QWidget(content);
    m_pulse = new PulseView(m_lease);
    m_beats = words(u"muted"_s, 1);
    m_beats->setObjectName(u"sessionPulse"_s);
    m_table = new LiveTree(content);
    auto *cells = m_table->becomeTable(u"Locks of the session"_s);
    cells->setMono({SessionLocksModel::Lock, SessionLocksModel::Next});
    cells->setToneRole(SessionLocksModel::ToneRole);
    m_table->setModel(&m_model);
    m_table->setWidths(
        SessionLocksModel::Lock,
        {{SessionLocksModel::Place, 120}, {SessionLocksModel::Age, 100}, {SessionLocksModel::Next, 300}});
    connect(m_table, &QTreeView::activated, this, [this](const QModelIndex &row) {
        if (row.isValid())
            emit lockActivated(m_model.at(row.row()).lock);
    });
    // Not a layout alone: one in which all is hidden takes what room there is (Qt 6.4).
    makeRow(m_lease, {.spacing = 10}, {m_pulse, {m_beats, 1}});
    auto *head =
        makeColumn({.margins = {14, 10, 14, 8}, .spacing = 4}, {m_title, m_who, m_gone, m_end, m_doingBox, m_lease});
    makeColumn(content, {.spacing = 0}, {head, makeHairline(content), {m_table, 1}});
    m_stack->addWidget(m_empty);
    m_stack->addWidget(content);
    makeColumn(this, {}, {m_stack});
    clear();
}

void SessionDetail::clear()
{
    m_session.reset();
    m_empty->say(
        u"Choose a session"_s,
        u"You will see what it holds and who inherits it, what it waits for, and what falls when it ends."_s);
    m_stack->setCurrentIndex(0);
}

void SessionDetail::setGone(const QString &why)
{
    m_gone->setText(why);
    m_gone->setVisible(!why.isEmpty());
}

void SessionDetail::show(const SessionSnapshot &session, const LeasePulse &pulse, SystemTime now)
{
    const bool isAnother =
        !m_session || m_session->connection != session.connection || m_session->session != session.session;
    m_session = session;
    m_title->setText(label(session.session.toUtf8(), 80) + u" · "_s + label(session.connection.bytes(), 40));
    QStringList who{session.endpoint ? u"from "_s + label(session.endpoint->toUtf8(), 120) : u"host unknown"_s};
    QStringList names; // what it wrote about itself
    bool isAccount = false;
    for (const auto *locks : {&session.holds, &session.waits}) {
        for (const auto &name : *locks) {
            const auto *lock = m_find ? m_find({session.connection, name}) : nullptr;
            const auto one = lock ? std::ranges::find(lock->contenders, std::optional(session.session),
                                                      &inspect::Contender::session)
                                  : std::vector<inspect::Contender>::const_iterator();
            isAccount |= lock && infoOf(lock->backend).isIdentityAnAccount;
            if (lock && one != lock->contenders.end() && one->identity && !isAccount)
                names << u"“%1”"_s.arg(inspect::nameLabel(*one->identity));
            if (lock && one != lock->contenders.end() && one->program)
                names << u"program “%1”"_s.arg(inspect::nameLabel(*one->program));
        }
    }
    names.removeDuplicates();
    if (session.client && !session.client->isEmpty())
        who << (isAccount ? u"user "_s : u"client "_s) + label(session.client->toUtf8(), 120);
    constexpr qsizetype mostNames = 3;
    if (!names.isEmpty())
        who << u"writes "_s + names.mid(0, mostNames).join(u", "_s);
    m_who->setText(who.join(u" · "_s));
    setGone({});
    m_pulse->show(pulse, now);
    m_lease->setVisible(!pulse.beats().empty());
    m_beats->setText(u"Lease: "_s + pulse.text(now));
    auto facts = sessionFactsOf(*m_session, m_find, now);
    m_end->setText(facts.ifItEnds);
    m_model.setLocks(std::move(facts.locks));
    if (isAnother) {
        m_table->scrollToTop();
        m_doingBox->hide();
    }
    if (isAnother || std::chrono::steady_clock::now() - m_asked > askAgainAfter)
        refresh();
    m_stack->setCurrentIndex(1);
}

void SessionDetail::refresh()
{
    const bool isGone = !m_gone->text().isEmpty(); // a server that was started again gives its number to another
    if (!m_backend || !m_session || isGone || !isSqlSession(m_find, *m_session))
        return;
    m_asked = std::chrono::steady_clock::now();
    const auto asked = std::pair(m_session->connection, m_session->session);
    m_backend->ask(ReadSession{asked.first, asked.second}, this, [this, asked](const Result<SessionDoing> &answer) {
        if (m_session && asked == std::pair(m_session->connection, m_session->session))
            take(answer);
    });
}

void SessionDetail::take(const Result<SessionDoing> &answer)
{
    const bool isTold = answer || answer.error().code != ErrorCode::Unsupported;
    m_doingBox->setVisible(isTold);
    if (!answer) {
        m_doing->setText(u"Its activity is not known: %1"_s.arg(harmless(answer.error().message, 300)));
        m_statement->hide();
        return;
    }
    QStringList parts;
    const auto since = answer->inState ? u" for "_s + formatDuration(*answer->inState) : QString();
    parts << (answer->isRunning ? u"Runs a statement"_s + since : u"Idle"_s + since);
    if (answer->isRunning && !answer->state.isEmpty())
        parts << label(answer->state, 80);
    if (answer->transactionAge)
        parts << u"transaction open for %1, rows modified: %2, locked: %3"_s
                     .arg(formatDuration(*answer->transactionAge))
                     .arg(answer->rowsModified)
                     .arg(answer->rowsLocked);
    for (const auto &gap : answer->gaps)
        parts << harmless(gap, 300);
    // Asked now and then only, and by now it may be over; what it holds, below, is of another look.
    parts << u"as of "_s + timeOfDay(programClock().now()).toString(u"HH:mm:ss"_s);
    m_doing->setText(parts.join(u" · "_s));
    m_statement->setVisible(!answer->statement.isEmpty());
    m_statement->setText((answer->isRunning ? u"now: "_s : u"last: "_s) + label(answer->statement, mostOfStatement));
    m_doing->setToolTip(plainToolTip(m_doing->text()));
    m_statement->setToolTip(plainToolTip(m_statement->text()));
}

} // namespace lockscope::ui

#include "moc_sessionspage.cpp"
#include "sessionspage.moc"
