// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/lockspage.h"

#include "core/base/text.h"
#include "ui/views/incidentlist.h"

#include <QButtonGroup>
#include <QHeaderView>
#include <QSplitter>
#include <QStyle>
#include <QVBoxLayout>

namespace lockscope::ui {

using inspect::LockName;

constexpr int ticksPerRanking = 10;

namespace {

QString waitingText(const auto &waiting)
{
    QString text = waiting.rows == 1 ? LocksPage::tr("↕ 1 row to re-sort")
                                     : LocksPage::tr("↕ %1 rows to re-sort").arg(waiting.rows);
    if (waiting.fresh == waiting.rows) // which are counted above and not in the list
        text = waiting.rows == 1 ? LocksPage::tr("↕ 1 new row waits")
                                 : LocksPage::tr("↕ %1 new rows wait").arg(waiting.rows);
    else if (waiting.fresh > 0)
        text += LocksPage::tr(", %1 new").arg(waiting.fresh);
    if (waiting.critical > 0)
        text += LocksPage::tr(", %1 critical").arg(waiting.critical);
    return text;
}

} // namespace

LocksPage::LocksPage(const ConnectionBook &book, QWidget *parent)
    : Page(parent), m_book(book), m_banners(new BrokenBanners(this)), m_holds(new HoldsPanel(this)),
      m_gaps(new GapsLine(this)), m_incidents(new IncidentList(this)), m_splitter(new QSplitter(Qt::Vertical, this)),
      m_stack(new QStackedWidget(this)), m_table(new LocksTable(m_model, m_stack)),
      m_share(new ListShare(*m_splitter, *m_table)), m_empty(new EmptyNotice(m_stack)),
      m_start(new StartPage(book, this)), m_detail(new LockDetail(m_splitter)),
      m_watch([this] { return incidentQuestion(); })
{
    connect(m_banners, &BrokenBanners::retryRequested, this, &LocksPage::retryRequested);
    connect(m_banners, &BrokenBanners::editRequested, this, &LocksPage::editRequested);
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);
    auto *list = new QWidget(m_splitter);
    makeColumn(list, {.spacing = 0}, {makeChips(), m_incidents, {m_stack, 1}, m_gaps});
    m_splitter->addWidget(list);
    m_splitter->addWidget(m_detail);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setStretchFactor(0, 1);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setSizes({410, 370});
    m_stack->setMinimumHeight(120);
    m_detail->setMinimumHeight(234); // an answer of two lines, its buttons, a finding, and the head of the queue
    makeColumn(this, {.spacing = 0}, {m_banners, m_holds, {m_splitter, 1}, {m_start, 1}});

