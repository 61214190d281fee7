// SPDX-License-Identifier: Apache-2.0
// What must hold in every run, and whether it did until the cursor: a check, or the moment at which it broke, to be
// clicked.
#pragma once

#include "ui/simulator/playedrun.h"
#include "ui/theme/pill.h"

#include <QFrame>

class QGridLayout;
class QLabel;
class QPushButton;

namespace lockscope::ui {

class PillLabel;

class MustHoldPanel : public QFrame {
    Q_OBJECT
public:
    explicit MustHoldPanel(QWidget *parent = nullptr);
    void setRuns(const std::vector<PlayedRunPtr> &runs);
    // What breaks after it has not broken yet; at the end everything that did not hold has.
    void setMoment(Moment at, bool isAtEnd);
    // Neither what broke nor what held is said before the cursor has been there, from where it is now.
    void setHidesFuture(bool isHidden);

signals:
    // What should hold, and under which faults it cannot, is to be shown.
    void guaranteesRequested();
    void violationChosen(std::size_t run, const lockscope::contention::Violation &violation);

private:
    void retranslate();
    void addCell(const PlayedRunPtr &run, std::size_t number, const QByteArray &invariant, int row, int column);

    // Where a run's invariant is said: that it held, or a button for when it broke; of one that broke both, for until
    // it is known.
    struct Cell {
        PillLabel *pill = nullptr;
        Pill held, soFar;
        QPushButton *button = nullptr; // none: it held
        Moment at{};                   // when it broke
    };
    void light(const Cell &cell) const;
    void lightAll() const;
    [[nodiscard]] Cell brokenCell(std::size_t run, const contention::Violation &violation);

    std::vector<Cell> m_cells;
    Moment m_seen{}; // how far the cursor came
    bool m_hidesFuture = false;
    Moment m_moment{};
    bool m_isAtEnd = true;
    QLabel *m_title = nullptr;
    QPushButton *m_guarantees = nullptr;
    QGridLayout *m_grid;
    QWidget *m_rows = nullptr;
};

} // namespace lockscope::ui
