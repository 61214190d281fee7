// SPDX-License-Identifier: Apache-2.0
// What the tiles below a run can show: its name, and its figure when the cursor has come so far. At the end of a run
// it is the recording's own counter.
#pragma once

#include "ui/simulator/playedrun.h"

namespace lockscope::ui {

struct TileFigure {
    QString text;
    // 1: as it should not be, -1: as it should, 0: neither
    int isBad = 0;
};

struct TileKind {
    const char *name;
    QString (*title)();
    QString (*tip)();
    TileFigure (*figure)(const PlayedRun &run, std::size_t happened, Moment at);
    bool isOfDrain = false; // counted from the first release on
};
// Null: there is none of that name.
[[nodiscard]] const TileKind *tileKind(const QByteArray &name);

} // namespace lockscope::ui
