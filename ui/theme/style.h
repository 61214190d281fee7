// SPDX-License-Identifier: Apache-2.0
// Fusion, which draws the same on every desktop and honours the palette completely; with icons of our own in message
// boxes: where a desktop has none, Qt's are of another age, and in no colour of ours.
#pragma once

#include <QProxyStyle>

namespace lockscope::ui {

class LockscopeStyle : public QProxyStyle {
    Q_OBJECT
public:
    LockscopeStyle();

    [[nodiscard]] QIcon standardIcon(StandardPixmap icon, const QStyleOption *option = nullptr,
                                     const QWidget *widget = nullptr) const override;
};

} // namespace lockscope::ui
