// SPDX-License-Identifier: Apache-2.0
// The help on findings: every code, what it means, how to confirm it and what to do, from the core's table.
#pragma once

#include <version>

#include <QDialog>

namespace lockscope::ui {

class FindingsDialog : public QDialog {
    Q_OBJECT
public:
    explicit FindingsDialog(QWidget *parent = nullptr);
};

} // namespace lockscope::ui
