// SPDX-License-Identifier: Apache-2.0
// Labels that end in an ellipsis where they have no room: of one line, and of several.
#pragma once

#include <QLabel>

class QTextLayout;

namespace lockscope::ui {

class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget *parent = nullptr);

protected:
    void paintEvent(QPaintEvent *event) override;
};

// Wrapped, as QLabel does; where it has to be lower than its text, the last line that fits says that there is more:
// no line is ever cut through. Without room for one it is blank.
class WholeLinesLabel : public QLabel {
    Q_OBJECT
public:
    explicit WholeLinesLabel(QWidget *parent = nullptr);
    [[nodiscard]] bool isCut() const; // not all of it is shown
    // Asks for the height of no more lines than that; 0 for that of all.
    void setMostLines(int lines);
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {40, fontMetrics().lineSpacing()}; }

private:
    void paintEvent(QPaintEvent *event) override;
    [[nodiscard]] int linesThatFit() const;

    int m_mostLines = 0;
};

// Sentences with names from servers in them, which have no good place to break a line in.

// The words of `text` in lines no wider than that. A line ends after a clause where that fills about half of it, else
// between two words; never in a name, nor between a number and its unit. A word that is wider keeps its beginning
// and its end.
[[nodiscard]] QStringList clauseLines(const QString &text, const QFontMetrics &metrics, int width);

// Such lines. All of the sentence is its tool tip where a word was shortened.
class ClauseLabel : public QLabel {
    Q_OBJECT
public:
    // `look` is one of the style sheet's.
    explicit ClauseLabel(const QString &look, QWidget *parent = nullptr);
    void say(const QString &sentence);
    [[nodiscard]] const QString &sentence() const { return m_sentence; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {40, fontMetrics().lineSpacing()}; }

private:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    void breakLines();

    QString m_sentence;
};

// The one-sentence answer: plain text in large letters, with the lock's name at its beginning in
// monospace. Drawn by QTextLayout, because a label of rich text would read hostile names as HTML.
class AnswerLabel : public QWidget {
    Q_OBJECT
public:
    explicit AnswerLabel(QWidget *parent = nullptr);

    // `name` is set in monospace where `sentence` begins with it.
    void setSentence(const QString &sentence, const QString &name);
    [[nodiscard]] const QString &sentence() const { return m_sentence; }

    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] QSize sizeHint() const override { return {480, heightForWidth(480)}; }
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void fitHeight();
    // Lays the sentence out in `layout` and returns its height.
    qreal layOut(QTextLayout &layout, qreal width) const;

    QString m_sentence;
    qsizetype m_nameLength = 0;
};

} // namespace lockscope::ui
