// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/choicebutton.h"

#include "ui/parts/parts.h"

#include <QBoxLayout>
#include <QLabel>
#include <QStyle>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

ChoiceButton::ChoiceButton(int number, const QString &text, QWidget *parent)
    : QPushButton(parent), m_number(makeLabel(QString::number(number), u"choiceNumber"_s, this)),
      m_text(makeLabel(text, u"choice"_s, this))
{
    setProperty("look", u"choice"_s);
    setAccessibleName(text);
    setToolTip({});
    m_text->setWordWrap(true);
    for (auto *label : {m_number, m_text})
        label->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(12, 8, 12, 8);
    row->setSpacing(10);
    row->addWidget(m_number, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void ChoiceButton::setOutcome(Outcome outcome)
{
    const auto tone = outcome == Outcome::Right ? u"ok"_s : outcome == Outcome::Wrong ? u"critical"_s : QString();
    if (outcome != Outcome::Other)
        m_number->setText(outcome == Outcome::Right ? u"✓"_s : u"✗"_s);
    for (QWidget *widget : std::initializer_list<QWidget *>{this, m_number, m_text}) {
        widget->setProperty("tone", tone);
        widget->style()->unpolish(widget);
        widget->style()->polish(widget);
    }
}

QSize ChoiceButton::sizeHint() const
{
    return layout()->sizeHint();
}

QSize ChoiceButton::minimumSizeHint() const
{
    return {80, layout()->minimumSize().height()};
}

int ChoiceButton::heightForWidth(int width) const
{
    return layout()->heightForWidth(width);
}

} // namespace lockscope::ui
