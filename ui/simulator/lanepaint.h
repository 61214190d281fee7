// SPDX-License-Identifier: Apache-2.0
// Draws the lanes of a run: what is in sight and no more, and never more than one thing per pixel of a lane, so that
// a frame costs what its picture shows and not what the run holds.
#pragma once

#include "ui/simulator/playedrun.h"
#include "ui/theme/tokens.h"

#include <QRectF>

#include <optional>

class QPainter;

namespace lockscope::ui {

void paintGlyph(QPainter &painter, const QRectF &rect, LaneGlyph glyph, const Tokens &tokens);

struct LaneFrame {
    QRectF lanes;   // where the lanes are; names stand left of it, the axis below
    QRectF servers; // above them, where messages are drawn: a life line for each server; else empty
    double laneHeight = 26;
    double scrolled = 0; // pixels of lanes above the picture
    Moment from{}, to{};
    Moment cursor{};
    std::optional<Moment> seen; // what is after it is hidden: nobody has been there yet
    bool showsNames = true;
    int chosenLane = contention::nobody;
    bool hasFocus = false;

    [[nodiscard]] double xOf(Moment at) const;
    [[nodiscard]] Moment momentAt(double x) const;
    [[nodiscard]] int laneAt(double y) const; // may lie outside the run's
    [[nodiscard]] bool isDense() const { return laneHeight < 14; }
    // Where a lane's middle is; of one that is scrolled away, too.
    [[nodiscard]] double middleOf(int lane) const { return lanes.top() + (lane + 0.5) * laneHeight - scrolled; }
};

// What a picture took, to be counted by tests.
struct PaintCost {
    int lanes = 0, bars = 0, marks = 0, arrows = 0;
};

PaintCost paintLanes(QPainter &painter, const PlayedRun &run, const LaneFrame &frame, const Tokens &tokens);
void paintTimeAxis(QPainter &painter, const LaneFrame &frame, const Tokens &tokens);
// Over everything: what has not happened yet is pale, the cursor a line.
void paintCursor(QPainter &painter, const LaneFrame &frame, const Tokens &tokens);

} // namespace lockscope::ui
