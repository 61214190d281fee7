// SPDX-License-Identifier: Apache-2.0
// Force-release as a form of facts: what is taken from whom, what will be sent, under which guard,
// who is next, and what the old holder will go on believing. The gentler ways come first.
//
// It plans on a fresh reading, follows the lock while it is open, and the core reads once more before it acts;
// where holder and plan differ nothing is sent and the dialog says who holds it now. Whole on any screen: facts
// scroll, what has to be typed and the buttons do not.
#pragma once

#include "ui/dialogs/actingdialog.h"
#include "ui/models/lockfacts.h"
#include "ui/models/rowsmodel.h"

#include <QCoreApplication>

class QComboBox;
class QTreeView;

namespace lockscope::ui {

class FactsForm;

// The parts of the form of a force-release: its methods, least disruptive first, the rehearsal, and its texts.
class WayPicker : public QWidget {
    Q_OBJECT
public:
    explicit WayPicker(QWidget *parent = nullptr);

    // Those for the holder, and those for a waiter chosen in the queue. The choice stays while there is such a way.
    void offer(const inspect::LockSnapshot &lock, const QByteArray &holder, const QByteArray &chosen);
    [[nodiscard]] operate::ReleaseAction way() const { return m_way; }
    [[nodiscard]] bool isRelease() const { return m_way == operate::ReleaseAction::Release; }
    [[nodiscard]] bool hasChoice() const { return m_offers.size() > 1; }
    // Whom it is about; empty: the holder.
    [[nodiscard]] const QByteArray &contender() const { return m_contender; }
    // As if a user had picked it, where it is offered.
    void pick(operate::ReleaseAction way);
    // Back to a release: what was chosen is done, or is there no more.
    void reset();

signals:
    void picked();

private:
    void take(std::size_t offer);
    [[nodiscard]] static QString titleOf(const operate::OfferedAction &offer, const inspect::LockSnapshot &lock);

    QComboBox *m_box;
    std::vector<operate::OfferedAction> m_offers;
    operate::ReleaseAction m_way = operate::ReleaseAction::Release;
    QByteArray m_contender;
};

// Rehearses the release that a form is about, and puts what came of it, and what was assumed, among the form's facts.
class RehearseButton : public QPushButton {
    Q_OBJECT
public:
    // Both outlive it. `said` is called when the form has another fact.
    RehearseButton(Backend &backend, FactsForm &facts, QWidget *parent, std::function<void()> said);

    // The facts are those of this plan now. An answer about another is not shown.
    void setPlan(const operate::ForceReleasePlan &plan, bool isAgain);

private:
    void rehearse();
    void say(const QString &words);

