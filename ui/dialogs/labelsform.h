// SPDX-License-Identifier: Apache-2.0
// What the user calls clients, as a table: a pattern, and the name. What is typed is kept as soon as all of it can be
// read; till then it says what cannot.
#pragma once

#include "core/workspace/values.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QTableWidget;

namespace lockscope::ui {

class LabelsForm : public QWidget {
    Q_OBJECT
public:
    explicit LabelsForm(QString file, QWidget *parent = nullptr);

    // What the table says now, or why it says nothing.
    [[nodiscard]] Result<std::vector<inspect::ClientLabel>> labels() const;
    [[nodiscard]] QTableWidget &table() { return *m_table; }
    [[nodiscard]] QString problem() const;

signals:
    // They stand in the file.
    void changed(const std::vector<lockscope::inspect::ClientLabel> &labels);

private:
    enum Column { Pattern, Name, ColumnCount };
    void addRow(const QString &pattern, const QString &name);
    [[nodiscard]] QString text(int row, int column) const;
    void keep();
    void showButtons();

    QString m_file;
    QTableWidget *m_table;
    QLabel *m_problem;
    QPushButton *m_add, *m_remove;
    bool m_isFilling = false;
};

} // namespace lockscope::ui
