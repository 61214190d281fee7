// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/valueview.h"

#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QTabBar>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

ValueView::ValueView(QWidget *parent) : QWidget(parent)
{
    m_forms = new QTabBar(this);
    m_forms->setDrawBase(false);
    m_forms->setExpanding(false);
    m_forms->addTab(u"Text"_s);
    m_forms->addTab(u"JSON"_s);
    m_forms->addTab(u"Hex"_s);
    m_size = new QLabel(this);
    m_size->setProperty("look", u"small"_s);
    m_note = new QLabel(this);
    m_note->setProperty("look", u"small"_s);
    m_note->setTextFormat(Qt::PlainText);
    m_showAll = new QPushButton(u"Show all"_s, this);
    m_showAll->setProperty("look", u"flat"_s);
    m_text = new QPlainTextEdit(this);
    m_text->setReadOnly(true);
    m_text->setFont(monoFont());
    m_text->setLineWrapMode(QPlainTextEdit::WidgetWidth);
    m_text->setWordWrapMode(QTextOption::WrapAnywhere);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setTabChangesFocus(true);
    m_text->setAccessibleName(u"Value"_s);
    m_text->setStyleSheet(u"QPlainTextEdit { border: none; border-radius: 0; padding: 6px 8px; }"_s);
    auto *line = new QFrame(this);
    line->setProperty("look", u"hairline"_s);

    auto *bar = new QHBoxLayout;
    bar->setContentsMargins(6, 0, 12, 0);
    bar->addWidget(m_forms);
    bar->addStretch();
    bar->addWidget(m_note);
    bar->addWidget(m_showAll);
    bar->addSpacing(8);
    bar->addWidget(m_size);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(line);
    layout->addWidget(m_text);

    connect(m_forms, &QTabBar::currentChanged, this, &ValueView::render);
    connect(m_forms, &QTabBar::tabBarClicked, this, [this] { m_isChosen = true; });
    connect(m_showAll, &QPushButton::clicked, this, [this] {
        m_isAll = true;
        render();
    });
    clear();
}

void ValueView::clear()
{
    setValue({}, 0, false);
    m_size->clear();
    m_note->clear();
}

ValueForm ValueView::form() const
{
    return static_cast<ValueForm>(m_forms->currentIndex());
}

void ValueView::setForm(ValueForm form)
{
    m_isChosen = true;
    m_forms->setCurrentIndex(static_cast<int>(form));
}

QString ValueView::shownText() const
{
    return m_text->toPlainText();
}

QString ValueView::noteText() const
{
    return m_note->text();
}

void ValueView::setValue(const QByteArray &value, qint64 whole, bool isSame)
{
    if (isSame && value == m_value && whole == m_whole)
        return;
    m_value = value;
    m_whole = whole;
    m_isAll = m_isAll && isSame;
    const int scrolled = isSame ? m_text->verticalScrollBar()->value() : 0;
    if (!m_isChosen && !isSame) {
        const QSignalBlocker quiet(m_forms);
        m_forms->setCurrentIndex(static_cast<int>(bestForm(value)));
    }
    render();
    m_text->verticalScrollBar()->setValue(scrolled);
}

QString ValueView::textOf(QStringList &notes) const
{
    const QByteArray shown = m_isAll ? m_value : m_value.left(shownAtFirst);
    switch (form()) {
    case ValueForm::Hex:
        return hexDump(shown);
    case ValueForm::Json:
        if (const auto pretty = prettyJson(m_value))
            return m_isAll ? *pretty : pretty->left(shownAtFirst);
        notes << (m_value.isEmpty() ? u"nothing to read as JSON"_s : u"not JSON, shown as text"_s);
        break;
    case ValueForm::Text:
        break;
    }
    const auto readable = readableText(shown);
    if (readable.isEscaped)
        notes << u"\\xHH stands for a byte that is no text"_s;
    if (readable.isBroken)
        notes << u"long lines are broken"_s;
    return readable.text;
}

void ValueView::render()
{
    QStringList notes;
    m_text->setPlainText(textOf(notes));
    m_text->setPlaceholderText(m_whole == 0 ? u"No data: the value is empty."_s : QString());
    const bool isCut = !m_isAll && m_value.size() > shownAtFirst;
    if (isCut)
        notes << u"showing first %1 of %2"_s.arg(sizeText(shownAtFirst), sizeText(m_whole));
    else if (m_whole > m_value.size())
        notes << u"only the first %1 of %2 was read"_s.arg(sizeText(m_value.size()), sizeText(m_whole));
    m_note->setText(notes.join(u" · "_s));
    m_showAll->setText(m_whole > m_value.size() ? u"Show %1"_s.arg(sizeText(m_value.size())) : u"Show all"_s);
    m_showAll->setVisible(isCut);
    m_size->setText(m_whole == 1 ? u"1 byte"_s : u"%1 bytes"_s.arg(countText(m_whole)));
}

} // namespace lockscope::ui
