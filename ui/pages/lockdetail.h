// SPDX-License-Identifier: Apache-2.0
// One lock: the answer in a sentence, why we think so, what is wrong, what can be done; then the
// queue with who watches whom, the raw nodes, and the timeline.
#pragma once

#include "ui/pages/findingdetail.h"
#include "ui/views/queuetable.h"
#include "ui/views/timelineview.h"

class QSplitter;
class QStackedWidget;
class QTabWidget;

namespace lockscope::ui {

class AnswerLabel;
class EmptyNotice;
class LockHeader;
class PillLabel;
class StaleOverlay;

class LockDetail : public QWidget {
    Q_OBJECT
public:
    explicit LockDetail(QWidget *parent = nullptr);

    void setClock(std::function<SystemTime()> clock) { m_clock = std::move(clock); }
    // Whose recorder (or opened file) the timeline and the note ask.
    void setBackend(Backend *backend);
    // What a note says of a lock's connection: how it is, and what was not seen.
    using Surroundings = std::function<void(NoteFacts &)>;
    void setSurroundings(Surroundings surroundings) { m_surroundings = std::move(surroundings); }
    // Which other locks the threads hold that hold this one.
    using HeldWith = std::function<std::vector<QByteArray>(const inspect::LockSnapshot &)>;
    void setHeldWith(HeldWith heldWith) { m_heldWith = std::move(heldWith); }
    // Shows this snapshot; the same lock again updates in place.
    void setSnapshot(const inspect::LockSnapshot &lock);
    // Nothing is chosen: teaches what would be here.
    void clear();
    // The lock vanished: its last snapshot stays, pale, and says so.
    void setGone();
    // The past view has no such lock: nothing that is so today is shown of it.
    void showAbsent(const inspect::LockName &lock);
    // The connection is broken: pale, ages stand still.
    void setStale(bool stale);
    // The incident that the lock is part of; null for none. Its findings are folded into it.
    void setIncident(const inspect::Incident *incident) { m_findings->setIncident(m_isGone ? nullptr : incident); }
    // At full height beside the list: the queue, and the timeline always below it.
    void setTall(bool isTall);
    // Another moment than now is on screen, where nothing can be done.
    void setPast(bool past);
    // Which contenders are this window's own: such a holder is released, not forced.
    void setOwn(const QSet<QByteArray> &own);
    void tick();

    [[nodiscard]] const inspect::LockSnapshot *snapshot() const { return m_lock.get(); }
    // The holder a force-release is about: the chosen one, else the first; empty if nobody holds.
    [[nodiscard]] QByteArray holder() const;
    // Why nothing can be released of what is shown; empty: something can.
    [[nodiscard]] QString noSelectionReason() const; // empty: one is chosen
    [[nodiscard]] QString releaseDisabledReason() const;
    // The contender chosen in the queue; empty if none is.
    [[nodiscard]] QByteArray chosen() const { return m_queueTable->currentContender(); }
    // The incident note, with all that is recorded of the lock. `use` gets it later, while this lives.
    void withNote(const std::function<void(const QString &)> &use);
    void chooseContender(const QByteArray &contender) { choose(contender); }
    void copyNote(const std::function<void()> &copied = [] {});
    void saveNote();
    void focusQueue();
    void chooseWaiter(int number); // the first is 1
    [[nodiscard]] bool hasWaiters() const { return m_lock && m_lock->waiterCount() > 0; }
    // The time of the lock, on which the window goes back.
    [[nodiscard]] QWidget &strip() const { return *m_timeline; }

signals:
    void acquireRequested();
    void forceReleaseRequested();
    // The action of the incident is asked for.
    void incidentActRequested(const lockscope::inspect::Incident &incident);
    void releaseRequested(const QByteArray &ownContender);
    void releaseChanged(); // noSelectionReason() or releaseDisabledReason() may be another
    // Asks the window to show that moment.
    void momentActivated(std::chrono::sys_time<std::chrono::milliseconds> moment);

private:
    void resizeEvent(QResizeEvent *event) override;
    void fitStrip();
    void showStrip(bool isShown);
    QWidget *makeQueuePane();
    void showNothing(const QString &title, const QString &text);
    void showAnswer();
    [[nodiscard]] NoteFacts noteFacts() const;
    void withHistory(NoteFacts facts, const std::function<void(const QString &)> &use);
    void showStatements() { m_statements->show(*m_lock, chosen(), serverTimeAt(seenAt(), *m_lock)); }
    void choose(const QByteArray &contender);
    void updateVeil();
    [[nodiscard]] SystemTime seenAt() const { return m_isGone ? m_seenAt : m_clock(); }
    void updateRelease();

    std::shared_ptr<const inspect::LockSnapshot> m_lock; // shared by what shows parts of it
    QSet<QByteArray> m_own;
    bool m_isGone = false;
    SystemTime m_seenAt; // the moment on screen when it was there last: its ages count no further
    bool m_stale = false;
    bool m_isPast = false;
    bool m_isTall = false;
    bool m_hasStrip = false; // a lock is chosen, be it on screen or not
    std::function<SystemTime()> m_clock = [] { return programClock().now(); };

    Backend *m_backend = nullptr;
    Surroundings m_surroundings;
    HeldWith m_heldWith;
    QueueModel m_queue;
    QSplitter *m_outer; // at full height, with the strip of time below all else
    QStackedWidget *m_stack;
    EmptyNotice *m_empty;
    QWidget *m_content;
    StaleOverlay *m_veil = nullptr;
    LockHeader *m_header = nullptr;
    FindingBanners *m_findings = nullptr;
    StatementPair *m_statements = nullptr;
    QSplitter *m_splitter = nullptr;
    QTabWidget *m_tabs = nullptr;
    QueueTable *m_queueTable = nullptr;
    QueueTable *m_rawTable = nullptr;
    TimelineView *m_timeline = nullptr;
    QLabel *m_next = nullptr;
    QLabel *m_wakeUp = nullptr;
};

// The top of a lock's detail: its state, the answer in a sentence, why we think so, and what can be done.
class LockHeader : public QWidget {
    Q_OBJECT
public:
    explicit LockHeader(QWidget *parent = nullptr);

    // There is little height: only the answer is said.
    void setLow(bool isLow) { m_why->setVisible(!isLow); }
    // The lock as of `now`; `heldWith` is the sentence of what else its holder holds.
    void show(const inspect::LockSnapshot &lock, SystemTime now, bool isGone, const QString &heldWith);
    // Of another moment than now: told as such, without what cannot be done there.
    void setPast(bool isPast);
    // Whether the holder is this window's own, and why nothing can be released; empty: something can.
    void setRelease(bool isOwn, const QString &disabledReason);
    void showCopied();

signals:
    void acquireRequested();
    void copyNoteRequested();
    void saveNoteRequested();
    void releaseRequested();

private:
    PillLabel *m_pill;
    AnswerLabel *m_answer;
    QLabel *m_why;
    PillLabel *m_asOf;
    QLabel *m_instead;
    bool m_isPast = false;
    QPushButton *m_acquire;
    QPushButton *m_copy;
    QPushButton *m_forceRelease;
};

} // namespace lockscope::ui
