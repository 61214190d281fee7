#include "ui/views/answerlabel.h"

#include "ui/theme/theme.h"

#include <QPainter>
#include <QTextLayout>

#include <cmath>

namespace lockscope::ui {

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
    updateGeometry();
    update();
}

qreal AnswerLabel::layOut(QTextLayout &layout, qreal width) const
{
    layout.setText(m_sentence);
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

QSize AnswerLabel::sizeHint() const
{
    return {480, heightForWidth(480)};
}

QSize AnswerLabel::minimumSizeHint() const
{
    return {160, heightForWidth(std::max(160, width()))};
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
