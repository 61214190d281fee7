// SPDX-License-Identifier: Apache-2.0
// Runs as pictures: all lanes, where the screen has room for a few (of more than a thousand those from the first in
// sight on, and it says which), beside each other with their titles, counters and legend.
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

// The same at another moment, as if nobody had been later.
[[nodiscard]] std::vector<RunPicture> picturesAt(std::vector<RunPicture> runs, Moment at);
// Any thread. The legend has the signs of `legendOf`, so that pictures of one run are of one size. Null: no memory.
[[nodiscard]] QImage imageOf(const std::vector<RunPicture> &shown, const Tokens &tokens,
                             const std::vector<RunPicture> &legendOf, double scale);

// Empty, or what went wrong.
[[nodiscard]] QString savePng(const std::vector<RunPicture> &runs, const QString &file);
[[nodiscard]] QString saveSvg(const std::vector<RunPicture> &shown, const QString &file);

} // namespace lockscope::ui
