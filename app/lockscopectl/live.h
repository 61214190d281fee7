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

// All of them, as without a filter.
[[nodiscard]] std::vector<Line> linesOf(const std::vector<LiveBlock> &blocks);

struct LiveContent {
    QString title;
    std::vector<Line> pinned; // stay at the top, under any filter
    std::vector<LiveBlock> blocks;
    // Nothing is known of the present, as of a server that is not connected: the blocks before are shown as past.
    bool isUnknown = false;
    bool isRead = true;   // at least once, everything that it shows
    QString incomplete{}; // that something is missing, which the last blocks explain
};

// "incomplete: 2 connections, …"; empty where everything was read.
[[nodiscard]] QString incompleteText(const std::vector<inspect::Coverage> &coverage);

class LiveView {
public:
    virtual ~LiveView() = default;
    // What has to be waited for; called again and again, while the view is shown.
    virtual Task<void> read() = 0;
    // That connection broke or is back: what was read of it is not the present.
    virtual void forget(const ConnectionName &name) = 0;
    // `order`: the index of one of orders(). `isFiltered`: every lock has a block of its own.
    [[nodiscard]] virtual LiveContent content(int width, int order, bool isFiltered) = 0;
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
