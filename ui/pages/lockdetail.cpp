// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/lockdetail.h"

#include "core/base/text.h"
#include "ui/models/pausablebackend.h"
#include "ui/models/screenclock.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"

#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>

namespace lockscope::ui {

using inspect::Confidence;
using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Mode;
using inspect::Role;

namespace {

constexpr int eventsShare = 34;
constexpr int lowBelow = 340;
constexpr int fewLinesBelow = 360; // as in a window of 768
constexpr int statementsLowBelow = 700;
constexpr int stripHeight = 230;
constexpr int emptyStripHeight = 40;

// How sure the recipe is, and by what.
QStringList groundsOf(const LockSnapshot &lock)
{
    QStringList grounds;
    if (!lock.why.isEmpty())
        grounds
            << LockHeader::tr("%1, because %2").arg(QString::fromLatin1(lock.recipe), label(lock.why.toUtf8(), 300));
    if (lock.confidence != Confidence::High)
        grounds << LockHeader::tr("%1 confidence").arg(inspect::word(lock.confidence));
    return grounds;
}

// The queue names the holder, and a tool tip how the recipe was recognized.
QStringList factsAbout(const LockSnapshot &lock)
{
    const auto recipe = QString::fromLatin1(lock.recipe);
    const auto client = label(lock.client.value_or(QString()).toUtf8(), 40);
    QStringList facts{client.isEmpty() ? recipe : u"%1 (%2)"_s.arg(recipe, client)};
    if (!groundsOf(lock).isEmpty())
        facts[0] += u" ⓘ"_s;
    facts << label(lock.lock.connection.bytes(), 40);
    const auto *head = lock.contenders.empty() ? nullptr : &lock.contenders.front();
    if (head && head->role == Role::Holder && head->guard.creation() != 0)
        facts << LockHeader::tr("fencing token 0x%1 (czxid)").arg(head->guard.creation(), 0, 16);
    return facts;
}

} // namespace

LockDetail::LockDetail(QWidget *parent)
    : QWidget(parent), m_outer(new QSplitter(Qt::Vertical, this)), m_stack(new QStackedWidget(m_outer)),
      m_empty(new EmptyNotice(m_stack)), m_content(new QWidget(m_stack))
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    makeColumn(this, {}, {m_outer});
    m_outer->setChildrenCollapsible(false);
    m_outer->addWidget(m_stack);
    m_outer->setStretchFactor(0, 1);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_content);

    auto *column = makeColumn(m_content, {.spacing = 0},
                              {m_header = new LockHeader(m_content), m_findings = new FindingBanners(m_content),
                               Gap{8}, makeHairline(m_content), m_statements = new StatementPair(m_content)});
    connect(m_header, &LockHeader::acquireRequested, this, &LockDetail::acquireRequested);
    connect(m_header, &LockHeader::saveNoteRequested, this, &LockDetail::saveNote);
    connect(m_header, &LockHeader::copyNoteRequested, this,
            [this] { copyNote([header = m_header] { header->showCopied(); }); });
    connect(m_header, &LockHeader::releaseRequested, this, [this] {
        if (const QByteArray who = holder(); m_own.contains(who))
            emit releaseRequested(who);
        else
            emit forceReleaseRequested();
    });
    connect(m_findings, &FindingBanners::incidentActRequested, this, &LockDetail::incidentActRequested);
    m_splitter = new QSplitter(Qt::Horizontal, m_content);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(m_tabs = new QTabWidget(m_content));
    column->addWidget(m_splitter, 1);
    m_tabs->setDocumentMode(true);
    m_tabs->tabBar()->setDrawBase(false);
    m_tabs->setMinimumWidth(320);
    m_tabs->addTab(makeQueuePane(), tr("Queue"));
    m_rawTable = new QueueTable(m_queue, QueueTable::Columns::Raw, m_tabs);
    m_tabs->addTab(m_rawTable, {}); // its title is the backend's word
    m_tabs->addTab(m_timeline = new TimelineView(m_tabs), tr("Timeline"));
    connect(m_timeline, &TimelineView::momentActivated, this, &LockDetail::momentActivated);
    connect(m_rawTable, &QueueTable::chosen, this, &LockDetail::choose);
    m_veil = new StaleOverlay(m_content);
    m_queue.setClock([this] { return seenAt(); });
    clear();
}

