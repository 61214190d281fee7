// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/factsform.h"

#include "ui/parts/parts.h"

#include <QPainter>
#include <QTextLayout>
#include <QVBoxLayout>

#include <cmath>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int side = 5;
constexpr int above = 2;

QSizeF layOut(QTextLayout &layout, qreal width)
{
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    qreal y = 0;
    qreal widest = 0;
    layout.beginLayout();
    for (auto line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(width);
        line.setPosition({0, y});
        y += line.height();
        widest = std::max(widest, line.naturalTextWidth());
    }
    layout.endLayout();
    return {widest, y};
}

} // namespace

CodeLabel::CodeLabel(const QString &text, QWidget *parent) : QWidget(parent), m_text(text)
{
    // Not at least as high as its hint, which is of a width that it rarely has.
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(text);
}

void CodeLabel::setText(const QString &text)
{
    m_text = text;
    setAccessibleName(text);
    updateGeometry();
    update();
}

int CodeLabel::heightForWidth(int width) const
{
    QTextLayout layout(m_text, monoFont());
    return static_cast<int>(std::ceil(layOut(layout, width - 2 * side).height())) + 2 * above;
}

QSize CodeLabel::minimumSizeHint() const
{
    return {80, static_cast<int>(std::ceil(QFontMetricsF(monoFont()).height())) + 2 * above};
}

void CodeLabel::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QTextLayout layout(m_text, monoFont());
    const QSizeF size = layOut(layout, width() - 2 * side);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.code);
    painter.drawRoundedRect(QRectF(0, 0, size.width() + 2 * side, size.height() + 2 * above), 4, 4);
    painter.setPen(t.text);
    layout.draw(&painter, QPointF(side, above));
}

FactsForm::FactsForm(QWidget *parent)
    : QWidget(parent), m_grid(makeGrid(this, {.across = 12, .down = 0, .titles = 158}))
{
}

void FactsForm::clear()
{
    while (auto *item = m_grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_values.clear();
    m_texts.clear();
}

void FactsForm::addRow(const QString &title, QWidget *value, const QString &plain)
{
    const int row = static_cast<int>(m_values.size()) * 2;
    auto *name = makeLabel(title, u"muted"_s, this);
    name->setContentsMargins(0, 6, 0, 6);
    m_grid->addWidget(name, row, 0, Qt::AlignTop);
    m_grid->addWidget(value, row, 1);
    auto *line = new QFrame(this);
    line->setProperty("look", u"hairline"_s);
    line->setFixedHeight(1);
    m_grid->addWidget(line, row + 1, 0, 1, 2);
    m_values << std::pair(title, plain);
}

void FactsForm::addText(const QString &title, const QString &text)
{
    auto *value = makeWrapped(text, {}, this);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    value->setContentsMargins(0, 6, 0, 6);
    addRow(title, value, text);
    m_texts.insert(title, value);
}

void FactsForm::setText(const QString &title, const QString &text)
{
    auto *value = m_texts.value(title);
    if (!value || value->text() == text)
        return;
    value->setText(text);
    for (auto &[name, said] : m_values) {
        if (name == title)
            said = text;
    }
}

void FactsForm::addCode(const QString &title, const QStringList &lines)
{
    auto *value = new QWidget(this);
    auto *column = makeColumn(value, {.margins = {0, 5, 0, 5}, .spacing = 3}, {});
    for (const auto &line : lines)
        column->addWidget(new CodeLabel(line, value));
    addRow(title, value, lines.join(u'\n'));
}

QString FactsForm::valueOf(const QString &title) const
{
    for (const auto &[name, value] : m_values) {
        if (name == title)
            return value;
    }
    return {};
}

} // namespace lockscope::ui

#include "moc_factsform.cpp"
