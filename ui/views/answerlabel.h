// SPDX-License-Identifier: Apache-2.0
// The one-sentence answer: plain text in large letters, with the lock's name at its beginning in
// monospace. Drawn by QTextLayout, because a label of rich text would read hostile names as HTML.
#pragma once

#include <QString>
#include <QWidget>

class QTextLayout;

namespace lockscope::ui {

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
