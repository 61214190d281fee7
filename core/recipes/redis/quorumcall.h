// SPDX-License-Identifier: Apache-2.0
// One question put to all nodes of a set at once, and what has come back so far.
//
// Answers that come after the call is gone still reach whoever gave it `onVote`. Loop thread only; the
// connections outlive it.
#pragma once

#include "core/redis/connection.h"

#include <functional>
#include <optional>
#include <vector>

namespace lockscope::recipes {

using RedisNodes = std::vector<redis::Connection *>;

enum class Vote {
    NotAsked, // nothing was sent: not wanted, or not connected
    Out,
    Yes,
    No,
    Failed,  // the server (or the gate) refused: nothing came of it
    Unknown, // no answer in time, or the connection broke
};

class QuorumCall {
public:
    // Sends the question to one node; empty if this one is not to be asked.
    using Ask = std::function<std::optional<Reply<redis::Value>>(int node)>;
    struct Reading {
        std::function<bool(const redis::Value &)> isYes;
        std::function<void(int node, Vote vote)> onVote = {};
    };
    // Asks every node that is connected.
    QuorumCall(const RedisNodes &nodes, const Ask &ask, Reading reading);

    // True when a quorum of all nodes says yes; false as soon as no quorum can any more.
    [[nodiscard]] Completion<bool> decided() const { return m_state->decided; }
    // When everyone asked has answered, or run out of time.
    [[nodiscard]] Completion<bool> counted() const { return m_state->counted; }
    [[nodiscard]] Vote vote(int node) const { return m_state->votes[static_cast<std::size_t>(node)]; }
    [[nodiscard]] int count(Vote vote) const;
    [[nodiscard]] int answered() const { return count(Vote::Yes) + count(Vote::No); }
    // What the first of those said that refused.
    [[nodiscard]] const std::optional<Error> &refusal() const { return m_state->refusal; }

private:
    struct State {
        std::vector<Vote> votes;
        Completion<bool> decided;
        Completion<bool> counted;
        std::optional<Error> refusal;
        Reading reading;
    };
    static void take(const std::shared_ptr<State> &state, int node, const Result<redis::Value> &answer);
    static void judge(const State &state);

    std::shared_ptr<State> m_state;
};

} // namespace lockscope::recipes
