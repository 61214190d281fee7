// SPDX-License-Identifier: Apache-2.0
// Sentences with names from servers in them, which have no good place to break a line in.
#pragma once

#include <QLabel>

namespace lockscope::ui {

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

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void breakLines();

    QString m_sentence;
};

} // namespace lockscope::ui
