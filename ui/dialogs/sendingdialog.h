// SPDX-License-Identifier: Apache-2.0
// A form that sends something and shows what came of it: it does not close before, or nobody would be told.
#pragma once

#include <QDialog>

namespace lockscope::ui {

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
