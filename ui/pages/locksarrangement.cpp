// SPDX-License-Identifier: Apache-2.0
// The page of locks: how list and lock stand to each other, the heads of its groups, and the incidents above them.
// And without a lock to show: why there is none, and what can be done about it.
#include "core/base/text.h"
#include "ui/pages/lockspage.h"
#include "ui/parts/tabletools.h"
#include "ui/views/incidentlist.h"

#include <QApplication>
#include <QButtonGroup>
#include <QEvent>
#include <QResizeEvent>
#include <QSplitter>

namespace lockscope::ui {

using inspect::Incident;
using inspect::LockName;

namespace {

constexpr int wideFrom = 1200; // of the window
constexpr int lowPageBelow = 640;
constexpr int listShareOfWidth = 40; // percent

// The columns have no titles to click on.
void fillOrders(QMenu &menu, LocksTable &table)
{
    menu.clear();
    auto *header = table.horizontalHeader();
    menu.addAction(LocksPage::tr("Worst first"), header,
                   [header] { header->setSortIndicator(-1, Qt::AscendingOrder); });
    for (int column = 0; column < LockRow::Connection; ++column) {
        const auto title = table.model()->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        const auto first = table.model()->headerData(column, Qt::Horizontal, Qt::InitialSortOrderRole).toInt();
        menu.addAction(title, header, [header, column, first] {
            header->setSortIndicator(column, static_cast<Qt::SortOrder>(first));
        });
    }
    menu.addSeparator();
    menu.addAction(LocksPage::tr("Columns of copies and exports…"), &table,
                   [&table] { table.tools().openChooser(QCursor::pos()); });
}

QString progressText(const ConnectionStatus &status)
{
    const auto &progress = status.progress;
    const QLocale english(QLocale::English);
    const auto name = label(status.name.bytes(), 60);
    return progress.total > 0
               ? LocksPage::tr("%1: %2 of %3 read (%4)")
                     .arg(name, english.toString(progress.done), english.toString(progress.total), progress.how)
               : LocksPage::tr("%1: %2").arg(name, progress.how);
}

} // namespace

ListShare::ListShare(QSplitter &splitter, QTableView &list) : QObject(&splitter), m_splitter(splitter), m_list(list)
{
    connect(&splitter, &QSplitter::splitterMoved, this,
            [this] { m_isTheirs |= m_splitter.orientation() == Qt::Vertical; });
    splitter.installEventFilter(this);
}

int ListShare::neededHeight() const
{
    const int above = m_list.isVisible() ? m_splitter.widget(0)->height() - m_list.height() : 0;
    return above + m_list.verticalHeader()->length() + 2 * m_list.frameWidth();
}

bool ListShare::isDetailInUse() const
{
    const auto *detail = m_splitter.widget(1);
    const auto *focus = QApplication::focusWidget();
    return detail->underMouse() || (focus && detail->isAncestorOf(focus));
}

void ListShare::divide()
{
    const auto sizes = m_splitter.sizes();
    const int whole = sizes[0] + sizes[1];
    if (m_isTheirs || m_splitter.orientation() != Qt::Vertical || whole <= 0 || m_list.model()->rowCount() == 0
        || isDetailInUse())
        return;
    const int least = m_splitter.widget(0)->minimumHeight();
    const int ofList = std::clamp(neededHeight(), least, std::max(least, whole / 2));
    if (ofList != sizes[0])
        m_splitter.setSizes({ofList, whole - ofList});
}

void ListShare::save(QSettings &settings, const QString &key) const
{
    if (m_isTheirs)
        settings.setValue(key, m_splitter.saveState());
}

void ListShare::restore(QSettings &settings, const QString &key)
{
    m_isTheirs = m_splitter.restoreState(settings.value(key).toByteArray());
}

bool ListShare::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize) // which it has not heard of itself yet
        QMetaObject::invokeMethod(this, &ListShare::divide, Qt::QueuedConnection);
    return QObject::eventFilter(watched, event);
}

QPushButton *LocksPage::makeSortBy(QWidget *parent)
{
    auto *button = named(new QPushButton(parent), u"sortBy"_s);
    button->setProperty("look", u"flat"_s);
    button->setMenu(new QMenu(button));
    connect(button->menu(), &QMenu::aboutToShow, this,
            [this, menu = button->menu()] { fillOrders(*menu, *m_table); });
    return button;
}

