// SPDX-License-Identifier: Apache-2.0
// What the forms share that act on a server: what is asked before, the steps from the first reading to the outcome,
// and how they find room on the screen.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/parts/parts.h"

#include <QDialog>
#include <QRect>

class QCheckBox;

namespace lockscope::ui {

class Banner;

// How much an act on a lock has to be confirmed: the more can break, the more keys it takes.
struct ConfirmationPolicy {
    bool typesName = false;   // production: the lock's name is typed
    bool wantsReason = false; // production
    bool oneKey = false;      // development, the sandbox: Ctrl+Enter in the form is enough
    friend bool operator==(const ConfirmationPolicy &, const ConfirmationPolicy &) = default;
};

// By how the connection is marked, and by the settings' "confirm/development": "one-key" (unless said) or "reason".
// What nobody marked is not known to be harmless: no key of its own, and a click.
[[nodiscard]] ConfirmationPolicy frictionOf(const ConnectionBook &book, const ConnectionName &name);

// A form that sends something to one connection and shows what came of it: it does not close before, or nobody would
// be told.
class ActingDialog : public QDialog {
    Q_OBJECT
public:
    // Esc, and the window's own button.
    void reject() override;
    // The screen it has to fit on; its own unless a test says otherwise.
    void setAvailable(const QRect &available);

signals:
    void armRequested(const lockscope::ConnectionName &name);

protected:
    // Not every form has all of them.
    enum class Step { Choose, Reading, Form, Sending, Waiting, Changed, Done };

    // `backend` and `book` outlive the dialog.
    ActingDialog(Backend &backend, const ConnectionBook &book, ConnectionName connection, QWidget *parent);

    void showEvent(QShowEvent *event) override;
    // Enter presses the focused button, but for the one that acts; in a field it goes on to the next one.
    void keyPressEvent(QKeyEvent *event) override;

    // The parts that the forms have in common. Tab follows the order in which they are made.
    QLabel *makeTag(QWidget *parent) { return m_tag = named(makeLabel({}, {}, parent), u"environment"_s); }
    // What scrolls where the screen is small, `width` being what the form likes; the rest stays.
    QWidget *makeScrolled(QWidget *content, int width);
    // Whether writes are allowed, why it is done, which is recorded, and what has to be typed where more is at stake.
    QWidget *makeInputs(const QString &typedName, const QString &typedTitle);
    // Below them, what has to be ticked.
    QCheckBox *makeTick(const QString &name, const QString &text);
    QLabel *makeObstacle(QWidget *parent) { return m_why = named(makeLabel({}, u"small"_s, parent), u"obstacle"_s); }
    QPushButton *makeCancel(QWidget *parent);
    // The button that acts.
    QPushButton *makeAct(const QString &text, const QString &name, QWidget *parent);
    // Ctrl+Enter acts where nothing of anybody else's can break; never Enter alone.
    void addOneKey();

    void setStep(Step step);
    // What is seen of the form in this step.
    virtual void showStep() = 0;
    virtual void send() = 0;
    // Why the button is disabled; empty if it is not.
    [[nodiscard]] virtual QString obstacle() const = 0;
    virtual void updateReady();
    // Where its connection is read-only, that is `readOnly`.
    [[nodiscard]] QString connectionObstacle(const QString &readOnly) const;
    // Shows the button that allows writes where they can be allowed, and says whether it does. When it goes, the
    // keyboard goes on to what the form still needs.
    bool offerArming();
    // The keyboard goes to the first part that is not filled in, else to the button that acts.
    void focusNeeded();
    // As high as its texts are, as far as the screen goes: what is more scrolls, and the buttons stay. In the middle
    // of its window, or where it stands: there it only becomes higher.
    void fit();
    [[nodiscard]] virtual std::optional<QRect> standing() const { return {}; }
    // Those before go.
    void showWarnings(const QStringList &warnings);
    [[nodiscard]] ConfirmationPolicy friction() const { return frictionOf(m_book, m_connection); }
    [[nodiscard]] QString reason() const { return m_reason->text().trimmed(); }

    Backend &m_backend;
    const ConnectionBook &m_book;
    const ConnectionName m_connection;
    Step m_step = Step::Reading;
    QLabel *m_tag = nullptr;
    QScrollArea *m_scroll = nullptr;
    Banner *m_state = nullptr; // reading, refused, changed, done
    QVBoxLayout *m_warnings = nullptr;
    QWidget *m_inputs = nullptr;
    QLabel *m_writesTitle = nullptr;
    QLineEdit *m_reason = nullptr;
    QLabel *m_typedTitle = nullptr;
    QLineEdit *m_typed = nullptr;
    QCheckBox *m_tick = nullptr; // null where nothing has to be ticked
    QLabel *m_why = nullptr;
    QPushButton *m_arm = nullptr;
    QPushButton *m_cancel = nullptr;
    QPushButton *m_act = nullptr;

private:
    void fitNow();

    int m_width = 0;
    std::optional<QRect> m_available;
};

} // namespace lockscope::ui
