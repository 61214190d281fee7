// SPDX-License-Identifier: Apache-2.0
// The four numbers under a run, at the cursor: requests, watch events, wasted wake-ups, how long one waits. Below
// them what is known of the whole run only.
#pragma once

#include <version>

#include "ui/simulator/playedrun.h"

#include <QFrame>

#include <array>

class QGridLayout;
class QLabel;

namespace lockscope::ui {

class CounterTiles : public QWidget {
    Q_OBJECT
public:
    explicit CounterTiles(QWidget *parent = nullptr);

    void show(const PlayedRun &run, std::size_t happened);
    // As it stands there: "4,747".
    [[nodiscard]] QString requests() const { return text(0); }
    [[nodiscard]] QString watchEvents() const { return text(1); }
    [[nodiscard]] QString wasted() const { return text(2); }
    [[nodiscard]] QString waitP99() const { return text(3); }
    [[nodiscard]] QString wholeRun() const;

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    [[nodiscard]] QString text(std::size_t tile) const;
    void place(int columns);

    QGridLayout *m_grid;
    std::array<QFrame *, 4> m_tiles{};
    std::array<QLabel *, 4> m_figures{};
    QLabel *m_whole = nullptr;
    int m_columns = 0;
};

} // namespace lockscope::ui
