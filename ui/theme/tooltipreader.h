// SPDX-License-Identifier: Apache-2.0
// Screen readers get a widget's tooltip where it has no description of its own, and would read its markup aloud.
#pragma once

#include <QObject>

namespace lockscope::ui {

// For all widgets of the application: the plain text of a tooltip is the description of its widget.
class ToolTipReader : public QObject {
public:
    using QObject::QObject;

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
};

} // namespace lockscope::ui
