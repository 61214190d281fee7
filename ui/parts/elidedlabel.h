// SPDX-License-Identifier: Apache-2.0
// A label of one line that ends in an ellipsis where it has no room.
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

} // namespace lockscope::ui
