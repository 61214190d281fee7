// SPDX-License-Identifier: Apache-2.0
#include "ui/views/banner.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

Banner::Banner(QWidget *parent)
    : QFrame(parent), m_word(new QLabel(this)), m_sentence(new QLabel(this)), m_action(new QPushButton(this))
{
    m_word->setTextFormat(Qt::PlainText);
    m_word->setProperty("weight", u"bold"_s);
    m_sentence->setTextFormat(Qt::PlainText);
    m_sentence->setWordWrap(true);
    m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_action->setAutoDefault(false); // Enter in a dialog's text field must not press it
    m_action->hide();
    connect(m_action, &QPushButton::clicked, this, &Banner::actionRequested);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(10, 6, 10, 6);
    row->setSpacing(10);
    row->addWidget(m_word, 0, Qt::AlignTop);
    row->addWidget(m_sentence, 1);
    row->addWidget(m_action);
}

void Banner::say(Look look, const QString &word, const QString &sentence, const QString &action)
{
    static const QString looks[] = {u"banner-critical"_s, u"banner-warning"_s, u"banner-info"_s, u"banner-ok"_s};
    const QString &name = looks[static_cast<int>(look)];
    if (property("look").toString() != name) {
        setProperty("look", name);
        for (QWidget *widget : std::initializer_list<QWidget *>{this, m_word, m_sentence}) {
            widget->style()->unpolish(widget);
            widget->style()->polish(widget);
        }
    }
    m_word->setText(word);
    m_word->setVisible(!word.isEmpty());
    m_sentence->setText(sentence);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
}

QString Banner::sentence() const
{
    return m_sentence->text();
}

} // namespace lockscope::ui
