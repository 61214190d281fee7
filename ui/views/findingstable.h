// SPDX-License-Identifier: Apache-2.0
// The table of findings.
#pragma once

#include "ui/models/findingsmodel.h"
#include "ui/views/celldelegate.h"

#include <QTableView>

namespace lockscope::ui {

class TableTools;

class FindingsDelegate : public CellDelegate {
    Q_OBJECT
public:
    FindingsDelegate(const FindingsModel &model, QObject *parent) : CellDelegate(parent), m_model(model) {}

protected:
    [[nodiscard]] CellLook look(const QModelIndex &index) const override;

private:
    const FindingsModel &m_model;
};

class FindingsTable : public QTableView {
    Q_OBJECT
public:
    explicit FindingsTable(FindingsModel &model, QWidget *parent = nullptr);
    // Null when no row is chosen.
    [[nodiscard]] const FindingRow *current() const;
    [[nodiscard]] std::pair<int, int> visibleRows() const;
    void showConnections(bool areSeveral);
    [[nodiscard]] TableTools &tools() { return *m_tools; }
    // Until somebody does something with a row, the chosen one is never less grave than another.
    void keepChoice() { m_isChoiceTheirs = true; }
    void chooseGravest();

signals:
    void chosen();
    void opened();

private:
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void currentChanged(const QModelIndex &current, const QModelIndex &previous) override;
    void arrangeColumns();
    void fitNames();

    FindingsModel &m_model;
    bool m_isChoiceTheirs = false;
    bool m_isNameDragged = false;
    bool m_isFittingNames = false;
    TableTools *m_tools;
    bool m_areSeveral = false; // connections
};

} // namespace lockscope::ui
