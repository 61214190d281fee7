// SPDX-License-Identifier: Apache-2.0
// Force-release as a form of facts: what is taken from whom, what will be sent, under which guard,
// who is next, and what the old holder will go on believing. The gentler ways come first.
//
// It plans on a fresh reading, follows the lock while it is open, and the core reads once more before it acts;
// where holder and plan differ nothing is sent and the dialog says who holds it now. Whole on any screen: facts
// scroll, what has to be typed and the buttons do not.
#pragma once

#include <version>

#include "core/base/clock.h"
#include "ui/dialogs/actingform.h"
#include "ui/models/connectionbook.h"
#include "ui/models/lockfacts.h"

#include <functional>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace lockscope::ui {

class Banner;
class FactsForm;
class RehearseButton;
class WayPicker;

class ForceReleaseDialog : public SendingDialog {
    Q_OBJECT
public:
    // `backend` and `book` outlive the dialog. `chosen` is the contender chosen in the queue, or nothing: a holder is
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
    // The screen it has to fit on; its own unless a test says otherwise.
    void setAvailable(const QRect &available);
    // Numbers are those of now; every second.
    void tick();

signals:
    void armRequested(const lockscope::ConnectionName &name);

protected:
    void showEvent(QShowEvent *event) override;

private:
    enum class Step { Choose, Reading, Form, Sending, Waiting, Changed, Done };

    void build();
    QWidget *makeHead();
    QWidget *makeContent();
    QWidget *makeInputs();
    QWidget *makeButtons();
    void pickHolder();
    void fillPicker();
    void lookAgain();
    void updateChoiceLabel();
    void read(bool silently = false);
    void showPlan(const operate::ForceReleasePlan &plan, bool isAgain);
    void showError(const Error &error);
    void send();
    void showOutcome(const operate::ForceReleaseOutcome &outcome);
    void waitForIt();
    void onBatch(const Batch &batch);
    void stopAtChange();
    void showHolderChanged();
    void letGo();
    void setStep(Step step);
    [[nodiscard]] bool isSending() const override { return m_step == Step::Sending; }
    void fit();
    void updateReady();
    void showHeldWith(const operate::ForceReleasePlan &plan);
    void showAlternatives();
    // Why the button is disabled; empty if it is not.
    [[nodiscard]] QString obstacle() const;
    [[nodiscard]] QString nameOfHolder() const;

    Backend &m_backend;
    const ConnectionBook &m_book;
    inspect::LockName m_lock;
    inspect::LockSnapshot m_latest; // as last told
    bool m_isGone = false;
    QByteArray m_chosen;
    QByteArray m_holder;
    std::optional<operate::ForceReleasePlan> m_plan;
    bool m_isOutdated = false; // the lock changed since it was planned
    bool m_isAsking = false;
    bool m_armOffered = false;
    QString m_result;
    Step m_step = Step::Reading;
    Clock m_clock = [] { return programClock().now(); };
    HeldWith m_heldWith;
    std::optional<QRect> m_available;

    QLabel *m_tag = nullptr;
    QComboBox *m_pick = nullptr;
    QLabel *m_pickLabel = nullptr;
    WayPicker *m_way = nullptr;
    QScrollArea *m_scroll = nullptr;
    QWidget *m_content = nullptr;
    Banner *m_waiter = nullptr; // the chosen one waits: the form is about another
    Banner *m_alternatives = nullptr;
    Banner *m_state = nullptr; // reading, refused, changed, done
    FactsForm *m_facts = nullptr;
    Banner *m_danger = nullptr;
    QVBoxLayout *m_warnings = nullptr;
    QWidget *m_inputs = nullptr;
    QLineEdit *m_reason = nullptr;
    QCheckBox *m_acceptRisk = nullptr;
    QLabel *m_typeLabel = nullptr;
    QLineEdit *m_type = nullptr;
    QLabel *m_why = nullptr;
    QPushButton *m_arm = nullptr;
    QPushButton *m_copy = nullptr;
    RehearseButton *m_rehearse = nullptr;
    QPushButton *m_copyNote = nullptr;
    QPushButton *m_again = nullptr;
    QPushButton *m_cancel = nullptr;
    QPushButton *m_release = nullptr;
};

} // namespace lockscope::ui