    Backend &m_backend;
    FactsForm &m_facts;
    std::function<void()> m_said;
    std::optional<operate::ForceReleasePlan> m_plan;
    int m_plans = 0;
    bool m_isPlaying = false;
    QString m_answer; // of this plan; empty while there is none
};

// What the form of a force-release says: pure functions of a plan, a snapshot and a moment.
class ForceReleaseWords {
    Q_DECLARE_TR_FUNCTIONS(ForceRelease)
public:
    // Who it is, the host first.
    [[nodiscard]] static QString who(const inspect::Contender &contender);
    [[nodiscard]] static QString takenFrom(const inspect::Contender &holder, const inspect::LockSnapshot &lock);
    [[nodiscard]] static QString nextOwner(const operate::ForceReleasePlan &plan, SystemTime now);
    [[nodiscard]] static QString otherLocksLost(const operate::ForceReleasePlan &plan);
    [[nodiscard]] static QString fencing(const operate::ForceReleasePlan &plan);
    // The gentler ways with what is left of the time by now.
    [[nodiscard]] static QStringList alternatives(const operate::ForceReleasePlan &plan, SystemTime now);
    // Who has the lock in this snapshot, in a sentence.
    [[nodiscard]] static QString holdersNow(const inspect::LockSnapshot &lock);
    // What is known when the holder is not the one any more; of a lock that is not shown any more (as a row lock that
    // nobody waits for) only who held it. Without a full stop.
    [[nodiscard]] static QString notHeldNow(bool isGone);
    // Of whom holds it now as when it was planned, and may have let go in between.
    [[nodiscard]] static QString tookItAgain(const QString &holder, const operate::ForceReleasePlan &plan,
                                             const inspect::LockSnapshot &now);
    // What a button calls that contender: what it is called, where it is called something, and its host; or the
    // shortest that tells it.
    [[nodiscard]] static QString nameOf(const inspect::LockSnapshot &lock, const QByteArray &id);
    // What was asked for and what came of it, as lines of text; the plan may be null.
    [[nodiscard]] static QString note(const inspect::LockName &lock, const QString &environment,
                                      const operate::ForceReleasePlan *plan, const QString &reason,
                                      const QString &result);
    // In a word what came of it; `from`: the holder's host.
    [[nodiscard]] static QString outcomeWord(const operate::ForceReleasePlan &plan,
                                             const operate::ForceReleaseOutcome &outcome, const QString &from);
    static void fillFacts(FactsForm &facts, const operate::ForceReleasePlan &plan, SystemTime now);
    // As lockscopectl would be told.
    [[nodiscard]] static QString command(const ConnectionStatus *status, const inspect::LockName &lock,
                                         const QByteArray &holder, bool notExact, const QString &reason,
                                         operate::ReleaseAction way = operate::ReleaseAction::Release);
};

using operate::holdersOf;
// The holder of that id; null if it does not hold (any more).
[[nodiscard]] const inspect::Contender *holderIn(const inspect::LockSnapshot &lock, const QByteArray &id);
// Whether what was planned is a hold before this look's, as far as that can be told: the id may be the same.
[[nodiscard]] bool mayBeAnotherHold(const operate::ForceReleasePlan &plan, const inspect::LockSnapshot &fresh);

class ForceReleaseDialog : public ActingDialog {
    Q_OBJECT
public:
    // `chosen` is the contender chosen in the queue, or nothing: a holder is
    // what the form is about; else the only holder is; of several one has to be picked. Starts reading at once.
    ForceReleaseDialog(Backend &backend, const ConnectionBook &book, inspect::LockSnapshot seen, QByteArray chosen,
                       QWidget *parent = nullptr);

    [[nodiscard]] FactsForm &facts() { return *m_facts; }
    // As lockscopectl would be told.
    [[nodiscard]] QString asCommand() const;
    // What was asked for and what came of it, for a ticket or a chat.
    [[nodiscard]] QString note() const;
    [[nodiscard]] const QByteArray &holder() const { return m_holder; }

    // Which other locks the holders of this one have as well; asked for the form's holder alone.
    using HeldWith = std::function<std::vector<QByteArray>(const inspect::LockSnapshot &lock)>;
    void setHeldWith(HeldWith heldWith) { m_heldWith = std::move(heldWith); }
    using Clock = std::function<SystemTime()>;
    void setClock(Clock clock) { m_clock = std::move(clock); }
    // Begins with that method instead of a release, where it is offered.
    void prefer(operate::ReleaseAction way);
    // Simulates the release as soon as it is planned.
    void rehearse();
    // Numbers are those of now; every second.
    void tick();

private:
    void build();
    QWidget *makeHead();
    QWidget *makeContent();
    QWidget *makeQuestions();
    QWidget *makeButtons();
    void pickHolder();
    void fillPicker();
    void lookAgain();
    void updateChoiceLabel();
    void read(bool silently = false);
    void showPlan(const operate::ForceReleasePlan &plan, bool isAgain);
    void showError(const Error &error);
    void send() override;
    void showOutcome(const operate::ForceReleaseOutcome &outcome);
    void waitForIt();
    void onBatch(const Batch &batch);
    void stopAtChange();
    void showHolderChanged();
    void letGo();
    void showStep() override;
    void updateReady() override;
    void showHeldWith(const operate::ForceReleasePlan &plan);
    void showAlternatives();
    [[nodiscard]] QString obstacle() const override;
    [[nodiscard]] QString nameOfHolder() const;

