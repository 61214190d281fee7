// SPDX-License-Identifier: Apache-2.0
// Draws the lanes of a run: what is in sight and no more, and never more than one thing per pixel of a lane, so that
// a frame costs what its picture shows and not what the run holds.
#pragma once

#include "ui/simulator/playedrun.h"
#include "ui/theme/tokens.h"

#include <QLineF>
#include <QRectF>

#include <limits>
#include <optional>

class QPainter;

namespace lockscope::ui {

// The same sign in a lane and in the legend. Without a pen afterwards.
void paintGlyph(QPainter &painter, const QRectF &rect, LaneGlyph glyph, const Tokens &tokens);

struct LaneFrame {
    QRectF lanes;   // where the lanes are; names stand left of it, the axis below
    QRectF servers; // above them, where messages are drawn: a life line for each server; else empty
    double laneHeight = 26;
    double scrolled = 0; // pixels of lanes above the picture
    Moment from{}, to{};
    Moment cursor{};
    std::optional<Moment> seen;               // what is after it is hidden: nobody has been there yet
    std::vector<WakeUp> wakeUps;              // drawn instead of the messages around them
    double flight = 1, fall = 1;              // how far the wake-ups have come, and the wasted ones have fallen back
    std::vector<std::pair<int, int>> watches; // which lane watches the node of which
    int rows = std::numeric_limits<int>::max(); // lanes with a row each; those behind them share a band
    double bandEach = 0;                        // height of a lane in the band
    int fontSize = 12;
    int chosenLane = contention::nobody;
    bool hasFocus = false;

    [[nodiscard]] double xOf(Moment at) const;
    [[nodiscard]] Moment momentAt(double x) const;
    [[nodiscard]] int laneAt(double y) const; // may lie outside the run's
    [[nodiscard]] bool isDense() const { return laneHeight < 14; }
    // Where a lane is; of one that is scrolled away, too.
    [[nodiscard]] QRectF rectOf(int lane) const;
    [[nodiscard]] double middleOf(int lane) const { return rectOf(lane).center().y(); }
    // From the server's event to where the client is when it is over.
    [[nodiscard]] QLineF rayOf(const WakeUp &wakeUp, int serverCount) const;
};

// What a picture took, to be counted by tests.
struct PaintCost {
    int lanes = 0, bars = 0, marks = 0, arrows = 0;
};

PaintCost paintLanes(QPainter &painter, const PlayedRun &run, const LaneFrame &frame, const Tokens &tokens);
void paintTimeAxis(QPainter &painter, const LaneFrame &frame, const Tokens &tokens);
// Over everything: the rays from the server's event to the clients, and who watches whose node.
void paintWakeUps(QPainter &painter, const LaneFrame &frame, int servers, const Tokens &tokens);
// Over all but those: what has not happened yet is pale, the cursor a line.
void paintCursor(QPainter &painter, const LaneFrame &frame, const Tokens &tokens);

} // namespace lockscope::ui
