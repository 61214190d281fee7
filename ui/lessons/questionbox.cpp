// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessonview.h"

#include "ui/parts/parts.h"

#include <QStyle>

namespace lockscope::ui {

// One choice of a question: a button whose text may take several lines, which a push button's own cannot.
class ChoiceButton : public QPushButton {
    Q_OBJECT
public:
    enum class Outcome { Right, Wrong, Other };

    ChoiceButton(int number, const QString &text, QWidget *parent)
        : QPushButton(parent), m_number(makeLabel(QString::number(number), u"choiceNumber"_s, this)),
          m_text(makeWrapped(text, u"choice"_s, this))
    {
        setProperty("look", u"choice"_s);
        setAccessibleName(text);
        setToolTip({});
        for (auto *label : {m_number, m_text})
            label->setAttribute(Qt::WA_TransparentForMouseEvents);
        makeRow(this, {.margins = {12, 8, 12, 8}, .spacing = 10}, {{m_number, 0, Qt::AlignTop}, {m_text, 1}});
        QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
        policy.setHeightForWidth(true);
        setSizePolicy(policy);
    }
    void setOutcome(Outcome outcome)
    {
        const auto tone = outcome == Outcome::Right ? u"ok"_s : outcome == Outcome::Wrong ? u"critical"_s : QString();
        if (outcome != Outcome::Other)
            m_number->setText(outcome == Outcome::Right ? u"✓"_s : u"✗"_s);
        for (QWidget *widget : std::initializer_list<QWidget *>{this, m_number, m_text})
            setStyleProperty(widget, "tone", tone);
    }

    [[nodiscard]] QSize sizeHint() const override { return layout()->sizeHint(); }
    [[nodiscard]] QSize minimumSizeHint() const override { return {80, layout()->minimumSize().height()}; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override { return layout()->heightForWidth(width); }

private:
    QLabel *m_number;
    QLabel *m_text;
};

QuestionBox::QuestionBox(QWidget *parent)
    : QFrame(parent), m_text(makeLabel({}, u"lesson"_s, this)), m_choices(new QBoxLayout(QBoxLayout::LeftToRight)),
      m_verdict(makeLabel({}, u"verdict"_s, this))
{
    setProperty("look", u"card"_s);
    for (auto *label : {m_text, m_verdict})
        label->setWordWrap(true);
    m_choices->setSpacing(8);
    m_row = makeRow(this, {.margins = {14, 8, 14, 8}, .spacing = 12},
                    {{makeColumn({.spacing = 4}, {m_text, m_verdict}), 1}, m_choices});
}

void QuestionBox::placeChoices(int width)
{
    int beside = 0, widest = 0;
    for (const auto *button : m_buttons) {
        const int wide = button->sizeHint().width();
        widest = std::max(widest, wide);
        beside += wide + m_choices->spacing();
    }
    const bool isBeside = beside <= width * 45 / 100;
    const bool areInColumn = widest * static_cast<int>(m_buttons.size()) > width;
    m_row->setDirection(isBeside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    m_row->setSpacing(isBeside ? 12 : 6);
    m_choices->setDirection(isBeside || !areInColumn ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    for (auto *button : m_buttons)
        m_choices->setStretchFactor(button, isBeside ? 0 : 1);
}

void QuestionBox::ask(const lessons::Question &question, Language language)
{
    m_question = question;
    m_language = language;
    m_answer.reset();
    m_isRevealed = false;
    m_text->setText(question.text.in(language));
    for (auto *button : m_buttons) {
        button->hide();
        button->deleteLater();
    }
    m_buttons.clear();
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
        auto *button = new ChoiceButton(static_cast<int>(i) + 1, question.choices[i].in(language), this);
        connect(button, &QPushButton::clicked, this, [this, i] { choose(i); });
        m_choices->addWidget(button);
        m_buttons.push_back(button);
        button->show();
    }
    showAnswer();
}

void QuestionBox::choose(std::size_t choice)
{
    if (m_isRevealed || choice >= m_buttons.size())
        return; // the first answer counts
    m_answer = choice;
    reveal();
}

void QuestionBox::reveal()
{
    m_isRevealed = true;
    showAnswer();
    emit answered();
}

void QuestionBox::showAnswer()
{
    m_verdict->setVisible(m_isRevealed);
    if (!m_isRevealed)
        return;
    const bool isWrong = m_answer && *m_answer != m_question.right;
    const QString because = m_question.because.in(m_language);
    m_verdict->setText(!m_answer ? because : pageWord(isWrong ? "wrong" : "right", m_language) + u' ' + because);
    setStyleProperty(m_verdict, "tone", isWrong ? u"warning"_s : u"ok"_s);
    for (std::size_t i = 0; i < m_buttons.size(); ++i) {
        auto *button = static_cast<ChoiceButton *>(m_buttons[i]);
        button->setEnabled(false);
        button->setOutcome(i == m_question.right ? ChoiceButton::Outcome::Right
                           : i == m_answer       ? ChoiceButton::Outcome::Wrong
                                                 : ChoiceButton::Outcome::Other);
    }
}

} // namespace lockscope::ui

#include "questionbox.moc"