    inspect::LockName m_lock;
    inspect::LockSnapshot m_latest; // as last told
    bool m_isGone = false;
    QByteArray m_chosen;
    QByteArray m_holder;
    std::optional<operate::ForceReleasePlan> m_plan;
    bool m_isOutdated = false; // the lock changed since it was planned
    bool m_isAsking = false;
    bool m_armOffered = false;
    bool m_wantsRehearsal = false;
    std::optional<operate::ReleaseAction> m_wanted; // until the first plan is there
    QString m_result;
    Clock m_clock = [] { return programClock().now(); };
    HeldWith m_heldWith;

    QComboBox *m_pick = nullptr;
    QLabel *m_pickLabel = nullptr;
    WayPicker *m_way = nullptr;
    Banner *m_waiter = nullptr; // the chosen one waits: the form is about another
    Banner *m_alternatives = nullptr;
    FactsForm *m_facts = nullptr;
    Banner *m_danger = nullptr;
    QCheckBox *m_acceptRisk = nullptr;
    QPushButton *m_copy = nullptr;
    RehearseButton *m_rehearse = nullptr;
    QPushButton *m_copyNote = nullptr;
    QPushButton *m_again = nullptr;
};

// Several force-releases: lists every target, asks for their number to be typed, does one after the other, stops at
// the first surprise, and says what was done and what was not.
// The targets of several force-releases as a table, and the result of each.
class BulkModel : public RowsModel<const operate::BulkTarget *> {
    Q_OBJECT
public:
    enum Column { Lock, Holder, Since, What, Outcome, ColumnCount };

    // The targets outlive the model.
    BulkModel(const std::vector<operate::BulkTarget> &targets, SystemTime now, QObject *parent);

    // So many from the top are done.
    void setDone(int done);
    void setReport(const operate::BulkReport &report);
    [[nodiscard]] QString text(int row, int column) const
    {
        return m_columns[static_cast<std::size_t>(column)].text(at(row));
    }

private:
    [[nodiscard]] QString sinceText(const operate::BulkTarget &target) const;
    [[nodiscard]] QString outcomeText(const operate::BulkTarget &target) const;

    const SystemTime m_now;
    int m_done = 0;
    bool m_isOver = false;
    bool m_hasStopped = false;
};

class BulkDialog : public ActingDialog {
    Q_OBJECT
public:
    // The targets are of one connection. `what`: "all that session 0x… holds". Ages are those of `now`.
    BulkDialog(Backend &backend, const ConnectionBook &book, const QString &what,
               std::vector<operate::BulkTarget> targets, SystemTime now, QWidget *parent = nullptr);

    [[nodiscard]] QString note() const { return m_note; }

private:
    void build(const QString &what);
    QWidget *makeTable();
    QWidget *makeButtons();
    void send() override;
    void showReport(const Result<operate::BulkReport> &report);
    void showStep() override;
    void updateReady() override;
    [[nodiscard]] QString buttonText() const;
    // Holders, and of stale entries waiters.
    [[nodiscard]] int count() const { return static_cast<int>(m_targets.size()); }
    [[nodiscard]] int waiters() const; // which only wait
    [[nodiscard]] int locks() const;   // that the others hold
    [[nodiscard]] QString whatIsTaken() const;
    [[nodiscard]] QString obstacle() const override;

    const std::vector<operate::BulkTarget> m_targets;
    QString m_note;
    BulkModel *m_model;
    QTreeView *m_table = nullptr;
    QPushButton *m_copy = nullptr;
};

} // namespace lockscope::ui
