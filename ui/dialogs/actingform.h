// SPDX-License-Identifier: Apache-2.0
// What the forms share that act on a server: what is asked before, and how they find room on the screen.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/connectionbook.h"

#include <QDialog>
#include <QRect>

#include <optional>

class QDialog;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QWidget;

namespace lockscope::ui {

// Why, which is recorded; and what has to be typed where more is at stake.
struct ActingInputs {
    QWidget *widget = nullptr;
    QGridLayout *grid = nullptr; // two rows of it are taken
    QLineEdit *reason = nullptr;
    QLineEdit *typed = nullptr;
    QLabel *typedLabel = nullptr;
};
struct ActingWords {
    QString reason, reasonHint, typed;
};
[[nodiscard]] ActingInputs makeActingInputs(QWidget *parent, const QString &typedName, const ActingWords &words);

// Shows the button that allows writes where they can be allowed, and says whether it does. When it goes, the keyboard
// goes to the reason, where such a form begins, not to what stands beside the button.
bool offerArming(QPushButton &arm, QWidget &reason, const ConnectionStatus *status, bool isForm);

// As high as its texts are, as far as the screen goes (its own, unless `available` is said): what is more scrolls,
// and the buttons stay. In the middle of its window, or where it `stands`: there it only becomes higher.
void fitToScreen(QDialog *form, QScrollArea *scroll, const std::optional<QRect> &available, int width,
                 const std::optional<QRect> &stands = {});

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

// A form that sends something and shows what came of it: it does not close before, or nobody would be told.
class SendingDialog : public QDialog {
    Q_OBJECT
public:
    using QDialog::QDialog;

    // Esc, and the window's own button.
    void reject() override
    {
        if (!isSending())
            QDialog::reject();
    }

protected:
    [[nodiscard]] virtual bool isSending() const = 0;
};

} // namespace lockscope::ui
