// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/lockdetail.h"

#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/models/lockfacts.h"
#include "ui/models/pausablebackend.h"
#include "ui/pages/findingdetail.h"
#include "ui/pages/lockheader.h"
#include "ui/parts/labels.h"
#include "ui/parts/layouts.h"
#include "ui/parts/notices.h"
#include "ui/parts/parts.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"
#include "ui/views/queuetable.h"
#include "ui/views/statementpair.h"
#include "ui/views/timelineview.h"
#include "ui/views/watchchainview.h"

#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>

namespace lockscope::ui {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Mode;
using inspect::Role;

namespace {

// Of readers that stand one behind the other, all get in.
int readersBeside(const LockSnapshot &lock, const Contender &next)
{
    const auto isReader = [](const Contender &one) {
        return one.role == Role::Waiter && one.mode == Mode::Read && one.position;
    };
    const auto at = std::ranges::find(lock.contenders, next.id, &Contender::id);
    if (at == lock.contenders.end() || !isReader(next))
        return 0;
    return int(std::find_if_not(at, lock.contenders.end(), isReader) - at) - 1;
}

constexpr int queueShare = 44; // of the width, in percent: a client's name with its address has room at 1366
constexpr int narrowBelow = 780;
constexpr int lowBelow = 340;
constexpr int fewLinesBelow = 360; // as in a window of 768
constexpr int statementsLowBelow = 700;
constexpr int stripHeight = 230;
constexpr int emptyStripHeight = 60;

} // namespace

LockDetail::LockDetail(QWidget *parent)
    : QWidget(parent), m_stack(new QStackedWidget(this)), m_empty(new EmptyNotice(m_stack)),
      m_content(new QWidget(m_stack))
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    makeColumn(this, {}, {m_stack});
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
    m_splitter->addWidget(m_queuePane = makeQueuePane());
    m_splitter->addWidget(makeChainPane());
    m_splitter->setStretchFactor(0, queueShare);
    m_splitter->setStretchFactor(1, 100 - queueShare);
    m_splitter->setSizes({queueShare * 10, (100 - queueShare) * 10});
    column->addWidget(m_splitter, 1);
    m_veil = new StaleOverlay(m_content);
    m_queue.setClock([this] { return seenAt(); });
    m_chain->setClock([this] { return seenAt(); });
    clear();
}

QWidget *LockDetail::makeQueuePane()
{
    auto *pane = new QWidget(m_content);
    m_queueTitle = makeLabel({}, u"section"_s, pane);
    m_queueTitle->setText(tr("QUEUE"));
    m_queueTitle->setContentsMargins(8, 0, 0, 0);
    m_queueTable = named(new QueueTable(m_queue, QueueTable::Columns::Queue, pane), u"queueTable"_s);
    m_next = named(new WholeLinesLabel(pane), u"nextOwner"_s);
    m_next->setContentsMargins(8, 2, 8, 4);
    makeColumn(pane, {.margins = {8, 10, 0, 0}, .spacing = 4},
               {m_queueTitle, {m_queueTable, 1000}, m_next, Stretch{1}});
    pane->setMinimumWidth(300);
    connect(m_queueTable, &QueueTable::chosen, this, &LockDetail::choose);
    return pane;
}

QWidget *LockDetail::makeChainPane()
{
    m_tabs = new QTabWidget(m_content);
    m_tabs->setDocumentMode(true);
    m_tabs->tabBar()->setDrawBase(false);
    auto *pane = new QWidget(m_tabs);
    m_caption = new WholeLinesLabel(pane);
    m_caption->setProperty("look", u"muted"_s);
    m_chain = new WatchChainView(pane);
    m_chain->setMinimumHeight(1); // it scrolls; who is next is said above it
    m_fold = new QPushButton(pane);
    m_fold->setProperty("look", u"flat"_s);
    connect(m_fold, &QPushButton::clicked, this, [this] {
        m_chain->setWhole(!m_chain->isWhole());
        updateFold();
    });
    auto *top = makeRow({}, {{m_caption, 1}, m_fold});
    makeColumn(pane, {.margins = {16, 10, 8, 10}, .spacing = 4}, {top, {m_chain, 1}});
    m_rawTable = new QueueTable(m_queue, QueueTable::Columns::Raw, m_tabs);
    m_tabs->addTab(pane, {}); // their titles are the backend's words
    m_tabs->addTab(m_rawTable, {});
    m_tabs->addTab(m_timeline = new TimelineView(m_tabs), tr("Timeline"));
    connect(m_timeline, &TimelineView::momentActivated, this, &LockDetail::momentActivated);
    m_tabs->setMinimumWidth(320);
    connect(m_chain, &WatchChainView::chosen, this, &LockDetail::choose);
    connect(m_chain, &WatchChainView::captionChanged, m_caption, &QLabel::setText);
    connect(m_chain, &WatchChainView::foldChanged, this, &LockDetail::updateFold);
    connect(m_rawTable, &QueueTable::chosen, this, &LockDetail::choose);
    return m_tabs;
}

