// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/topbar.h"

#include "core/base/text.h"
#include "ui/theme/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStyle>
#include <QTimer>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

void setLook(QWidget &widget, const QString &look)
{
    if (widget.property("look") == look)
        return;
    widget.setProperty("look", look);
    widget.style()->unpolish(&widget);
    widget.style()->polish(&widget);
}

} // namespace

TopBar::TopBar(const ConnectionBook &book, QWidget *parent)
    : QFrame(parent), m_book(book), m_find(new QLineEdit(this)), m_environment(new QLabel(this)),
      m_writes(new QPushButton(this)), m_pause(new QPushButton(this))
{
    setProperty("look", u"topbar"_s);
    setFixedHeight(45);
    auto *title = new QLabel(u"Lockscope"_s, this);
    title->setFont(textFont(13, QFont::Bold));
    title->setStyleSheet(u"font-weight: 700;"_s);

    m_find->setPlaceholderText(tr("Find a lock, session, host or path          Ctrl+K"));
    m_find->setAccessibleName(tr("Find"));
    m_find->setObjectName(u"find"_s);
    m_find->setProperty("look", u"find"_s);
    m_find->setClearButtonEnabled(true);
    m_find->setMinimumWidth(140);
    m_find->setMaximumWidth(450);
    m_find->installEventFilter(this);
    // A filter over 100,000 rows need not run for every letter.
    auto *pauseInTyping = new QTimer(this);
    pauseInTyping->setSingleShot(true);
    pauseInTyping->setInterval(120);
    connect(m_find, &QLineEdit::textChanged, pauseInTyping, qOverload<>(&QTimer::start));
    connect(pauseInTyping, &QTimer::timeout, this, [this] { emit findChanged(m_find->text()); });
    connect(m_find, &QLineEdit::returnPressed, this, [this, pauseInTyping] {
        pauseInTyping->stop();
        emit findChanged(m_find->text());
        emit findDone();
    });

    m_environment->setTextFormat(Qt::PlainText);
    m_environment->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_writes->setObjectName(u"writesButton"_s);
    m_writes->setProperty("look", u"tag-readonly"_s);
    connect(m_writes, &QPushButton::clicked, this,
            [this] { emit writesMenuRequested(m_writes->mapToGlobal(QPoint(0, m_writes->height()))); });
    m_pause->setToolTip(tr("Space"));
    connect(m_pause, &QPushButton::clicked, this, &TopBar::pauseToggled);
    setPaused(false);
    auto *help = new QPushButton(u"?"_s, this);
    help->setAccessibleName(tr("Keys"));
    help->setToolTip(tr("Keys (?)"));
    connect(help, &QPushButton::clicked, this, &TopBar::helpRequested);

    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(12, 0, 12, 1);
    row->setSpacing(10);
    row->addWidget(title);
    row->addSpacing(8);
    row->addWidget(m_find, 1);
    row->addStretch(1);
    row->addWidget(m_environment);
    row->addWidget(m_writes);
    row->addWidget(m_pause);
    row->addWidget(help);
    connect(&book, &ConnectionBook::changed, this, &TopBar::refresh);
    refresh();
}

void TopBar::setContext(const ConnectionName &connection)
{
    m_context = connection;
    refresh();
}

void TopBar::refresh()
{
    const auto *one = m_book.find(m_context);
    const auto &all = m_book.all();
    m_environment->setVisible(one != nullptr);
    if (one) {
        // The look first: a label takes its new padding into account when its text is set.
        setLook(*m_environment, one->production ? u"tag-production"_s : u"tag-development"_s);
        m_environment->setText(QString());
        m_environment->setText((one->production ? u"PROD · "_s : u"DEV · "_s) + label(one->name.bytes(), 40));
    }
    qint64 writes = 0;
    qsizetype readOnly = 0;
    bool armedProduction = false;
    for (const auto &status : all) {
        if (one && status.name != one->name)
            continue;
        writes += status.writesSent;
        readOnly += status.readOnly;
        armedProduction |= status.production && !status.readOnly;
    }
    const qsizetype count = one ? 1 : static_cast<qsizetype>(all.size());
    const QString sent = writes == 1 ? u"1 write sent"_s : u"%1 writes sent"_s.arg(writes);
    const QString may = readOnly == count ? u"READ-ONLY"_s
        : readOnly == 0                   ? u"WRITES ALLOWED"_s
                                          : u"READ-ONLY %1 of %2"_s.arg(readOnly).arg(count);
    m_writes->setVisible(count > 0);
    m_writes->setText(may + u" · "_s + sent);
    setLook(*m_writes, armedProduction ? u"tag-armed"_s : u"tag-readonly"_s);
}

void TopBar::focusFind()
{
    m_find->setFocus(Qt::ShortcutFocusReason);
    m_find->selectAll();
}

QString TopBar::findText() const
{
    return m_find->text();
}

void TopBar::setFindText(const QString &text)
{
    m_find->setText(text);
}

void TopBar::setPaused(bool paused)
{
    m_pause->setText(paused ? tr("Resume") : tr("Pause"));
}

bool TopBar::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_find && event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (key->key() == Qt::Key_Escape) {
            m_find->clear();
            emit findDone();
            return true;
        }
        if (key->key() == Qt::Key_Down) {
            emit findDone();
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace lockscope::ui