    m_model.setClock([this] { return clock().now(); });
    m_holds->setClock([this] { return clock().now(); });
    connect(m_table, &LocksTable::chosen, this, [this] {
        m_hasChosen = true;
        showSnapshot();
    });
    connect(m_incidents, &IncidentList::chosen, this, &LocksPage::showIncident);
    connect(m_incidents, &IncidentList::actRequested, this, &LocksPage::actOn);
    connect(m_gaps, &GapsLine::moreRequested, this, &LocksPage::findingsRequested);
    connect(m_incidents, &IncidentList::moreRequested, this, &LocksPage::findingsRequested);
    connect(&m_watch, &IncidentWatch::incidentsChanged, this, &LocksPage::showIncidents);
    connect(m_table, &QTableView::pressed, this, [this] { m_hasChosen = true; });
    connect(m_table, &LocksTable::opened, m_detail, &LockDetail::focusQueue);
    connect(m_table, &LocksTable::orderChanged, this, &LocksPage::showOrder);
    connect(&m_model, &LocksModel::countsChanged, this, &LocksPage::showCounts);
    connect(&m_model, &LocksModel::applied, this, [this] {
        followList();
        showEmptyNotice();
        m_share->divide();
        m_watch.changed();
        followWorst();
    });
    connect(&m_model, &LocksModel::waitingChanged, this, &LocksPage::showWaiting);
    connect(m_table, &LocksTable::inUseChanged, this, &LocksPage::holdOrder);
    m_model.setAim([this] { return m_table->aimedRow(); });
    connect(&m_model, &LocksModel::snapshotChanged, this, [this](const LockName &lock) {
        if (m_table->isAwaited(lock))
            m_model.settle();
        if (m_table->currentLock() == lock)
            showSnapshot();
    });
    connect(&book, &ConnectionBook::staleChanged, this, &LocksPage::onStale);
    connect(&book, &ConnectionBook::changed, this, [this] {
        showGroups();
        showIncidents();
        m_watch.changed(); // what is not seen, and deadlocks that are over, come with it
        showBroken();
        showEmptyNotice();
    });
    connect(m_detail, &LockDetail::incidentActRequested, this, &LocksPage::actOn);
    connect(m_detail, &LockDetail::acquireRequested, this, &LocksPage::acquireRequested);
    connect(m_detail, &LockDetail::momentActivated, this, &LocksPage::momentActivated);
    connect(m_detail, &LockDetail::forceReleaseRequested, this, &LocksPage::forceReleaseRequested);
    connect(m_empty, &EmptyNotice::actionRequested, this, [this] { m_emptyFirst(); });
    connect(m_empty, &EmptyNotice::secondRequested, this, [this] { m_emptySecond(); });
    connect(m_start, &StartPage::demoRequested, this, &LocksPage::askForDemo);
    connect(m_holds, &HoldsPanel::changed, this, [this] {
        m_model.setMine(m_holds->locks());
        showOwn();
    });
    connect(m_detail, &LockDetail::releaseRequested, this, [this](const QByteArray &contender) {
        const auto own = m_holds->contendersIn(m_detail->snapshot()->lock);
        if (own.contains(contender))
            emit m_holds->releaseRequested(own.value(contender));
    });
    connect(m_holds, &HoldsPanel::lockActivated, this, &LocksPage::selectLock);
    m_detail->setClock([this] {
        const auto *lock = m_detail->snapshot();
        return m_model.nowOf(lock ? lock->lock.connection : ConnectionName());
    });
    showOrder();
    showCounts();
    showEmptyNotice();
}

QWidget *LocksPage::makeChips()
{
    auto *strip = new QWidget(this);
    auto *row = makeRow(strip, {.margins = {12, 8, 12, 8}, .spacing = 8}, {});
    m_chips = new QButtonGroup(this);
    const std::array tips{
        tr("Every lock of the chosen connection that the find field finds"), tr("Locks with waiters"),
        tr("Locks with a critical finding, which does not resolve by itself"),
        tr("Those whose worst finding is a warning"), tr("Those that this window holds or waits for")};
    for (int chip = 0; chip <= static_cast<int>(LocksModel::Chip::Mine); ++chip) {
        auto *button = makeChip({}, strip);
        button->setToolTip(tips[static_cast<std::size_t>(chip)]);
        button->setChecked(chip == 0);
        m_chips->addButton(button, chip);
        row->addWidget(button);
    }
    m_chips->button(static_cast<int>(LocksModel::Chip::Critical))->setProperty("tone", u"critical"_s);
    m_chips->button(static_cast<int>(LocksModel::Chip::Warning))->setProperty("tone", u"warning"_s);
    connect(m_chips, &QButtonGroup::idClicked, this, [this](int chip) {
        m_model.setChip(static_cast<LocksModel::Chip>(chip));
        leaveHidden();
        showChips();
    });
    row->addStretch();
    m_resort = named(makeButton({}, strip, &m_model, &LocksModel::settle, u"flat"_s), u"resort"_s);
    m_resort->setToolTip(
        tr("Rows stay where they are while the pointer is over them, and for two seconds after a key"));
    // It comes and goes while the pointer is over the rows, which must not move for it.
    auto policy = m_resort->sizePolicy();
    policy.setVerticalPolicy(QSizePolicy::Ignored);
    m_resort->setSizePolicy(policy);
    m_resort->hide();
    row->addWidget(m_resort);
    m_sortBy = makeSortBy(strip);
    row->addWidget(m_sortBy);
    return strip;
}

