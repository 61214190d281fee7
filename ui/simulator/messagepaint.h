// SPDX-License-Identifier: Apache-2.0
// The messages between contenders and servers as a space-time diagram draws them: an arrow from who sent it, then, to
// whom it reached, then; one that never arrives ends in a cross.
#pragma once

#include "ui/simulator/lanepaint.h"

namespace lockscope::ui {

// On from the start where there are fewer contenders than this.
constexpr int mostLanesWithMessages = 12;
[[nodiscard]] inline bool hasMessagesToShow(const PlayedRun &run)
{
    return run.recording().history.isKept && run.lanes() > 0 && run.lanes() < mostLanesWithMessages;
}

// The life lines of the frame's servers, and the arrows in sight; how many there were. Where too many begin beside
// each other the first of them stand for all, or those before the cursor; what is lost is always there.
int paintMessages(QPainter &painter, const PlayedRun &run, const LaneFrame &frame, const Tokens &tokens);
void paintMessageGlyph(QPainter &painter, const QRectF &rect, LaneGlyph glyph, const Tokens &tokens);

} // namespace lockscope::ui