QWidget *LockDetail::makeQueuePane()
{
    auto *pane = new QWidget(m_tabs);
    m_queueTable = named(new QueueTable(m_queue, QueueTable::Columns::Queue, pane), u"queueTable"_s);
    m_next = named(new WholeLinesLabel(pane), u"nextOwner"_s);
    m_next->setContentsMargins(8, 2, 8, 4);
    m_wakeUp = named(new WholeLinesLabel(pane), u"wakeUp"_s);
    m_wakeUp->setProperty("look", u"muted"_s);
    m_wakeUp->setContentsMargins(8, 0, 8, 4);
    makeColumn(pane, {.margins = {8, 6, 0, 0}, .spacing = 0}, {{m_queueTable, 1000}, m_next, m_wakeUp, Stretch{1}});
    connect(m_queueTable, &QueueTable::chosen, this, &LockDetail::choose);
    return pane;
}

void LockDetail::setBackend(Backend *backend)
{
    m_backend = backend;
    m_timeline->setBackend(backend);
    fitStrip();
}

void LockDetail::clear()
{
    showStrip(false); // the bar of time has a line for all locks
    showNothing(tr("Choose a lock"),
                tr("You will see who holds it, who queues in which order, who waits for whom, and what is wrong. "
                   "↑ and ↓ walk through the list, Enter comes here."));
}

void LockDetail::showAbsent(const inspect::LockName &lock)
{
    showNothing(tr("%1 is not in this past view").arg(label(lock.name, 200)),
                tr("No client had it then, or its connection was not recorded. Its recorded events are on the "
                   "timeline, Ctrl+Shift+Down goes to the next."));
    m_timeline->setLock(lock, std::chrono::floor<std::chrono::milliseconds>(m_clock()));
    showStrip(true);
}

void LockDetail::showStrip(bool isShown)
{
    m_hasStrip = isShown;
    if (m_isTall)
        m_timeline->setVisible(isShown);
}

void LockDetail::showNothing(const QString &title, const QString &text)
{
    m_lock.reset();
    m_isGone = m_stale = false;
    m_empty->say(title, text);
    m_stack->setCurrentWidget(m_empty);
    updateRelease();
}

void LockDetail::setSnapshot(const LockSnapshot &lock)
{
    const bool isAnother = !m_lock || m_lock->lock != lock.lock;
    m_lock = std::make_shared<LockSnapshot>(lock);
    m_isGone = false;
    m_seenAt = m_clock();
    m_queue.setSnapshot(m_lock);
    m_timeline->setLock(lock.lock, std::chrono::floor<std::chrono::milliseconds>(m_clock()));
    showStrip(true);
    if (isAnother) {
        m_queueTable->clearSelection();
        m_queueTable->setCurrentIndex({});
        m_queueTable->scrollToTop();
    }
    const auto &words = infoOf(lock.backend).words;
    m_tabs->setTabText(m_tabs->indexOf(m_rawTable), words.raw);
    m_wakeUp->setText(wakeUpText(*m_lock));
    m_next->setToolTip(plainToolTip(m_wakeUp->text())); // where there is no room for it
    m_rawTable->setAccessibleName(words.raw);
    m_queueTable->setAccessibleDescription(words.whoWaits);
    showAnswer();
    m_findings->show(*m_lock, serverTimeAt(m_clock(), *m_lock));
    showStatements();
    m_next->setText(nextHolderText(*m_lock, holder(), m_isPast));
    updateVeil();
    updateRelease();
    m_stack->setCurrentWidget(m_content);
}

void LockDetail::setGone()
{
    m_isGone = true;
    if (!m_lock)
        return;
    showAnswer();
    updateRelease();
    updateVeil();
}

void LockDetail::setStale(bool stale)
{
    if (std::exchange(m_stale, stale) == stale)
        return;
    updateVeil();
    updateRelease();
}

void LockDetail::setPast(bool past)
{
    m_isPast = past;
    m_header->setPast(past);
    m_findings->setPast(past);
    m_timeline->setPast(past);
    m_queue.setPast(past);
    if (m_lock) {
        showAnswer();
        m_next->setText(nextHolderText(*m_lock, holder(), past));
    }
    updateRelease();
}

void LockDetail::updateVeil()
{
    m_veil->setVisible(m_isGone || m_stale);
}

