// SPDX-License-Identifier: Apache-2.0
// What happened to a lock, in the order it was seen: who held it, who waited, who handed it to whom, what was forced,
// and when it was not looked at. A pure function of its history.
//
// Moments are those at which a change was seen: between a look and the next an event may have been a little earlier,
// and what came and went between two looks is not there.
#pragma once

#include "core/history/recording.h"
#include "core/inspect/waits/clients.h"

namespace lockscope::history {

struct TimelineEvent {
    enum class Kind {  // in the order of nameOf()
        HeldAtStart,   // held already when the recording begins
        IsWaiting,     // likewise
        Queues,        // came, and waits
        Holds,         // holds from here on; `span`: how long it waited
        Released,      // does not hold any more; `span`: how long it held
        GivesUp,       // is gone without having held; `span`: how long it waited
        ForceReleased, // was forced to let go; `span` as Released
        TtlRemoved,    // holds on, and the lock does not end by itself any more
        TtlSet,        // holds on, and now the lock ends by itself
        TtlShortened,  // holds on, and the lock ends sooner than it would have; `span`: by so much
        Disappears,    // the lock is gone from its server
        DeadlockEnded, // the server ended a deadlock in which a client waited for the lock
        Unseen,        // its connection broke: what happens from here on is not seen
        SeenAgain,
        AdminAction, // a record of the audit file
    };
    Moment at{};
    Kind kind = Kind::Holds;
    inspect::Contender contender; // as it was seen then, and who it is as far as it was ever said; empty: about none
    std::optional<std::chrono::milliseconds> span;
    QString words; // AdminAction: what was done by whom; DeadlockEnded: who, and who was rolled back
};

// Nearest rank: a value that was really there.
struct Spans {
    int count = 0;
    std::chrono::milliseconds p50{}, p90{}, p99{}, max{};
    friend bool operator==(const Spans &, const Spans &) = default;
};
[[nodiscard]] Spans spansOf(std::vector<std::chrono::milliseconds> all);
// Of spans in their order; 0 where there are none.
[[nodiscard]] std::chrono::milliseconds percentileOf(const std::vector<std::chrono::milliseconds> &sorted,
                                                     std::size_t percent);

struct Timeline {
    BackendKind backend{};
    std::vector<TimelineEvent> events;
    Spans holds;                                                 // of those whose begin and end are known
    Spans waits;                                                 // of those that got it
    std::vector<std::chrono::milliseconds> holdSpans, waitSpans; // what they are of, the shortest first
    Spans gaps; // between a release and the next holder, while somebody waited
    int handOffs = 0;
    int forced = 0;
};
// `labels`: what the user calls clients.
[[nodiscard]] Timeline timelineOf(const LockHistory &history, const std::vector<inspect::ClientLabel> &labels = {});

// Of the JSON: "acquired".
[[nodiscard]] QString nameOf(TimelineEvent::Kind kind);
// "does not hold it any more, after 4 m 12 s": without who it is.
[[nodiscard]] QString wordsOf(const TimelineEvent &event);

} // namespace lockscope::history
