// What must hold in every run, and whether it did: a check, or the moment at which it broke, to be clicked.
#pragma once

#include <version>

#include "ui/simulator/playedrun.h"

#include <QFrame>

class QGridLayout;

namespace lockscope::ui {

class MustHoldPanel : public QFrame {
    Q_OBJECT
public:
    explicit MustHoldPanel(QWidget *parent = nullptr);
    void setRuns(const std::vector<PlayedRunPtr> &runs);

signals:
    // What should hold, and under which faults it cannot, is to be shown.
    void promisesRequested();
    void violationChosen(std::size_t run, const lockscope::simulate::Violation &violation);

private:
    void addCell(const PlayedRunPtr &run, std::size_t number, const QByteArray &invariant, int row, int column);

    QGridLayout *m_grid;
    QWidget *m_rows = nullptr;
};

} // namespace lockscope::ui