void LockDetail::tick()
{
    if (!m_lock)
        return;
    if (!m_isGone)
        m_seenAt = m_clock();
    showAnswer();
    m_findings->show(*m_lock, serverTimeAt(seenAt(), *m_lock));
    showStatements();
    m_queue.tick();
    m_timeline->setLock(m_lock->lock, std::chrono::floor<std::chrono::milliseconds>(m_clock()));
}

void LockDetail::showAnswer()
{
    m_header->show(*m_lock, m_clock(), m_isGone,
                   m_heldWith && !m_isGone ? inspect::heldWithSentence(m_heldWith(*m_lock)) : QString());
}

void LockDetail::chooseWaiter(int number)
{
    for (const auto &one : m_lock ? m_lock->contenders : std::vector<Contender>()) {
        if (one.role == Role::Waiter && --number == 0)
            return choose(one.id);
    }
}

void LockDetail::choose(const QByteArray &contender)
{
    m_queueTable->setCurrentContender(contender);
    m_rawTable->setCurrentContender(contender);
    if (m_lock) {
        showStatements();
        m_next->setText(nextHolderText(*m_lock, holder(), m_isPast));
    }
    updateRelease();
}

void LockDetail::setOwn(const QSet<QByteArray> &own)
{
    m_own = own;
    m_queue.setOwn(own);
    updateRelease();
}

void LockDetail::updateRelease()
{
    const bool isOwn = m_own.contains(holder());
    const auto why = releaseDisabledReason();
    m_header->setRelease(isOwn, why);
    emit releaseChanged();
}

QString LockDetail::noSelectionReason() const
{
    return m_lock ? QString() : tr("No lock is chosen");
}

// What is old may be over.
QString LockDetail::releaseDisabledReason() const
{
    if (m_isPast)
        return PausableBackend::historyModeReason();
    if (!m_lock)
        return noSelectionReason();
    if (m_isGone)
        return tr("The selected lock no longer exists");
    if (m_stale)
        return tr("Not connected: who holds it now is not known");
    return holder().isEmpty() ? tr("No client holds it") : QString();
}

QByteArray LockDetail::holder() const
{
    if (!m_lock)
        return {};
    const auto *chosen = m_lock->find(m_queueTable->currentContender());
    if (chosen && chosen->role == Role::Holder)
        return chosen->id;
    for (const auto &contender : m_lock->contenders) {
        if (contender.role == Role::Holder)
            return contender.id;
    }
    return {};
}

void LockDetail::focusQueue()
{
    m_queueTable->setFocus(Qt::OtherFocusReason);
    if (!m_queueTable->currentIndex().isValid() && m_queue.rowCount() > 0)
        m_queueTable->setCurrentContender(m_queue.contenderAt(0).id);
}

void LockDetail::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    m_findings->setRoom(m_isTall, height() < fewLinesBelow);
    m_statements->setRoom(!m_isTall                       ? StatementPair::Room::OneLine
                          : height() < statementsLowBelow ? StatementPair::Room::Little
                                                          : StatementPair::Room::Much);
    const bool isLow = height() < lowBelow; // the answer, what to do and the queue come first
    m_header->setLow(isLow);                // it is in the note
    m_wakeUp->setVisible(!isLow);           // the finding of a herd says as much
}

void LockDetail::setTall(bool isTall)
{
    if (std::exchange(m_isTall, isTall) == isTall)
        return;
    m_findings->setRoom(m_isTall, height() < fewLinesBelow);
    if (isTall) {
        m_outer->addWidget(m_timeline);
        m_outer->setStretchFactor(1, 0);
        m_timeline->setVisible(m_hasStrip);
        m_timeline->events().setMaximumWidth(QWIDGETSIZE_MAX);
        m_splitter->addWidget(&m_timeline->events());
        m_splitter->setSizes({(100 - eventsShare) * 10, eventsShare * 10});
    } else {
        m_timeline->takeEvents();
        m_tabs->addTab(m_timeline, tr("Timeline"));
        m_timeline->setVisible(m_tabs->currentWidget() == m_timeline);
    }
    fitStrip();
}