void LocksPage::setBackend(Backend *backend)
{
    m_backend = backend;
    equip(*m_detail);
    connect(backend, &Backend::updated, this, &LocksPage::apply);
    connect(backend, &Backend::holdChanged, m_holds, &HoldsPanel::setHold);
    connect(m_holds, &HoldsPanel::releaseRequested, backend,
            [backend](quint64 id) { backend->execute(ReleaseHold{id}); });
}

void LocksPage::equip(LockDetail &detail) const
{
    detail.setBackend(m_backend);
    detail.setSurroundings([this](NoteFacts &facts) {
        facts.coverage = m_book.coverageOf(facts.connection.name);
        if (const auto *status = m_book.find(facts.connection.name)) {
            facts.connection.uri = status->uri;
            facts.connection.production = status->production;
            facts.connection.isConnected = status->state == ConnectionStatus::State::Connected;
        }
    });
    detail.setHeldWith([this](const inspect::LockSnapshot &lock) { return heldWith(lock, m_model.all()); });
}

void LocksPage::setClock(LocksModel::Clock source)
{
    clock().setSource(std::move(source));
    m_model.rank();
}

void LocksPage::showConnection(const ConnectionName &name)
{
    m_connection = name;
    m_model.setConnection(name);
    leaveHidden();
    showIncidents();
    showBroken();
    showEmptyNotice();
}

void LocksPage::freeze(std::optional<std::chrono::system_clock::time_point>)
{
    m_detail->setPast(clock().isElsewhere());
    m_incidents->setPast(clock().isElsewhere());
    m_watch.reset();
    const bool wasElsewhere = std::exchange(m_isElsewhere, clock().isElsewhere());
    const auto current = m_table->currentLock();
    const bool isThere = current && m_model.snapshot(*current);
    if (wasElsewhere && !m_isElsewhere && !isThere)
        m_detail->clear(); // it shows the lock as it was then
    if (!m_detail->snapshot() || !isThere)
        showSnapshot(); // what it says of a lock that is not there depends on the moment
}

void LocksPage::setChip(LocksModel::Chip chip)
{
    m_chips->button(static_cast<int>(chip))->setChecked(true);
    m_model.setChip(chip);
    showChips();
}

// After somebody narrowed the list: the choice goes where the list still is, and the detail and the actions with it.
void LocksPage::leaveHidden()
{
    m_table->leaveHidden();
    followList();
}

// The detail shows what is chosen in the list, and nothing else.
void LocksPage::followList()
{
    const auto current = m_table->currentLock();
    const auto *shown = m_detail->snapshot();
    if (shown ? shown->lock != current : current && m_model.snapshot(*current))
        showSnapshot();
}

void LocksPage::holdOrder()
{
    // Until the first look is through the list is only being made.
    m_model.setOrderHeld(!m_book.isLooking() && m_table->isInUse());
}

void LocksPage::showWaiting()
{
    const auto waiting = m_model.waiting();
    m_resort->setText(waitingText(waiting));
    m_resort->setVisible(waiting.rows > 0);
    const auto tone = waiting.critical > 0 ? u"critical"_s : QString();
    setStyleProperty(m_resort, "tone", tone);
}

void LocksPage::removeConnection(const ConnectionName &name)
{
    m_model.removeConnection(name);
    showBroken();
}

void LocksPage::setFilter(const QString &text)
{
    m_filter = text.trimmed();
    m_model.setText(text);
    leaveHidden();
    showEmptyNotice();
}

void LocksPage::focusContent()
{
    if (!m_start->isHidden())
        return m_start->focusContent();
    if (m_stack->currentWidget() == m_empty)
        return m_empty->focusAction();
    m_table->setFocus(Qt::OtherFocusReason);
    chooseFirst();
}

// In the order of the house, the worst.
void LocksPage::chooseFirst()
{
    if (m_table->currentLock() || m_model.rowCount() == 0)
        return;
    m_table->setCurrentLock(m_model.snapshotAt(m_model.worstRow()).lock, true);
    showSnapshot();
    followWorst();
}

bool LocksPage::showSubject(const Subject &subject)
{
    if (subject.kind != Subject::Kind::Lock)
        return false;
    selectLock({subject.connection, subject.name});
    return true;
}

