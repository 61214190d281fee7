// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/clauselabel.h"

#include "ui/theme/text.h"

#include <QEvent>
#include <QRegularExpression>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

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

} // namespace lockscope::ui

#include "moc_clauselabel.cpp"