// A strip that has nothing to show takes one line.
void LockDetail::fitStrip()
{
    const bool isRecorded = m_backend && m_backend->past();
    const int strip = shownSize(isRecorded ? stripHeight : emptyStripHeight);
    m_timeline->setMaximumHeight(m_isTall && !isRecorded ? strip : QWIDGETSIZE_MAX);
    if (m_isTall)
        m_outer->setSizes({std::max(1, height() - strip), strip});
}

LockHeader::LockHeader(QWidget *parent)
    : QWidget(parent), m_pill(new PillLabel(this)), m_answer(new AnswerLabel(this)), m_why(new WholeLinesLabel(this)),
      m_asOf(named(new PillLabel(this), u"asOfPill"_s)),
      m_instead(makeLabel(tr("Actions need the live view."), u"muted"_s, this)),
      m_acquire(named(makeButton(tr("Acquire…"), this, &LockHeader::acquireRequested), u"acquireButton"_s)),
      m_copy(named(makeButton(tr("Copy note"), this, &LockHeader::copyNoteRequested), u"copyNote"_s)),
      m_forceRelease(named(makeButton(tr("Force-release…"), this, &LockHeader::releaseRequested, u"danger"_s),
                           u"forceReleaseButton"_s))
{
    m_why->setProperty("look", u"muted"_s);
    m_copy->setToolTip(
        tr("The incident note as Markdown, for a ticket or a chat: what is so, what is wrong, what happened"));
    auto *save = new QAction(tr("Save note…"), m_copy);
    connect(save, &QAction::triggered, this, &LockHeader::saveNoteRequested);
    m_copy->addAction(save);
    m_copy->setContextMenuPolicy(Qt::ActionsContextMenu);
    auto *top = makeRow({.spacing = 10}, {m_pill, Stretch{}, m_asOf, m_instead, m_acquire, m_copy, m_forceRelease});
    m_asOf->hide();
    m_instead->hide();
    makeColumn(this, {.margins = {16, 12, 16, 8}, .spacing = 6}, {top, m_answer, m_why});
}

void LockHeader::show(const LockSnapshot &lock, SystemTime now, bool isGone, const QString &heldWith)
{
    const QString name = label(lock.lock.name, 300);
    if (isGone) {
        m_pill->setPill({PillShape::Ring, Tone::Free, u"gone"_s});
        m_answer->setSentence(tr("%1 is gone: %2").arg(name, infoOf(lock.backend).words.nothing), name);
    } else {
        m_pill->setPill(factsOf(lock).pill());
        // Cut as a whole: a name of a megabyte must not be laid out once a second.
        const auto tense = m_isPast ? inspect::Tense::Past : inspect::Tense::Present;
        m_answer->setSentence(inspect::answerSentence(lock, serverTimeAt(now, lock), tense).left(600), name);
    }
    m_asOf->setPill({PillShape::Quarter, Tone::Past, tr("as of %1").arg(timeOfDay(now).toString(u"HH:mm:ss"_s))});
    QStringList why = factsAbout(lock);
    if (!heldWith.isEmpty())
        why << heldWith;
    m_why->setText(why.join(u" · "_s));
    m_why->setToolTip(plainToolTip(groundsOf(lock).join(u'\n')));
}

void LockHeader::setPast(bool isPast)
{
    m_isPast = isPast;
    for (auto *act : {m_acquire, m_forceRelease})
        act->setVisible(!isPast);
    m_asOf->setVisible(isPast);
    m_instead->setVisible(isPast);
    m_acquire->setEnabled(!isPast);
    m_acquire->setToolTip(isPast ? PausableBackend::historyModeReason() : QString());
}

void LockHeader::setRelease(bool isOwn, const QString &disabledReason)
{
    m_forceRelease->setText(isOwn ? tr("Release") : tr("Force-release…"));
    m_forceRelease->setEnabled(disabledReason.isEmpty());
    m_forceRelease->setToolTip(!disabledReason.isEmpty() ? disabledReason
                               : isOwn                   ? tr("Release the lock held by this window")
                                                         : tr("Shows what would be sent; sends nothing yet"));
}

void LockHeader::showCopied()
{
    constexpr std::chrono::milliseconds shownFor(1500);
    m_copy->setText(tr("Copied"));
    QTimer::singleShot(shownFor, m_copy, [copy = m_copy] { copy->setText(tr("Copy note")); });
}

} // namespace lockscope::ui

#include "moc_lockdetail.cpp"
