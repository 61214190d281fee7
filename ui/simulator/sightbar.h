// SPDX-License-Identifier: Apache-2.0
// What stands below the runs: the legend, and how they are looked at: all of them at once in thin lanes, and with or
// without what the cursor has not come to yet.
#pragma once

#include <version>

#include "ui/simulator/playback.h"

#include <QPushButton>
#include <QWidget>

namespace lockscope::ui {

class Legend;
class RunGrid;

class SightBar : public QWidget {
    Q_OBJECT
public:
    SightBar(Playback &playback, RunGrid &grid, QWidget *parent);

    // The playback has other runs now. Where what comes is hidden they begin at their start, or at the cursor.
    void begin(bool isCursorKept);
    // The whole time; in thin lanes where there are more than fit.
    void fitCrowd();
    // Chosen by whoever looks on, and for every run until it is chosen otherwise.
    void setHidesFuture(bool isHidden) { m_hide->setChecked(isHidden); }
    [[nodiscard]] bool hidesFuture() const { return m_hide->isChecked(); }
    // Something is hidden still: the cursor has not been at the end.
    [[nodiscard]] bool isHiding() const { return m_isHiding; }

signals:
    void hidingChanged(bool isHiding);

private:
    void retranslate();
    void hide(bool isHidden);
    void look();
    void showLegend();

    Playback &m_playback;
    RunGrid &m_grid;
    Legend *m_legend;
    QPushButton *m_overview;
    QPushButton *m_hide;
    Moment m_seen{};
    bool m_isHiding = false;
};

} // namespace lockscope::ui
