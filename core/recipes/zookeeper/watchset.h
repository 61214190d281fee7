// SPDX-License-Identifier: Apache-2.0
// A watch set: a few nodes: what became of them, in the order in which it happened.
//
// A server tells a session of changes in their order, and this keeps that order up to whoever asks
// here: an event counts from the moment it is handed on through the loop's queue, as the state of the
// session does. The order holds on one unbroken connection only. After a reconnect the server tells of
// what was missed in any order; then the watch set says that it was broken, and nothing that it saw may
// be built upon until its owner has listed again. Loop thread only; the session outlives it.
#pragma once

#include "core/async/task.h"
#include "core/zookeeper/session.h"

#include <map>

namespace lockscope::recipes {

class WatchSet {
public:
    explicit WatchSet(zk::Session *session);

    // To be called right before listing: that list will know of whatever was missed.
    void startAnew() { m_seen->broken = false; }

    // Watches these nodes (only what is not watched yet is asked for, all pipelined and in this
    // order) and returns when one of them is gone, or when the connection broke and is back: then list
    // again. SessionExpired when it never will be back, TimedOut.
    Task<Result<void>> untilChange(std::vector<ZPath> nodes, Deadline deadline);

    // Whether its deletion was told of on the unbroken connection while this other node stood. Of two
    // nodes that go, the one that went first is told of first.
    [[nodiscard]] bool sawGo(const ZPath &node, const ZPath &whileThisStood) const;

private:
    enum class NodeState {
        Watched,
        Changed, // its data did, and the watch is spent
        Gone,    // the watch told of its deletion
        Missing, // it was not there when it was to be watched: nobody knows since when
    };
    struct Seen {
        bool broken = false;
        std::map<ZPath, NodeState> nodes;
        std::optional<Completion<bool>> news;
    };

    void watch(const ZPath &node, const zk::Watch &watch);
    Task<Result<void>> watchAll(std::vector<ZPath> nodes, Deadline deadline);
    [[nodiscard]] bool is(const ZPath &node, NodeState state) const;
    // Whether all of them are watched, and the connection held.
    [[nodiscard]] bool isQuiet(const std::vector<ZPath> &nodes) const;
    [[nodiscard]] bool mustWatchAgain(const std::vector<ZPath> &nodes) const;

    zk::Session *m_session;
    std::shared_ptr<Seen> m_seen;
    Subscription m_states;
};

} // namespace lockscope::recipes
