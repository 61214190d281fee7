// SPDX-License-Identifier: Apache-2.0
// What the forms share that act on a server: what is asked before, and how they find room on the screen.
#pragma once

#include "core/workspace/backend.h"

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

} // namespace lockscope::ui
