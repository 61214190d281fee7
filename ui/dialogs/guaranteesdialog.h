// SPDX-License-Identifier: Apache-2.0
// The help on what a lock keeps when something goes wrong: recipe × fault as a table that can be searched, and below
// it why, for the cell that is chosen.
#pragma once

#include <version>

#include <QDialog>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QTableView;

namespace lockscope::ui {

class GuaranteesModel;

class GuaranteesDialog : public QDialog {
    Q_OBJECT
public:
    // Opens on these recipes; on all of them where there are none.
    explicit GuaranteesDialog(const std::vector<QByteArray> &recipes, QWidget *parent = nullptr);

    [[nodiscard]] QTableView &table() const { return *m_table; }
    // What stands below the table: a line for each invariant.
    [[nodiscard]] QStringList reasons() const;

private:
    QWidget *makeChoices();
    QWidget *makeReasons();
    void makeTable();
    void filter();
    [[nodiscard]] bool rowHas(int row, const QString &text) const;
    [[nodiscard]] bool columnHas(int column, const QString &text) const;
    [[nodiscard]] bool isOfServer(int row) const;
    void showReasons();

    GuaranteesModel *m_model;
    QTableView *m_table;
    QLineEdit *m_find = nullptr;
    QComboBox *m_server = nullptr;
    QComboBox *m_invariant = nullptr;
    QCheckBox *m_fenced = nullptr;
    QLabel *m_title = nullptr;
    QLabel *m_summary = nullptr;
    QWidget *m_lines = nullptr;
    QGridLayout *m_grid = nullptr;
    QLabel *m_nothing = nullptr;
};

} // namespace lockscope::ui
