// SPDX-License-Identifier: Apache-2.0
// Runs as pictures: the lanes beside each other with their titles, counters and legend.
#pragma once

#include "ui/simulator/lanepaint.h"

#include <QImage>

namespace lockscope::ui {

struct RunPicture {
    PlayedRunPtr run;
    LaneFrame frame; // as on the screen; its place is chosen by the picture
    std::size_t happened = 0;
    QString title{}; // empty: the recipe's
};

// Whether a picture has room for each of its lanes, where the screen has it for a few.
[[nodiscard]] bool hasRoomForAll(const RunPicture &one);
// The same at another moment, as if nobody had been later.
[[nodiscard]] std::vector<RunPicture> picturesAt(std::vector<RunPicture> runs, Moment at);
// Any thread. The legend has the signs of `legendOf`, so that pictures of one run are of one size. Null: no memory.
[[nodiscard]] QImage imageOf(const std::vector<RunPicture> &runs, const Tokens &tokens,
                             const std::vector<RunPicture> &legendOf, double scale);

// Empty, or what went wrong.
[[nodiscard]] QString savePng(const std::vector<RunPicture> &runs, const QString &file);
[[nodiscard]] QString saveSvg(const std::vector<RunPicture> &runs, const QString &file);

} // namespace lockscope::ui
