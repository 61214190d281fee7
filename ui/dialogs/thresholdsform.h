// SPDX-License-Identifier: Apache-2.0
// The thresholds of findings as a table: a row for every lock, and a row for each pattern whose locks have others.
// What is typed is kept as soon as all of it can be read; till then it says what cannot.
#pragma once

#include "core/workspace/values.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QTableWidget;

namespace lockscope::ui {

class ThresholdsForm : public QWidget {
    Q_OBJECT
public:
    explicit ThresholdsForm(QString file, QWidget *parent = nullptr);

    // What the table says now, or why it says nothing.
    [[nodiscard]] Result<inspect::ThresholdRules> rules() const;
    [[nodiscard]] QTableWidget &table() { return *m_table; }
    [[nodiscard]] QString problem() const;

signals:
    // They stand in the file.
    void changed(const lockscope::inspect::ThresholdRules &rules);

private:
    enum Column { Pattern, LongHeld, LongWait, Unusual, ColumnCount };
    void show(const inspect::ThresholdRules &rules);
    void addRow(const inspect::ThresholdRule &rule);
    [[nodiscard]] QString text(int row, int column) const;
    [[nodiscard]] Result<inspect::ThresholdRule> ruleAt(int row) const;
    void moveRow(int by);
    void keep();
    void showButtons();

    QString m_file;
    QTableWidget *m_table;
    QLabel *m_problem;
    QPushButton *m_add, *m_remove, *m_up, *m_down;
    bool m_isFilling = false;
    bool m_isBroken = false; // the file: it is left as it is
};

} // namespace lockscope::ui
