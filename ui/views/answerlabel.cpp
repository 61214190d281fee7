// SPDX-License-Identifier: Apache-2.0
#include "ui/views/answerlabel.h"

#include "ui/theme/theme.h"

#include <QPainter>
#include <QRegularExpression>
#include <QTextLayout>

#include <cmath>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

AnswerLabel::AnswerLabel(QWidget *parent) : QWidget(parent)
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setObjectName(QStringLiteral("answer"));
}

void AnswerLabel::setSentence(const QString &sentence, const QString &name)
{
    const qsizetype nameLength = sentence.startsWith(name) ? name.size() : 0;
    if (sentence == m_sentence && nameLength == m_nameLength)
        return;
    m_sentence = sentence;
    m_nameLength = nameLength;
    setAccessibleName(sentence);
    fitHeight();
    updateGeometry();
    update();
}

// The answer comes first, and whole: what is below it gives way.
void AnswerLabel::fitHeight()
{
    setMinimumHeight(heightForWidth(std::max(width(), minimumSizeHint().width())));
}

void AnswerLabel::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    fitHeight();
}

qreal AnswerLabel::layOut(QTextLayout &layout, qreal width) const
{
    // "4 m 12 s" stays on one line.
    static const QRegularExpression beforeUnit(u"(?<=[0-9]) (?=(?:ms|s|m|h|d)\\b)"_s);
    static const QRegularExpression afterUnit(u"(?<=\u00a0[mhd]) (?=[0-9])"_s);
    QString text = m_sentence;
    text.replace(beforeUnit, u"\u00a0"_s).replace(afterUnit, u"\u00a0"_s);
    layout.setText(text);
    layout.setFont(textFont(17, QFont::DemiBold));
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    if (m_nameLength > 0) {
        QTextLayout::FormatRange name;
        name.start = 0;
        name.length = static_cast<int>(m_nameLength);
        name.format.setFont(monoFont(16, QFont::DemiBold));
        layout.setFormats({name});
    }
    qreal y = 0;
    layout.beginLayout();
    for (auto line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(width);
        line.setPosition({0, y});
        y += line.height() + 1;
    }
    layout.endLayout();
    return y;
}

int AnswerLabel::heightForWidth(int width) const
{
    QTextLayout layout;
    return static_cast<int>(std::ceil(layOut(layout, width)));
}

QSize AnswerLabel::minimumSizeHint() const
{
    return {160, static_cast<int>(std::ceil(QFontMetricsF(textFont(17, QFont::DemiBold)).height()))};
}

void AnswerLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setPen(Theme::tokens().text);
    QTextLayout layout;
    layOut(layout, width());
    layout.draw(&painter, {});
}

} // namespace lockscope::ui

#include "moc_answerlabel.cpp"