void LocksPage::resizeEvent(QResizeEvent *event)
{
    Page::resizeEvent(event);
    arrange();
}

void LocksPage::arrange()
{
    const bool isWide = window()->width() >= wideFrom;
    m_incidents->setLow(!isWide || height() < lowPageBelow);
    if (std::exchange(m_isWide, isWide) == isWide)
        return;
    auto &other = isWide ? m_stackedSizes : m_wideSizes;
    other = m_splitter->saveState();
    showChips();
    m_chips->button(0)->parentWidget()->layout()->activate(); // the list has its least width before it is divided
    m_splitter->setOrientation(isWide ? Qt::Horizontal : Qt::Vertical);
    m_splitter->setStretchFactor(0, isWide ? listShareOfWidth : 1); // as the page grows to its size
    m_splitter->setStretchFactor(1, isWide ? 100 - listShareOfWidth : 1);
    const auto &kept = isWide ? m_wideSizes : m_stackedSizes;
    if (kept.isEmpty() || !m_splitter->restoreState(kept))
        m_splitter->setSizes({listShareOfWidth * 10, (100 - listShareOfWidth) * 10});
    m_detail->setTall(isWide);
    m_share->divide();
    showGroups();
    followWorst();
}

// Side by side the incidents stand above the list instead; what filters it is seen all the same.
void LocksPage::showChips()
{
    for (const auto chip : {LocksModel::Chip::Critical, LocksModel::Chip::Warning}) {
        auto *button = m_chips->button(static_cast<int>(chip));
        button->setVisible(!m_isWide || button->isChecked());
    }
}

IncidentWatch::Question LocksPage::incidentQuestion() const
{
    return {locksOfIncidents(m_model.all()),
            m_backend ? m_backend->clientLabels() : std::vector<inspect::ClientLabel>(), m_book.coverage(),
            clock().now()};
}

// Those of the chosen connection.
void LocksPage::showIncidents()
{
    std::vector<Incident> shown;
    std::ranges::copy_if(m_watch.incidents(), std::back_inserter(shown), [this](const Incident &incident) {
        return m_connection.isEmpty() || std::ranges::any_of(incident.locks, [this](const LockName &lock) {
                   return lock.connection == m_connection;
               });
    });
    m_incidents->setIncidents(shown);
    m_gaps->say(inspect::gapsIn(m_connection.isEmpty() ? m_book.coverage() : m_book.coverageOf(m_connection)));
    if (const auto current = m_table->currentLock())
        m_detail->setIncident(m_watch.incidentOf(*current));
    followWorst();
    emit incidentsChanged();
}

// Until the user clicks or presses a key here, the worst is chosen.
void LocksPage::followWorst()
{
    const auto *focus = window()->focusWidget();
    const bool isDetailInUse = m_detail->underMouse() || (focus && m_detail->isAncestorOf(focus));
    if (m_hasChosen || m_table->isInUse() || isDetailInUse || clock().isElsewhere() || m_book.isLooking()
        || m_model.rowCount() == 0)
        return;
    const auto *worst = m_incidents->entries().empty() ? nullptr : &m_incidents->entries().front()->incident();
    const int row = worst && !worst->locks.empty() ? m_model.rowOf(worst->locks.front()) : m_model.worstRow();
    if (row < 0 || m_model.snapshotAt(row).lock == m_table->currentLock())
        return;
    m_table->setCurrentLock(m_model.snapshotAt(row).lock, true);
    showSnapshot();
}

// By value: choosing another lock says other incidents.
void LocksPage::showIncident(Incident incident)
{
    const auto *place = placeToRelease(incident);
    const auto lock = place ? place->lock : incident.locks.empty() ? LockName() : incident.locks.front();
    if (!m_model.snapshot(lock))
        return; // it is over
    selectLock(lock);
    if (place)
        m_detail->chooseContender(place->contender);
}

// The form opens only for the contender that the incident names, while it holds the lock.
void LocksPage::actOn(Incident incident)
{
    showIncident(incident);
    const auto *place = placeToRelease(incident);
    if (!place)
        emit askRequested(incident);
    const auto *lock = place ? m_model.snapshot(place->lock) : nullptr;
    const auto *contender = lock ? lock->find(place->contender) : nullptr;
    if (contender && contender->role == inspect::Role::Holder && m_detail->releaseDisabledReason().isEmpty())
        emit forceReleaseRequested();
}

void LocksPage::askForDemo()
{
    m_isFilling = true;
    showEmptyNotice();
    emit demoRequested();
}

