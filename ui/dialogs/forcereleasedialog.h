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

class QComboBox;

namespace lockscope::ui {

class FactsForm;
class RehearseButton;
class WayPicker;

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

} // namespace lockscope::ui
