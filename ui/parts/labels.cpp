// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/labels.h"

#include "ui/theme/theme.h"

#include <QEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QTextLayout>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// The lines into which a text falls at that width: where each begins, and how long it is.
std::vector<std::pair<int, int>> linesOf(const QString &text, const QFont &font, int width)
{
    std::vector<std::pair<int, int>> lines;
    QTextLayout layout(text, font);
    layout.beginLayout();
    for (auto line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(width);
        lines.emplace_back(line.textStart(), line.textLength());
    }
    layout.endLayout();
    return lines;
}

// "4 m 12 s" is one word.
QStringList clauseWords(const QString &text)
{
    static const QRegularExpression unit(u"^(?:ms|s|m|h|d)\\b"_s), number(u"^[0-9]"_s);
    QStringList words;
    bool isAfterUnit = false;
    for (const auto &word : text.split(u' ', Qt::SkipEmptyParts)) {
        const bool startsWithNumber = word.contains(number);
        const bool isUnit = !words.isEmpty() && words.back().back().isDigit() && word.contains(unit);
        if (isUnit || (isAfterUnit && startsWithNumber))
            words.back() += u' ' + word;
        else
            words << word;
        isAfterUnit = isUnit && word.back().isLetter();
    }
    return words;
}

bool endsClause(const QString &word)
{
    return word.endsWith(u',') || word.endsWith(u';') || word == u"·"_s;
}

} // namespace

ElidedLabel::ElidedLabel(QWidget *parent) : QLabel(parent)
{
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void ElidedLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    painter.setFont(font());
    painter.drawText(contentsRect(), static_cast<int>(alignment()),
                     fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width()));
}

WholeLinesLabel::WholeLinesLabel(QWidget *parent) : QLabel(parent)
{
    setTextFormat(Qt::PlainText);
    setWordWrap(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
}

// Asked while it is painted: QLabel::heightForWidth() lays the text out anew, which asks for the next painting.
bool WholeLinesLabel::isCut() const
{
    const auto lines = static_cast<int>(linesOf(text(), font(), contentsRect().width()).size());
    return linesThatFit() < lines;
}

// Of its last line a pixel may be missing: layouts and metrics round differently.
int WholeLinesLabel::linesThatFit() const
{
    return (contentsRect().height() + 1) / fontMetrics().lineSpacing();
}

void WholeLinesLabel::setMostLines(int lines)
{
    if (std::exchange(m_mostLines, lines) != lines)
        updateGeometry();
}

int WholeLinesLabel::heightForWidth(int width) const
{
    const int all = QLabel::heightForWidth(width);
    const int frame = height() - contentsRect().height();
    return m_mostLines > 0 ? std::min(all, m_mostLines * fontMetrics().lineSpacing() + frame) : all;
}

void WholeLinesLabel::paintEvent(QPaintEvent *event)
{
    if (!isCut()) {
        QLabel::paintEvent(event);
        return;
    }
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    const auto room = contentsRect();
    const int lineHeight = fontMetrics().lineSpacing();
    const auto lines = linesOf(text(), font(), room.width());
    const int shown = std::min(linesThatFit(), static_cast<int>(lines.size()));
    for (int i = 0; i < shown; ++i) {
        const auto [start, length] = lines[static_cast<std::size_t>(i)];
        const bool isLast = i == shown - 1;
        const auto rest = text().mid(start, isLast ? -1 : length);
        painter.drawText(QRect(room.left(), room.top() + i * lineHeight, room.width(), lineHeight), Qt::AlignVCenter,
                         isLast ? fontMetrics().elidedText(rest, Qt::ElideRight, room.width()) : rest);
    }
}

QStringList clauseLines(const QString &text, const QFontMetrics &metrics, int width)
{
    constexpr double aboutHalf = 0.45;
    QStringList lines;
    auto words = clauseWords(text);
    while (!words.isEmpty()) {
        qsizetype fitting = 0, clause = 0;
        QString line;
        for (const auto &word : std::as_const(words)) {
            line += line.isEmpty() ? word : u' ' + word;
            const int wide = metrics.horizontalAdvance(line);
            if (wide > width)
                break;
            ++fitting;
            if (endsClause(word) && wide > width * aboutHalf)
                clause = fitting;
        }
        const bool isRest = fitting == words.size();
        const auto taken = isRest ? fitting : std::max<qsizetype>(clause > 0 ? clause : fitting, 1);
        line = words.mid(0, taken).join(u' ');
        lines << (fitting == 0 ? metrics.elidedText(line, Qt::ElideMiddle, width) : line);
        words = words.mid(taken);
    }
    return lines;
}

ClauseLabel::ClauseLabel(const QString &look, QWidget *parent) : QLabel(parent)
{
    setProperty("look", look);
    setTextFormat(Qt::PlainText);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void ClauseLabel::say(const QString &sentence)
{
    if (sentence == m_sentence)
        return;
    m_sentence = sentence;
    setAccessibleName(sentence);
    breakLines();
    updateGeometry();
}

int ClauseLabel::heightForWidth(int width) const
{
    const auto lines = clauseLines(m_sentence, fontMetrics(), width).size();
    return static_cast<int>(std::max<qsizetype>(lines, 1)) * fontMetrics().lineSpacing();
}

void ClauseLabel::breakLines()
{
    const auto lines = clauseLines(m_sentence, fontMetrics(), contentsRect().width());
    const auto text = lines.join(u'\n');
    if (text == this->text())
        return;
    setText(text);
    const bool isWhole = lines.join(u' ') == m_sentence.split(u' ', Qt::SkipEmptyParts).join(u' ');
    setToolTip(isWhole ? QString() : plainToolTip(m_sentence));
}

void ClauseLabel::resizeEvent(QResizeEvent *event)
{
    QLabel::resizeEvent(event);
    breakLines();
}

void ClauseLabel::changeEvent(QEvent *event)
{
    QLabel::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        breakLines();
}

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

#include "moc_labels.cpp"