void LocksPage::showFilled()
{
    m_isFilling = false;
    showEmptyNotice();
    chooseFirst();
}

void LocksPage::showEmptyNotice()
{
    const bool isStart = !m_isFilling && !clock().isElsewhere() && m_start->isNeeded();
    const auto *focus = window()->focusWidget();
    const bool losesFocus = !isStart && focus && m_start->isAncestorOf(focus);
    m_splitter->setVisible(!isStart);
    m_banners->setVisible(!isStart); // a card reports its own failure
    if (losesFocus) {
        m_stack->setCurrentWidget(m_model.rowCount() > 0 ? static_cast<QWidget *>(m_table) : m_empty);
        m_stack->currentWidget()->setFocus();
    }
    if (m_start->isHidden() == isStart) {
        m_start->setVisible(isStart);
        layout()->activate(); // what divides the room between list and lock has to know it
    }
    if (isStart)
        return;
    m_detail->setVisible(!m_book.all().empty());
    if (m_model.rowCount() > 0) {
        m_stack->setCurrentWidget(m_table);
        if (isVisible() && !window()->focusWidget())
            m_table->setFocus(); // nothing else wants the keyboard yet
        return;
    }
    const ConnectionStatus *looking = nullptr;
    const ConnectionStatus *unconnected = nullptr;
    bool isSandbox = false;
    for (const auto &status : m_book.all()) {
        if (!m_connection.isEmpty() && status.name != m_connection)
            continue;
        isSandbox |= m_book.sandbox().contains(status.name);
        if (status.state != ConnectionStatus::State::Connected)
            unconnected = &status;
        else if (!status.progress.firstSnapshotComplete)
            looking = &status;
    }
    if (!m_book.all().empty())
        return showEmptyText(looking, unconnected, isSandbox);
    offer(tr("The sandbox is starting…"), tr("Its demo locks appear here in a few seconds."));
}

void LocksPage::offer(const QString &title, const QString &text, const QString &action, std::function<void()> act,
                      const QString &second, std::function<void()> actSecond)
{
    m_emptyFirst = std::move(act);
    m_emptySecond = std::move(actSecond);
    m_empty->say(title, text, action, second);
    m_stack->setCurrentWidget(m_empty);
}

void LocksPage::showEmptyText(const ConnectionStatus *looking, const ConnectionStatus *unconnected, bool isSandbox)
{
    const QLocale english(QLocale::English);
    if (m_model.total() > 0) {
        const QString all = english.toString(m_model.total());
        offer(m_filter.isEmpty() ? tr("None of %1 locks is in this view").arg(all)
                                 : tr("No lock matches “%1”").arg(m_filter.left(80)),
              tr("The find field looks into lock names, recipes, sessions, hosts and contenders' ids."),
              tr("Show all"), [this] { emit filterCleared(); });
    } else if (looking) {
        offer(tr("Looking for locks…"), progressText(*looking));
    } else if (unconnected) {
        const bool isSaidAbove = m_banners->isShown(unconnected->name);
        const auto name = label(unconnected->name.bytes(), 60);
        const auto why = label(unconnected->message.toUtf8(), 300);
        offer(unconnected->isRecorded ? tr("%1 is not connected").arg(name) : u"%1: %2"_s.arg(name, why),
              isSaidAbove || !unconnected->isRecorded ? QString() : why);
    } else if (isSandbox && m_isFilling) {
        offer(tr("Demo locks are being created…"), tr("They appear here in a few seconds."));
    } else {
        const bool isFillable = isSandbox && !clock().isElsewhere();
        auto title = tr("No locks here now");
        auto text =
            isFillable
                ? tr("The sandbox has no locks yet. Demo clients can fill it, or acquire a lock yourself.")
                : tr(
                    "The initial scan is complete and found no locks. A lock appears here as soon as a client acquires one. The status bar shows how new locks are found and what is not visible.");
        if (const auto gaps = inspect::gapsIn(m_book.coverage()); !gaps.isEmpty()) {
            title = inspect::noneFound(inspect::Question::Locks, true, m_book.coverage());
            title[0] = title[0].toUpper();
            text = gaps.join(u'\n');
        }
        if (!isFillable)
            return offer(title, text);
        offer(
            title, text, tr("Fill with demo locks"), [this] { askForDemo(); }, tr("Acquire a lock…"),
            [this] { emit acquireRequested(); });
    }
}

} // namespace lockscope::ui
