// SPDX-License-Identifier: Apache-2.0
// What must hold in every run, and whether it did until the cursor: a check, or the moment at which it broke, to be
// clicked.
#pragma once

#include <version>

#include "ui/simulator/playedrun.h"

#include <QFrame>

class QGridLayout;
class QLabel;
class QPushButton;

namespace lockscope::ui {

class MustHoldPanel : public QFrame {
    Q_OBJECT
public:
    explicit MustHoldPanel(QWidget *parent = nullptr);
    void setRuns(const std::vector<PlayedRunPtr> &runs);
    // What breaks after it has not broken yet; at the end everything that did not hold has.
    void setMoment(Moment at, bool isAtEnd);

signals:
    // What should hold, and under which faults it cannot, is to be shown.
    void guaranteesRequested();
    void violationChosen(std::size_t run, const lockscope::contention::Violation &violation);

protected:
    void changeEvent(QEvent *event) override;

private:
    void sayWords();
    void addCell(const PlayedRunPtr &run, std::size_t number, const QByteArray &invariant, int row, int column);

    // What did not hold in a run, where it is said.
    struct Broken {
        QPushButton *button = nullptr;
        Moment at{};
    };
    void light(const Broken &broken) const;

    std::vector<Broken> m_broken;
    Moment m_moment{};
    bool m_isAtEnd = true;
    QLabel *m_title = nullptr;
    QPushButton *m_guarantees = nullptr;
    QGridLayout *m_grid;
    QWidget *m_rows = nullptr;
};

} // namespace lockscope::ui