void LockDetail::setBackend(Backend *backend)
{
    m_backend = backend;
    m_timeline->setBackend(backend);
    fitStrip();
}

void LockDetail::clear()
{
    showNothing(tr("Choose a lock"),
                tr("You will see who holds it, who queues in which order, who waits for whom, and what is wrong. "
                   "↑ and ↓ walk through the list, Enter comes here."));
}

void LockDetail::showAbsent(const inspect::LockName &lock)
{
    showNothing(tr("%1 is not in this past view").arg(label(lock.name, 200)),
                tr("No client had it then, or its connection was not recorded. Ctrl+Shift+Down goes to its next "
                   "recorded change."));
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
    m_chain->setSnapshot(m_lock);
    if (isAnother) {
        m_queueTable->clearSelection();
        m_queueTable->setCurrentIndex({});
        m_queueTable->scrollToTop();
    }
    const auto &words = infoOf(lock.backend).words;
    m_tabs->setTabText(m_tabs->indexOf(m_chain->parentWidget()), words.whoWaits);
    m_tabs->setTabText(m_tabs->indexOf(m_rawTable), words.raw);
    m_chain->setAccessibleName(words.whoWaits);
    m_rawTable->setAccessibleName(words.raw);
    showAnswer();
    m_findings->show(*m_lock, serverTimeAt(m_clock(), *m_lock));
    showStatements();
    showNextOwner();
    updateFold();
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
    m_chain->tick();
    m_timeline->setLock(m_lock->lock, std::chrono::floor<std::chrono::milliseconds>(m_clock()));
}

void LockDetail::showAnswer()
{
    m_header->show(*m_lock, m_clock(), m_isGone,
                   m_heldWith && !m_isGone ? inspect::heldWithSentence(m_heldWith(*m_lock)) : QString());
}

void LockDetail::showStatements()
{
    m_statements->show(*m_lock, chosen(), serverTimeAt(seenAt(), *m_lock));
}

void LockDetail::chooseWaiter(int number)
{
    for (const auto &one : m_lock ? m_lock->contenders : std::vector<Contender>()) {
        if (one.role == Role::Waiter && --number == 0)
            return choose(one.id);
    }
}

void LockDetail::setIncident(const inspect::Incident *incident)
{
    m_findings->setIncident(m_isGone ? nullptr : incident);
}

void LockDetail::showNextOwner()
{
    const QByteArray from = holder();
    if (from.isEmpty()) {
        m_next->setText({});
        return;
    }
    const Contender *next = m_lock->nextAfter(from);
    if (!next) {
        const bool someoneWaits = m_lock->waiterCount() > 0 || !m_lock->waitersKnown;
        const bool inOrder =
            std::any_of(m_lock->contenders.begin(), m_lock->contenders.end(),
                        [](const Contender &c) { return c.role == Role::Waiter && c.position.has_value(); });
        m_next->setText(!someoneWaits ? tr("next owner: none, no client waits")
                        : inOrder && m_lock->holderCount() > 1
                            ? tr("next owner: none until the other holders release it too")
                            : tr("next owner: whoever asks first"));
        return;
    }
    const auto name = [this](const Contender &one) {
        return shortId(one.id) + u" · "_s + whoIsByName(one, m_lock->backend);
    };
    const int beside = readersBeside(*m_lock, *next);
    const QString who =
        beside == 0   ? tr("next owner: %1").arg(name(*next))
        : beside == 1 ? tr("next owners: %1, and the reader behind it").arg(name(*next))
                      : tr("next owners: %1, and %2 readers behind it").arg(name(*next), QString::number(beside));
    const bool watches = std::any_of(next->watches.begin(), next->watches.end(),
                                     [&](const auto &edge) { return edge.children || edge.target == from; });
    const auto wakeUp = recipes::recipeOf(m_lock->recipe).wakeUp;
    // Else the server itself lets it in.
    const bool isWoken = wakeUp == recipes::WakeUp::Message || (watches && wakeUp != recipes::WakeUp::Answer);
    const auto &by = infoOf(m_lock->backend).words.wokenBy;
    m_next->setText(who + (isWoken && !by.isEmpty() ? u" — "_s + by.arg(shortId(from)) : QString()));
}

