// SPDX-License-Identifier: Apache-2.0
// Which new findings are told by the desktop.
#pragma once

#include "ui/models/alertwatch.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QLineEdit;

namespace lockscope::ui {

class AlertsDialog : public QDialog {
    Q_OBJECT
public:
    explicit AlertsDialog(const AlertRule &rule, QWidget *parent = nullptr);

    [[nodiscard]] AlertRule rule() const;

private:
    QCheckBox *m_on;
    QComboBox *m_least;
    QComboBox *m_code;
    QLineEdit *m_pattern;
    QCheckBox *m_production;
};

} // namespace lockscope::ui
