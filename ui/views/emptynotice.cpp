// SPDX-License-Identifier: Apache-2.0
#include "ui/views/emptynotice.h"

#include <QVBoxLayout>

namespace lockscope::ui {

EmptyNotice::EmptyNotice(QWidget *parent)
    : QWidget(parent), m_title(new QLabel(this)), m_text(new QLabel(this)), m_action(new QPushButton(this))
{
    m_title->setTextFormat(Qt::PlainText);
    m_title->setProperty("look", QStringLiteral("heading"));
    m_title->setAlignment(Qt::AlignHCenter);
    m_title->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setProperty("look", QStringLiteral("muted"));
    m_text->setAlignment(Qt::AlignHCenter);
    m_text->setWordWrap(true);
    m_text->setMaximumWidth(520);
    m_action->setProperty("look", QStringLiteral("primary"));
    connect(m_action, &QPushButton::clicked, this, &EmptyNotice::actionRequested);

    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(24, 24, 24, 24);
    column->setSpacing(8);
    column->addStretch(2);
    column->addWidget(m_title);
    auto *middle = new QHBoxLayout;
    middle->addStretch();
    middle->addWidget(m_text, 4);
    middle->addStretch();
    column->addLayout(middle);
    column->addSpacing(6);
    column->addWidget(m_action, 0, Qt::AlignHCenter);
    column->addStretch(3);
}

void EmptyNotice::say(const QString &title, const QString &text, const QString &action)
{
    m_title->setText(title);
    m_text->setText(text);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
}

} // namespace lockscope::ui
