// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <version>

#include "ui/lessons/lessonwords.h"

#include <QFrame>
#include <QPushButton>

class QLabel;
class QVBoxLayout;

namespace lockscope::ui {

// One choice of a question: a button whose text may take several lines, which a push button's own cannot.
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

// A question that is answered before the picture goes on: its choices, and afterwards which one was right, and why.
class QuestionBox : public QFrame {
    Q_OBJECT
public:
    explicit QuestionBox(QWidget *parent = nullptr);

    void show(const lessons::Question &question, Language language);
    void choose(std::size_t choice);
    // The answer, without anybody having chosen: a remote control has no keys to choose by.
    void reveal();
    [[nodiscard]] bool isAnswered() const { return m_isRevealed; }
    [[nodiscard]] const std::vector<QPushButton *> &choices() const { return m_buttons; }
    [[nodiscard]] QString verdict() const;

signals:
    void answered();

private:
    void showAnswer();

    lessons::Question m_question;
    Language m_language = Language::English;
    std::optional<std::size_t> m_answer;
    bool m_isRevealed = false;
    QLabel *m_head;
    QLabel *m_text;
    QVBoxLayout *m_choices;
    std::vector<QPushButton *> m_buttons;
    QLabel *m_verdict;
};

} // namespace lockscope::ui