void LockDetail::choose(const QByteArray &contender)
{
    m_queueTable->setCurrentContender(contender);
    m_rawTable->setCurrentContender(contender);
    m_chain->setCurrentContender(contender);
    if (m_lock)
        showStatements();
    showNextOwner();
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

void LockDetail::updateFold()
{
    const bool foldable = m_lock && (m_chain->chain().hidden > 0 || m_chain->isWhole());
    m_fold->setVisible(foldable);
    if (m_lock)
        m_fold->setText(m_chain->isWhole() ? tr("Fold") : tr("Show all %1").arg(m_lock->contenders.size()));
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

QByteArray LockDetail::chosen() const
{
    return m_queueTable->currentContender();
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
    m_header->setLow(height() < lowBelow); // the answer, what to do and the queue come first; it is in the note
    arrange();
}

void LockDetail::setTall(bool isTall)
{
    m_isTall = isTall;
    m_findings->setRoom(m_isTall, height() < fewLinesBelow);
    arrange();
}

void LockDetail::arrange()
{
    const auto arrangement = m_isTall                ? LockArrangement::Tall
                             : width() < narrowBelow ? LockArrangement::Narrow
                                                     : LockArrangement::Beside;
    if (std::exchange(m_arrangement, arrangement) == arrangement)
        return;
    m_header->setArrangement(arrangement);
    const bool isBeside = arrangement == LockArrangement::Beside;
    m_queueTitle->setVisible(isBeside); // else the tab says it
    if (isBeside) {
        m_splitter->insertWidget(0, m_queuePane);
        m_queuePane->show();
    } else if (m_tabs->indexOf(m_queuePane) < 0) {
        m_tabs->insertTab(0, m_queuePane, tr("Queue"));
        m_tabs->setCurrentIndex(0);
    }
    m_queueTable->setTall(m_isTall);
    m_splitter->setOrientation(m_isTall ? Qt::Vertical : Qt::Horizontal);
    if (m_isTall) {
        m_splitter->addWidget(m_timeline);
        m_timeline->show();
    } else if (m_tabs->indexOf(m_timeline) < 0) {
        m_tabs->addTab(m_timeline, tr("Timeline"));
    }
    m_splitter->setStretchFactor(0, m_isTall ? 1 : queueShare);
    m_splitter->setStretchFactor(1, m_isTall ? 0 : 100 - queueShare);
    fitStrip();
    if (isBeside)
        m_splitter->setSizes({width() * queueShare / 100, width() * (100 - queueShare) / 100});
}

void LockDetail::restoreSplitter(const QByteArray &state)
{
    if (m_isTall)
        return;
    m_splitter->restoreState(state);
    m_splitter->setOrientation(Qt::Horizontal);
}

// A strip that has nothing to show takes one line.
void LockDetail::fitStrip()
{
    const bool isRecorded = m_backend && m_backend->past();
    const int strip = shownSize(isRecorded ? stripHeight : emptyStripHeight);
    m_timeline->setMaximumHeight(m_isTall && !isRecorded ? strip : QWIDGETSIZE_MAX);
    if (m_isTall)
        m_splitter->setSizes({std::max(1, height() - strip), strip});
}

} // namespace lockscope::ui

#include "moc_lockdetail.cpp"
