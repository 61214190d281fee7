// SPDX-License-Identifier: Apache-2.0
// The parts of the form of a force-release: its methods, least disruptive first, the rehearsal, and its texts.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/lockfacts.h"

#include <QCoreApplication>
#include <QPushButton>
#include <QWidget>

class QComboBox;

namespace lockscope::ui {

class FactsForm;

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

} // namespace lockscope::ui