void LocksPage::selectLock(const LockName &lock)
{
    if (m_model.rowOf(lock) < 0) {
        emit filterCleared(); // whoever asks for it wants to see it
        m_model.settle();
    }
    m_table->seek(lock);
    m_hasChosen = true;
    showSnapshot();
}

void LocksPage::showSnapshot()
{
    const auto current = m_table->currentLock();
    const auto *snapshot = current ? m_model.snapshot(*current) : nullptr;
    if (snapshot) {
        m_detail->setSnapshot(*snapshot);
        showOwn();
        m_detail->setStale(m_model.isFrozen(current->connection));
    } else if (current && clock().isElsewhere()) {
        m_detail->showAbsent(*current);
    } else if (current && m_detail->snapshot() && m_detail->snapshot()->lock == *current) {
        m_detail->setGone();
    } else {
        m_detail->clear();
    }
    m_detail->setIncident(current ? m_watch.incidentOf(*current) : nullptr);
    m_incidents->setCurrentLock(current);
    emit currentLockChanged();
}

void LocksPage::showOwn()
{
    const auto *shown = m_detail->snapshot();
    const auto own = shown ? m_holds->contendersIn(shown->lock).keys() : QList<QByteArray>();
    m_detail->setOwn(QSet<QByteArray>(own.begin(), own.end()));
}

void LocksPage::showCounts()
{
    const auto &counts = m_model.counts();
    const auto say = [this](LocksModel::Chip chip, const QString &word, int count) {
        m_chips->button(static_cast<int>(chip))->setText(word + u' ' + QLocale(QLocale::English).toString(count));
    };
    say(LocksModel::Chip::All, tr("All"), counts.all);
    say(LocksModel::Chip::Contended, tr("Contended"), counts.contended);
    say(LocksModel::Chip::Critical, tr("Critical"), counts.critical);
    say(LocksModel::Chip::Warning, tr("Warning"), counts.warning);
    say(LocksModel::Chip::Mine, tr("Mine"), counts.mine);
    const int total = m_model.total();
    emit countChanged(total > 0 ? QLocale(QLocale::English).toString(total) : QString());
}

void LocksPage::showOrder()
{
    const int column = m_table->horizontalHeader()->sortIndicatorSection();
    const bool isWorstFirst = column < 0 || column >= LockRow::ColumnCount;
    const auto title = m_model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    m_sortBy->setToolTip(isWorstFirst ? tr("sorted by severity, then Σ waiting")
                                      : tr("sorted by %1").arg(title.toLower()));
    m_sortBy->setText(u"%1 ▾"_s.arg(isWorstFirst ? tr("Worst first") : title));
}

void LocksPage::onStale(const ConnectionName &name, bool stale)
{
    const auto *status = m_book.find(name);
    m_model.setFrozen(name, stale && status ? std::optional(status->asOf) : std::nullopt);
    m_table->viewport()->update();
    const auto current = m_table->currentLock();
    if (current && current->connection == name)
        m_detail->setStale(stale);
}

void LocksPage::ticked()
{
    holdOrder();
    if (++m_ticks % ticksPerRanking == 0)
        m_model.rank();
    if (!m_watch.incidents().empty())
        m_watch.changed(); // their ages go on
    showGroups();
    const auto [first, last] = m_table->visibleRows();
    m_model.tick(first, last);
    m_detail->tick();
    m_holds->setEnabled(!clock().isElsewhere()); // what is had is had now
    if (!clock().isElsewhere())
        m_holds->tick();
}

void LocksPage::saveView(QSettings &settings) const
{
    if (!m_isWide)
        m_share->save(settings, u"locks/splitter"_s);
    settings.setValue(u"locks/sideBySide"_s, m_isWide ? m_splitter->saveState() : m_wideSizes);
}

void LocksPage::restoreView(QSettings &settings)
{
    m_isWide = false; // which turns the splitter below, when the page has its size
    m_share->restore(settings, u"locks/splitter"_s);
    m_wideSizes = settings.value(u"locks/sideBySide"_s).toByteArray();
    arrange();
}

} // namespace lockscope::ui

#include "moc_lockspage.cpp"
