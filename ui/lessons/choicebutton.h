// SPDX-License-Identifier: Apache-2.0
// One choice of a question: a button whose text may take several lines, which a push button's own cannot.
#pragma once

#include <version>

#include <QPushButton>

class QLabel;

namespace lockscope::ui {

class ChoiceButton : public QPushButton {
    Q_OBJECT
public:
    enum class Outcome { Right, Wrong, Other };

    ChoiceButton(int number, const QString &text, QWidget *parent);
    void setOutcome(Outcome outcome);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;

private:
    QLabel *m_number;
    QLabel *m_text;
};

} // namespace lockscope::ui
