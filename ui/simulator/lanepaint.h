// SPDX-License-Identifier: Apache-2.0
// Draws the lanes of a run: what is in sight and no more, and never more than one thing per pixel of a lane, so that
// a frame costs what its picture shows and not what the run holds.
#pragma once

#include "ui/simulator/playedrun.h"
#include "ui/theme/theme.h"

#include <QLineF>
#include <QRectF>

#include <limits>

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

// The messages between contenders and servers as a space-time diagram draws them: an arrow from who sent it, then, to
// whom it reached, then; one that never arrives ends in a cross.
// On from the start where there are fewer contenders than this.
constexpr int mostLanesWithMessages = 13;
[[nodiscard]] inline bool hasMessagesToShow(const PlayedRun &run)
{
    return run.recording().history.isKept && run.lanes() > 0 && run.lanes() < mostLanesWithMessages;
}

// The life lines of the frame's servers, and the arrows in sight; how many there were. Where too many begin beside
// each other the first of them stand for all, or those before the cursor; what is lost is always there.
int paintMessages(QPainter &painter, const PlayedRun &run, const LaneFrame &frame, const Tokens &tokens);

// The signs that lanes are made of; the legend shows the same ones.
[[nodiscard]] QColor blend(const QColor &over, const QColor &under, float amount);
[[nodiscard]] QColor waitFill(const Tokens &t);
void drawArrow(QPainter &painter, QPointF from, QPointF to, const QColor &colour, double width);
void drawCross(QPainter &painter, QPointF centre, double half, const QColor &colour, double width);
void drawBar(QPainter &painter, const QRectF &rect, double radius, const QColor &colour);
// A bar that others may stand beside: who reads, or who works without keeping anybody out.
void drawFrame(QPainter &painter, const QRectF &rect, const QColor &colour, Qt::PenStyle style, const Tokens &t);
void drawHatch(QPainter &painter, const QRectF &rect, const Tokens &t);
void drawTriangle(QPainter &painter, QPointF centre, double half, const QColor &colour);
// To what the lock guards: a pencil's point; crossed out where it was refused.
void drawWrite(QPainter &painter, QPointF centre, double half, bool isRefused, const Tokens &t);
// Something typed beside the lock: a shell's prompt.
void drawAct(QPainter &painter, QPointF centre, double half, const Tokens &t);
// Goes without the lock: the end of a wait, as a wall.
void drawGivesUp(QPainter &painter, QPointF centre, double half, const Tokens &t);
// Is told that it lost it: a broken square.
void drawLoses(QPainter &painter, QPointF centre, double half, const Tokens &t);

} // namespace lockscope::ui
