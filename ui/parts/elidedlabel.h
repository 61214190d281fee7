// SPDX-License-Identifier: Apache-2.0
// Labels that end in an ellipsis where they have no room: of one line, and of several.
#pragma once

#include <QLabel>

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

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    [[nodiscard]] int linesThatFit() const;

    int m_mostLines = 0;
};

} // namespace lockscope::ui
