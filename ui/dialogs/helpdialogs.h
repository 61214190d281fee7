// SPDX-License-Identifier: Apache-2.0
// What the menu's help opens beside the keys.
#pragma once

#include <QDialog>

namespace lockscope::ui {

// What this program is: its version, what it is made of and under which licences, where its files lie.
class AboutDialog : public QDialog {
    Q_OBJECT
public:
    explicit AboutDialog(QWidget *parent = nullptr);
};

// The help on findings: every code, what it means, how to confirm it and what to do, from the core's table.
class FindingsDialog : public QDialog {
    Q_OBJECT
public:
    explicit FindingsDialog(QWidget *parent = nullptr);
};

} // namespace lockscope::ui
