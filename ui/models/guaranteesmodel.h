// SPDX-License-Identifier: Apache-2.0
// The table recipe × fault as a model: a row for each recipe, a column for each fault, and in the cell whether what
// must hold does. Made from the core's table; it has no words of its own for why.
#pragma once

#include <version>

#include "core/workspace/values.h"
#include "ui/theme/pill.h"

#include <QAbstractTableModel>

namespace lockscope::ui {

class GuaranteesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit GuaranteesModel(QObject *parent = nullptr);

    // Of one invariant; empty: the worst of all of them.
    void setInvariant(const QByteArray &invariant);
    // Whether what the lock guards refuses older fencing tokens.
    void setFenced(bool isFenced);

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    [[nodiscard]] const QByteArray &recipe(int row) const { return m_recipes[static_cast<std::size_t>(row)]; }
    [[nodiscard]] contention::FaultKind fault(int column) const { return m_faults[static_cast<std::size_t>(column)]; }
    // In the order of the invariants; empty where the fault is not simulated for the recipe.
    [[nodiscard]] const std::vector<contention::Guarantee> &guarantees(int row, int column) const;
    // None where the fault is not simulated for the recipe.
    [[nodiscard]] std::optional<Pill> pill(const QModelIndex &index) const;

private:
    void fill();

    const std::vector<QByteArray> m_recipes;
    const std::vector<contention::FaultKind> m_faults;
    std::vector<std::vector<contention::Guarantee>> m_cells; // by row, then by column
    QByteArray m_invariant;
    bool m_isFenced = false;
};

// "● holds", "✕ may break", "◔ rarely breaks", "○ not promised".
[[nodiscard]] Pill pillOf(contention::Guarantee::Verdict verdict);

} // namespace lockscope::ui
