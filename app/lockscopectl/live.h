// SPDX-License-Identifier: Apache-2.0
// --watch: a view that is redrawn in place on a terminal, and lines on a pipe.
#pragma once

#include "app/lockscopectl/output.h"

namespace lockscope::ctl {

// What the filter shows or hides together.
struct LiveBlock {
    std::vector<Line> lines;
    bool isHeading = false; // stays under any filter
};

struct LiveContent {
    QString title;
    std::vector<Line> pinned; // stay at the top, under any filter
    std::vector<LiveBlock> blocks;
    // Nothing is known of the present, as of a server that is not connected: the blocks before are shown as past.
    bool isUnknown = false;
};

class LiveView {
public:
    virtual ~LiveView() = default;
    // What has to be waited for; called again and again, while the view is shown.
    virtual Task<void> read() = 0;
    // A connection broke or is back: what was read of it is not the present.
    virtual void forget() {}
    // `order`: the index of one of orders().
    [[nodiscard]] virtual LiveContent content(int width, int order) = 0;
    [[nodiscard]] virtual QStringList orders() const { return {}; }
    // The same as lines, where nothing can be drawn: until interrupted.
    virtual Task<Exit> printLines() = 0;
};

// Draws the view until q or an interrupt. Prints lines instead on a pipe, with --json and on a terminal that cannot.
[[nodiscard]] Task<Exit> runWatch(CommandContext &context, LiveView &view);
// Whether --watch was given; an error where a recording answers.
[[nodiscard]] Result<bool> isWatching(const CommandContext &context, const QString &command);

// A JSON line for each change of such a lock, until interrupted.
[[nodiscard]] Task<Exit> watchLocks(CommandContext &context,
                                    std::function<bool(const inspect::LockName &)> isWatched);

} // namespace lockscope::ctl
