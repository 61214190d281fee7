// SPDX-License-Identifier: Apache-2.0
// The panels of the runs beside each other, or below: the same contenders, time and cursor in all of them.
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
    explicit RunGrid(Playback &playback);

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
    void showMoment();
    [[nodiscard]] std::vector<RunPicture> pictures() const;

signals:
    void menuRequested(std::size_t run, int lane, const QPoint &at);
    void serverMenuRequested(int server, const QPoint &at);

private:
    RunPanel *makePanel();
    void alignTiles();

    Playback &m_playback;
    std::vector<RunPanel *> m_panels;
    int m_lane = contention::nobody;
    bool m_isDense = false;
};

} // namespace lockscope::ui
