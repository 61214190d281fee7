// SPDX-License-Identifier: Apache-2.0
// The messages between contenders and servers as a space-time diagram draws them: an arrow from who sent it, then, to
// whom it reached, then; one that never arrives ends in a cross.
#pragma once

#include "ui/simulator/lanepaint.h"

namespace lockscope::ui {

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
