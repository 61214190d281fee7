// SPDX-License-Identifier: Apache-2.0
// A pale sheet over a widget whose content is not known to be true any more. Clicks pass through.
#pragma once

#include <QWidget>

namespace lockscope::ui {

class Veil : public QWidget {
    Q_OBJECT
public:
    // Covers `covered`, whatever its size, while visible. Hidden at first.
    explicit Veil(QWidget *covered);

protected:
    void paintEvent(QPaintEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;
};

} // namespace lockscope::ui
