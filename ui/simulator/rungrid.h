// SPDX-License-Identifier: Apache-2.0
// The panels of the runs beside each other, or below: the same contenders, time and cursor in all of them, in the
// simulator and on the stage of a lesson.
#pragma once

#include "ui/simulator/playback.h"
#include "ui/simulator/runexport.h"

#include <QGridLayout>

namespace lockscope::ui {

class RunPanel;

class RunGrid : public QGridLayout {
    Q_OBJECT
public:
    // `playback` outlives the grid.
    explicit RunGrid(Playback &playback, bool isOnStage = false);

    void setRuns(const std::vector<PlayedRunPtr> &runs);
    void retranslate();
    void setHidesFuture(bool isHidden); // again, in another language
    [[nodiscard]] const std::vector<RunPanel *> &panels() const { return m_panels; }
    // Beside each other in `width`, or below when it is narrow.
    void place(int width, bool isNarrow);
    void fitTime();
    void setOverview(bool isOn); // thin lanes
    void chooseLane(int lane);
    [[nodiscard]] int chosenLane() const { return m_lane; }
    void zoom(double zoom, Moment around);
    void showMoment();
    void alignTiles();
    [[nodiscard]] std::vector<RunPicture> pictures() const;

signals:
    void menuRequested(std::size_t run, int lane, const QPoint &at);
    void serverMenuRequested(std::size_t run, int server, const QPoint &at);
    void momentChosen(); // by a click: the cursor is there
    void tilesChanged(); // their words may take another number of lines

private:
    RunPanel *makePanel();

    Playback &m_playback;
    const bool m_isOnStage;
    std::vector<RunPanel *> m_panels;
    int m_lane = contention::nobody;
    bool m_isDense = false;
};

} // namespace lockscope::ui
