// SPDX-License-Identifier: Apache-2.0
// What this program is: its version, what it is made of and under which licences, where its files lie.
#pragma once

#include <QDialog>

namespace lockscope::ui {

class AboutDialog : public QDialog {
    Q_OBJECT
public:
    explicit AboutDialog(QWidget *parent = nullptr);
};

} // namespace lockscope::ui
