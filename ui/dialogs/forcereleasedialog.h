// SPDX-License-Identifier: Apache-2.0
// Force-release as a form of facts: what is taken from whom, what will be sent, under which guard,
// who is next, and what the old holder will go on believing. The gentler way comes first.
//
// It plans on a fresh reading, and the core reads once more before it acts; where the two differ
// nothing is sent and the dialog says so.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"

#include <QDialog>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace lockscope::ui {

class Banner;
class FactsForm;

class ForceReleaseDialog : public QDialog {
    Q_OBJECT
public:
    // `backend` and `book` outlive the dialog. Starts reading at once.
    ForceReleaseDialog(Backend &backend, const ConnectionBook &book, inspect::LockName lock, QByteArray holder,
                       QWidget *parent = nullptr);

    [[nodiscard]] FactsForm &facts() { return *m_facts; }
    // As lockscopectl would be told.
    [[nodiscard]] QString asCommand() const;

private:
    enum class Step { Reading, Form, Sending, Waiting, Done };

    void build();
    QWidget *makeInputs();
    QWidget *makeButtons();
    void read();
    void showPlan(const operate::ForceReleasePlan &plan);
    void showError(const Error &error);
    void send();
    void showOutcome(const operate::ForceReleaseOutcome &outcome);
    void waitForIt();
    void onBatch(const Batch &batch);
    void setStep(Step step);
    void fit();
    void updateReady();
    // Why the button is disabled; empty if it is not.
    [[nodiscard]] QString obstacle() const;
    [[nodiscard]] QString nameOfHolder() const;
    [[nodiscard]] bool isProduction() const;

    Backend &m_backend;
    const ConnectionBook &m_book;
    inspect::LockName m_lock;
    QByteArray m_holder;
    std::optional<operate::ForceReleasePlan> m_plan;
    Step m_step = Step::Reading;

    QLabel *m_tag = nullptr;
    Banner *m_gentler = nullptr;
    Banner *m_state = nullptr; // reading, refused, done
    FactsForm *m_facts = nullptr;
    Banner *m_danger = nullptr;
    QVBoxLayout *m_warnings = nullptr;
    QWidget *m_inputs = nullptr;
    QLineEdit *m_reason = nullptr;
    QCheckBox *m_acceptRisk = nullptr;
    QLabel *m_typeLabel = nullptr;
    QLineEdit *m_type = nullptr;
    QLabel *m_why = nullptr;
    QPushButton *m_copy = nullptr;
    QPushButton *m_again = nullptr;
    QPushButton *m_cancel = nullptr;
    QPushButton *m_release = nullptr;
};

} // namespace lockscope::ui
