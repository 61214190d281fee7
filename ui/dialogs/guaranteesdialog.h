// SPDX-License-Identifier: Apache-2.0
// The help on what a lock keeps when something goes wrong: recipe × fault as a table that can be searched, and below
// it why, for the cell that is chosen.
#pragma once

#include "core/workspace/values.h"
#include "ui/models/rowsmodel.h"
#include "ui/theme/pill.h"

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

// The table recipe × fault as a model: a row for each recipe, a column for each fault, and in the cell whether what
// must hold does. Made from the core's table; it has no words of its own for why.

// A recipe with its cells, in the order of the faults.
struct RecipeGuarantees {
    QByteArray recipe;
    std::vector<std::vector<contention::Guarantee>> cells{};
};

class GuaranteesModel : public RowsModel<RecipeGuarantees> {
    Q_OBJECT
public:
    explicit GuaranteesModel(QObject *parent = nullptr);

    // Of one invariant; empty: the worst of all of them.
    void setInvariant(const QByteArray &invariant);
    // Whether what the lock guards refuses older fencing tokens.
    void setFenced(bool isFenced);

    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    [[nodiscard]] const QByteArray &recipe(int row) const { return at(row).recipe; }
    [[nodiscard]] contention::FaultKind fault(int column) const { return m_faults[static_cast<std::size_t>(column)]; }
    // In the order of the invariants; empty where the fault is not simulated for the recipe.
    [[nodiscard]] const std::vector<contention::Guarantee> &guarantees(int row, int column) const
    {
        return at(row).cells[static_cast<std::size_t>(column)];
    }
    // None where the fault is not simulated for the recipe.
    [[nodiscard]] std::optional<Pill> pill(const QModelIndex &index) const
    {
        return worstOf(guarantees(index.row(), index.column()));
    }

private:
    void fill();
    [[nodiscard]] RowColumn<RecipeGuarantees> columnOf(std::size_t fault) const;
    [[nodiscard]] std::optional<Pill> worstOf(const std::vector<contention::Guarantee> &guarantees) const;

    const std::vector<contention::FaultKind> m_faults;
    QByteArray m_invariant;
    bool m_isFenced = false;
};

// "● holds", "✕ may break", "◔ rarely breaks", "○ not promised".
[[nodiscard]] Pill pillOf(contention::Guarantee::Verdict verdict);

// What the menu's help opens beside the keys.

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
