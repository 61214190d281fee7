// SPDX-License-Identifier: Apache-2.0
// What the shapes of the lanes mean.
#pragma once

#include <QWidget>

namespace lockscope::ui {

class Legend : public QWidget {
    Q_OBJECT
public:
    explicit Legend(QWidget *parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {40, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace lockscope::ui
